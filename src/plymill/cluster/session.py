"""One session of a run, from the moment when its plan is known: state, meter, who did what."""

from dataclasses import dataclass, field
from typing import Any

from plymill.cluster.machine import events as e
from plymill.cluster.machine.attempts import Task
from plymill.cluster.machine.state import RunState
from plymill.cluster.machine.units import UnitStatus
from plymill.cluster.plan import Plan
from plymill.cluster.progress import Meter, WorkerFigures
from plymill.cluster.storage.receipts import Receipt
from plymill.cluster.tasks import Inventory

_LATE = 3.0  # times what a unit of this cost takes, of which one part may be waiting for a slot
_LATE_AT_LEAST = 10.0  # seconds
_PACE_UNKNOWN = 10.0  # times the estimate, before any unit is finished


@dataclass(slots=True)
class _Tally:
    """What one worker has done in this session."""

    joined: e.WorkerJoined
    slots: int
    units: int = 0
    items: int = 0
    seconds: float = 0.0


def done(inventory: Inventory) -> tuple[e.UnitDone, ...]:
    """The finished units as events."""
    return tuple(e.UnitDone(r.worker, r.unit, r.digest) for r in inventory.receipts)


def audited(inventory: Inventory) -> tuple[e.AuditDone, ...]:
    """The second opinions as events."""
    return tuple(e.AuditDone(a.worker, a.unit, a.digest) for a in inventory.audits)


def _avoid(plan: Plan) -> dict[int, str]:
    return {unit.index: unit.avoid for unit in plan.units if unit.avoid}


@dataclass(slots=True)
class Session:
    """What the coordinator knows while units are solved.

    Attributes:
        plan: the run's units.
        state: where each of them is.
        meter: how many items are done, and how fast.
    """

    plan: Plan
    state: RunState
    meter: Meter
    _tallies: dict[str, _Tally] = field(default_factory=dict)
    _slots: dict[str, int] = field(default_factory=dict)
    _given: dict[Task, float] = field(default_factory=dict)  # when, those told as overdue left out

    @classmethod
    def begin(cls, inventory: Inventory) -> "Session":
        """A session that goes on from what the store holds; `RunState.restore` is still to call."""
        plan = inventory.plan
        meter = Meter(plan)
        meter.restore(inventory.receipts)
        state = RunState(len(plan.units), plan.audited, _avoid(plan))
        return cls(plan, state, meter)

    def go_on(self, inventory: Inventory) -> e.PlanExtended:
        """Take up the plan that follows; the event is for the state."""
        plan = self.plan = inventory.plan
        self.meter.go_on(plan, inventory.kept, inventory.receipts)
        return e.PlanExtended(
            kept=inventory.kept,
            count=len(plan.units),
            audited=plan.audited,
            avoid=_avoid(plan),
            done=done(inventory),
            audits=audited(inventory),
        )

    def node_joined(self, event: e.NodeJoined) -> None:
        """Remember how many slots a node has."""
        self._slots[event.node] = event.slots

    def worker_joined(self, event: e.WorkerJoined) -> None:
        """Begin to count what a worker does."""
        self._tallies[event.worker] = _Tally(event, self._slots[event.node])

    def given(self, task: Task, now: float) -> None:
        """A task was given to a worker, and nobody else has it; ``now`` is of a timer."""
        self._given[task] = now

    def overdue(self, now: float) -> list[e.Overdue]:
        """What has been in flight for much longer than it should take; each is told once.

        ``now`` is of the same timer as in `given`.
        """
        pace = self.meter.pace or _PACE_UNKNOWN
        flying = self.state.flying
        self._given = {task: since for task, since in self._given.items() if task in flying}
        late = [
            task
            for task, since in self._given.items()
            if now - since > max(_LATE_AT_LEAST, _LATE * pace * self.plan.units[task.unit].cost)
        ]
        for task in late:
            del self._given[task]
        return [e.Overdue(task.unit, task.audit) for task in late]

    def finished(self, receipt: Receipt, now: float) -> e.UnitDone:
        """Count a finished unit, unless the worker was not to do it (any more)."""
        if self.state.has(receipt.worker, Task(receipt.unit)):
            self.meter.finished(receipt, now)
            tally = self._tallies[receipt.worker]
            tally.units += 1
            tally.items += self.plan.units[receipt.unit].items
            tally.seconds += receipt.seconds
        return e.UnitDone(receipt.worker, receipt.unit, receipt.digest)

    def figures(self) -> dict[str, Any]:
        """The fields of `Progress` that tell of units, items and workers."""
        status = self.state.status
        workers = self._workers()
        return {
            "item": self.plan.item,
            "rounds": len(self.plan.rounds) + 1,
            "units_total": len(self.plan.units),
            "units_done": status.count(UnitStatus.DONE),
            "units_in_flight": status.count(UnitStatus.IN_FLIGHT),
            "units_quarantined": status.count(UnitStatus.QUARANTINED),
            "items_total": self.plan.items,
            "items_done": self.meter.done,
            "items_resumed": self.meter.resumed,
            "items_failed": self.meter.failed,
            "work_total": self.plan.cost,
            "work_done": self.meter.work_done,
            "rate": self.meter.rate(),
            "eta": self.meter.eta(sum(worker.slots for worker in workers)),
            "workers": workers,
            "unit_map": "".join(s.value for s in status),
            "history": self.meter.history,
        }

    def _workers(self) -> tuple[WorkerFigures, ...]:
        return tuple(
            WorkerFigures(
                name=name,
                node=tally.joined.node,
                host=tally.joined.host,
                pid=tally.joined.pid,
                slots=tally.slots,
                in_flight=tuple(self.plan.units[unit].name for unit in self.state.in_flight(name)),
                units=tally.units,
                items=tally.items,
                seconds=tally.seconds,
                rate=tally.items / tally.seconds if tally.seconds else 0.0,
            )
            for name, tally in self._tallies.items()
            if name in self.state.workers
        )
