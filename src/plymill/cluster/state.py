"""The state of a run as a pure machine: events in, instructions out. No clock, Ray or files.

Rules:

* Every unit is, at any moment, in one place: waiting, in flight at one worker, done, or
  quarantined. It is never given to two workers, unless the first is gone.
* A worker has at most its slots plus one unit in flight: the one more keeps its threads busy.
  Once fewer units wait than there are slots, the slots alone: the rest is for those who are free.
* A free worker takes, in this order: a task to be tried again (see `attempts`); an audit of
  somebody else's unit (see `audits`); the next unit of its stretch (see `stretches`); and when no
  unit waits, an audit of its own.
* A lost node costs nothing but time: its units wait again. Any other loss of a worker is charged
  to the units it had, and counted against the node until a unit is finished there.
* A unit that has failed three times is quarantined, and the run goes on without it.
* A node on which workers die again and again without finishing a unit is given up. If no other
  is left, the run is aborted.
* A worker proved wrong by an audit is retired with its node, and all that it did is done again.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from plymill.cluster import events as e
from plymill.cluster.attempts import MAX_FAILURES, Attempts, Task
from plymill.cluster.audits import Audits
from plymill.cluster.stretches import Stretches

MAX_STRIKES = 6


class UnitStatus(Enum):
    """Where a unit is. The value is its letter in the map of units."""

    WAITING = "."
    IN_FLIGHT = "w"
    DONE = "d"
    QUARANTINED = "q"


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


class RunState:
    """Feed it with `restore`, then with `handle`; do what it returns, in that order.

    Args:
        count: how many units there are; they are named by their index.
        audited: the units that need a second opinion.
    """

    def __init__(self, count: int, audited: Collection[int] = ()) -> None:
        self._status = [UnitStatus.WAITING] * count
        self._stretches = Stretches(range(count))
        self._attempts = Attempts()
        self._audits = Audits(audited, self._attempts)
        self._solved: dict[int, tuple[str, str]] = {}
        self._nodes: dict[str, _Node] = {}
        self._workers: dict[str, _Worker] = {}
        self._quarantined: dict[int, str] = {}
        self._ended = False

    # --- what a watcher may ask -------------------------------------------------------------------

    @property
    def status(self) -> Sequence[UnitStatus]:
        """The status of every unit, by index."""
        return tuple(self._status)

    @property
    def quarantined(self) -> dict[int, str]:
        """The quarantined units, each with the reason."""
        return dict(self._quarantined)

    @property
    def ended(self) -> bool:
        """Whether `Finish` or `Abort` has been given out."""
        return self._ended

    @property
    def workers(self) -> Collection[str]:
        """The workers that there are."""
        return self._workers.keys()

    def in_flight(self, worker: str) -> list[int]:
        """The units that ``worker`` has, audits included, ascending."""
        known = self._workers.get(worker)
        return sorted(task.unit for task in known.in_flight) if known else []

    # --- input ------------------------------------------------------------------------------------

    def restore(
        self, done: Iterable[e.UnitDone], audits: Iterable[e.AuditDone] = ()
    ) -> list[e.Instruction]:
        """Take over what an earlier session finished. Call it once, before any event."""
        for event in done:
            self._finish_unit(event)
        self._stretches = Stretches(
            i for i, status in enumerate(self._status) if status is UnitStatus.WAITING
        )
        instructions: list[e.Instruction] = []
        for audit in audits:
            instructions += self._judge(audit)
        return instructions + list(self._settle())

    def handle(self, event: e.Event) -> list[e.Instruction]:
        """The instructions that follow from one event. Nothing follows once the run has ended."""
        if self._ended:
            return []
        match event:
            case e.NodeJoined():
                instructions = self._node_joined(event)
            case e.NodeLost():
                instructions = self._node_lost(event.node)
            case e.WorkerJoined():
                instructions = self._worker_joined(event)
            case e.WorkerLost():
                instructions = self._worker_lost(event)
            case e.UnitDone():
                instructions = self._unit_done(event)
            case e.AuditDone():
                instructions = self._audit_done(event)
            case e.UnitFailed():
                instructions = self._unit_failed(event)
        return instructions + list(self._settle())

    # --- nodes and workers ------------------------------------------------------------------------

    def _node_joined(self, event: e.NodeJoined) -> list[e.Instruction]:
        if event.node in self._nodes:
            return []
        self._nodes[event.node] = _Node(event.slots)
        return [e.Spawn(event.node)]

    def _node_lost(self, node: str) -> list[e.Instruction]:
        self._nodes.pop(node, None)
        instructions: list[e.Instruction] = []
        for worker in [name for name, w in self._workers.items() if w.node == node]:
            instructions += self._drop(worker, f"{worker} was lost: {e.LossCause.NODE_LOST}")
        return instructions

    def _worker_joined(self, event: e.WorkerJoined) -> list[e.Instruction]:
        node = self._nodes.get(event.node)
        if node is None or not node.usable:
            return [e.Retire(event.worker)]
        self._workers[event.worker] = _Worker(event.node, node.slots)
        return []

    def _worker_lost(self, event: e.WorkerLost) -> list[e.Instruction]:
        if event.cause is e.LossCause.NODE_LOST:
            return self._node_lost(event.node)
        reason = f"{event.worker} was lost: {event.cause}"
        instructions = self._blame(event.worker, event.cause, reason)
        return instructions + self._drop(event.worker, reason) + self._strike(event)

    def _blame(self, name: str, cause: e.LossCause, reason: str) -> list[e.Instruction]:
        """Charge the death of a process to the tasks that may have caused it."""
        worker = self._workers.get(name)
        if worker is None or cause is e.LossCause.UNREACHABLE:
            return []
        tasks = sorted(worker.in_flight)
        if len(tasks) == 1 and self._attempts.must_run_alone(tasks[0]):
            worker.in_flight.clear()
            return self._failed_attempt(tasks[0], name, reason)
        for task in tasks:
            self._attempts.suspect(task)
        return []

    def _strike(self, event: e.WorkerLost) -> list[e.Instruction]:
        node = self._nodes.get(event.node)
        if node is None or not node.usable:
            return []
        node.strikes += 1
        if node.strikes < MAX_STRIKES:
            return [e.Spawn(event.node)]
        node.usable = False
        detail = f" ({event.detail})" if event.detail else ""
        text = (
            f"Node {event.node} is given up: its worker was lost {node.strikes} times in a row "
            f"without finishing a unit, the last time because {event.cause}{detail}."
        )
        return [e.Warn(text), *self._abort_if_nobody_is_left(text)]

    def _abort_if_nobody_is_left(self, reason: str) -> list[e.Instruction]:
        if any(node.usable for node in self._nodes.values()):
            return []
        self._ended = True
        return [e.Abort(f"{reason} No other node is left.")]

    def _drop(self, name: str, reason: str) -> list[e.Instruction]:
        """Forget a worker; what it had in flight waits again."""
        worker = self._workers.pop(name, None)
        if worker is None:
            return []
        for task in sorted(worker.in_flight):
            self._wait_again(task)
        self._stretches.release(name)
        return [e.Requeue(task.unit, reason) for task in sorted(worker.in_flight)]

    def _wait_again(self, task: Task) -> None:
        if task.audit:
            self._audits.put_back(task.unit)
            return
        self._status[task.unit] = UnitStatus.WAITING
        if not self._attempts.queue_if_troubled(task):
            self._stretches.give_back(task.unit)

    # --- units ------------------------------------------------------------------------------------

    def _land(self, worker: str, task: Task) -> bool:
        """Whether the worker really has this task; if so, it has it no more."""
        known = self._workers.get(worker)
        if known is None or task not in known.in_flight:
            return False
        known.in_flight.remove(task)
        return True

    def _unit_done(self, event: e.UnitDone) -> list[e.Instruction]:
        if self._land(event.worker, Task(event.unit)):
            self._reset_strikes(event.worker)
            self._finish_unit(event)
        return []

    def _finish_unit(self, event: e.UnitDone) -> None:
        self._status[event.unit] = UnitStatus.DONE
        self._solved[event.unit] = (event.worker, event.digest)
        self._audits.solved(event.unit, event.worker, event.digest)

    def _reset_strikes(self, worker: str) -> None:
        node = self._nodes.get(self._workers[worker].node)
        if node is not None:
            node.strikes = 0

    def _unit_failed(self, event: e.UnitFailed) -> list[e.Instruction]:
        task = Task(event.unit, event.audit)
        if not self._land(event.worker, task):
            return []
        if event.fatal:
            self._ended = True
            return [e.Abort(event.error)]
        return self._failed_attempt(task, event.worker, event.error)

    def _failed_attempt(self, task: Task, worker: str, error: str) -> list[e.Instruction]:
        if self._attempts.failed(task, worker) < MAX_FAILURES:
            self._wait_again(task)
            return [e.Requeue(task.unit, error)]
        self._reset_strikes(worker)
        what = "its audit failed" if task.audit else "it failed"
        reason = f"{what} {MAX_FAILURES} times, the last time with: {error}"
        self._status[task.unit] = UnitStatus.QUARANTINED
        self._quarantined[task.unit] = reason
        return [e.Quarantine(task.unit, reason)]

    # --- audits -----------------------------------------------------------------------------------

    def _audit_done(self, event: e.AuditDone) -> list[e.Instruction]:
        if not self._land(event.worker, Task(event.unit, audit=True)):
            return []
        self._reset_strikes(event.worker)
        return self._judge(event)

    def _judge(self, event: e.AuditDone) -> list[e.Instruction]:
        wrong = sorted(
            self._audits.opinion(event.unit, event.worker, event.digest, self._workers.keys())
        )
        instructions: list[e.Instruction] = []
        for worker in wrong:  # first of all, so that it stores nothing more
            instructions += self._retire(worker)
        for worker in wrong:
            instructions += self._undo_all(worker, event.unit)
        if any(isinstance(i, e.Retire) for i in instructions):
            instructions += self._abort_if_nobody_is_left(
                f"Unit {event.unit}, solved again, came out differently at {' and '.join(wrong)}."
            )
        return instructions

    def _undo_all(self, worker: str, betrayed_by: int) -> list[e.Instruction]:
        """All that ``worker`` did is to be done again.

        The unit that betrayed it is discarded last: as long as it is stored beside its audit, a
        session that starts from here finds out again.
        """
        theirs = [unit for unit, (solver, _) in self._solved.items() if solver == worker]
        text = (
            f"Worker {worker} gave a wrong result for unit {betrayed_by}, as an audit showed; "
            f"all {len(theirs)} units that it solved are solved again."
        )
        for unit in theirs:
            self._undo(unit)
        self._audits.reopen(worker)
        last = sorted(theirs, key=lambda unit: (unit == betrayed_by, unit))
        return [e.Warn(text), *(e.Discard(unit) for unit in last)]

    def _undo(self, unit: int) -> None:
        del self._solved[unit]
        self._audits.forget(unit)
        if self._status[unit] is UnitStatus.DONE:
            self._status[unit] = UnitStatus.WAITING
            self._stretches.give_back(unit)

    def _retire(self, name: str) -> list[e.Instruction]:
        worker = self._workers.get(name)
        if worker is None:
            return []
        if worker.node in self._nodes:
            self._nodes[worker.node].usable = False
        # It may have stored what it has not reported: no later session is to find that.
        stored = [e.Discard(task.unit) for task in sorted(worker.in_flight) if not task.audit]
        return [e.Retire(name), *self._drop(name, f"{name} is not trusted any more"), *stored]

    # --- giving out work --------------------------------------------------------------------------

    def _settle(self) -> Iterator[e.Instruction]:
        """Fill every worker up, in turn, and say when nothing is left."""
        if self._ended:
            return
        hungry = list(self._workers)
        while hungry:
            for name in tuple(hungry):
                task = self._next_task(name)
                if task is None:
                    hungry.remove(name)
                    continue
                self._workers[name].in_flight.add(task)
                if not task.audit:
                    self._status[task.unit] = UnitStatus.IN_FLIGHT
                yield e.Audit(name, task.unit) if task.audit else e.Assign(name, task.unit)
        if self._nothing_left():
            self._ended = True
            yield e.Finish(tuple(sorted(self._quarantined)))

    def _nothing_left(self) -> bool:
        waiting = len(self._stretches) + len(self._attempts) + self._audits.due
        return not waiting and not any(w.in_flight for w in self._workers.values())

    def _next_task(self, name: str) -> Task | None:
        in_flight = self._workers[name].in_flight
        if len(in_flight) >= self._limit(name) or any(
            map(self._attempts.must_run_alone, in_flight)
        ):
            return None
        others = self._workers.keys() - {name}
        alone = not in_flight and not len(self._stretches)
        task = self._attempts.take(name, others, alone=alone)
        if task is not None:
            return task
        unit = self._audits.take(name, others, alone=alone) if others else None
        if unit is None:
            solve = self._stretches.take(name)
            if solve is not None:
                return Task(solve)
            unit = self._audits.take(name, others, alone=alone)
        return None if unit is None else Task(unit, audit=True)

    def _limit(self, name: str) -> int:
        plenty = len(self._stretches) >= sum(w.slots for w in self._workers.values())
        return self._workers[name].slots + (1 if plenty else 0)
