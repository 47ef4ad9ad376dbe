"""Finds workers whose process is there and yet does nothing more.

Ray watches its own processes and the connections to actors; an actor whose process was stopped by a
signal answers nobody and is no less alive to Ray. So each worker is asked for a sign of life, in a
thread of its own, and one that gives none for a minute counts as out of reach. Units take long,
which is no reason: they are computed without the lock of the interpreter. A worker whose threads
wait for a mount that is gone still answers; what it has is copied (see `waiting`).

An actor that starts cannot be asked yet. It may wait for long, and rightly, until there is room for
it on its node; but once it has its process it is to come up in five minutes.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import ray
from ray import exceptions as re
from ray._private import state as ray_state

GROUP = "pulse"  # a concurrency group of the actors, so that no unit keeps them from answering
ASK_EVERY = 5.0  # seconds
SILENT = 60.0  # seconds without a sign of life
START = 300.0  # seconds that a process may take until it answers first
_GAP = 5.0  # seconds; after more than this between two looks we were not running ourselves


class OwnTime:
    """Seconds that pass while this process runs: when it stood still, so did its questions."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.now = clock()

    def passed(self) -> float:
        """Those since this was asked last."""
        before, self.now = self.now, self._clock()
        return min(self.now - before, _GAP)


@dataclass(slots=True)
class _Question:
    ref: Any
    waited: float = 0.0


class Pulses:
    """Asks workers for signs of life.

    Args:
        clock: seconds, from any point in time.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._time = OwnTime(clock)
        self._open: dict[str, _Question] = {}
        self._asked: dict[str, float] = {}

    def silent(self, workers: Mapping[str, Any]) -> list[str]:
        """Ask all of these, and tell which have been silent for too long.

        Args:
            workers: the handles of the actors, by name.
        """
        passed, now = self._time.passed(), self._time.now
        self._open = {name: asked for name, asked in self._open.items() if name in workers}
        self._take_answers()
        for question in self._open.values():
            question.waited += passed
        for name in workers.keys() - self._open.keys():
            if now - self._asked.get(name, float("-inf")) >= ASK_EVERY:
                self._asked[name] = now
                self._open[name] = _Question(
                    workers[name].pulse.options(concurrency_group=GROUP).remote()
                )
        self._asked = {name: then for name, then in self._asked.items() if name in workers}
        return [name for name, question in self._open.items() if question.waited > SILENT]

    def _take_answers(self) -> None:
        names = {question.ref: name for name, question in self._open.items()}
        if not names:
            return
        ready, _ = ray.wait(list(names), num_returns=len(names), timeout=0)
        for ref in ready:
            del self._open[names[ref]]
            with suppress(re.RayError):  # of a worker that is gone: its units tell
                ray.get(ref)


class Starts:
    """Watches actors that start.

    Args:
        clock: seconds, from any point in time.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._time = OwnTime(clock)
        self._asked: dict[str, float] = {}
        self._waited: dict[str, float] = {}  # since they have a process

    def late(self, starting: Mapping[str, Any]) -> list[str]:
        """Those that have a process for too long and do not answer.

        Args:
            starting: the handles of the actors that have not answered yet, by name.
        """
        passed, now = self._time.passed(), self._time.now
        self._waited = {n: waited + passed for n, waited in self._waited.items() if n in starting}
        self._asked = {name: then for name, then in self._asked.items() if name in starting}
        for name in starting.keys() - self._waited.keys():
            if now - self._asked.get(name, float("-inf")) >= ASK_EVERY:
                self._asked[name] = now
                if has_process(starting[name]):
                    self._waited[name] = 0.0
        return [name for name, waited in self._waited.items() if waited > START]

    def began(self, name: str) -> bool:
        """Whether an actor was seen to have a process."""
        return name in self._waited


def has_process(actor: Any) -> bool:
    """Whether an actor has got a process, or is gone: it does not wait for room any more."""
    known: dict[str, Any] = ray_state.actors(actor._actor_id.hex())
    return bool(known.get("Pid")) or known.get("State") == "DEAD"
