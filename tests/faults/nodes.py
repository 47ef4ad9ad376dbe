"""Clusters of several nodes on this machine, and nodes that are lost."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import ray
from ray.cluster_utils import Cluster

from tests.faults.processes import kill, running, wait_until_gone

#: A killed raylet is noticed after two seconds instead of twenty.
HEALTH = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 500,
    "health_check_failure_threshold": 3,
}
NODE: Mapping[str, Any] = {"num_cpus": 1, "object_store_memory": 80 * 2**20}


@contextmanager
def cluster_of(nodes: int, settings: Mapping[str, Any] = HEALTH) -> Iterator[Cluster]:
    """A head and further nodes, one processor each, and this process connected to them.

    All their processes inherit the environment of this one.

    Args:
        nodes: how many, the head included.
        settings: Ray's system configuration.
    """
    cluster = start_cluster(nodes, settings)
    try:
        ray.init(address=cluster.address, log_to_driver=False)
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()  # type: ignore[no-untyped-call]


def start_cluster(nodes: int, settings: Mapping[str, Any] = HEALTH) -> Cluster:
    """The same, without being connected; to be shut down."""
    os.environ.setdefault("RAY_raylet_start_wait_time_s", "120")  # on a machine that is busy
    head = {**NODE, "_system_config": dict(settings), "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(nodes - 1):
        cluster.add_node(**NODE)
    return cluster


def raylet_of(node: Any) -> int:
    """The process of a node's raylet."""
    pid: int = node.all_processes["raylet"][0].process.pid
    return pid


def all_pids(node: Any) -> dict[str, list[int]]:
    """The processes that Ray has started for a node, by what they are."""
    return {
        name: [info.process.pid for info in infos] for name, infos in node.all_processes.items()
    }


def kill_nodes(nodes: Iterable[Any]) -> list[int]:
    """Kill all processes of nodes at once, as if their machines were switched off.

    Those that their raylets have started are among them: workers live on for a while otherwise.

    Args:
        nodes: as `Cluster.add_node` returns them.

    Returns:
        The processes that were killed, none of which is there any more.
    """
    pids = [pid for node in nodes for each in all_pids(node).values() for pid in each]
    pids += [child for pid in pids for child in _children(pid)]
    pids = [pid for pid in dict.fromkeys(pids) if running(pid)]
    for pid in pids:
        with suppress(ProcessLookupError):  # ended with another
            kill(pid)
    wait_until_gone(pids)
    return pids


def _children(pid: int) -> list[int]:
    try:
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [int(word) for word in listed.split()]


def restart_gcs(head: Any) -> int:
    """Start the GCS of a head again that was killed, at the same address; its new process.

    Without a backend that keeps its state (``gcs_storage``) it knows of nothing that was before. It
    ends with the thread that calls this.
    """
    (dead,) = head.all_processes.pop("gcs_server")
    dead.process.wait(timeout=60)  # with its last thread goes its lock on what it keeps
    head._gcs_address = head._gcs_client = None
    head.start_gcs_server()
    pid: int = head.all_processes["gcs_server"][0].process.pid
    return pid
