"""Real Ray: tasks on a cluster whose nodes change hands between runs."""

import os
import sys
from collections.abc import Mapping
from typing import Any

import pytest
import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from plymill.cluster import MemoryFiles, RunOptions, RunStore
from plymill.cluster.on_ray.executor import RayExecutor
from plymill.workers import BookJob, make_job
from plymill.workers.actor import UnitActor
from tests.faults import cluster_of, running
from tests.workers.faulty_runs import node_ids

pytestmark = [pytest.mark.ray, pytest.mark.slow]


class OtherRun:
    """Holds the processor of a node."""

    def pid(self) -> int:
        return os.getpid()


class Given:
    """The shares of a run: one node, and another once it was told that a task waits there."""

    def __init__(self, first: str, second: str) -> None:
        self.first, self.second = first, second
        self.held: list[dict[str, int]] = []

    def ask(
        self,
        wanted: int,
        nodes: Mapping[str, int],
        offers: Mapping[str, int],
        holding: Mapping[str, int],
    ) -> dict[str, int]:
        del wanted, nodes, offers
        self.held.append(dict(holding))
        assert len(self.held) < 200, "the task stands still"
        waited = self.held.count({self.first: 1}) >= 4
        return {self.second if waited else self.first: 1}


def where() -> tuple[str, int]:
    """Which node and process this is."""
    return ray.get_runtime_context().get_node_id(), os.getpid()


def test_a_task_that_waits_on_a_node_which_another_run_keeps_is_done_on_the_one_that_is_ours(
    small: BookJob,
) -> None:
    cloudpickle: Any = ray.cloudpickle
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    with cluster_of(2) as cluster:
        first, second = sorted(node_ids(cluster))
        remote: Any = ray.remote
        place = NodeAffinitySchedulingStrategy(first, soft=False)
        other = remote(num_cpus=1)(OtherRun).options(scheduling_strategy=place).remote()
        pid = ray.get(other.pid.remote())
        shares: Any = Given(first, second)
        executor = RayExecutor(
            make_job(small, RunOptions(table_mb=16)),
            RunStore(MemoryFiles(), "run-1"),
            UnitActor,
            threads=1,
            shares=shares,
        )
        node, process = executor.call(where, memory=1)
        assert (node, running(pid)) == (second, True)
        assert process != pid
        assert shares.held[0] == {}
        assert {first: 1} in shares.held
