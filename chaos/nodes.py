"""A Ray cluster of several nodes on this machine: a head without processors, and workers."""

import signal
from collections.abc import Callable
from typing import Any

from tests.faults import all_pids, kill_nodes

_ATTEMPTS = 3
_NODE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 80 * 2**20}


class Nodes:
    """The cluster.

    Args:
        count: how many nodes work.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.start()

    def start(self) -> None:
        """Start it, after `destroy` at another address than before."""
        from ray.cluster_utils import Cluster

        head = {**_NODE, "num_cpus": 0, "include_dashboard": False}
        self._cluster: Any = _patiently(lambda: Cluster(initialize_head=True, head_node_args=head))
        for _ in range(self.count):
            self.add()

    @property
    def address(self) -> str:
        """Where a driver reaches it."""
        address: str = self._cluster.address
        return address

    @property
    def gcs(self) -> int:
        """The process of its GCS."""
        return all_pids(self._cluster.head_node)["gcs_server"][0]

    def alive(self) -> set[str]:
        """The nodes that live, by what the cluster says of them (``ray.nodes()``)."""
        from ray import _raylet
        from ray._private import state as ray_state

        state: Any = vars(ray_state)["GlobalState"]()
        options = vars(_raylet)["GcsClientOptions"].create(
            self.address, None, allow_cluster_id_nil=True, fetch_cluster_id_if_nil=False
        )
        state._initialize_global_state(options)
        try:
            return {node["NodeID"] for node in state.node_table() if node["Alive"]}
        finally:
            state.disconnect()

    def kill(self, node_id: str) -> list[int]:
        """Kill all processes of a node at once, its workers among them; returns which."""
        node = next(n for n in self._cluster.worker_nodes if n.node_id == node_id)
        pids = kill_nodes([node])
        self._cluster.remove_node(node, allow_graceful=False)  # forgets it
        return pids

    def add(self) -> str:
        """Let a new node join; returns its id."""
        node_id: str = _patiently(lambda: self._cluster.add_node(**_NODE)).node_id
        return node_id

    def destroy(self) -> list[int]:
        """Kill the whole cluster; returns the processes killed."""
        pids = kill_nodes([self._cluster.head_node, *self._cluster.worker_nodes])
        self._cluster.shutdown()
        return pids


def _patiently(start: Callable[[], Any]) -> Any:
    """Ray gives a node half a minute to start, which is not enough on a busy machine.

    It takes SIGTERM for itself, too, which is to end this process in order.
    """
    handler = signal.getsignal(signal.SIGTERM)
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return start()
        except Exception:  # Ray raises bare ones; what was started ends with this process
            if attempt == _ATTEMPTS:
                raise
        finally:
            signal.signal(signal.SIGTERM, handler)
    raise AssertionError("the last attempt returns or raises")
