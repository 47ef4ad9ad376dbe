"""Nodes that come and go, as Ray lists them. Needs the package, starts no cluster."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
import ray

from plymill.cluster import ClusterError, MemoryFiles, RunStore, Unit
from plymill.cluster.machine import events as e
from plymill.cluster.on_ray import executor as ray_executor
from plymill.cluster.on_ray import pulse as ray_pulse
from plymill.cluster.on_ray.executor import RayExecutor
from plymill.cluster.on_ray.tasks import RayTask
from plymill.cluster.shares import Claim, Ledger

LARGE = {"CPU": 2.0, "memory": 100.0}
SMALL = {"CPU": 1.0, "memory": 0.0}


class Actor:
    """No call is made in these tests."""


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, float]]:
    """The live nodes; the executor looks at them each time that it is asked."""
    live: dict[str, dict[str, float]] = {}
    monkeypatch.setattr(ray_executor, "live_nodes", lambda: live)
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
        self.asking = False
        self.closed = False

    def follow(self, live: Any) -> None:
        """As told by the test."""

    def close(self) -> None:
        self.closed = True

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
    monkeypatch.setattr(executor._nodes, "_probe", probe)
    nodes.update(good=LARGE, bad=LARGE)
    assert executor.poll(0) == []
    probe.known.update(good=True, bad=False)
    assert executor.poll(0) == [
        e.Warn("Node bad cannot use the store."),
        e.NodeJoined("good", 2),
    ]
    assert executor.poll(0) == []
    executor.close()
    assert probe.closed


class Shares:
    """What a run is given, as the test says."""

    def __init__(self) -> None:
        self.given: dict[str, int] = {}
        self.asked: list[tuple[int, dict[str, int], dict[str, int]]] = []

    def ask(
        self, wanted: int, nodes: dict[str, int], offers: dict[str, int], holding: dict[str, int]
    ) -> dict[str, int]:
        del nodes
        self.asked.append((wanted, dict(offers), dict(holding)))
        return self.given


@dataclass
class Handle:
    """An actor that never answers."""

    done: list[int] = field(default_factory=list)

    @property
    def run(self) -> "Handle":
        return self

    @property
    def pulse(self) -> "Handle":
        return self

    def options(self, **_: str) -> "Handle":
        return self

    def remote(self, unit: Unit | None = None) -> str:
        if unit is None:
            return "pulse"
        self.done.append(unit.index)
        return f"call {unit.index}"


def unit(index: int) -> Unit:
    return Unit(name=str(index), index=index, start=0, stop=1, input_digest="", cost=1.0)


@pytest.fixture
def shared(
    executor: RayExecutor, nodes: dict[str, dict[str, float]], monkeypatch: pytest.MonkeyPatch
) -> Shares:
    """One node of two slots, all of which the run has, with a worker."""
    shares = Shares()
    monkeypatch.setattr(executor, "_shares", shares)
    monkeypatch.setattr(ray, "wait", lambda refs, **_: ([], refs))
    monkeypatch.setattr(ray, "kill", lambda handle: None)
    nodes.update(node=LARGE)
    shares.given = {"node": 2}
    assert executor.poll(0) == [e.NodeJoined("node", 2)]
    executor._actors["w"] = ray_executor._Actor("node", Handle())
    return shares


def test_nothing_is_asked_of_a_worker_whose_loss_is_not_told_yet(
    executor: RayExecutor, shared: Shares
) -> None:
    """A result and a loss may come in one batch; the result is told first, and work follows."""
    handle = executor._actors["w"].handle
    executor.retire("w")
    executor.submit("w", unit(0), audit=False)
    assert handle.done == []
    assert not executor._calls


def test_a_node_is_given_back_when_its_units_end(executor: RayExecutor, shared: Shares) -> None:
    executor.need(7)
    executor.submit("w", unit(0), audit=False)
    shared.given = {"node": 1}
    assert executor.poll(0) == [], "a unit is under way"
    executor.submit("w", unit(1), audit=False)
    assert executor._actors["w"].handle.done == [0], "no other begins"
    executor._calls.clear()
    assert executor.poll(0) == [e.NodeLost("node", given_back=True), e.NodeJoined("node", 1)]
    assert not executor._actors
    assert shared.asked[-1] == (7, {"node": 2}, {"node": 2})


def test_a_node_that_is_ours_again_goes_on_with_what_waited(
    executor: RayExecutor, shared: Shares
) -> None:
    executor.submit("w", unit(0), audit=False)
    shared.given = {}
    assert executor.poll(0) == []
    executor.submit("w", unit(1), audit=False)
    shared.given = {"node": 2}
    assert executor.poll(0) == []
    assert executor._actors["w"].handle.done == [0, 1]
    assert list(executor._slots) == ["node"]


def test_a_node_that_was_given_back_whole_is_joined_when_it_is_ours_again(
    executor: RayExecutor, shared: Shares
) -> None:
    shared.given = {}
    assert executor.poll(0) == [e.NodeLost("node", given_back=True)]
    assert executor.poll(0) == []
    shared.given = {"node": 2}
    assert executor.poll(0) == [e.NodeJoined("node", 2)]


def test_a_node_is_given_back_though_a_worker_is_at_what_nobody_waits_for(
    executor: RayExecutor, shared: Shares
) -> None:
    executor.submit("w", unit(0), audit=False)
    shared.given = {}
    assert executor.poll(0) == []
    executor.call_off("w", 0, audit=True)
    assert executor.poll(0) == [], "the unit itself is waited for"
    executor.call_off("w", 0, audit=False)
    assert executor.poll(0) == [e.NodeLost("node", given_back=True)]


def test_what_is_called_off_before_it_was_handed_over_is_never_begun(
    executor: RayExecutor, shared: Shares
) -> None:
    executor.submit("w", unit(0), audit=False)
    shared.given = {"node": 1}
    assert executor.poll(0) == []
    executor.submit("w", unit(1), audit=False)
    executor.call_off("w", 1, audit=False)
    shared.given = {"node": 2}
    assert executor.poll(0) == [e.Dropped("w", 1)]
    assert executor._actors["w"].handle.done == [0]


def test_a_worker_whose_process_does_not_come_up_is_given_up_and_one_that_waits_for_room_is_not(
    executor: RayExecutor, shared: Shares, monkeypatch: pytest.MonkeyPatch
) -> None:
    del shared
    now = 0.0
    there: list[bool] = []
    monkeypatch.setattr(ray_pulse, "has_process", lambda handle: bool(there))
    monkeypatch.setattr(executor, "_starts", ray_pulse.Starts(lambda: now))
    executor._starting.add("w")
    executor._calls["hello"] = ray_executor._Call("w")

    def pass_by(seconds: int) -> list[Any]:
        nonlocal now
        reports: list[Any] = []
        for _ in range(seconds):
            now += 1
            reports += executor.poll(0)
        return reports

    assert pass_by(10_000) == [], "it waits for what another run holds"
    there.append(True)
    assert pass_by(290) == []
    (lost,) = pass_by(20)
    assert isinstance(lost, e.WorkerLost)
    assert (lost.worker, lost.cause) == ("w", e.LossCause.UNREACHABLE)
    assert not executor._starting


@pytest.mark.parametrize("refused", [False, True])
def test_a_task_goes_to_a_node_that_is_ours_and_reaches_the_store(
    refused: bool,
    executor: RayExecutor,
    nodes: dict[str, dict[str, float]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    probe, shares = Probe(), Shares()
    monkeypatch.setattr(executor._nodes, "_probe", probe)
    monkeypatch.setattr(executor, "_shares", shares)
    nodes.update(small=SMALL, first=LARGE, second=LARGE)
    assert executor._place("merge", 50, []) is None, "nobody knows yet who reaches the store"
    probe.known.update(small=True, first=not refused, second=True)
    assert executor._place("merge", 50, []) is None, "both are others'"
    shares.given = {"second": 2}
    assert executor._place("merge", 50, []) == "second"
    other = "second" if refused else "first"
    shares.given = {other: 2}
    assert executor._place("merge", 50, ["second"]) == other, "it was lost on the second"
    assert shares.asked[-1] == (1, {other: 2}, {}), "neither that nor the small one is asked for"
    with pytest.raises(ClusterError, match=r"'merge' needs a node .* the largest offers 0 MB"):
        executor._place("merge", 101 * 2**20, [])


def test_the_first_node_is_waited_for_but_not_for_ever(
    executor: RayExecutor, nodes: dict[str, dict[str, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    nodes.update(head={"memory": 100.0})
    assert executor._place("prepare", 50, []) is None
    now = 599.0
    assert executor._place("prepare", 50, []) is None
    nodes.update(first=LARGE)
    assert executor._place("prepare", 50, []) == "first"
    del nodes["first"]
    now = 1000.0
    assert executor._place("prepare", 50, []) is None
    now = 1601.0
    with pytest.raises(ClusterError, match=r"'prepare' .* none has joined in 10 minutes"):
        executor._place("prepare", 50, [])


# --- tasks on a cluster that is shared ------------------------------------------------------------


class OneOf:
    """The shares of a run, asked of a ledger that others ask, too."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    def ask(
        self, wanted: int, nodes: dict[str, int], offers: dict[str, int], holding: dict[str, int]
    ) -> dict[str, int]:
        return self.ledger.report("c", Claim(1.0, wanted, offers, holding), nodes, 0.0)


