"""Nodes that come and go, as Ray lists them. Needs the package, starts no cluster."""

from collections.abc import Callable
from typing import Any

import pytest

from plymill.cluster import ClusterError, MemoryFiles, RunStore, ray_executor
from plymill.cluster import events as e
from plymill.cluster.ray_executor import RayExecutor

LARGE = {"CPU": 2.0, "memory": 100.0}
SMALL = {"CPU": 1.0, "memory": 0.0}


class Actor:
    """No call is made in these tests."""


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, float]]:
    """The live nodes; the executor looks at them each time that it is asked."""
    live: dict[str, dict[str, float]] = {}
    monkeypatch.setattr(ray_executor, "_live_nodes", lambda: live)
    monkeypatch.setattr(ray_executor, "_WATCH_NODES_EVERY", 0.0)
    return live


@pytest.fixture
def executor(make_job: Callable[..., Any]) -> RayExecutor:
    return RayExecutor(make_job(), RunStore(MemoryFiles(), "run-1"), Actor, threads=None)


def test_a_run_waits_when_its_last_large_node_leaves_and_goes_on_when_one_joins(
    executor: RayExecutor, nodes: dict[str, dict[str, float]]
) -> None:
    nodes.update(small=SMALL, large=LARGE)
    warning, joined = executor.poll(0)
    assert isinstance(warning, e.Warn)
    assert joined == e.NodeJoined("large", 2)
    del nodes["large"]
    assert executor.poll(0) == [e.NodeLost("large")]
    assert executor.poll(0) == []
    nodes["other"] = LARGE
    assert executor.poll(0) == [e.NodeJoined("other", 2)]


def test_a_cluster_without_a_large_node_is_refused_by_its_figures(
    executor: RayExecutor, nodes: dict[str, dict[str, float]]
) -> None:
    nodes.update(small=SMALL)
    with pytest.raises(ClusterError, match="Node small offers 0 MB of memory, but a worker with 1"):
        executor.poll(0)


class Probe:
    """Knows which nodes reach the store; None is not known yet."""

    def __init__(self) -> None:
        self.known: dict[str, bool | None] = {}

    def reaches(self, node: str) -> bool | None:
        return self.known.get(node)

    def fault_of(self, node: str) -> str:
        return f"Node {node} cannot use the store."


def test_a_node_that_comes_later_is_used_once_it_reaches_the_store(
    executor: RayExecutor,
    nodes: dict[str, dict[str, float]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    probe = Probe()
    monkeypatch.setattr(executor, "_probe", probe)
    nodes.update(good=LARGE, bad=LARGE)
    assert executor.poll(0) == []
    probe.known.update(good=True, bad=False)
    assert executor.poll(0) == [
        e.NodeJoined("good", 2),
        e.Warn("Node bad cannot use the store."),
    ]
    assert executor.poll(0) == []
