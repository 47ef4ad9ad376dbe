"""Runs that nobody drives any more, and clusters that are gone: what is said, what still works."""

import json
import os
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plymill.cli import sending
from plymill.cluster import ClusterError, RunStore, load_run
from plymill.cluster.driving import driving
from plymill.cluster.on_ray.jobs import RayJobs
from plymill.cluster.sending.submissions import Submission
from plymill.cluster.sending.submit import cancel, is_cancelled
from tests.cli.helpers import TINY, Plymill
from tests.cluster.fake_jobs import FakeJobs

KILLED = (
    "Job entrypoint command failed with exit code -9, last available logs (truncated to 20,000 "
    "chars): grid: playing, 8 of 16 matches grid: playing, 12 of 16 matches"
)
NODE_DIED = (
    "Job supervisor actor died: The actor died unexpectedly before finishing this task. "
    "class_name: JobSupervisor The actor died because its node has died. Node Id: 0a1b2c3d4e5f"
)
NO_NODE = (
    "Request failed with status code 500: Traceback (most recent call last):\n"
    '  File "job_head.py", line 591, in get_job_logs\n'
    "aiohttp.client_exceptions.ClientConnectorError: Cannot connect to host 10.0.0.5:52365 "
    "ssl:default [Connect call failed ('10.0.0.5', 52365)]\n."
)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "runs"


@pytest.fixture
def left(jobs: FakeJobs, store: Path, run_id: str, runs: Path) -> str:
    """A run whose driver was killed while it solved, a moment ago; it says nothing of that."""
    progress = load_run(str(store), run_id).progress
    assert progress is not None
    files = RunStore.open(str(runs), run_id)
    files.files.write("spec.json", (store / run_id / "spec.json").read_bytes())
    now = time.time()
    solving = progress.model_copy(update={"state": "solving", "updated": now, "rate": 5.0})
    files.write_json("progress.json", solving.model_dump(mode="json"))
    jobs.jobs[run_id] = Submission(
        name=run_id,
        run_id=run_id,
        owner="ann",
        store=str(runs),
        status="FAILED",
        message=KILLED,
        started=now - 64,
        ended=now,
    )
    return run_id


