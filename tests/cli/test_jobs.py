"""``plymill submit``, ``jobs``, ``status``, ...: what they say; the job server is a fake."""

import json
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from plymill.cli import main
from plymill.cluster import RunInterruptedError, RunStore
from tests.cli.helpers import GRID, SMALL_GRID, TINY, Plymill
from tests.cluster.fake_jobs import FakeJobs


def test_submit_says_how_to_follow(
    jobs: FakeJobs, plymill_: Plymill, tmp_path: Path, wheel: Path, sent: str
) -> None:
    words = ("submit", tmp_path / "job.toml", "--store", tmp_path / "runs", "--wheel", wheel)
    again = plymill_(*words)
    assert again.code == 0
    assert f"Run {sent} is running already." in again.out
    assert f"plymill logs {sent} --follow" in again.out
    fields = json.loads(plymill_(*words, "--json").out)
    assert (fields["run_id"], fields["state"]) == (sent, "running already")
    assert jobs.order_file["store"] == str(tmp_path / "runs")


@pytest.mark.parametrize(
    "words", [("book", "build", *TINY), ("match", "grid", *SMALL_GRID, "--weight", "3")]
)
def test_other_commands_send_as_well(
    jobs: FakeJobs, plymill_: Plymill, tmp_path: Path, wheel: Path, words: tuple[str, ...]
) -> None:
    done = plymill_(*words, "--submit", "--wheel", wheel, "--store", tmp_path, "--env", "A=b")
    assert done.code == 0, done.err
    (order,) = jobs.orders
    assert f"Run {order.name} is sent." in done.out
    assert order.environment == {"A": "b"}
    assert jobs.order_file["options"]["weight"] == (3.0 if "--weight" in words else 1.0)


def test_the_store_of_a_cluster_has_to_be_named(
    jobs: FakeJobs, plymill_: Plymill, wheel: Path
) -> None:
    done = plymill_("match", "grid", *SMALL_GRID, "--submit", "--wheel", wheel)
    assert done.code == 2
    assert "needs a store that all its nodes reach: --store s3://bucket/runs" in done.err
    assert not jobs.orders


