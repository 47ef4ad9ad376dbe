"""What Ray's reports mean. What Ray 2.60 raises from ``ray.get``:

* an exception of the unit's own: ``RayTaskError``, with the exception as its cause;
* the process died: ``ActorDiedError``, also for a call to an actor that is dead already, and with
  ``actor_init_failed`` when the constructor raised;
* the memory monitor killed it: ``OutOfMemoryError``;
* the node died: ``ActorDiedError`` while ``ray.nodes()`` shows the node dead (now or a little
  later), ``preempted`` when it was drained, or ``NodeDiedError``;
* no answer, perhaps for a while only: ``ActorUnavailableError``.

Of a process that is there and does nothing more Ray tells nothing: see `pulse`.
"""

from typing import Any

import ray
from ray import exceptions as re

from plymill.cluster.machine import events as e

_GIST_LENGTH = 300


def fetch(ref: Any) -> Any:
    """The value of a call that has ended, or what it raised."""
    try:
        return ray.get(ref)
    except re.RayError as error:
        return error


def loss_cause(error: re.RayError, *, node_alive: bool) -> e.LossCause:
    """Why a worker is gone, from what ``ray.get`` raised and whether its node still lives."""
    if isinstance(error, re.OutOfMemoryError):
        return e.LossCause.OUT_OF_MEMORY
    node_died = isinstance(error, re.NodeDiedError | re.LocalRayletDiedError)
    if node_died or not node_alive or getattr(error, "preempted", False):
        return e.LossCause.NODE_LOST
    unscheduled = isinstance(error, re.ActorUnschedulableError)
    if unscheduled or getattr(error, "actor_init_failed", False):
        return e.LossCause.NOT_STARTED
    if isinstance(error, re.ActorUnavailableError):
        return e.LossCause.UNREACHABLE
    return e.LossCause.CRASHED


def gist(error: re.RayError) -> str:
    """The line of Ray's message that says most: of a dead actor the last, of others the first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    return lines[-1 if isinstance(error, re.RayActorError) else 0][:_GIST_LENGTH]