@pytest.fixture
def unreachable(jobs: FakeJobs, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cluster is named in the environment, but is not there."""
    del jobs

    def connect(address: str | None, *, allow_insecure: bool) -> Any:
        del allow_insecure
        raise ClusterError(f"Cannot reach the cluster at {sending.require_address(address)}.")

    monkeypatch.setattr(sending, "connect", connect)


# --- drivers that died ----------------------------------------------------------------------------


def test_status_of_a_run_whose_driver_died(jobs: FakeJobs, plymill_: Plymill, left: str) -> None:
    """The log that Ray adds is left out, and figures that nobody brings up to date."""
    shown = plymill_("status", left)
    first, second, *rest = shown.out.splitlines()
    assert first == (
        f"On the cluster at http://head:8265: {left} ran 1 min 4 s, then failed, sent by ann "
        f"(Job entrypoint command failed with exit code -9; 'plymill logs {left}' shows its last "
        "words)"
    )
    assert second == f"{left}: solving, but its driver is gone; 'plymill resume {left}' goes on"
    assert "279 of 279 positions" in shown.out
    for stale in ("positions/s", "worker", "time left", "To go on"):
        assert stale not in "".join(rest)
    (attempt,) = json.loads(plymill_("status", left, "--json").out)["jobs"]
    assert attempt["message"] == KILLED
    jobs.jobs[left] = replace(jobs.jobs[left], message=NODE_DIED)
    assert (
        "then failed, sent by ann (the node of its driver is gone)" in plymill_("status", left).out
    )


def test_status_of_a_run_that_another_driver_took_up(
    jobs: FakeJobs, plymill_: Plymill, left: str
) -> None:
    """As 'plymill run resume' on another machine: the store hears of it."""
    jobs.jobs[left] = replace(jobs.jobs[left], ended=time.time() - 3600)
    shown = plymill_("status", left).out
    assert f"{left}: solving\n" in shown
    assert "positions/s" in shown
    assert "gone" not in shown


def test_status_of_a_run_that_is_driven_tells_how_long(
    jobs: FakeJobs, plymill_: Plymill, left: str
) -> None:
    jobs.jobs[left] = replace(jobs.jobs[left], status="RUNNING", ended=None)
    shown = plymill_("status", left).out
    assert f"{left} is running for 1 min 4 s so far, sent by ann" in shown
    assert "time left" in shown
    jobs.end(left, "STOPPED")
    assert "ran " in plymill_("status", left).out.splitlines()[0]
    assert ", then was stopped, sent by ann" in plymill_("status", left).out


def ray_jobs(attempt: dict[str, Any], error: Exception) -> RayJobs:
    """A job server that knows one attempt, and fails when it is asked for the log."""

    def get_job_logs(name: str) -> str:
        raise error

    job = SimpleNamespace(
        submission_id="grid-1-2",
        metadata={"plymill_run": "grid-1"},
        message="",
        start_time=None,
        end_time=None,
        status=SimpleNamespace(value=attempt["status"]),
    )
    server = RayJobs.__new__(RayJobs)
    server.address = "http://head:8265"
    server._client = SimpleNamespace(get_job_logs=get_job_logs, list_jobs=lambda: [job])
    return server


@pytest.mark.parametrize(
    ("status", "error", "sentence"),
    [
        (
            "FAILED",
            RuntimeError(NO_NODE),
            "The node that ran the driver is gone, and its log with it; 'plymill resume grid-1' "
            "goes on.",
        ),
        (
            "FAILED",
            TimeoutError(),
            "The node that ran the driver is gone, and its log with it; 'plymill resume grid-1' "
            "goes on.",
        ),
        (
            "SUCCEEDED",
            RuntimeError(NO_NODE),
            "The node that ran the driver is gone, and its log with it.",
        ),
        (
            "RUNNING",
            RuntimeError(NO_NODE),
            "The node that runs the driver of grid-1 does not answer; ask again in a minute.",
        ),
        (
            "FAILED",
            RuntimeError("Request failed with status code 500: Traceback\nValueError: no such\n."),
            "The cluster at http://head:8265 refuses that: ValueError: no such.",
        ),
    ],
)
def test_the_log_of_a_node_that_is_gone(status: str, error: Exception, sentence: str) -> None:
    with pytest.raises(ClusterError) as caught:
        ray_jobs({"status": status}, error).logs("grid-1-2")
    assert str(caught.value) == sentence


# --- clusters that are gone -----------------------------------------------------------------------


@pytest.mark.usefixtures("unreachable")
def test_status_needs_no_cluster_if_the_store_is_named(
    plymill_: Plymill, store: Path, run_id: str
) -> None:
    shown = plymill_("status", run_id, "--store", store)
    assert shown.code == 0
    assert shown.err == "plymill: Cannot reach the cluster at http://head:8265.\n"
    assert f"{run_id}: done" in shown.out
    fields = json.loads(plymill_("status", run_id, "--store", store, "--json").out)
    assert (fields["state"], fields["jobs"]) == ("done", None)
    without = plymill_("status", run_id)
    assert (without.code, without.out) == (2, ""), "only the cluster could tell the store"


def test_status_of_a_run_that_the_cluster_does_not_list(
    jobs: FakeJobs, plymill_: Plymill, store: Path, run_id: str
) -> None:
    del jobs
    shown = plymill_("status", run_id, "--store", store)
    assert shown.out.startswith("On the cluster at http://head:8265: not in its list of jobs\n")


# --- runs that are given up -----------------------------------------------------------------------


def test_a_cancelled_run_is_told_from_a_stopped_one(
    jobs: FakeJobs, plymill_: Plymill, left: str, runs: Path
) -> None:
    files = RunStore.open(str(runs), left)
    progress = files.read_json("progress.json")
    assert progress is not None
    files.write_json("progress.json", {**progress, "state": "interrupted", "message": "stopped"})
    jobs.end(left, "STOPPED")
    shown = plymill_("status", left).out
    assert f"{left}: interrupted\n" in shown
    assert shown.endswith(f"To go on: plymill resume {left}\n")
    cancel(files)
    for words in (("status", left), ("run", "show", left, "--store", runs)):
        shown = plymill_(*words).out
        assert f"{left}: cancelled\n" in shown
        assert "To go on" not in shown
        assert f"To take it up again: plymill resume {left} --store {runs}\n" in shown
        assert json.loads(plymill_(*words, "--json").out)["state"] == "cancelled"
    assert plymill_("run", "list", "--store", runs).out.splitlines()[1].split()[1] == "cancelled"


def test_cancel_marks_a_run_that_the_cluster_has_forgotten(
    jobs: FakeJobs, plymill_: Plymill, left: str, runs: Path
) -> None:
    jobs.jobs.clear()
    done = plymill_("cancel", left, "--store", runs)
    assert done.code == 0, done.err
    assert is_cancelled(RunStore.open(str(runs), left))
    neither = plymill_("cancel", "grid-1", "--store", runs)
    assert neither.code == 2
    assert "knows no run 'grid-1'" in neither.err


@pytest.mark.usefixtures("unreachable")
def test_cancel_marks_a_run_whose_cluster_is_gone_and_says_that_it_may_run(
    plymill_: Plymill, left: str, runs: Path
) -> None:
    done = plymill_("cancel", left, "--store", runs)
    assert done.code == 2
    assert done.err == (
        f"plymill: Run {left} is marked as cancelled, but may still run: Cannot reach the cluster "
        "at http://head:8265.\n"
    )
    assert is_cancelled(RunStore.open(str(runs), left))


def test_cancel_stops_what_runs_after_the_mark(
    jobs: FakeJobs, plymill_: Plymill, left: str, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs.jobs[left] = replace(jobs.jobs[left], status="RUNNING", ended=None)
    files = RunStore.open(str(runs), left)
    marked: list[bool] = []
    stop = jobs.stop

    def look_and_stop(name: str) -> bool:
        marked.append(is_cancelled(files))
        return stop(name)

    monkeypatch.setattr(jobs, "stop", look_and_stop)
    done = plymill_("cancel", left)  # the cluster tells the store
    assert done.code == 0, done.err
    assert marked == [True]
    assert jobs.jobs[left].status == "STOPPED"


def test_resume_forgets_the_mark_only_once_the_run_is_sent(
    jobs: FakeJobs, plymill_: Plymill, left: str, runs: Path, wheel: Path
) -> None:
    files = RunStore.open(str(runs), left)
    cancel(files)
    jobs.look_output = "nonsense"
    assert plymill_("resume", left, "--wheel", wheel).code == 2
    assert is_cancelled(files)
    jobs.look_output = None
    done = plymill_("resume", left, "--wheel", wheel)
    assert done.code == 0, done.err
    assert not is_cancelled(files)


# --- what is removed, and what is not -------------------------------------------------------------


def test_a_run_that_is_driven_is_not_removed_wherever_its_driver_is(
    plymill_: Plymill, tmp_path: Path
) -> None:
    run = "grid-0123456789ab"
    store = RunStore.open(str(tmp_path), run)
    store.files.write("plan.json", b"{}")
    with driving(store):
        refused = plymill_("delete", run, "--store", tmp_path, "--yes")
    assert refused.code == 2
    said = f"Run {run} is driven by process {os.getpid()} on "
    assert said in refused.err
    assert f"'plymill stop {run}', or Ctrl-C where it runs." in refused.err
    assert store.files.exists("plan.json")
    done = plymill_("delete", run, "--store", tmp_path, "--yes")
    assert done.code == 0, done.err
    assert not (tmp_path / run).exists(), "nor is a lease left"


def test_a_run_that_was_sent_and_never_began_is_removed(plymill_: Plymill, tmp_path: Path) -> None:
    run = "grid-0123456789ab"
    RunStore.open(str(tmp_path), run).files.write("submission.json", b"{}")
    done = plymill_("delete", run, "--store", tmp_path, "--yes")
    assert done.code == 0, done.err
    assert not (tmp_path / run).exists()


@pytest.mark.parametrize("name", ["photos", "artifacts", "grid-0123456789ab"])
def test_a_folder_that_is_no_run_is_not_removed(
    name: str, plymill_: Plymill, tmp_path: Path
) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "a.jpg").touch()
    refused = plymill_("delete", name, "--store", tmp_path, "--yes")
    assert refused.code == 2
    assert f"There is no run '{name}'" in refused.err
    assert (tmp_path / name / "a.jpg").exists()


@pytest.mark.parametrize(
    "words", [("download", "{run}", "s3://b/c"), ("run", "download", "{run}", "--to", "s3://b/c")]
)
def test_a_download_goes_to_a_folder_of_this_machine_only(
    words: tuple[str, ...],
    plymill_: Plymill,
    store: Path,
    run_id: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = plymill_(*(word.format(run=run_id) for word in words), "--store", store)
    assert refused.code == 2
    assert "s3://b/c is no folder of this machine, expected one." in refused.err
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_is_done_is_not_cancelled(plymill_: Plymill, store: Path, run_id: str) -> None:
    refused = plymill_("cancel", run_id, "--store", store)
    assert refused.code == 2
    assert f"Run {run_id} is done already" in refused.err
    assert not is_cancelled(RunStore.open(str(store), run_id))


def test_a_command_to_be_copied_is_quoted(plymill_: Plymill, tmp_path: Path) -> None:
    folder = tmp_path / "two words"
    made = plymill_("book", "build", *TINY, "--store", folder)
    assert made.code == 0, made.err
    book = folder / f"book-118b6d04ad8e/artifacts/connect4-12ply-dist-after-{TINY[1]}.plymill"
    assert f"book query '{book}' {TINY[1]}" in made.out
    (run,) = [path.name for path in folder.iterdir()]
    shown = plymill_("run", "show", run, "--store", folder)
    assert f"--store '{folder}'" in shown.out