def test_the_store_may_stand_in_the_environment(
    jobs: FakeJobs,
    plymill_: Plymill,
    tmp_path: Path,
    wheel: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PLYMILL_STORE", str(tmp_path / "runs"))
    done = plymill_("match", "grid", *SMALL_GRID, "--submit", "--wheel", wheel)
    assert done.code == 0, done.err
    assert "--store" not in done.out
    assert jobs.order_file["store"] == str(tmp_path / "runs")


def test_a_run_that_is_done_is_not_sent(
    jobs: FakeJobs, plymill_: Plymill, store: Path, grid_id: str, wheel: Path
) -> None:
    done = plymill_("match", "grid", *SMALL_GRID, "--submit", "--wheel", wheel, "--store", store)
    assert done.code == 0, done.err
    assert f"Run {grid_id} is done already." in done.out
    assert f"plymill download {grid_id} FOLDER --store {store}" in done.out
    assert not jobs.orders


@pytest.mark.parametrize(
    ("flag", "value", "words"),
    [
        ("--driver-label", "ssd", "--driver-label 'ssd': expected NAME=VALUE."),
        ("--driver-resource", "drivers=none", "drivers=none: expected a positive number."),
        ("--env", "NOT_SET_HERE", "expected NAME=VALUE or a variable that is set here."),
        ("--wheel", "nothing.whl", "is no wheel of plymill"),
        ("--weight", "0", "Must be > 0"),
    ],
)
def test_wrong_flags_are_one_sentence(
    jobs: FakeJobs, plymill_: Plymill, tmp_path: Path, flag: str, value: str, words: str
) -> None:
    job = tmp_path / "job.toml"
    job.write_text(GRID)
    done = plymill_("submit", job, "--store", tmp_path / "runs", flag, value)
    assert done.code == 2
    assert words in done.err
    assert "Traceback" not in done.err
    assert not jobs.orders


def test_without_an_address_it_is_asked_for(
    plymill_: Plymill, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PLYMILL_ADDRESS", "RAY_ADDRESS", "RAY_API_SERVER_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    done = plymill_("jobs")
    assert done.code == 2
    assert "Name its job server: --address http://head:8265" in done.err


def test_jobs_lists_what_was_sent(jobs: FakeJobs, plymill_: Plymill, sent: str) -> None:
    listed = plymill_("jobs")
    assert listed.code == 0
    assert listed.out.split()[:6] == ["job", "state", "owner", "weight", "ran", "store"]
    assert listed.out.splitlines()[1].split()[:4] == [sent, "running", "ann", "1"]
    (fields,) = json.loads(plymill_("jobs", "--json").out)
    assert (fields["run_id"], fields["status"]) == (sent, "RUNNING")
    jobs.jobs.clear()
    assert "No runs were sent to the cluster at http://head:8265." in plymill_("jobs").out


def test_status_tells_store_and_cluster(
    jobs: FakeJobs, plymill_: Plymill, tmp_path: Path, sent: str
) -> None:
    shown = plymill_("status", sent)  # the store is the one that it was sent with
    assert shown.code == 2, "the folder of the store is not there yet"
    (tmp_path / "runs").mkdir()
    shown = plymill_("status", sent)
    assert shown.code == 0, shown.err
    assert f"On the cluster at http://head:8265: {sent} is running" in shown.out
    assert f"{sent}: nothing in {tmp_path}/runs yet" in shown.out
    jobs.end(sent, "FAILED", "the driver died")
    shown = plymill_("status", sent)
    assert "(the driver died)" in shown.out
    assert f"{sent}: nothing in {tmp_path}/runs; sending its job again starts it" in shown.out
    fields = json.loads(plymill_("status", sent, "--json").out)
    assert fields["jobs"][0]["status"] == "FAILED"


def test_status_without_a_cluster_is_that_of_the_store(
    plymill_: Plymill, store: Path, grid_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PLYMILL_ADDRESS", "RAY_ADDRESS", "RAY_API_SERVER_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    shown = plymill_("status", grid_id, "--store", store)
    assert shown.code == 0
    assert f"{grid_id}: done" in shown.out


def test_logs(jobs: FakeJobs, plymill_: Plymill, sent: str) -> None:
    del jobs
    assert plymill_("logs", sent).out == f"log of {sent}\n"
    assert plymill_("logs", sent, "--follow").out == f"log of {sent}\nmore\n"
    assert "knows no run 'nothing'" in plymill_("logs", "nothing").err


def test_a_stop_of_logs_says_that_the_run_goes_on(
    jobs: FakeJobs, plymill_: Plymill, sent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def follow(name: str) -> Iterator[str]:
        yield f"log of {name}\n"
        raise KeyboardInterrupt

    monkeypatch.setattr(jobs, "follow", follow)
    done = plymill_("logs", sent, "--follow")
    assert (done.code, done.out) == (130, f"log of {sent}\n")
    assert done.err == f"plymill: The run goes on; 'plymill stop {sent}' stops it.\n"


def test_a_driver_that_is_stopped_names_the_command_of_a_cluster(
    jobs: FakeJobs, plymill_: Plymill, sent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody there could run "the same command" again."""

    def run_job(*_: object, **__: object) -> None:
        raise RunInterruptedError("stopped; run the same command again")

    monkeypatch.setattr("plymill.workers.run_job", run_job)
    monkeypatch.setattr(
        "plymill.cluster.on_ray.session.ray_session", lambda *_, **__: nullcontext()
    )
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.json").write_text(json.dumps(jobs.order_file))
    done = plymill_("run", "drive", "job.json")
    assert done.code == 130
    assert done.err.endswith(
        f"Run {sent} is stopped; what is finished is kept, and 'plymill resume {sent}' goes on.\n"
    )


def test_a_job_without_a_kind_is_told_what_to_add(
    jobs: FakeJobs, plymill_: Plymill, tmp_path: Path
) -> None:
    del jobs
    (tmp_path / "job.toml").write_text("ply = 12\n")
    done = plymill_("submit", tmp_path / "job.toml", "--store", tmp_path)
    assert done.code == 2
    assert done.err == (
        f"plymill: {tmp_path}/job.toml: kind is missing, expected one of book, grid, duel, pool; "
        'add a line such as kind = "book".\n'
    )


def test_stop_resume_cancel_delete(
    jobs: FakeJobs, plymill_: Plymill, tmp_path: Path, wheel: Path, sent: str
) -> None:
    root = tmp_path / "runs"
    spec = RunStore.open(str(root), sent)
    from plymill.workers import spec_from_fields

    spec.write_spec(spec_from_fields(jobs.order_file["spec"]))

    stopped = plymill_("stop", sent)
    assert f"Run {sent} is stopped" in stopped.out
    assert "was not running: it is stopped" in plymill_("stop", sent).out

    resumed = plymill_("resume", sent, "--wheel", wheel)  # the store is known from before
    assert resumed.code == 0, resumed.err
    assert f"Run {sent} is sent: {sent}-2." in resumed.out

    refused = plymill_("delete", sent, "--yes")
    assert refused.code == 2
    assert f"'plymill stop {sent}' stops it." in refused.err
    cancelled = plymill_("cancel", sent)
    assert cancelled.code == 0, cancelled.err
    job = tmp_path / "job.toml"
    again = plymill_("submit", job, "--store", root, "--wheel", wheel)
    assert again.code == 2
    assert f"Run {sent} was cancelled; 'plymill resume {sent}' takes it up again." in again.err
    assert plymill_("resume", sent, "--wheel", wheel).code == 0
    assert list(jobs.jobs) == [sent, f"{sent}-2", f"{sent}-3"]
    plymill_("stop", sent)

    asked = plymill_("delete", sent)
    assert asked.code == 2, "nobody is there to answer"
    assert "Nothing was removed" in asked.err
    assert (root / sent).is_dir()
    assert plymill_("delete", sent, "--yes").code == 0
    assert not (root / sent).exists()
    assert not jobs.jobs


def test_download_knows_the_store_and_goes_on(
    jobs: FakeJobs, plymill_: Plymill, store: Path, grid_id: str, tmp_path: Path
) -> None:
    del jobs
    fetched = plymill_("download", grid_id, tmp_path / "got", "--store", store)
    assert fetched.code == 0, fetched.err
    files = sorted(path.name for path in (tmp_path / "got").iterdir())
    assert "SHA256SUMS" in files
    (tmp_path / "got" / "cells.csv").write_text("damaged")
    assert plymill_("download", grid_id, tmp_path / "got", "--store", store).code == 0
    assert (tmp_path / "got" / "cells.csv").read_bytes() == (
        store / grid_id / "artifacts" / "cells.csv"
    ).read_bytes()


def test_the_driver_refuses_what_is_no_order(plymill_: Plymill, tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text("{}")
    done = plymill_("run", "drive", tmp_path / "job.json")
    assert done.code == 2
    assert "is no order of 'plymill submit'" in done.err
    assert "drive" not in plymill_("run").out, "people have no use for it"
    assert main(["run", "drive", str(tmp_path / "nothing.json")]) == 2
