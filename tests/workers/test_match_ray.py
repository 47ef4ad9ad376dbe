"""Match jobs on real Ray: killed at work, in a later round too, and the artefacts are the same."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ray.cluster_utils import Cluster

from plymill.cluster import Progress, RunOptions, RunStore
from plymill.workers import GridJob, PoolJob, resume_run, run_job
from tests.faults import cluster_of, running, wait_until_gone
from tests.workers.faulty_runs import events
from tests.workers.match_runs import artifacts, play
from tests.workers.test_ray import (
    assert_kept,
    at_work,
    once,
    stamps,
    start_driver,
    workers_of,
)

pytestmark = [pytest.mark.ray, pytest.mark.slow]

Artifacts = dict[str, bytes]
ArtifactsOf = Callable[[str, str], Artifacts]

OPTIONS = RunOptions(report_every=0.05)
GRID = GridJob(
    game="connect4",
    first=(400, 1600),
    second=(400, 1600),
    samples=400,
    until=0.08,
    unit_seconds=0.05,
    audit_fraction=0.02,
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A head and a second node, one processor each, and this process connected to them."""
    with cluster_of(2) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def undisturbed() -> Artifacts:
    """The artefacts of the grid, made in peace and without Ray."""
    from plymill.cluster import MemoryFiles

    files = MemoryFiles()
    assert play(GRID, files).complete
    return artifacts(GRID, files)


def test_a_worker_that_is_killed_is_replaced_and_the_artefacts_are_the_same(
    cluster: Cluster, tmp_path: Path, undisturbed: Artifacts, artifacts_of: ArtifactsOf
) -> None:
    del cluster
    killed: list[Any] = []

    def kill(progress: Progress) -> None:
        killed.append(progress.workers[0])
        os.kill(killed[0].pid, signal.SIGKILL)

    url = str(tmp_path)
    result = run_job(GRID, url, options=OPTIONS, on_progress=once(at_work, kill))
    assert result.complete
    (victim,) = killed
    assert not running(victim.pid)
    (lost,) = events(url, GRID.run_id, "worker lost")
    assert lost["worker"] == victim.name
    joined = events(url, GRID.run_id, "worker joined")
    assert [line["pid"] for line in joined].count(victim.pid) == 1
    assert len(joined) == 3
    assert artifacts_of(url, GRID.run_id) == undisturbed


def test_a_driver_killed_in_a_later_round_is_started_again_and_plays_nothing_twice(
    cluster: Cluster, tmp_path: Path, undisturbed: Artifacts, artifacts_of: ArtifactsOf
) -> None:
    url = str(tmp_path)
    store = RunStore.open(url, GRID.run_id)
    driver = start_driver(GRID, url, cluster.address)
    deadline = time.monotonic() + 120
    while not (first_round_is_over(store) and driver.poll() is None):
        assert driver.poll() is None, "the driver has ended early"
        assert time.monotonic() < deadline, "the first round does not end"
        time.sleep(0.02)
    os.kill(driver.pid, signal.SIGKILL)
    assert driver.wait() == -signal.SIGKILL
    wait_until_gone(workers_of(url, GRID.run_id))
    before = stamps(url, GRID.run_id)
    result = resume_run(GRID.run_id, url, options=OPTIONS)
    assert result.complete
    assert result.progress.rounds > 1
    assert_kept(before, stamps(url, GRID.run_id), result.progress.units_total)
    assert artifacts_of(url, GRID.run_id) == undisturbed


def first_round_is_over(store: RunStore) -> bool:
    """Whether the plan has been made longer, and something of its second part is finished."""
    plan = store.read_plan()
    if plan is None or not plan.rounds:
        return False
    later = {unit.name for unit in plan.units[plan.rounds[0].units :]}
    return bool(later & store.finished_units())


def test_a_match_that_failed_is_tried_again_on_the_other_node(
    cluster: Cluster, tmp_path: Path
) -> None:
    del cluster
    spec = PoolJob(
        game="tictactoe",
        players=("python:tests.workers.faulty:Raises", "first-legal"),
        samples=2,
        unit_seconds=0.01,
    )
    url = str(tmp_path)
    result = run_job(spec, url, options=OPTIONS)
    assert result.complete
    assert result.stages["matches"] == {"matches": 4, "failed": 4}
    store = RunStore.open(url, spec.run_id)
    plan = store.read_plan()
    assert plan is not None
    node = {line["worker"]: line["node"] for line in events(url, spec.run_id, "worker joined")}
    for unit in plan.units:
        worker = store.read_unit(unit)[1].worker
        assert not unit.avoid or node[worker] != node[unit.avoid]
    assert sum(bool(unit.avoid) for unit in plan.units) >= 1
