"""The state of a run as a pure machine: events in, instructions out. No clock, Ray or files.

Rules:

* Every unit is, at any moment, in one place: see `units`.
* It is given to a second worker only if the first is gone, or if it is overdue there and the second
  has nothing else to do. Then the first result counts; what the other still says does not.
* Which task a free worker takes, and how many it may have: see `waiting`.
* A lost node costs nothing but time: its units wait again. Any other loss of a worker is charged
  to the units it had, and counted against the node until a unit is finished there.
* A unit that has failed three times is quarantined, and the run goes on without it.
* A node on which workers die again and again without finishing a unit is barred. Once `NoNodeLeft`
  says that this was the last one, the run is aborted: which others there are, those that other runs
  have included, the executor knows.
* A worker proved wrong by an audit is retired, its node barred, and all that it did is done again.
* A unit that is to avoid a worker is given to another if there is one.
* Once every unit has a trusted result, the run is asked for more, and ends when nothing follows. It
  is asked once, until it answers. With a unit in quarantine it ends at once: what would follow from
  its result is not known.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from plymill.cluster.machine import events as e
from plymill.cluster.machine.attempts import MAX_FAILURES, Attempts, Task
from plymill.cluster.machine.audits import Audits
from plymill.cluster.machine.crew import MAX_STRIKES, Crew
from plymill.cluster.machine.units import Units, UnitStatus
from plymill.cluster.machine.waiting import Waiting


class RunState:
    """Feed it with `restore`, then with `handle`; do what it returns, in that order.

    Args:
        count: how many units there are; they are named by their index.
        audited: the units that need a second opinion.
        avoid: the worker that a unit is not to be given to, if there is another.
    """

    def __init__(
        self,
        count: int,
        audited: Collection[int] = (),
        avoid: Mapping[int, str] | None = None,
    ) -> None:
        self._units = Units(count)
        self._avoid = dict(avoid or {})
        self._attempts = Attempts()
        self._audits = Audits(audited, self._attempts)
        self._crew = Crew()
        self._waiting = Waiting(self._crew, self._attempts, self._audits, range(count))
        self._barred = ""  # why a node was, the last time
        self._asked = False
        self._ended = False

    # --- what a watcher may ask -------------------------------------------------------------------

    @property
    def status(self) -> Sequence[UnitStatus]:
        """The status of every unit, by index."""
        return self._units.status

    @property
    def quarantined(self) -> dict[int, str]:
        """The quarantined units, each with the reason."""
        return self._units.quarantined

    @property
    def digests(self) -> Sequence[str]:
        """The digest of every unit's result, by index; empty for a unit that has none."""
        return self._units.digests

    @property
    def asked(self) -> bool:
        """Whether `Extend` has been given out and not been answered."""
        return self._asked

    @property
    def ended(self) -> bool:
        """Whether `Finish` or `Abort` has been given out."""
        return self._ended

    @property
    def workers(self) -> Collection[str]:
        """The workers that there are."""
        return self._crew.workers

    @property
    def flying(self) -> Collection[Task]:
        """The tasks in flight."""
        return self._crew.flying

    @property
    def left(self) -> int:
        """How many tasks wait or are in flight: units, and audits of units."""
        return len(self._waiting) + len(self._crew.flying)

    def has(self, worker: str, task: Task) -> bool:
        """Whether ``worker`` is waited for with this task."""
        return task in self._crew.in_flight(worker)

    def in_flight(self, worker: str) -> list[int]:
        """The units that ``worker`` has, audits included, ascending."""
        return [task.unit for task in self._crew.in_flight(worker)]

    # --- input ------------------------------------------------------------------------------------

    def restore(
        self, done: Iterable[e.UnitDone], audits: Iterable[e.AuditDone] = ()
    ) -> list[e.Instruction]:
        """Take over what an earlier session finished. Call it once, before any event."""
        return self._take_over(done, audits) + list(self._settle())

    def handle(self, event: e.Event) -> list[e.Instruction]:
        """The instructions that follow from one event. Nothing follows once the run has ended."""
        if self._ended:
            return []
        match event:
            case e.NodeJoined():
                instructions = self._node_joined(event)
            case e.NodeLost():
                given_back = "its node is given to another run"
                why = given_back if event.given_back else e.LossCause.NODE_LOST
                instructions = self._node_lost(event.node, why)
            case e.NoNodeLeft():
                instructions = self._no_node_left()
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
            case e.Overdue() | e.Dropped():
                instructions = self._note(event)
            case e.PlanExtended():
                instructions = self._plan_extended(event)
            case e.PlanComplete():
                instructions = self._plan_complete()
        return instructions + list(self._settle())

    def _note(self, event: e.Overdue | e.Dropped) -> list[e.Instruction]:
        task = Task(event.unit, event.audit)
        if isinstance(event, e.Overdue):
            self._crew.overdue(task)
        else:
            self._crew.drop(event.worker, task)
        return []

    # --- the plan ---------------------------------------------------------------------------------

    def _take_over(
        self, done: Iterable[e.UnitDone], audits: Iterable[e.AuditDone]
    ) -> list[e.Instruction]:
        """Believe what was finished earlier, and lay out the units that wait."""
        for event in done:
            self._finish_unit(event)
        self._waiting.lay_out(self._units.waiting, self._avoid)
        instructions: list[e.Instruction] = []
        for audit in audits:
            instructions += self._judge(audit)
        return instructions

    def _plan_extended(self, event: e.PlanExtended) -> list[e.Instruction]:
        """Nothing waits and nothing is in flight now, so that units can be exchanged."""
        if not self._asked:
            return []
        self._asked = False
        self._units.replace_from(event.kept, event.count)
        self._avoid = dict(event.avoid)
        self._attempts.forget_from(event.kept)
        self._audits.replan(event.kept, event.audited)
        return self._replace_laggards(event.kept) + self._take_over(event.done, event.audits)

    def _replace_laggards(self, kept: int) -> list[e.Instruction]:
        """Who is still at a unit that was replaced must not report it as the new one."""
        instructions: list[e.Instruction] = []
        for worker in self._crew.behind(kept):
            instructions += [e.Retire(worker), e.Spawn(self._crew.node_of(worker))]
            instructions += self._drop(worker, "")
        return instructions

    def _plan_complete(self) -> list[e.Instruction]:
        if not self._asked:
            return []
        self._ended = True
        return [e.Finish(())]

    # --- nodes and workers ------------------------------------------------------------------------

    def _node_joined(self, event: e.NodeJoined) -> list[e.Instruction]:
        new = self._crew.node_joined(event.node, event.slots)
        return [e.Spawn(event.node)] if new else []

    def _node_lost(self, node: str, why: str = e.LossCause.NODE_LOST) -> list[e.Instruction]:
        instructions: list[e.Instruction] = []
        for worker in self._crew.node_lost(node):
            instructions += self._drop(worker, f"{worker} was lost: {why}")
        return instructions

    def _worker_joined(self, event: e.WorkerJoined) -> list[e.Instruction]:
        welcome = self._crew.join(event.worker, event.node)
        return [] if welcome else [e.Retire(event.worker)]

    def _worker_lost(self, event: e.WorkerLost) -> list[e.Instruction]:
        if event.cause is e.LossCause.NODE_LOST:
            return self._node_lost(event.node)
        reason = f"{event.worker} was lost: {event.cause}"
        instructions = self._blame(event.worker, event.cause, reason)
        return instructions + self._drop(event.worker, reason) + self._strike(event)

    def _blame(self, worker: str, cause: e.LossCause, reason: str) -> list[e.Instruction]:
        """Charge the death of a process to the tasks that may have caused it."""
        if cause is e.LossCause.UNREACHABLE:
            return []
        tasks = self._crew.in_flight(worker)
        if len(tasks) == 1 and self._attempts.must_run_alone(tasks[0]):
            self._crew.land(worker, tasks[0])
            return self._failed_attempt(tasks[0], worker, reason)
        for task in tasks:
            self._attempts.suspect(task)
        return []

    def _strike(self, event: e.WorkerLost) -> list[e.Instruction]:
        strikes = self._crew.strike(event.node)
        if not strikes:
            return []
        if strikes < MAX_STRIKES:
            return [e.Spawn(event.node)]
        detail = f" ({event.detail})" if event.detail else ""
        text = (
            f"Node {event.node} is given up: its worker was lost {strikes} times in a row "
            f"without finishing a unit, the last time because {event.cause}{detail}."
        )
        return [e.Warn(text), *self._bar([event.node], text)]

    def _bar(self, nodes: Collection[str], why: str) -> list[e.Instruction]:
        self._barred = why if nodes else self._barred
        return [e.Bar(node) for node in nodes]

    def _no_node_left(self) -> list[e.Instruction]:
        """Unless one has joined since that was found out."""
        if not self._barred or self._crew.usable:
            return []
        self._ended = True
        return [e.Abort(f"{self._barred} No other node is left.")]

    def _drop(self, worker: str, reason: str) -> list[e.Instruction]:
        """Forget a worker; what it had in flight waits again."""
        tasks = self._crew.remove(worker)
        for task in tasks:
            self._wait_again(task)
        self._waiting.release(worker)
        return [e.Requeue(task.unit, reason) for task in tasks]

    def _wait_again(self, task: Task) -> None:
        if not task.audit:
            self._units.wait(task.unit)
        self._waiting.put_back(task)

    # --- units ------------------------------------------------------------------------------------

    def _unit_done(self, event: e.UnitDone) -> list[e.Instruction]:
        if not self._crew.land(event.worker, Task(event.unit)):
            return []
        self._crew.forgive(event.worker)
        self._finish_unit(event)
        return self._call_off(Task(event.unit))

    def _call_off(self, task: Task) -> list[e.Instruction]:
        return [e.CallOff(name, task.unit, task.audit) for name in self._crew.call_off(task)]

    def _finish_unit(self, event: e.UnitDone) -> None:
        self._units.finish(event.unit, event.worker, event.digest)
        self._audits.solved(event.unit, event.worker, event.digest)

    def _unit_failed(self, event: e.UnitFailed) -> list[e.Instruction]:
        task = Task(event.unit, event.audit)
        if not self._crew.land(event.worker, task):
            late = f"{event.worker}, who is not waited for any more, says: {event.error}"
            return [e.Warn(late)] if event.conflict else []
        if event.fatal:
            self._ended = True
            return [e.Abort(event.error)]
        if event.conflict:
            off = self._call_off(task)  # whoever has a copy may rely on what is discarded
            failed = self._failed_attempt(task, event.worker, event.error)
            return [*off, e.Discard(event.unit), *failed]
        return self._failed_attempt(task, event.worker, event.error)

    def _failed_attempt(self, task: Task, worker: str, error: str) -> list[e.Instruction]:
        failures = self._attempts.failed(task, worker)
        if self._crew.held(task):
            return [e.Warn(f"Unit {task.unit} failed, but another worker has it, too: {error}")]
        if failures < MAX_FAILURES:
            self._wait_again(task)
            return [e.Requeue(task.unit, error)]
        self._crew.forgive(worker)
        what = "its audit failed" if task.audit else "it failed"
        reason = f"{what} {MAX_FAILURES} times, the last time with: {error}"
        self._units.set_aside(task.unit, reason)
        return [e.Quarantine(task.unit, reason)]

    # --- audits -----------------------------------------------------------------------------------

    def _audit_done(self, event: e.AuditDone) -> list[e.Instruction]:
        task = Task(event.unit, audit=True)
        if not self._crew.land(event.worker, task):
            return []
        self._crew.forgive(event.worker)
        return self._call_off(task) + self._judge(event)

    def _judge(self, event: e.AuditDone) -> list[e.Instruction]:
        wrong = sorted(
            self._audits.opinion(event.unit, event.worker, event.digest, self._crew.workers)
        )
        here = [worker for worker in wrong if worker in self._crew.workers]
        nodes = sorted({self._crew.node_of(worker) for worker in here})
        instructions: list[e.Instruction] = []
        for worker in here:  # first of all, so that it stores nothing more
            instructions += self._retire(worker)
        for worker in wrong:
            instructions += self._undo_all(worker, event.unit)
        text = f"Unit {event.unit}, solved again, came out differently at {' and '.join(wrong)}."
        return instructions + self._bar(nodes, text)

    def _undo_all(self, worker: str, betrayed_by: int) -> list[e.Instruction]:
        """All that ``worker`` did is to be done again.

        The unit that betrayed it is discarded last: as long as it is stored beside its audit, a
        session that starts from here finds out again.
        """
        theirs = self._units.solved_by(worker)
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
        self._units.undo(unit)
        self._audits.forget(unit)
        if self._units.is_done(unit):
            self._wait_again(Task(unit))

    def _retire(self, worker: str) -> list[e.Instruction]:
        self._crew.distrust(worker)
        # It may have stored what it has not reported: nobody is to find that, whoever has a copy.
        told = [*self._crew.in_flight(worker), *self._crew.called_off(worker)]
        solving = [task for task in told if not task.audit and not self._units.is_done(task.unit)]
        reason = f"{worker} is not trusted any more"
        dropped = self._drop(worker, reason)
        for task in solving:
            if self._crew.held(task):
                dropped += self._call_off(task)
                self._wait_again(task)
                dropped.append(e.Requeue(task.unit, reason))
        return [e.Retire(worker), *dropped, *(e.Discard(task.unit) for task in solving)]

    # --- giving out work --------------------------------------------------------------------------

    def _settle(self) -> Iterator[e.Instruction]:
        """Fill every worker up, in turn, and say when nothing is left."""
        if self._ended:
            return
        hungry = list(self._crew.workers) if len(self._waiting) or self._crew.any_overdue else []
        while hungry:
            for name in tuple(hungry):
                task = self._waiting.next_for(name)
                if task is None:
                    hungry.remove(name)
                    continue
                copy = self._crew.held(task)
                self._crew.give(name, task)
                if not task.audit:
                    self._units.fly(task.unit)
                yield (e.Audit if task.audit else e.Assign)(name, task.unit, copy)
        if not self._nothing_left():
            return
        quarantined = self._units.quarantined
        if quarantined:
            self._ended = True
            yield e.Finish(tuple(sorted(quarantined)))
        elif not self._asked:
            self._asked = True
            yield e.Extend()

    def _nothing_left(self) -> bool:
        return not len(self._waiting) and self._crew.idle
