"""The loop that feeds what happens to the run state and does what it says.

It may be killed at any instant. Whoever starts it again finds all in the store: the units whose
result is there and sound are finished, the others are not.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from plymill.cluster.errors import (
    RunFailedError,
    RunInterruptedError,
    RunTakenError,
    StoreError,
)
from plymill.cluster.executor import Executor, Report
from plymill.cluster.job import Job
from plymill.cluster.machine import events as e
from plymill.cluster.machine.attempts import Task
from plymill.cluster.progress import Progress
from plymill.cluster.recorder import Recorder
from plymill.cluster.session import Session, audited, done
from plymill.cluster.spec import RunOptions
from plymill.cluster.storage.receipts import AuditRecord, Receipt
from plymill.cluster.storage.store import RunStore
from plymill.cluster.tasks import Inventory, extend, prepare, run_stage, seal
from plymill.cluster.watch import Watcher

_POLL = 0.5


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended.

    Attributes:
        run_id: the run.
        url: where its files are.
        complete: whether every unit has a result and the artefacts are made.
        quarantined: the names of the units without a result, each with the reason.
        stages: what each finishing stage returned.
        progress: the figures at the end.
    """

    run_id: str
    url: str
    complete: bool
    quarantined: Mapping[str, str]
    stages: Mapping[str, Any]
    progress: Progress


