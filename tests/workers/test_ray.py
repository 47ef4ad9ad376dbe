"""Real Ray: processes are killed at work, and the artefacts come out byte for byte the same."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import ray
from ray.cluster_utils import Cluster

from plymill.cluster import (
    ClusterError,
    Coordinator,
    JobSpec,
    Progress,
    Receipt,
    RunInterruptedError,
    RunOptions,
    RunStore,
    Unit,
    load_run,
)
from plymill.cluster.on_ray.executor import RayExecutor
from plymill.workers import BookJob, BookRun, resume_run, run_job
from plymill.workers.actor import UnitActor
from plymill.workers.book_worker import BookWorker
from tests.faults import cluster_of, running, wait_until_gone
from tests.faults.nodes import NODE
from tests.workers.faulty_runs import events

pytestmark = [pytest.mark.ray, pytest.mark.slow]

Artifacts = dict[str, bytes]
ArtifactsOf = Callable[[str, str], Artifacts]

OPTIONS = RunOptions(table_mb=16, report_every=0.05)


@pytest.fixture(scope="module")
def cluster(bucket: str) -> Iterator[Cluster]:
    """A head and a second node, one processor each, and this process connected to them.

    All their processes inherit what is needed to reach the bucket.
    """
    del bucket
    with cluster_of(2) as cluster:
        yield cluster


def once(condition: Callable[[Progress], bool], act: Callable[[Progress], None]) -> Any:
    """A progress callback that acts the first time that the condition holds."""
    done: list[bool] = []

    def on_progress(progress: Progress) -> None:
        if not done and condition(progress):
            done.append(True)
            act(progress)

    return on_progress


def at_work(progress: Progress) -> bool:
    """Two workers have finished something, and are far from the end."""
    return (
        len(progress.workers) >= 2
        and all(worker.units and worker.in_flight for worker in progress.workers)
        and 8 <= progress.units_done < progress.units_total // 2
    )


def test_a_worker_that_is_killed_is_replaced_and_the_books_are_the_same(
    cluster: Cluster,
    tmp_path: Path,
    small: BookJob,
    undisturbed: Artifacts,
    artifacts_of: ArtifactsOf,
) -> None:
    del cluster
    killed: list[Any] = []

    def kill(progress: Progress) -> None:
        victim = progress.workers[0]
        os.kill(victim.pid, signal.SIGKILL)
        killed.append(victim)

    url = str(tmp_path)
    result = run_job(small, url, options=OPTIONS, on_progress=once(at_work, kill))
    assert result.complete
    (victim,) = killed
    assert not running(victim.pid)
    (lost,) = events(url, small.run_id, "worker lost")
    assert (lost["worker"], lost["node"]) == (victim.name, victim.node)
    assert lost["cause"] == "its process died"
    joined = events(url, small.run_id, "worker joined")
    assert len(joined) == 3
    assert joined[2]["node"] == victim.node
    assert joined[2]["pid"] != victim.pid
    requeued = {line["unit"] for line in events(url, small.run_id, "requeued")}
    assert 0 < len(requeued) <= 2, "only what was in flight is done again"
    assert artifacts_of(url, small.run_id) == undisturbed


def test_a_raylet_that_is_killed_costs_its_node_and_a_new_node_is_used(
    cluster: Cluster,
    tmp_path: Path,
    small: BookJob,
    undisturbed: Artifacts,
    artifacts_of: ArtifactsOf,
) -> None:
    (second,) = cluster.worker_nodes
    raylet = second.all_processes["raylet"][0].process.pid
    added: list[Any] = []

    def kill(progress: Progress) -> None:
        os.kill(raylet, signal.SIGKILL)
        added.append(cluster.add_node(**NODE))

    url = str(tmp_path)
    result = run_job(small, url, options=OPTIONS, on_progress=once(at_work, kill))
    cluster.remove_node(second, allow_graceful=False)
    assert result.complete
    assert second.node_id in {line["node"] for line in events(url, small.run_id, "node lost")}
    head: Any = cluster.head_node
    joined = {line["node"] for line in events(url, small.run_id, "worker joined")}
    assert joined == {head.node_id, second.node_id, added[0].node_id}
    units = load_run(url, small.run_id).provenance
    assert units is not None
    assert any(unit["worker"].startswith(added[0].node_id[:8]) for unit in units["units"]), (
        "the node that joined has solved something"
    )
    assert artifacts_of(url, small.run_id) == undisturbed


DRIVER = """
import sys
from plymill.cluster import RunInterruptedError, RunOptions
from plymill.workers import resume_run
run_id, url, address = sys.argv[1:]
try:
    options = RunOptions(threads=2, table_mb=16, report_every=0.05, allow_insecure=True)
    resume_run(run_id, url, address=address or None, options=options)
