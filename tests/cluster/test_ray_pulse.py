"""Signs of life, on a clock of the test's own. Starts no cluster."""

from dataclasses import dataclass, field

import pytest
import ray

from plymill.cluster.on_ray.pulse import ASK_EVERY, GROUP, SILENT, Pulses


@dataclass
class Handle:
    """An actor; its calls are numbered, and it answers those in ``answered``."""

    asked: list[str] = field(default_factory=list)
    answers: bool = True

    @property
    def pulse(self) -> "Handle":
        return self

    def options(self, *, concurrency_group: str) -> "Handle":
        assert concurrency_group == GROUP
        return self

    def remote(self) -> str:
        self.asked.append(f"{id(self)}/{len(self.asked)}")
        return self.asked[-1]


class World:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.workers = {"a": Handle(), "b": Handle()}
        self.pulses = Pulses(lambda: self.now)
        monkeypatch.setattr(ray, "wait", self.wait)
        monkeypatch.setattr(ray, "get", lambda ref: None)

    def wait(self, refs: list[str], **_: float) -> tuple[list[str], list[str]]:
        mute = {
            ref for handle in self.workers.values() if not handle.answers for ref in handle.asked
        }
        return [ref for ref in refs if ref not in mute], [ref for ref in refs if ref in mute]

    def pass_by(self, seconds: float, step: float = 1.0) -> list[str]:
        """Look once every ``step`` seconds; who is silent in the end."""
        silent: list[str] = []
        until = self.now + seconds
        while self.now < until:
            self.now += step
            silent = self.pulses.silent(self.workers)
        return silent


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


def test_workers_that_answer_are_asked_now_and_then_and_are_never_silent(world: World) -> None:
    assert world.pass_by(10 * SILENT) == []
    assert 100 <= len(world.workers["a"].asked) <= 10 * SILENT / ASK_EVERY + 1


def test_a_worker_that_answers_no_more_is_silent_after_a_minute_and_nobody_else(
    world: World,
) -> None:
    world.pass_by(30)
    world.workers["b"].answers = False
    assert world.pass_by(SILENT - ASK_EVERY) == []
    assert world.pass_by(2 * ASK_EVERY) == ["b"]
    del world.workers["b"]
    assert world.pass_by(10) == []


def test_a_worker_that_hung_for_a_while_is_forgiven(world: World) -> None:
    world.pass_by(30)
    world.workers["b"].answers = False
    world.pass_by(SILENT / 2)
    world.workers["b"].answers = True
    world.pass_by(10)
    world.workers["b"].answers = False
    assert world.pass_by(SILENT - ASK_EVERY) == []


def test_hours_for_which_the_driver_itself_was_stopped_are_not_counted(world: World) -> None:
    world.pass_by(30)
    world.workers["b"].answers = False
    world.pass_by(10)
    assert world.pass_by(7200, step=7200) == []
    world.workers["b"].answers = True
    assert world.pass_by(30) == []
