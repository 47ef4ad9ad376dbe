"""Which nodes of a Ray cluster reach the store; nodes and their answers are the test's own."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import ray
from ray import exceptions

from plymill.cluster import MemoryFiles, RunStore, StoreError
from plymill.cluster.on_ray import probe as ray_probe
from plymill.cluster.on_ray.probe import RayProbe
from plymill.cluster.probe import Answer, StoreProbe

re: Any = exceptions  # whose constructors are not annotated


class World:
    """Nodes that answer as they are told to.

    Attributes:
        live: the nodes that are there.
        says: what each of them says next; who has nothing to say has not answered yet.
        asked: who was asked, in order.
    """

    def __init__(self) -> None:
        self.disk: dict[str, bytes] = {}
        self.store = RunStore(MemoryFiles("memory://", self.disk), "run-1")
        self.live = {"own", "n1"}
        self.says: dict[str, list[Exception | Answer]] = {}
        self.asked: list[str] = []
        self.now = 0.0
        self.probe = RayProbe(self.store, lambda: self.live, lambda: self.now)

    def ask(self, probe: StoreProbe, node: str) -> str:
        """Ask a node; one that will be fine writes its file at once."""
        self.asked.append(node)
        _, folder, secret = probe.parcel
        self.store.files.write(f"{folder}/{node}", secret.encode())
        return node

    def wait(self, refs: list[str], **_: Any) -> tuple[list[str], list[str]]:
        return [ref for ref in refs if self.says.get(ref)], []

    def get(self, ref: str) -> Answer:
        said = self.says[ref].pop(0)
        if isinstance(said, Exception):
            raise said
        return said

    def left(self) -> list[str]:
        """The files of probes."""
        return [path for path in self.disk if "probe-" in path]

    def look(self) -> bool:
        assert self.now < 1000, "nobody gives up"
        self.now += 0.5
        return True

    def after(self, seconds: float, node: str = "n1") -> bool | None:
        """Look twice a second for so long, or until it is known whether a node is fine."""
        until = self.now + seconds
        while self.now < until:
            self.look()
            self.probe.follow(self.live)
            reaches = self.probe.reaches(node) if node in self.live else None
            if reaches is not None:
                return reaches
        return None


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    world = World()
    monkeypatch.setattr(ray_probe, "_ask", world.ask)
    monkeypatch.setattr(ray_probe, "_LOOK_EVERY", 0.0)
    monkeypatch.setattr(ray, "wait", world.wait)
    monkeypatch.setattr(ray, "get", world.get)
    context = SimpleNamespace(get_node_id=lambda: "own")
    monkeypatch.setattr(ray, "get_runtime_context", lambda: context)
    return world


def crashed() -> Exception:
    error: Exception = re.WorkerCrashedError()
    return error


def out_of_memory() -> Exception:
    error: Exception = re.OutOfMemoryError("the node is low on memory")
    return error


def node_died() -> Exception:
    error: Exception = re.NodeDiedError("it is gone")
    return error


FINE = Answer("host", 1)


def test_a_later_node_is_fine_once_it_has_answered_and_nothing_is_left(world: World) -> None:
    assert world.after(10) is None
    assert world.left()
    world.says["n1"] = [FINE]
    assert world.after(10) is True
    assert world.left() == []
    assert world.asked == ["n1"]
    assert not world.probe.asking


@pytest.mark.parametrize("error", [crashed, out_of_memory])
def test_a_living_node_whose_process_dies_is_asked_again_and_then_refused(
    error: Callable[[], Exception], world: World
) -> None:
    world.says["n1"] = [error(), error(), FINE]
    assert world.after(60) is True, "it was busy for a moment"
    world.live.add("n2")
    world.says["n2"] = [error() for _ in range(9)]
    assert world.after(60, "n2") is False
    assert world.asked == ["n1"] * 3 + ["n2"] * 4
    assert world.probe.fault_of("n2").startswith("Node n2 cannot run plymill: ")
    assert world.left() == []


def test_a_dead_node_that_is_still_listed_is_no_fault_and_its_files_are_removed_with_it(
    world: World,
) -> None:
    world.says["n1"] = [node_died() for _ in range(1000)]
    assert world.after(20) is None
    world.live.remove("n1")
    assert world.after(1) is None
    assert world.left() == []
    assert not world.probe.asking


def test_what_a_node_that_vanished_before_it_answered_was_asked_is_removed(world: World) -> None:
    assert world.after(5) is None
    world.live.remove("n1")
    world.after(1)
    assert world.left() == []
    world.live.add("n1")
    world.says["n1"] = [FINE]
    assert world.after(5) is True, "it was not taken for fine, nor refused: it was asked anew"
    assert world.asked == ["n1", "n1"]


def test_a_later_node_that_never_answers_is_refused_after_a_while(world: World) -> None:
    assert world.after(89) is None
    assert world.after(5) is False
    assert "does not look at the store within 90 seconds" in world.probe.fault_of("n1")
    assert world.left() == []


def test_what_is_pending_when_the_run_ends_is_removed(world: World) -> None:
    assert world.after(5) is None
    world.probe.close()
    assert world.left() == []


def test_the_first_nodes_are_waited_for_and_those_that_vanish_are_not(world: World) -> None:
    world.live.add("n2")
    looks: list[float] = []

    def look() -> bool:
        looks.append(world.now)
        if len(looks) == 5:
            world.says["n1"] = [FINE]
        if len(looks) == 10:
            world.live.remove("n2")
        return world.look()

    world.probe.require(["own", "n1", "n2"], look)
    assert len(looks) == 10
    assert world.probe.reaches("n1") is True
    assert world.left() == []
    assert world.asked == ["n1", "n2"]


def test_one_of_the_first_nodes_that_does_not_answer_ends_the_run(world: World) -> None:
    world.live.add("n2")
    world.says["n1"] = [FINE]
    with pytest.raises(StoreError, match="Node n2 does not look at the store within 90 seconds"):
        world.probe.require(["own", "n1", "n2"], world.look)
    assert world.left() == []
    assert 90 < world.now < 100