class Coordinator:
    """Carries out one run.

    Args:
        job: what to do.
        store: the run's files.
        executor: where workers live.
        options: how often to write.
        on_progress: see `Recorder`.
        watchers: are told what happens.
        clock: seconds since 1970.
        timer: seconds from any point in time; unlike the clock it is never set.
        mine: whether the run is still this driver's; once it is another's, nothing more is written.
    """

    def __init__(
        self,
        job: Job,
        store: RunStore,
        executor: Executor,
        *,
        options: RunOptions | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        watchers: Sequence[Watcher] = (),
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.monotonic,
        mine: Callable[[], bool] = lambda: True,
    ) -> None:
        self._mine = mine
        self._job = job
        self._store = store
        self._executor = executor
        self._clock = clock
        self._timer = timer
        self._started = clock()
        self._stage = ""
        self._message = ""
        self._waits_for = ""
        self._phase = "planning"
        self._session: Session | None = None
        every = (options or RunOptions()).report_every
        self._recorder = Recorder(store, clock, every, on_progress, watchers)

    def run(self) -> RunResult:
        """Do all that is left to do, from planning to the artefacts.

        Raises:
            RunInterruptedError: on Ctrl-C or SIGTERM, after everything was stopped cleanly.
            RunFailedError: no worker can go on.
            RunTakenError: another driver has taken the run over.
            PlymillError: the spec, the store or the cluster is at fault.
        """
        try:
            return self._run()
        except KeyboardInterrupt:
            self._require_mine()
            self._end("interrupted", "stopped")
            raise RunInterruptedError(
                f"Run {self._store.run_id} is stopped. What is finished is kept in "
                f"{self._store.url}; run the same command again to go on."
            ) from None
        except Exception as error:
            self._end("failed", str(error))
            raise
        finally:
            self._executor.close()

    def _run(self) -> RunResult:
        self._store.write_spec(self._job.spec)
        self._recorder.event("session started")
        self._recorder.report(self._progress, now=True)
        self._executor.probe(self._meanwhile)
        self._solve(self._call(prepare, memory=self._job.task_memory))
        session = self._get()
        if session.state.quarantined:
            names = {session.plan.units[i].name: r for i, r in session.state.quarantined.items()}
            self._end("failed", f"{len(names)} units are quarantined")
            return self._result(names, {})
        return self._result({}, self._finish())

    # --- solving ----------------------------------------------------------------------------------

    def _solve(self, inventory: Inventory) -> None:
        session = self._begin(inventory)
        state = session.state
        for instruction in state.restore(done(inventory), audited(inventory)):
            self._obey(instruction)
        self._recorder.report(self._progress, now=True)
        while not state.ended:
            self._require_mine()
            if state.asked:
                self._extend()
                continue
            self._executor.need(state.left)
            for report in self._executor.poll(_POLL):
                self._take(report)
            for overdue in self._get().overdue(self._timer()):
                self._handle(overdue)
            self._recorder.report(self._progress)

    def _extend(self) -> None:
        """Let the job say what follows from the results of all units, and go on with that."""
        session = self._get()
        inventory = self._call(extend, session.plan, session.state.digests, memory=None)
        event: e.Event = e.PlanComplete()
        if inventory is not None:
            before = len(session.plan.units)
            event = session.go_on(inventory)
            self._tell_faults(inventory)
            self._recorder.event(
                "plan extended", units=len(session.plan.units), before=before, kept=event.kept
            )
        self._handle(event)
        self._recorder.report(self._progress, now=True)

    def _begin(self, inventory: Inventory) -> Session:
        session = Session.begin(inventory)
        self._session = session
        self._phase = "solving"
        self._tell_faults(inventory)
        self._recorder.event(
            "plan ready", units=len(session.plan.units), finished_before=len(inventory.receipts)
        )
        return session

    def _tell_faults(self, inventory: Inventory) -> None:
        for fault in inventory.faults:
            self._recorder.event("damaged file", message=fault)

    def _take(self, report: Report) -> None:
        session = self._get()
        if isinstance(report, e.Warn):
            self._recorder.event("warning", message=report.message)
            return
        event: e.Event
        if isinstance(report, Receipt):
            if session.state.has(report.worker, Task(report.unit)):
                self._recorder.finished(session.plan.units[report.unit], report)
            event = session.finished(report, self._clock())
        else:
            event = report
            if not isinstance(event, e.AuditDone) or session.state.has(
                event.worker, Task(event.unit, audit=True)
            ):
                self._note(event)
        self._handle(event)

    def _handle(self, event: e.Event) -> None:
        for instruction in self._get().state.handle(event):
            self._obey(instruction)

    def _note(self, event: e.Event) -> None:
        """Keep what the event tells about nodes, workers and audits."""
        session = self._get()
        match event:
            case e.NodeJoined(node, slots):
                session.node_joined(event)
                self._recorder.event("node joined", node=node, slots=slots)
            case e.NodeLost(node, given_back):
                what = "node given back" if given_back else "node lost"
                self._recorder.event(what, node=node)
            case e.WorkerJoined(worker, node, host, pid):
                session.worker_joined(event)
                self._recorder.event("worker joined", worker=worker, node=node, host=host, pid=pid)
            case e.WorkerLost(worker, node, cause, detail):
                self._recorder.event(
                    "worker lost", worker=worker, node=node, cause=str(cause), detail=detail
                )
            case e.AuditDone(worker, unit, digest):
                self._store.write_audit(
                    session.plan.units[unit], AuditRecord(unit=unit, digest=digest, worker=worker)
                )
                self._recorder.event(
                    "audited",
                    unit=session.plan.units[unit].name,
                    worker=worker,
                    agrees=digest == session.state.digests[unit],
                )
            case _:
                pass

    def _obey(self, instruction: e.Instruction) -> None:
        match instruction:
            case e.Assign(worker, unit, copy):
                self._give(worker, Task(unit), copy)
            case e.Audit(worker, unit, copy):
                self._give(worker, Task(unit, audit=True), copy)
            case e.CallOff(worker, unit, audit):
                self._executor.call_off(worker, unit, audit=audit)
            case e.Spawn(node):
                self._executor.spawn(node)
            case e.Bar(node):
                self._recorder.event("node barred", node=node)
                self._executor.bar(node)
            case e.Retire(worker):
                self._recorder.event("worker retired", worker=worker)
                self._executor.retire(worker)
            case e.Discard(unit):
                self._discard(unit)
            case e.Extend():
                pass  # the loop asks
            case e.Abort(reason):
                raise RunFailedError(reason)
            case e.Requeue() | e.Quarantine() | e.Warn() | e.Finish():
                self._write_down(instruction)

    def _discard(self, index: int) -> None:
        session = self._get()
        unit = session.plan.units[index]
        self._store.discard_unit(unit)
        session.meter.discarded(index)
        self._recorder.event("discarded", unit=unit.name)

    def _write_down(self, instruction: e.Requeue | e.Quarantine | e.Warn | e.Finish) -> None:
        units = self._get().plan.units
        match instruction:
            case e.Requeue(unit, reason):
                self._recorder.event("requeued", unit=units[unit].name, reason=reason)
            case e.Quarantine(unit, reason):
                self._recorder.event("quarantined", unit=units[unit].name, reason=reason)
            case e.Warn(message):
                self._message = message
                self._recorder.event("warning", message=message)
            case e.Finish():
                self._recorder.event("all units settled")

    def _give(self, worker: str, task: Task, copy: bool) -> None:
        session = self._get()
        unit = session.plan.units[task.unit]
        if copy:
            self._recorder.event("copied", unit=unit.name, worker=worker, audit=task.audit)
        else:
            session.given(task, self._timer())
        self._executor.submit(worker, unit, audit=task.audit)

    # --- finishing --------------------------------------------------------------------------------

    def _finish(self) -> dict[str, Any]:
        session = self._get()
        self._executor.close()
        self._phase = "finishing"
        results = {}
        memory = self._job.task_memory
        for stage in self._job.stages:
            self._stage = stage.name
            self._recorder.event("stage started", stage=stage.name)
            self._recorder.report(self._progress, now=True)
            results[stage.name] = self._call(run_stage, session.plan, stage.name, memory=memory)
        self._stage = ""
        self._recorder.event("artefacts ready")
        self._recorder.report(self._progress, now=True)
        self._call(seal, session.plan, memory=memory)
        self._end("done", "")
        return results

    # --- tasks ------------------------------------------------------------------------------------

    def _call(self, task: Callable[..., Any], *args: Any, memory: int | None) -> Any:
        """Run a task; while it runs or waits, the run is heard of."""
        try:
            return self._executor.call(
                task, self._job, self._store, *args, memory=memory, meanwhile=self._meanwhile
            )
        finally:
            self._waits_for = ""

    def _meanwhile(self, waits_for: str) -> None:
        self._require_mine()
        self._waits_for = waits_for
        self._recorder.report(self._progress)

    # --- reporting --------------------------------------------------------------------------------

    def _get(self) -> Session:
        assert self._session is not None, "the plan comes first"
        return self._session

    def _require_mine(self) -> None:
        if self._mine():
            return
        run = self._store.run_id
        if not self._store.exists():
            raise RunTakenError(f"Run {run} is not in {self._store.url} any more: it was deleted.")
        raise RunTakenError(f"Another driver has taken run {run} over; this one leaves it to that.")

    def _end(self, phase: str, message: str) -> None:
        if not self._mine():
            return
        self._phase = phase
        self._message = message or self._message
        self._recorder.event(f"session {phase}", **({"message": message} if message else {}))
        with suppress(StoreError):
            self._recorder.report(self._progress, now=True)

    def _result(self, quarantined: Mapping[str, str], stages: Mapping[str, Any]) -> RunResult:
        return RunResult(
            run_id=self._store.run_id,
            url=self._store.url,
            complete=not quarantined,
            quarantined=quarantined,
            stages=stages,
            progress=self._progress(),
        )

    def _progress(self) -> Progress:
        now = self._clock()
        figures = {} if self._session is None else self._session.figures()
        idle = self._phase == "solving" and not figures.get("workers")
        return Progress(
            run_id=self._store.run_id,
            state=self._phase,
            stage=self._stage,
            message="waiting for a worker" if idle else self._waits_for or self._message,
            started=self._started,
            updated=now,
            **figures,
        )