def test_a_task_waits_for_a_node_only_as_long_as_that_is_ours(
    executor: RayExecutor, nodes: dict[str, dict[str, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run gives its node back for it, and keeps it when a second one joins."""
    ledger = Ledger()
    monkeypatch.setattr(executor, "_shares", OneOf(ledger))
    large = {"CPU": 4.0, "memory": 100.0}

    def other_asks() -> dict[str, int]:
        slots = dict.fromkeys(nodes, 4)
        return ledger.report("a", Claim(1.0, 1000, slots, {"n1": 4}), slots, 0.0)

    nodes.update(n1=large)
    assert other_asks() == {"n1": 4}
    assert executor._place("prepare", 50, []) == "n1"
    assert executor._place("prepare", 50, [], "n1") == "n1"
    assert other_asks() == {"n1": 3}, "which it gives back for it"
    nodes.update(n2=large)
    assert other_asks()["n1"] == 4
    assert executor._place("prepare", 50, [], "n1") == "n2"


def test_the_node_of_a_task_is_held_and_stays_ours(
    executor: RayExecutor, nodes: dict[str, dict[str, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger()
    monkeypatch.setattr(executor, "_shares", OneOf(ledger))
    nodes.update(n1={"CPU": 1.0, "memory": 100.0}, n2={"CPU": 4.0, "memory": 100.0})
    assert executor._place("prepare", 50, []) == "n2", "where there is most room"
    assert executor._place("prepare", 50, [], "n1") == "n1"
    slots = {"n1": 1, "n2": 4}
    assert ledger.report("a", Claim(1.0, 1000, slots), slots, 0.0) == {"n2": 4}


def test_while_a_small_task_runs_the_run_is_heard_of_and_wants_what_it_wanted(
    executor: RayExecutor, shared: Shares, monkeypatch: pytest.MonkeyPatch
) -> None:
    executor.need(7)
    looks: list[str] = []
    placed: list[str] = []

    def start(task: RayTask, node: str) -> Handle:
        del task
        placed.append(node)
        return Handle()

    def wait(refs: list[str], **_: float) -> tuple[list[str], list[str]]:
        return (refs if len(looks) == 5 else []), []

    context = SimpleNamespace(get_node_id=lambda: "own")
    monkeypatch.setattr(ray, "get_runtime_context", lambda: context)
    monkeypatch.setattr(ray, "wait", wait)
    monkeypatch.setattr(ray, "get", lambda ref: 99)
    monkeypatch.setattr(RayTask, "_start", start)
    monkeypatch.setattr(Handle, "remote", lambda *args: "call")
    monkeypatch.setattr(ray_pulse, "has_process", lambda handle: True)
    shared.asked.clear()
    assert executor.call(len, (), memory=None, meanwhile=looks.append) == 99
    assert placed == ["own"]
    assert len(shared.asked) >= 4
    assert {str(asked) for asked in shared.asked} == {str((7, {"node": 2}, {"node": 2}))}


# --- nodes that are barred ------------------------------------------------------------------------


def test_a_node_that_is_barred_is_neither_held_nor_asked_for_and_another_is_ours_instead(
    executor: RayExecutor, nodes: dict[str, dict[str, float]], shared: Shares
) -> None:
    nodes.update(theirs=LARGE)
    assert executor.poll(0) == []
    executor.bar("node")
    assert not executor._actors
    shared.given = {"theirs": 2}
    assert executor.poll(0) == [e.NodeJoined("theirs", 2)]
    assert shared.asked[-1][1:] == ({"theirs": 2}, {})
    assert executor.poll(0) == [], "it is not found anew"
    executor.close()
    assert executor._place("merge", 50, []) == "theirs"


def test_that_no_node_is_left_is_told_when_the_last_one_is_barred(
    executor: RayExecutor, nodes: dict[str, dict[str, float]], shared: Shares
) -> None:
    shared.given = {}
    executor.bar("node")
    assert executor.poll(0) == [e.NoNodeLeft()]
    assert executor.poll(0) == [], "once"
    shared.given = {"new": 2}
    nodes.update(new=LARGE)
    assert executor.poll(0) == [e.NodeJoined("new", 2)]
    del nodes["new"]
    shared.given = {}
    assert executor.poll(0) == [e.NodeLost("new")], "others may come"
    assert executor.poll(0) == []


@pytest.mark.parametrize("fine", [True, False])
def test_a_node_that_may_turn_out_to_be_usable_is_waited_for_when_the_last_other_is_barred(
    fine: bool,
    executor: RayExecutor,
    nodes: dict[str, dict[str, float]],
    shared: Shares,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    probe = Probe()
    monkeypatch.setattr(executor._nodes, "_probe", probe)
    nodes.update(new=LARGE)
    probe.asking = True
    shared.given = {}
    executor.bar("node")
    assert executor.poll(0) == []
    probe.known.update(new=fine)
    probe.asking = False
    shared.given = {"new": 2} if fine else {}
    told = [report for report in executor.poll(0) if not isinstance(report, e.Warn)]
    assert told == [e.NodeJoined("new", 2)] if fine else [e.NoNodeLeft()]
