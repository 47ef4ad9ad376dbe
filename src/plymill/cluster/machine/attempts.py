"""Tasks that failed: how often, where, and when they may be tried again.

Rules:

* A task that raises has failed once; after three failures it is not tried again.
* It is tried on a worker where it has not failed yet, if there is one. A worker that its unit is to
  avoid counts as one where it has failed.
* When a process dies, each task that it had is suspected. A task suspected twice is run alone, so
  that the next death of a process is its own failure and nobody else's.
"""

from collections.abc import Collection
from dataclasses import dataclass

MAX_FAILURES = 3
MAX_SUSPICIONS = 2


@dataclass(frozen=True, slots=True, order=True)
class Task:
    """A unit to solve, or to solve again as an audit."""

    unit: int
    audit: bool = False


class Attempts:
    """The history of troubled tasks, and the units among them that wait to be tried again."""

    def __init__(self) -> None:
        self._queue: list[Task] = []
        self._failures: dict[Task, int] = {}
        self._failed_on: dict[Task, set[str]] = {}
        self._suspicions: dict[Task, int] = {}

    def __len__(self) -> int:
        return len(self._queue)

    def avoid(self, task: Task, worker: str) -> None:
        """Queue a task that ``worker`` is not to have if there is another."""
        self._failed_on.setdefault(task, set()).add(worker)
        self._queue.append(task)

    def forget_from(self, unit: int) -> None:
        """Units from here on are other ones than before."""
        self._failures = {task: n for task, n in self._failures.items() if task.unit < unit}
        self._failed_on = {task: w for task, w in self._failed_on.items() if task.unit < unit}
        self._suspicions = {task: n for task, n in self._suspicions.items() if task.unit < unit}

    def failed(self, task: Task, worker: str) -> int:
        """Record a failure and return how often the task has failed."""
        self._failures[task] = self._failures.get(task, 0) + 1
        self._failed_on.setdefault(task, set()).add(worker)
        return self._failures[task]

    def failed_on(self, task: Task) -> Collection[str]:
        """The workers on which the task has failed."""
        return self._failed_on.get(task, ())

    def suspect(self, task: Task) -> None:
        """The task was there when a process died."""
        self._suspicions[task] = self._suspicions.get(task, 0) + 1

    def must_run_alone(self, task: Task) -> bool:
        """Whether nothing else may be in flight beside this task."""
        return self._suspicions.get(task, 0) >= MAX_SUSPICIONS

    def queue_if_troubled(self, task: Task) -> bool:
        """Queue a task if it has a history; otherwise it is the caller's to put back."""
        troubled = task in self._failed_on or self.must_run_alone(task)
        if troubled:
            self._queue.append(task)
        return troubled

    def _may_try(self, task: Task, worker: str, others: Collection[str]) -> bool:
        failed_on = self.failed_on(task)
        return worker not in failed_on or set(failed_on).issuperset(others)

    def waits_for(self, worker: str, others: Collection[str]) -> bool:
        """Whether any task waits that ``worker`` may try, now or once it is alone."""
        return any(self._may_try(task, worker, others) for task in self._queue)

    def take(self, worker: str, others: Collection[str], *, alone: bool) -> Task | None:
        """A task that ``worker`` may try now.

        Args:
            worker: who is free.
            others: the other workers there are.
            alone: whether a task that must run alone may be given out.
        """
        for task in self._queue:
            allowed = self._may_try(task, worker, others)
            if allowed and (alone or not self.must_run_alone(task)):
                self._queue.remove(task)
                return task
        return None
