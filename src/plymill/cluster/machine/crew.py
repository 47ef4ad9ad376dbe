"""The nodes and workers that there are, and what each worker has in flight.

Rules:

* A task may be in flight at two workers: one that is overdue there is copied to another. Once the
  first of them has done it, the other's is called off: nobody waits for it any more, but until that
  worker reports it, it takes up one of his slots.

* A node on which workers are lost ``MAX_STRIKES`` times in a row, without finishing a unit, is not
  used any more: it is barred. So is the node of a worker that is not trusted.
* What a worker reports counts only if it has the task.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from plymill.cluster.machine.attempts import Task

MAX_STRIKES = 6
MAX_COPIES = 2  # of a task in flight


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
    called_off: set[Task] = field(default_factory=set)  # done by another meanwhile


class Crew:
    """Nodes and workers, by name."""

    def __init__(self) -> None:
        self._nodes: dict[str, _Node] = {}
        self._workers: dict[str, _Worker] = {}
        self._holders: dict[Task, list[str]] = {}  # of each task in flight
        self._overdue: dict[Task, None] = {}  # in the order in which they became so
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
        """Whether nothing is in flight that anybody waits for."""
        return not self._holders

    @property
    def usable(self) -> bool:
        """Whether any node that is ours now can be used."""
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
        """Forget a worker; what it had in flight and nobody else has, ascending."""
        known = self._workers.pop(worker, None)
        if known is None:
            return []
        self._slots -= known.slots
        for task in known.in_flight:
            self._let_go(worker, task)
        return sorted(task for task in known.in_flight if not self.held(task))

    def slots_of(self, worker: str) -> int:
        """How many tasks the worker works on at a time."""
        return self._workers[worker].slots

    def in_flight(self, worker: str) -> list[Task]:
        """What the worker has and is waited for, ascending."""
        known = self._workers.get(worker)
        return sorted(known.in_flight) if known else []

    def load(self, worker: str) -> int:
        """How many tasks the worker has not reported, those that are called off included."""
        known = self._workers[worker]
        return len(known.in_flight) + len(known.called_off)

    @property
    def flying(self) -> Collection[Task]:
        """The tasks in flight."""
        return self._holders.keys()

    def give(self, worker: str, task: Task) -> None:
        """The worker has this task from now on."""
        self._workers[worker].in_flight.add(task)
        self._holders.setdefault(task, []).append(worker)

    def held(self, task: Task) -> bool:
        """Whether anybody has this task in flight."""
        return task in self._holders

    def land(self, worker: str, task: Task) -> bool:
        """Whether the worker really has this task; if so, it has it no more."""
        known = self._workers.get(worker)
        if known is None:
            return False
        if task not in known.in_flight:
            known.called_off.discard(task)
            return False
        known.in_flight.remove(task)
        self._let_go(worker, task)
        return True

    def call_off(self, task: Task) -> list[str]:
        """Nobody waits for this task any more: it is done, or to be done anew; who has it."""
        holders = self._holders.pop(task, [])
        for name in holders:
            self._workers[name].in_flight.remove(task)
            self._workers[name].called_off.add(task)
        self._overdue.pop(task, None)
        return holders

    def drop(self, worker: str, task: Task) -> None:
        """The worker will not report a task that was called off."""
        if worker in self._workers:
            self._workers[worker].called_off.discard(task)

    def behind(self, unit: int) -> list[str]:
        """The workers that have not yet reported a task called off, of this unit or a later one."""
        workers = self._workers.items()
        return [name for name, w in workers if any(task.unit >= unit for task in w.called_off)]

    def node_of(self, worker: str) -> str:
        """The node that the worker is on."""
        return self._workers[worker].node

    def called_off(self, worker: str) -> Collection[Task]:
        """What the worker has not reported and nobody waits for any more."""
        return self._workers[worker].called_off

    def stuck(self, worker: str) -> bool:
        """Whether all that the worker has is overdue or called off, and it has no room for more."""
        known = self._workers[worker]
        late = known.in_flight <= self._overdue.keys()
        return late and self.load(worker) >= known.slots

    def overdue(self, task: Task) -> None:
        """The task takes much longer than it should; ignored if it is not in flight."""
        if self.held(task):
            self._overdue[task] = None

    @property
    def any_overdue(self) -> bool:
        """Whether any task in flight is overdue."""
        return bool(self._overdue)

    def overdue_elsewhere(self, worker: str, may: Callable[[Task], bool]) -> Task | None:
        """The task that is overdue longest, not copied yet, not this worker's, and that it may do.

        ``may`` is asked of each.
        """
        mine = self._workers[worker].called_off
        for task in self._overdue:
            holders = self._holders[task]
            fits = len(holders) < MAX_COPIES and worker not in holders and task not in mine
            if fits and may(task):
                return task
        return None

    def _let_go(self, worker: str, task: Task) -> None:
        self._holders[task].remove(worker)
        if not self._holders[task]:
            del self._holders[task]
            self._overdue.pop(task, None)

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
