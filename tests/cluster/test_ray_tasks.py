"""Tasks that wait for their process, or run, while nodes change hands. Starts no cluster."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

import pytest
import ray
from ray import exceptions

from plymill.cluster import RunFailedError
from plymill.cluster.on_ray import pulse as ray_pulse
from plymill.cluster.on_ray import tasks as ray_tasks
from plymill.cluster.on_ray.tasks import RayTask

re: Any = exceptions  # whose constructors are not annotated


@dataclass
class Handle:
    """An actor that was started on a node; its calls are named after what is called."""

    node: str
    called: str = ""

    @property
    def run(self) -> "Handle":
        return Handle(self.node, "run")

    @property
    def pulse(self) -> "Handle":
        return Handle(self.node, "pulse")

    def options(self, **_: str) -> "Handle":
        return self

    def remote(self, *_: Any) -> tuple[str, str]:
        return self.called, self.node


@dataclass
class World:
    """Ray, as a task sees it.

    Attributes:
        begun: the nodes where an actor has its process.
        done: those where the task has ended.
        dead: those that are lost.
        started: where actors were started, in order.
        killed: where they were ended.
        told: what the task was said to wait for.
        on_look: what happens at each look.
    """

    begun: set[str] = field(default_factory=set)
    done: set[str] = field(default_factory=set)
    dead: set[str] = field(default_factory=set)
    started: list[str] = field(default_factory=list)
    killed: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    on_look: Callable[[int], None] = lambda look: None

    def start(self, node: str) -> Handle:
        self.started.append(node)
        return Handle(node)

    def wait(self, refs: list[tuple[str, str]], **_: Any) -> tuple[list[Any], list[Any]]:
        ready = [
            (called, node)
            for called, node in refs
            if node in self.done | self.dead or (called == "pulse" and node in self.begun)
        ]
        return ready, [ref for ref in refs if ref not in ready]

    def get(self, ref: tuple[str, str]) -> str:
        if ref[1] in self.dead:
            raise re.NodeDiedError("it is gone")
        return f"done at {ref[1]}"

    def look(self, waits_for: str) -> bool:
        self.told.append(waits_for)
        assert len(self.told) < 1000, "the task stands still"
        self.on_look(len(self.told))
        return True

    def kill(self, handle: Handle) -> None:
        self.killed.append(handle.node)

    def carry_out(self, place: Callable[[Collection[str], str | None], str | None]) -> str:
        task = RayTask({}, place, self.look, self.kill)
        done: str = task.carry_out(len, ())
        return done


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    world = World()
    monkeypatch.setattr(RayTask, "_start", world.start)
    monkeypatch.setattr(ray, "wait", world.wait)
    monkeypatch.setattr(ray, "get", world.get)
    for module in (ray_tasks, ray_pulse):
        monkeypatch.setattr(module, "has_process", lambda handle: handle.node in world.begun)
    monkeypatch.setattr(ray_tasks, "_LOOK_EVERY", 0.0)
    return world


def test_a_task_that_waits_on_a_node_goes_where_it_is_to_be_however_often_that_changes(
    world: World,
) -> None:
    world.done.add("n9")
    done = world.carry_out(lambda lost, at: f"n{min(9, len(world.told) // 3)}")
    assert done == "done at n9"
    assert world.started == [f"n{i}" for i in range(10)], "none of these was a loss"
    assert world.killed == world.started


def test_a_task_that_is_to_be_nowhere_waits_until_it_is_to_be_somewhere(world: World) -> None:
    world.done.add("n2")
    turns = {2: "n1", 3: "n1", 9: "n2", 10: "n2"}
    done = world.carry_out(lambda lost, at: turns.get(len(world.told)))
    assert done == "done at n2"
    assert world.started == ["n1", "n2"]


def test_a_task_that_has_its_process_stays_where_it_is(world: World) -> None:
    world.begun.add("n1")

    def change(look: int) -> None:
        if look == 20:
            world.done.add("n1")

    world.on_look = change
    assert world.carry_out(lambda lost, at: "n2" if at else "n1") == "done at n1"
    assert world.started == ["n1"]


def test_what_is_lost_counts_and_is_told_where_to_avoid(world: World) -> None:
    world.dead |= {"n0", "n1", "n2", "n3"}
    asked: list[Collection[str]] = []

    def place(lost: Collection[str], at: str | None) -> str:
        asked.append(sorted(lost))
        return at or f"n{len(lost)}"

    with pytest.raises(RunFailedError, match="'len' was lost again and again: it is gone"):
        world.carry_out(place)
    assert asked == [[], ["n0"], ["n0", "n1"], ["n0", "n1", "n2"]]
    assert world.killed == ["n0", "n1", "n2", "n3"]


def test_what_a_task_waits_for_is_told_as_long_as_it_waits(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_tasks, "_SOON", -1.0)

    def change(look: int) -> None:
        if look == 6:
            world.begun.add("n1")
        if look == 9:
            world.done.add("n1")

    world.on_look = change
    world.carry_out(lambda lost, at: "n1" if len(world.told) >= 3 else None)
    assert world.told == ["waiting for a node"] * 6 + [""] * 3


def test_what_is_raised_while_a_task_is_looked_after_ends_it(world: World) -> None:
    def change(look: int) -> None:
        if look == 5:
            raise KeyboardInterrupt

    world.on_look = change
    with pytest.raises(KeyboardInterrupt):
        world.carry_out(lambda lost, at: "n1")
    assert world.killed == ["n1"]
