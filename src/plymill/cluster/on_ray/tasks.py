"""A task on Ray: a function that runs once, somewhere.

It gets an actor of its own and not a task of Ray's, since only an actor can be asked for signs of
life: Ray would wait for ever for a process that was stopped. What is lost is done again, elsewhere
if there is another place. What waits for room on a node that is not the run's any more is placed
anew: whoever has that node may keep it for days.
"""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import ray
from ray import exceptions as re
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from plymill.cluster.errors import RunFailedError
from plymill.cluster.on_ray.outcomes import gist
from plymill.cluster.on_ray.pulse import GROUP, Pulses, Starts, has_process
from plymill.errors import PlymillError

_TIMES = 4
_LOOK_EVERY = 0.5  # seconds
_SOON = 5.0  # seconds in which a process starts as a rule: nobody is told that it waits for a node
_NO_NODE = "waiting for a node"


class _Actor:
    def run(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        return function(*args)

    def pulse(self) -> None:
        """A sign of life."""


class _SilentError(Exception):
    """The process is there and does nothing more."""


class _MovedError(Exception):
    """There is no process yet, and it is to be elsewhere."""


@dataclass(frozen=True)
class RayTask:
    """How a task is run.

    Attributes:
        needs: what Ray has to keep free for it.
        place: the node where it is to be, given those where it was lost before and the one where
            it is, if any; None while there is none. Asked twice a second.
        look: looks after Ray twice a second, told what the task waits for; whether Ray can be
            asked something.
        kill: ends an actor.
    """

    needs: dict[str, Any]
    place: Callable[[Collection[str], str | None], str | None]
    look: Callable[[str], bool]
    kill: Callable[[Any], None]

    def carry_out(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """What the function returns.

        Raises:
            RunFailedError: its process or its node was lost again and again.
            PlymillError, OSError, MemoryError: from the function itself.
        """
        lost: set[str] = set()
        losses = 0
        while losses < _TIMES:
            node = self._find_place(lost)
            actor = self._start(node)
            try:
                return self._result(actor, actor.run.remote(function, args), node, lost)
            except _MovedError:
                continue
            except re.RayTaskError as error:
                cause = error.cause
                if isinstance(cause, PlymillError | OSError | MemoryError):
                    raise cause from None
                raise
            except (re.RayError, _SilentError) as error:
                why = gist(error) if isinstance(error, re.RayError) else str(error)
                lost.add(node)
                losses += 1
            finally:
                self.kill(actor)
        raise RunFailedError(f"The task '{function.__name__}' was lost again and again: {why}")

    def _find_place(self, lost: Collection[str]) -> str:
        since = time.monotonic()
        while True:
            node = self.place(lost, None) if self.look(_waits(since)) else None
            if node is not None:
                return node
            time.sleep(_LOOK_EVERY)

    def _start(self, node: str) -> Any:
        remote: Any = ray.remote  # whose annotations do not know of concurrency groups
        where = NodeAffinitySchedulingStrategy(node, soft=False)
        kind = remote(concurrency_groups={GROUP: 1})(_Actor)
        return kind.options(**self.needs, max_restarts=0, scheduling_strategy=where).remote()

    def _result(self, actor: Any, ref: Any, node: str, lost: Collection[str]) -> Any:
        """Wait until a task ends; what it returned or raised."""
        there = actor.pulse.options(concurrency_group=GROUP).remote()
        starts, pulses = Starts(), Pulses()
        answers, since = False, time.monotonic()
        while not ray.wait([ref], timeout=_LOOK_EVERY)[0]:
            if not self.look("" if answers or starts.began("") else _waits(since)):
                continue
            answers = answers or bool(ray.wait([there], timeout=0)[0])
            if self.place(lost, node) != node and not answers and not has_process(actor):
                raise _MovedError
            if pulses.silent({"": actor} if answers else {}):
                raise _SilentError("it gave no sign of life")
            if starts.late({} if answers else {"": actor}):
                raise _SilentError("its process did not come up")
        return ray.get(ref)


def _waits(since: float) -> str:
    return _NO_NODE if time.monotonic() - since > _SOON else ""
