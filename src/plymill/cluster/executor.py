"""Where workers live and tasks run: the one place that differs between a cluster and a test.

The coordinator speaks to an `Executor` only. `LocalExecutor` is one without Ray: everything happens
in the calling thread, one unit at a time and in order, so that what it does can be repeated.
"""

from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from plymill.cluster.errors import ConflictError, StoreFullError
from plymill.cluster.job import Job, Worker
from plymill.cluster.machine import events as e
from plymill.cluster.plan import Unit
from plymill.cluster.storage.receipts import Receipt
from plymill.cluster.storage.store import RunStore

Report = e.Event | e.Warn | Receipt

Meanwhile = Callable[[str], None]
"""Is called now and then by what takes long, with what that waits for; nothing if it goes on."""


def nothing(waits_for: str) -> None:
    """For those whom it does not matter to."""
    del waits_for


class Executor(Protocol):
    """Starts workers, hands them units, and reports what happens."""

    def probe(self, meanwhile: Meanwhile = nothing) -> None:
        """See that workers can reach the store, wherever they will live.

        Args:
            meanwhile: is called while they are waited for.

        Raises:
            StoreError: some could not.
        """

    def call(
        self,
        function: Callable[..., Any],
        *args: Any,
        memory: int | None,
        meanwhile: Meanwhile = nothing,
    ) -> Any:
        """Run a function as a task, wait for it, return its result.

        Args:
            function: the task.
            args: for it.
            memory: bytes that it needs, beside the processor of its own that it gets; None for a
                small task that has to find room beside workers that idle.
            meanwhile: is called while it is waited for; what it raises ends the task.
        """

    def need(self, tasks: int) -> None:
        """How many tasks wait or are in flight: no more slots than these can be used."""

    def spawn(self, node: str) -> None:
        """Begin to start a worker on a node; `WorkerJoined` or `WorkerLost` will follow."""

    def bar(self, node: str) -> None:
        """Use a node no more, nor keep it from others; `NoNodeLeft` follows if it was the last."""

    def retire(self, worker: str) -> None:
        """Stop a worker; nothing more is reported of it."""

    def submit(self, worker: str, unit: Unit, *, audit: bool) -> None:
        """Hand a unit to a worker. `Receipt`, `AuditDone`, `UnitFailed` or `WorkerLost` follows."""

    def call_off(self, worker: str, unit: int, *, audit: bool) -> None:
        """Let nothing wait for a unit at a worker; `Dropped` follows if that had not begun."""

    def poll(self, timeout: float) -> list[Report]:
        """What has happened; waits up to ``timeout`` seconds for something to happen."""

    def close(self) -> None:
        """Stop all workers."""


class LocalExecutor:
    """Workers in this process, each on a node of its own.

    Args:
        job: makes the workers.
        store: the run's files.
        nodes: how many slots each node has, by name.
    """

    def __init__(self, job: Job, store: RunStore, nodes: dict[str, int] | None = None) -> None:
        self._job = job
        self._store = store
        self._slots = dict(nodes or {"local": 1})
        self._nodes: dict[str, str] = {}
        self._workers: dict[str, Worker] = {}
        self._pending: deque[tuple[str, Unit, bool]] = deque()
        self._reports: deque[Report] = deque(e.NodeJoined(n, s) for n, s in self._slots.items())
        self._spawned = 0

    def probe(self, meanwhile: Meanwhile = nothing) -> None:
        """See `Executor.probe`: they live where we do."""

    def call(
        self,
        function: Callable[..., Any],
        *args: Any,
        memory: int | None,
        meanwhile: Meanwhile = nothing,
    ) -> Any:
        """See `Executor.call`: it takes all of this thread, and nothing is called meanwhile."""
        del memory, meanwhile
        return function(*args)

    def need(self, tasks: int) -> None:
        """See `Executor.need`: nobody else uses what is here."""

    def spawn(self, node: str) -> None:
        """See `Executor.spawn`."""
        self._spawned += 1
        name = f"{node}-{self._spawned}"
        self._workers[name] = self._job.make_worker(self._store, name, self._slots[node])
        self._nodes[name] = node
        self._reports.append(e.WorkerJoined(name, node))

    def bar(self, node: str) -> None:
        """See `Executor.bar`."""
        del self._slots[node]
        if not self._slots:
            self._reports.append(e.NoNodeLeft())

    def retire(self, worker: str) -> None:
        """See `Executor.retire`."""
        self._workers.pop(worker, None)
        self._pending = deque(task for task in self._pending if task[0] != worker)

    def submit(self, worker: str, unit: Unit, *, audit: bool) -> None:
        """See `Executor.submit`."""
        self._pending.append((worker, unit, audit))

    def call_off(self, worker: str, unit: int, *, audit: bool) -> None:
        """See `Executor.call_off`."""
        for task in self._pending:
            if (task[0], task[1].index, task[2]) == (worker, unit, audit):
                self._pending.remove(task)
                self._reports.append(e.Dropped(worker, unit, audit))
                return

    def poll(self, timeout: float) -> list[Report]:
        """See `Executor.poll`: what was reported before, otherwise the outcome of one unit."""
        del timeout
        if not self._reports and self._pending:
            self._reports.append(self.carry_out(*self._pending.popleft()))
        reports = list(self._reports)
        self._reports.clear()
        return reports

    def carry_out(self, worker: str, unit: Unit, audit: bool) -> Report:
        """Let the worker do one thing now."""
        try:
            if audit:
                return e.AuditDone(worker, unit.index, self._workers[worker].audit(unit))
            return self._workers[worker].run(unit)
        except Exception as error:
            return unit_failed(worker, unit.index, error, audit=audit)

    def close(self) -> None:
        """See `Executor.close`."""
        self._workers.clear()
        self._pending.clear()


def unit_failed(worker: str, unit: int, error: BaseException, *, audit: bool) -> e.UnitFailed:
    """The event for an exception that a unit raised."""
    fatal = isinstance(error, StoreFullError)
    conflict = isinstance(error, ConflictError)
    text = str(error) if fatal or conflict else f"{type(error).__name__}: {error}"
    return e.UnitFailed(worker, unit, text, audit=audit, fatal=fatal, conflict=conflict)
