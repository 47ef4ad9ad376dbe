"""The troubles of Ray itself, told by us and in one place.

Of a Ray that this process has started: left to itself Ray ends the driver a minute after its GCS
has died, without a chance to say anything in the store; after the death of the only raylet it waits
for ever for another node; and its messages about both, and about every process that dies, go to
standard output, where our results are. What remains: if the GCS dies in the very moment in which it
is asked something, Ray ends the driver with words of its own. The same command goes on in any case.

Of a cluster that others have started: when its head is gone, Ray ends the driver after a minute in
the same way. `Head` sees it coming. A head that comes back in time, with a GCS that has kept what
it knew, is used on.
"""

import logging
import socket
import time
from collections.abc import Callable
from typing import Any

import ray
from ray._private import worker as ray_worker

from plymill.cluster.errors import RunFailedError

_log = logging.getLogger(__name__)

_NEEDED = ("gcs_server", "raylet")
_KNOCK_EVERY = 2.0  # seconds
_KNOCK_SECONDS = 2.0  # until a head counts as one that does not answer
_PATIENCE = 45.0  # seconds, less than the minute after which Ray ends the process


class Head:
    """Looks whether the head of the cluster is there.

    Attributes:
        gone: whether it did not answer when last asked: then nothing may be asked of Ray's GCS.

    Args:
        timer: seconds, from any point in time.
    """

    def __init__(self, timer: Callable[[], float] = time.monotonic) -> None:
        self._timer = timer
        self._address = ""
        self._looked = self._seen = float("-inf")
        self.gone = False

    def require(self, *, at_once: bool = False) -> None:
        """Knock, if it is time to, or if it has to be known ``at_once``.

        Raises:
            RunFailedError: the head has not answered for too long.
        """
        now = self._timer()
        if (now - self._looked < _KNOCK_EVERY and not at_once) or not ray.is_initialized():
            return
        if not self._address:
            self._address = ray.get_runtime_context().gcs_address
            self._seen = now
        self._looked = now
        self.gone = not _answers(self._address)
        if not self.gone:
            self._seen = now
        elif now - self._seen > _PATIENCE:
            raise RunFailedError(
                f"The head of the cluster does not answer any more at {self._address}. What is "
                "finished is kept; start the cluster again, or another one, and resume the run."
            )


def _answers(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK_SECONDS).close()
    except OSError:
        return False
    return True


def require_own_ray() -> None:
    """See that a Ray which this process has started is whole; of other clusters nothing is asked.

    Raises:
        RunFailedError: a process that it cannot do without has ended.
    """
    node: Any = ray_worker._global_node
    started = {} if node is None else node.all_processes
    for name in _NEEDED:
        for info in started.get(name, ()):
            if info.process.poll() is not None:
                raise RunFailedError(
                    f"The Ray that was started on this machine has lost its {name} (process "
                    f"{info.process.pid}): it was killed, perhaps for want of memory. What is "
                    "finished is kept; run the same command again to go on."
                )


def keep_off_standard_output() -> None:
    """Have what Ray's processes report logged instead of printed."""
    ray_worker.print_to_stdstream = _write_down


def _write_down(data: dict[str, Any], ignore_prefix: bool) -> None:
    del ignore_prefix
    for line in data["lines"]:
        _log.info("Ray (%s): %s", data["pid"], line)
