"""The troubles of a Ray that this process has started, told by us and in one place.

Left to itself Ray ends the driver a minute after its GCS has died, without a chance to say anything
in the store; after the death of the only raylet it waits for ever for another node; and its
messages about both, and about every process that dies, go to standard output, where our results
are. What remains: if the GCS dies in the very moment in which it is asked something, Ray ends the
driver with words of its own. The same command goes on in any case.
"""

import logging
from typing import Any

from ray._private import worker as ray_worker

from plymill.cluster.errors import RunFailedError

_log = logging.getLogger(__name__)

_NEEDED = ("gcs_server", "raylet")


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
