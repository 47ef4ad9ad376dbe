"""The nodes and workers that there are, and what each worker has in flight.

Rules:

* A node on which workers are lost ``MAX_STRIKES`` times in a row, without finishing a unit, is not
  used any more. Nor is the node of a worker that is not trusted.
* What a worker reports counts only if it has the task.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

from plymill.cluster.attempts import Task

MAX_STRIKES = 6


@dataclass(slots=True)
class _Node:
    slots: int
    strikes: int = 0
    usable: bool = True


@dataclass(slots=True)
class _Worker:
    node: str
    slots: int
    in_flight: set[Task] = field(default_factory=set)


class Crew:
    """Nodes and workers, by name."""

    def __init__(self) -> None:
        self._nodes: dict[str, _Node] = {}
        self._workers: dict[str, _Worker] = {}
        self._slots = 0

    @property
    def workers(self) -> Collection[str]:
        """The workers that there are."""
        return self._workers.keys()

    @property
    def slots(self) -> int:
        """How many tasks all workers together work on at a time."""
        return self._slots  # asked for at every worker's turn

    @property
    def idle(self) -> bool:
        """Whether nobody has anything in flight."""
        return not any(worker.in_flight for worker in self._workers.values())

    @property
    def usable(self) -> bool:
        """Whether any node can still be used."""
        return any(node.usable for node in self._nodes.values())

    def node_joined(self, node: str, slots: int) -> bool:
        """Whether the node is new."""
        if node in self._nodes:
            return False
        self._nodes[node] = _Node(slots)
        return True

    def node_lost(self, node: str) -> list[str]:
        """Forget a node, unless it is not to be used if it joins again; the workers that it had."""
        if node in self._nodes and self._nodes[node].usable:
            del self._nodes[node]
        return [name for name, worker in self._workers.items() if worker.node == node]

    def join(self, worker: str, node: str) -> bool:
        """Whether the worker is welcome: its node is there and is used."""
        home = self._nodes.get(node)
        if home is None or not home.usable:
            return False
        self.remove(worker)
        self._workers[worker] = _Worker(node, home.slots)
        self._slots += home.slots
        return True

    def remove(self, worker: str) -> list[Task]:
        """Forget a worker; what it had in flight, ascending."""
        known = self._workers.pop(worker, None)
        if known is None:
            return []
        self._slots -= known.slots
        return sorted(known.in_flight)

    def slots_of(self, worker: str) -> int:
        """How many tasks the worker works on at a time."""
        return self._workers[worker].slots

    def in_flight(self, worker: str) -> list[Task]:
        """What the worker has, ascending."""
        known = self._workers.get(worker)
        return sorted(known.in_flight) if known else []

    def give(self, worker: str, task: Task) -> None:
        """The worker has this task from now on."""
        self._workers[worker].in_flight.add(task)

    def land(self, worker: str, task: Task) -> bool:
        """Whether the worker really has this task; if so, it has it no more."""
        known = self._workers.get(worker)
        if known is None or task not in known.in_flight:
            return False
        known.in_flight.remove(task)
        return True

    def strike(self, node: str) -> int:
        """Count the loss of a worker against its node; how many in a row, 0 if it is not used."""
        home = self._nodes.get(node)
        if home is None or not home.usable:
            return 0
        home.strikes += 1
        home.usable = home.strikes < MAX_STRIKES
        return home.strikes

    def forgive(self, worker: str) -> None:
        """The worker has finished something: its node's losses are forgotten."""
        home = self._nodes.get(self._workers[worker].node)
        if home is not None:
            home.strikes = 0

    def distrust(self, worker: str) -> None:
        """The worker's node is not used any more."""
        home = self._nodes.get(self._workers[worker].node)
        if home is not None:
            home.usable = False
