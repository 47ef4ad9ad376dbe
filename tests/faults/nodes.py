"""Nodes of a `ray.cluster_utils.Cluster` that are lost."""

from typing import Any

from tests.faults.processes import kill, wait_until_gone


def raylet_of(node: Any) -> int:
    """The process of a node's raylet."""
    pid: int = node.all_processes["raylet"][0].process.pid
    return pid


def all_pids(node: Any) -> dict[str, list[int]]:
    """The processes that Ray has started for a node, by what they are."""
    return {
        name: [info.process.pid for info in infos] for name, infos in node.all_processes.items()
    }


def kill_node(node: Any, *, whole: bool = False) -> list[int]:
    """Kill the raylet of a node, without which its workers end; the processes that were killed.

    Args:
        node: as `Cluster.add_node` returns it.
        whole: kill everything that Ray has started for the node, on a head the GCS as well.
    """
    pids = [pid for pids in all_pids(node).values() for pid in pids] if whole else [raylet_of(node)]
    for pid in pids:
        kill(pid)
    wait_until_gone(pids)
    return pids