except RunInterruptedError as error:
    print(error)
    sys.exit(130)
"""


def start_driver(spec: JobSpec, url: str, address: str = "") -> subprocess.Popen[str]:
    """Another process that runs the job; returns once some of its units are finished."""
    store = RunStore.open(url, spec.run_id)
    store.write_spec(spec)
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, spec.run_id, url, address],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while len(store.finished_units()) < 5:
        assert driver.poll() is None, "the driver has ended early"
        assert time.monotonic() < deadline, "the driver does not come to work"
        time.sleep(0.02)
    return driver


def workers_of(url: str, run_id: str) -> list[int]:
    """The processes of the workers, as the progress on the store names them."""
    deadline = time.monotonic() + 30
    while True:
        progress = load_run(url, run_id).progress
        if progress is not None and progress.workers:
            return [worker.pid for worker in progress.workers]
        assert time.monotonic() < deadline, "no worker is reported"
        time.sleep(0.05)


def stamps(url: str, run_id: str) -> dict[str, int]:
    folder = Path(url, run_id, "units")
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("*.zst")}


def assert_kept(before: dict[str, int], after: dict[str, int], total: int) -> None:
    assert 5 <= len(before) < total
    assert {name: after[name] for name in before} == before, "what was finished is not touched"
    assert len(after) == total


def test_a_driver_that_is_killed_is_started_again_and_solves_nothing_twice(
    cluster: Cluster,
    tmp_path: Path,
    small: BookJob,
    undisturbed: Artifacts,
    artifacts_of: ArtifactsOf,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = str(tmp_path)
    # A token that is there for another cluster is not brought to this one, which asks for none.
    monkeypatch.setenv("RAY_AUTH_TOKEN", "5" * 64)
    driver = start_driver(small, url, cluster.address)
    os.kill(driver.pid, signal.SIGKILL)
    assert driver.wait() == -signal.SIGKILL
    # Ray ends the actors of a driver that is gone; what they finish until then counts.
    wait_until_gone(workers_of(url, small.run_id))
    before = stamps(url, small.run_id)
    half = tmp_path / small.run_id / "units" / ".unfinished-0-00099.zst"
    half.write_bytes(b"of a writer that is gone")
    result = resume_run(small.run_id, url, options=OPTIONS)
    assert result.complete
    assert list(tmp_path.rglob(".unfinished-*")) == []
    assert_kept(before, stamps(url, small.run_id), result.progress.units_total)
    assert artifacts_of(url, small.run_id) == undisturbed


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_stopped_in_peace_a_local_run_ends_with_130_and_a_word_how_to_go_on(
    how: signal.Signals,
    tmp_path: Path,
    small: BookJob,
    undisturbed: Artifacts,
    artifacts_of: ArtifactsOf,
    cluster: Cluster,
) -> None:
    url = str(tmp_path)
    driver = start_driver(small, url)
    workers = workers_of(url, small.run_id)
    if how is signal.SIGINT:  # a terminal sends it to all processes
        os.killpg(driver.pid, how)
    else:
        driver.send_signal(how)
    said, _ = driver.communicate(timeout=60)
    assert driver.returncode == 130
    assert "run the same command again to go on" in said
    wait_until_gone(workers)
    info = load_run(url, small.run_id)
    assert info.state == "interrupted"
    before = stamps(url, small.run_id)
    result = resume_run(small.run_id, url, options=OPTIONS)
    assert_kept(before, stamps(url, small.run_id), result.progress.units_total)
    assert artifacts_of(url, small.run_id) == undisturbed


def test_damaged_unit_files_are_found_and_only_they_are_solved_again(
    cluster: Cluster,
    tmp_path: Path,
    small: BookJob,
    undisturbed: Artifacts,
    artifacts_of: ArtifactsOf,
) -> None:
    del cluster
    url = str(tmp_path)

    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(RunInterruptedError):
        run_job(small, url, options=OPTIONS, on_progress=once(at_work, stop))
    folder = tmp_path / small.run_id / "units"
    before = stamps(url, small.run_id)
    first, second, third, fourth = sorted(before)[:4]
    (folder / first).write_bytes((folder / first).read_bytes()[:100])
    flipped = bytearray((folder / second).read_bytes())
    flipped[len(flipped) // 2] ^= 4
    (folder / second).write_bytes(bytes(flipped))
    (folder / third).write_bytes((folder / fourth).read_bytes())
    result = run_job(small, url, options=OPTIONS)
    after = stamps(url, small.run_id)
    kept = {name: stamp for name, stamp in before.items() if name not in {first, second, third}}
    assert_kept(kept, after, result.progress.units_total)
    faults = [line["message"] for line in events(url, small.run_id, "damaged file")]
    assert len(faults) == 3
    assert "cut short or altered" in faults[0]
    assert "cut short or altered" in faults[1]
    assert "belongs to unit" in faults[2]
    assert artifacts_of(url, small.run_id) == undisturbed


class FailingWorker(BookWorker):
    def run(self, unit: Unit) -> Receipt:
        if unit.index == 3:
            raise ValueError("no good")
        return super().run(unit)


class FailingRun(BookRun):
    """One of its units always raises."""

    def make_worker(self, store: RunStore, name: str, threads: int) -> BookWorker:
        return FailingWorker(self.spec, store, name, threads=threads, table_mb=16)


def test_a_unit_that_raises_is_quarantined_after_three_attempts_and_the_rest_is_kept(
    cluster: Cluster, tmp_path: Path, tiny: BookJob
) -> None:
    del cluster
    cloudpickle: Any = ray.cloudpickle
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    job = FailingRun(tiny, OPTIONS)
    store = RunStore.open(str(tmp_path), tiny.run_id)
    executor = RayExecutor(job, store, UnitActor, threads=None)
    result = Coordinator(job, store, executor, options=OPTIONS).run()
    assert not result.complete
    assert result.quarantined == {
        "00003": "it failed 3 times, the last time with: ValueError: no good"
    }
    assert result.progress.unit_map == "dddqddddd"
    assert len(events(str(tmp_path), tiny.run_id, "requeued")) == 2
    mended = run_job(tiny, str(tmp_path), options=OPTIONS)
    assert mended.complete
    assert mended.progress.items_resumed == 279 - 32


def test_a_table_too_big_for_every_node_is_refused_in_one_sentence(
    cluster: Cluster, tmp_path: Path, tiny: BookJob
) -> None:
    del cluster
    with pytest.raises(ClusterError, match=r"offers \d+ MB of memory, but .* smaller table"):
        run_job(tiny, str(tmp_path), options=RunOptions(table_mb=10_000_000))


STRANGER = """
import os, subprocess, sys
from plymill.cluster.on_ray.session import ray_session
with ray_session(None, threads=1):
    import ray
    address = ray.get_runtime_context().gcs_address
    assert ray.get(ray.remote(lambda: 7).remote()) == 7
    stranger = "import ray; from ray._raylet import GcsClient; GcsClient(address=sys.argv[1])"
    clean = {k: v for k, v in os.environ.items() if not k.startswith("RAY_")}
    told = subprocess.run([sys.executable, "-c", "import sys; " + stranger, address],
                          env=clean | {"RAY_AUTH_MODE": "disabled"}, capture_output=True, text=True)
    assert told.returncode != 0
    assert "authentication" in told.stderr.lower(), told.stderr
    print("refused")
"""


def test_a_local_ray_refuses_whoever_has_not_its_token(tmp_path: Path) -> None:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("RAY_")}
    done = subprocess.run(
        [sys.executable, "-c", STRANGER],
        env=clean | {"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout.strip() == "refused", done.stderr
    assert not (tmp_path / ".ray" / "auth_token").exists(), "the token is not kept on the disk"


def test_a_cluster_that_is_not_there_is_explained(tmp_path: Path, tiny: BookJob) -> None:
    script = (
        "import sys; from plymill.cluster import ClusterError; from plymill.workers import *\n"
        "try: run_job(BookJob(opening='44444422'), sys.argv[1], address='127.0.0.1:1')\n"
        "except ClusterError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert "Cannot reach the Ray cluster at '127.0.0.1:1'" in done.stdout, done.stderr


def test_a_whole_run_on_s3_makes_the_same_books(
    cluster: Cluster,
    bucket: str,
    small: BookJob,
    undisturbed: Artifacts,
    artifacts_of: ArtifactsOf,
) -> None:
    del cluster
    url = f"{bucket}/runs"
    result = run_job(small, url, options=OPTIONS)
    assert result.complete
    assert artifacts_of(url, small.run_id) == undisturbed
