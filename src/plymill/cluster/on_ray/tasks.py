"""A task on Ray: a function that runs once, somewhere.

It gets an actor of its own and not a task of Ray's, since only an actor can be asked for signs of
life: Ray would wait for ever for a process that was stopped. What is lost is done again elsewhere.
"""

from collections.abc import Callable
from typing import Any

import ray
from ray import exceptions as re

from plymill.cluster.errors import RunFailedError
from plymill.cluster.on_ray.outcomes import gist
from plymill.cluster.on_ray.pulse import GROUP, Pulses
from plymill.errors import PlymillError

_TIMES = 4
_LOOK_EVERY = 0.5  # seconds


class _Task:
    def run(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        return function(*args)

    def pulse(self) -> None:
        """A sign of life."""


def carry_out(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    needs: dict[str, Any],
    meanwhile: Callable[[], bool],
    kill: Callable[[Any], None],
) -> Any:
    """What a function returns that runs somewhere on the cluster.

    Args:
        function: the task.
        args: for it.
        needs: what Ray has to keep free for it.
        meanwhile: called twice a second; whether Ray can be asked something.
        kill: ends an actor.

    Raises:
        RunFailedError: the process or its node was lost again and again.
        PlymillError, OSError, MemoryError: from the task itself.
    """
    remote: Any = ray.remote  # whose annotations do not know of concurrency groups
    kind = remote(concurrency_groups={GROUP: 1})(_Task).options(**needs, max_restarts=0)
    lost = ""
    for _ in range(_TIMES):
        actor = kind.remote()
        try:
            ref = actor.run.remote(function, args)
            if _ends(actor, ref, meanwhile):
                return ray.get(ref)
            lost = "it gave no sign of life for a minute"
        except re.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, PlymillError | OSError | MemoryError):
                raise cause from None
            raise
        except re.RayError as error:
            lost = gist(error)
        finally:
            kill(actor)
    raise RunFailedError(f"The task '{function.__name__}' was lost again and again: {lost}")


def _ends(actor: Any, ref: Any, meanwhile: Callable[[], bool]) -> bool:
    """Wait until a task ends; False if its process gives no sign of life any more."""
    born = actor.pulse.options(concurrency_group=GROUP).remote()
    pulses: Pulses | None = None  # of a process that is there: it may wait long for a place
    while not ray.wait([ref], timeout=_LOOK_EVERY)[0]:
        reachable = meanwhile()
        if pulses is None and ray.wait([born], timeout=0)[0]:
            pulses = Pulses()
        if pulses is not None and pulses.silent({"": actor}) and reachable:
            return False
    return True
