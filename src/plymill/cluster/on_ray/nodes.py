"""The nodes of a Ray cluster, and which of them a run can use."""

import time
from collections.abc import Callable
from typing import Any

import ray

from plymill.cluster.errors import ClusterError
from plymill.cluster.executor import Report
from plymill.cluster.job import Job
from plymill.cluster.logs import log
from plymill.cluster.machine import events as e
from plymill.cluster.on_ray.probe import RayProbe
from plymill.cluster.storage.store import RunStore

#: Ray's resources of each node, by the node's id.
Live = dict[str, dict[str, float]]

_MB = 2**20
_FIRST_NODE = 600.0  # seconds to wait for one


class Nodes:
    """Those with processors, with memory enough for a worker, and with a way to the store.

    Args:
        job: makes the workers.
        threads: slots of each node; all of its processors when None.

    Attributes:
        room: slots of the nodes that can be used.
    """

    def __init__(self, job: Job, threads: int | None) -> None:
        self._job = job
        self._threads = threads
        self._refused: set[str] = set()  # not used, or no more
        self._probe: RayProbe | None = None
        self._too_small: dict[str, str] = {}
        self._met = False  # whether any node was ever large enough
        self._lonely: float | None = None  # since when there is no node at all
        self.room: dict[str, int] = {}

    def probe(self, store: RunStore, look: Callable[[], bool]) -> None:
        """See that all nodes reach the store; those that come later are asked when they come.

        Args:
            store: the run's files.
            look: is called while they are waited for; whether Ray can be asked something.

        Raises:
            StoreError: one does not.
        """
        self._probe = RayProbe(store, live_nodes)
        there = [node for node, offers in live_nodes().items() if offers.get("CPU", 0) >= 1]
        self._probe.require(there, look)

    def close(self) -> None:
        """Wait no more for what nodes say of the store; they are asked again if need be."""
        if self._probe is not None:
            self._probe.close()

    @property
    def asking(self) -> bool:
        """Whether it will be known soon that another node can be used, or that it cannot."""
        return self._probe is not None and self._probe.asking

    def bar(self, node: str) -> None:
        """Use a node no more."""
        self.room.pop(node, None)
        self._refused.add(node)

    def survey(self, live: Live) -> list[Report]:
        """Find out which nodes can be used; what is to be said of the others."""
        reports: list[Report] = []
        self.room = {node: slots for node, slots in self.room.items() if node in live}
        if self._probe is not None:
            self._probe.follow(live)
        for node, resources in live.items():
            if node not in self.room and node not in self._too_small:
                reports += self._consider(node, resources)
        return reports

    def require_any(self) -> None:
        """See that there is or was a node that is large enough.

        Raises:
            ClusterError: there are only small ones.
        """
        if self._too_small and not self._met:
            raise ClusterError(next(iter(self._too_small.values())))

    def fit_for(self, task: str, memory: int, live: Live) -> list[str]:
        """The nodes that can be used and could run a task; none as long as none can be used.

        Raises:
            ClusterError: those that can be used are too small, or none has come for long.
        """
        self.require_any()
        usable = self.room or [
            node
            for node, offers in live.items()
            if offers.get("CPU", 0) >= 1 and node not in self._refused
        ]
        if not usable:
            self._wait_for_a_node(task)
            return []
        self._lonely = None
        largest = max((live[node].get("memory", 0) for node in usable), default=0)
        if largest < memory:
            raise ClusterError(
                f"The task '{task}' needs a node with a processor and {memory // _MB} MB of "
                f"memory, but the largest offers {int(largest) // _MB} MB."
            )
        return [node for node in self.room if live[node].get("memory", 0) >= memory]

    def _wait_for_a_node(self, task: str) -> None:
        """The first node may still start, as of a cluster that has just been asked for it."""
        now = time.monotonic()
        if self._lonely is None:
            self._lonely = now
            log("warning", "no node with a processor has joined yet: the run waits", {"task": task})
        if now - self._lonely > _FIRST_NODE:
            raise ClusterError(
                f"The task '{task}' needs a node with a processor, but none has joined in "
                f"{_FIRST_NODE / 60:g} minutes; look at the cluster, then resume the run."
            )

    def _consider(self, node: str, resources: dict[str, float]) -> list[Report]:
        """Meet a node, once it is known to reach the store."""
        if self._probe is None or node in self._refused or resources.get("CPU", 0) < 1:
            return [] if node in self._refused else self._meet(node, resources)
        reaches = self._probe.reaches(node)
        if reaches is None:
            return []
        if reaches:
            return self._meet(node, resources)
        self._refused.add(node)
        return [e.Warn(self._probe.fault_of(node))]

    def _meet(self, node: str, resources: dict[str, float]) -> list[Report]:
        cpus = int(resources.get("CPU", 0))
        if not cpus:
            return []
        slots = min(cpus, self._threads or cpus)
        memory = self._job.worker_memory(slots)
        if memory > resources.get("memory", 0):
            text = (
                f"Node {node[:8]} offers {int(resources.get('memory', 0)) // _MB} MB of memory, "
                f"but a worker with {slots} threads needs {memory // _MB} MB; ask for a smaller "
                "table (--table-mb, of books) or fewer threads (--threads)."
            )
            self._too_small[node] = text
            return [e.Warn(text)]
        self.room[node] = slots
        self._met = True
        return []


def live_nodes() -> Live:
    """The nodes that are there, whatever they offer."""
    nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    return {n["NodeID"]: n["Resources"] for n in nodes if n["Alive"]}
