"""Faults that tests bring about on real processes, disks, servers and clocks.

Everything here hits only what it is given: a process by its number, a disk that the test has
mounted, a server that the test has started.
"""

from tests.faults.clocks import jumping_clock_environment, set_clock
from tests.faults.disks import SmallDisk
from tests.faults.moments import Moments
from tests.faults.nodes import (
    all_pids,
    cluster_of,
    kill_nodes,
    raylet_of,
    restart_gcs,
    start_cluster,
)
from tests.faults.processes import (
    kill,
    kill_worker,
    resume_worker,
    running,
    stop_worker,
    wait_until_gone,
)
from tests.faults.s3 import FlakyS3

__all__ = [
    "FlakyS3",
    "Moments",
    "SmallDisk",
    "all_pids",
    "cluster_of",
    "jumping_clock_environment",
    "kill",
    "kill_nodes",
    "kill_worker",
    "raylet_of",
    "restart_gcs",
    "resume_worker",
    "running",
    "set_clock",
    "start_cluster",
    "stop_worker",
    "wait_until_gone",
]
