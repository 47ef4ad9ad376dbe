"""Real Ray: processes that are not dead and yet do nothing more, as on a machine that hangs."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import ray
from ray.cluster_utils import Cluster

from plymill.cluster import (
    MemoryFiles,
    Progress,
    RunOptions,
    RunStore,
    Unit,
    WorkerFigures,
    session,
)
from plymill.cluster.on_ray import pulse as ray_pulse
from plymill.cluster.on_ray.executor import RayExecutor
from plymill.workers import BookJob, make_job, run_job
from plymill.workers.actor import UnitActor
from tests.faults import (
    Moments,
    cluster_of,
    resume_worker,
    running,
    stop_worker,
    wait_until_gone,
)
from tests.workers.faulty_runs import events

pytestmark = [pytest.mark.ray, pytest.mark.slow]

Artifacts = dict[str, bytes]
ArtifactsOf = Callable[[str, str], Artifacts]

OPTIONS = RunOptions(table_mb=16, report_every=0.05)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Two nodes of one processor each."""
    with cluster_of(2) as cluster:
        yield cluster


@pytest.fixture
def stopped() -> Iterator[list[WorkerFigures]]:
    """The workers that the test stops; in the end they may go on, if they are still there."""
    workers: list[WorkerFigures] = []
    yield workers
    for worker in workers:
        resume_worker(worker.pid)


def is_stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def stopping(stopped: list[WorkerFigures], count: int) -> Callable[[Progress], None]:
    """A progress callback that stops so many workers at a random moment."""
    moments = Moments()

    def stop(progress: Progress) -> None:
        for worker in moments.random.sample(progress.workers, count):
            stop_worker(worker.pid)
            stopped.append(worker)

    return moments.once(stop, workers=2)


class Sleepy:
    """A worker that is busy until it is told to stop."""

    def run(self, unit: Unit) -> str:
        while not Path(unit.name).exists():
            time.sleep(0.05)
        return unit.name


class SleepyJob:
    """Makes such workers."""

    def make_worker(self, store: RunStore, name: str, threads: int) -> Sleepy:
        del store, name, threads
        return Sleepy()


def test_a_worker_whose_threads_are_all_busy_gives_a_sign_of_life(
    cluster: Cluster, tmp_path: Path
) -> None:
    del cluster
    cloudpickle: Any = ray.cloudpickle
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    remote: Any = ray.remote
    actor = remote(concurrency_groups={ray_pulse.GROUP: 1})(UnitActor)
    handle = actor.options(max_concurrency=1).remote(
        SleepyJob(), RunStore(MemoryFiles(), "run-1"), "w", 1
    )
    name = str(tmp_path / "enough")
    unit = Unit(name=name, index=0, start=0, stop=1, input_digest="", cost=1.0)
    first, second = handle.run.remote(unit), handle.run.remote(unit)
    pulse = handle.pulse.options(concurrency_group=ray_pulse.GROUP).remote()
    ray.get(pulse)
    assert ray.wait([first, second], num_returns=2, timeout=0)[0] == []
    Path(name).touch()
    assert ray.get([first, second]) == [name, name]


def test_what_a_stopped_worker_has_is_done_by_another_and_nobody_waits_for_it(
    cluster: Cluster,
    stopped: list[WorkerFigures],
    tmp_path: Path,
    small: BookJob,
    run_in_process: Callable[..., Any],
    artifacts_of: ArtifactsOf,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Audits are for the two that are there: one that hangs would have to be waited for."""
    del cluster
    monkeypatch.setattr(session, "_LATE_AT_LEAST", 1.0)
    monkeypatch.setattr(ray_pulse, "SILENT", float("inf"))
    without_audits = small.model_copy(update={"audit_fraction": 0.0})
    here, url = str(tmp_path / "here"), str(tmp_path / "ray")
    run_in_process(without_audits, here)
    seen: list[bool] = []
    stop = stopping(stopped, 1)

    def watch(progress: Progress) -> None:
        stop(progress)
        if progress.state == "finishing" and not seen:
            seen.append(running(stopped[0].pid) and is_stopped(stopped[0].pid))

    result = run_job(without_audits, url, options=OPTIONS, on_progress=watch)
    assert result.complete
    assert seen == [True], "the process stood still from then on to the end"
    copied = events(url, without_audits.run_id, "copied")
    assert copied
    assert all(line["worker"] != stopped[0].name for line in copied)
    assert events(url, without_audits.run_id, "worker lost") == []
    wait_until_gone([stopped[0].pid])
    assert artifacts_of(url, without_audits.run_id) == artifacts_of(here, without_audits.run_id)


def test_stopped_workers_are_replaced_once_they_give_no_sign_of_life(
    cluster: Cluster,
    stopped: list[WorkerFigures],
    tmp_path: Path,
    small: BookJob,
    undisturbed: Artifacts,
    artifacts_of: ArtifactsOf,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both are stopped: nobody is there who could copy their units."""
    del cluster
    monkeypatch.setattr(ray_pulse, "SILENT", 3.0)
    monkeypatch.setattr(ray_pulse, "ASK_EVERY", 0.5)
    url = str(tmp_path)
    result = run_job(small, url, options=OPTIONS, on_progress=stopping(stopped, 2))
    assert result.complete
    lost = events(url, small.run_id, "worker lost")
    assert {(line["worker"], line["node"]) for line in lost} == {(w.name, w.node) for w in stopped}
    assert {line["cause"] for line in lost} == {"it could not be reached"}
    third = events(url, small.run_id, "worker joined")[2]
    assert third["node"] in {worker.node for worker in stopped}
    assert third["pid"] not in {worker.pid for worker in stopped}
    wait_until_gone([worker.pid for worker in stopped])
    assert artifacts_of(url, small.run_id) == undisturbed


def first_lingers(folder: str) -> int:
    """A task whose first process does not end by itself; which process did it."""
    pid = os.getpid()
    (Path(folder) / str(pid)).touch()
    while len(list(Path(folder).iterdir())) == 1:
        time.sleep(0.05)
    return pid


@pytest.mark.parametrize("blow", [signal.SIGSTOP, signal.SIGKILL], ids=["stopped", "killed"])
def test_a_task_whose_process_is_stopped_or_killed_is_done_again_in_another(
    blow: signal.Signals,
    cluster: Cluster,
    tmp_path: Path,
    small: BookJob,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Planning and finishing run so. To Ray a stopped process is no less alive than others."""
    del cluster
    monkeypatch.setattr(ray_pulse, "SILENT", 3.0)
    monkeypatch.setattr(ray_pulse, "ASK_EVERY", 0.5)
    cloudpickle: Any = ray.cloudpickle
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    executor = RayExecutor(
        make_job(small, OPTIONS), RunStore(MemoryFiles(), "run-1"), UnitActor, threads=1
    )
    struck: list[int] = []

    def strike() -> None:
        while not (there := list(tmp_path.iterdir())):
            time.sleep(0.05)
        struck.append(int(there[0].name))
        time.sleep(Moments().random.uniform(0, 1))
        os.kill(struck[0], blow)

    striker = Thread(target=strike)
    striker.start()
    done_by = executor.call(first_lingers, str(tmp_path), memory=1)
    striker.join()
    assert {int(path.name) for path in tmp_path.iterdir()} == {struck[0], done_by}
    assert done_by != struck[0]
    wait_until_gone([*struck, done_by])
