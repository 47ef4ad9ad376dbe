"""What waits for a worker, and which of it a free worker gets.

Rules:

* A worker has at most its slots plus one task in flight: the one more keeps its threads busy. Once
  fewer units wait than there are slots, the slots alone: the rest is for those who are free.
* A free worker takes, in this order: a task to be tried again (see `attempts`); an audit of
  somebody else's unit (see `audits`); the next unit of its stretch (see `stretches`); when no unit
  waits, an audit of its own; and when there is none, a copy of what is overdue elsewhere.
* Where a task should go to another worker than this one, those do not count whose slots are all
  taken up by what is overdue: they may hang.
"""

from collections.abc import Collection, Iterable, Mapping

from plymill.cluster.machine.attempts import Attempts, Task
from plymill.cluster.machine.audits import Audits
from plymill.cluster.machine.crew import Crew
from plymill.cluster.machine.stretches import Stretches


class Waiting:
    """The tasks that wait. Finished units wait for their audit, others to be solved.

    Args:
        crew: who is there, and has what in flight.
        attempts: the tasks that gave trouble.
        audits: the units that need a second opinion.
        units: those to be solved.
    """

    def __init__(
        self, crew: Crew, attempts: Attempts, audits: Audits, units: Iterable[int]
    ) -> None:
        self._crew = crew
        self._attempts = attempts
        self._audits = audits
        self._stretches = Stretches(units)

    def __len__(self) -> int:
        return len(self._stretches) + len(self._attempts) + self._audits.due

    def lay_out(self, units: Iterable[int], avoid: Mapping[int, str]) -> None:
        """Let these units wait, and no others; some of them are to avoid a worker."""
        units = list(units)
        self._stretches = Stretches(unit for unit in units if unit not in avoid)
        for unit in units:
            if unit in avoid:
                self._attempts.avoid(Task(unit), avoid[unit])

    def put_back(self, task: Task) -> None:
        """A task that nobody has any more waits again."""
        if task.audit:
            self._audits.put_back(task.unit)
        elif not self._attempts.queue_if_troubled(task):
            self._stretches.give_back(task.unit)

    def release(self, worker: str) -> None:
        """A worker is gone: the units that it was to walk through are anybody's."""
        self._stretches.release(worker)

    def next_for(self, name: str) -> Task | None:
        """The task that a worker should have now; None if it is busy or nothing is for it."""
        load = self._crew.load(name)
        in_flight = self._crew.in_flight(name)
        if load >= self._limit(name) or any(map(self._attempts.must_run_alone, in_flight)):
            return None
        others = {other for other in self._crew.workers if not self._crew.stuck(other)} - {name}
        off = self._crew.called_off(name)
        alone = not load and not len(self._stretches)
        task = self._attempts.take(name, others, alone=alone)
        if task is not None:
            return task
        unit = self._audits.take(name, others, alone=alone, barred=off) if others else None
        if unit is None:
            solve = self._stretches.take(name)
            if solve is not None:
                return Task(solve)
            unit = self._audits.take(name, others, alone=alone, barred=off)
        return self._copy(name, others) if unit is None else Task(unit, audit=True)

    def _limit(self, name: str) -> int:
        plenty = len(self._stretches) >= self._crew.slots
        return self._crew.slots_of(name) + (1 if plenty else 0)

    def _copy(self, name: str, others: Collection[str]) -> Task | None:
        """An overdue task of another worker, if nothing waits that might need this one."""
        if len(self._stretches) or self._attempts.waits_for(name, others):
            return None
        return self._crew.overdue_elsewhere(name, lambda task: self._may_copy(name, task))

    def _may_copy(self, name: str, task: Task) -> bool:
        if task.audit and not self._audits.is_new_to(name, task.unit):
            return False
        troubled = name in self._attempts.failed_on(task)
        return not troubled and not self._attempts.must_run_alone(task)
