"""The outside of a run's state, played in one process: what it is told to do is checked."""

from collections import Counter

import pytest

from plymill.cluster.machine import events as e
from plymill.cluster.machine.crew import MAX_COPIES
from plymill.cluster.machine.state import RunState
from plymill.cluster.machine.units import UnitStatus

CAUSES = [cause for cause in e.LossCause if cause is not e.LossCause.NODE_LOST]


class Cluster:
    """What the outside of a `RunState` looks like: it obeys, and checks what it is told.

    Asked for more units it answers at once with the next of ``more``, and in the end that there
    are none; with ``patient`` it waits until it is told to `answer`.

    ``results`` is what lies in the store: nothing in it is ever written over, as `RunStore` sees
    to. ``done`` is what was reported in time, and ``late`` what somebody else has done meanwhile.
    """

    def __init__(
        self,
        count: int,
        audited: frozenset[int],
        slots: int = 2,
        *,
        avoid: dict[int, str] | None = None,
        more: tuple[e.PlanExtended, ...] = (),
        patient: bool = False,
    ) -> None:
        self.count = count
        self.audited = audited
        self.slots = slots
        self.avoid = avoid or {}
        self.more = list(more)
        self.patient = patient
        self.asked = False
        self.state = RunState(count, audited, avoid)
        self.ours: set[str] = set()  # the nodes that have joined
        self.theirs: set[str] = set()  # those that other runs have, or that have not joined yet
        self.barred: set[str] = set()
        self.starting: list[str] = []
        self.workers: dict[str, str] = {}
        self.in_flight: list[tuple[str, int, bool]] = []
        self.late: list[tuple[str, int, bool]] = []
        self.called_off: set[tuple[str, int, bool]] = set()
        self.overdue: set[tuple[int, bool]] = set()
        self.failed_at: set[tuple[str, int]] = set()
        self.copies = 0
        self.results: dict[int, str] = {}
        self.done: dict[int, str] = {}
        self.failures: Counter[tuple[int, bool]] = Counter()
        self.assigned: list[tuple[str, int]] = []
        self.outcome: e.Finish | e.Abort | None = None
        self.wrong_nodes: frozenset[str] = frozenset()
        self.named = 0

    def tell(self, event: e.Event) -> None:
        self.obey_all(self.state.handle(event))

    def restore(self, done: list[e.UnitDone], audits: tuple[e.AuditDone, ...] = ()) -> None:
        self.done = {event.unit: event.digest for event in done}
        self.results = self.done | self.results
        self.obey_all(self.state.restore(done, audits))

    def obey_all(self, instructions: list[e.Instruction]) -> None:
        for instruction in instructions:
            assert self.outcome is None, "nothing may follow the end"
            self.obey(instruction)
        if self.asked and not self.patient:
            self.answer(self.more.pop(0) if self.more else e.PlanComplete())

    def answer(self, event: e.PlanExtended | e.PlanComplete) -> None:
        self.asked = False
        if isinstance(event, e.PlanExtended):
            self.count = event.count
            self.audited = frozenset(event.audited)
            self.avoid = dict(event.avoid)
            for held in (self.results, self.done):
                for unit in [unit for unit in held if unit >= event.kept]:
                    del held[unit]
                held |= {done.unit: done.digest for done in event.done}
        self.tell(event)

    def obey(self, instruction: e.Instruction) -> None:
        match instruction:
            case e.Spawn(node):
                assert node in self.ours
                self.starting.append(node)
            case e.Bar(node):
                assert node in self.ours
                assert node not in self.workers.values(), "it has no worker any more"
                assert node not in self.starting
                self.ours.remove(node)
                self.barred.add(node)
            case e.Assign(worker, unit, copy):
                assert unit not in self.done, "a finished unit is never solved again"
                self.give((worker, unit, False), copy)
                self.assigned.append((worker, unit))
            case e.Audit(worker, unit, copy):
                assert unit in self.done
                assert unit in self.audited
                self.give((worker, unit, True), copy)
            case e.Retire(worker):
                # At worst it has stored all that it had, and has not reported it.
                for name, unit, audit in self.in_flight:
                    if name == worker and not audit:
                        self.results.setdefault(unit, self.digest(name, unit))
                self.remove(worker)
            case e.Discard(unit):
                self.results.pop(unit, None)
                self.done.pop(unit, None)
                self.call_off(unit, audit=False)
            case e.Extend():
                assert not self.asked, "it is asked once"
                assert not self.in_flight
                assert set(self.done) == set(range(self.count))
                self.asked = True
            case e.Finish() | e.Abort():
                self.outcome = instruction
            case e.CallOff(worker, unit, audit):
                assert (worker, unit, audit) in (*self.in_flight, *self.late)
                self.called_off.add((worker, unit, audit))
            case e.Requeue() | e.Quarantine() | e.Warn():
                pass

    def give(self, task: tuple[str, int, bool], copy: bool) -> None:
        worker, *what = task
        assert worker in self.workers
        holders = [name for name, *other in self.in_flight if other == what]
        assert copy == bool(holders)
        assert len(holders) < MAX_COPIES
        assert worker not in holders
        if copy:
            self.copies += 1
            assert (task[1], task[2]) in self.overdue
            if not task[2]:
                statuses = enumerate(self.state.status)
                waiting = [unit for unit, status in statuses if status is UnitStatus.WAITING]
                not_here = {unit for unit, name in self.avoid.items() if name == worker}
                not_here |= {unit for name, unit in self.failed_at if name == worker}
                assert not_here.issuperset(waiting), "what may be done here comes first"
        self.in_flight.append(task)

    def call_off(self, unit: int, *, audit: bool) -> None:
        off = [task for task in self.in_flight if task[1:] == (unit, audit)]
        self.in_flight = [task for task in self.in_flight if task not in off]
        self.late += off
        self.overdue.discard((unit, audit))

    def is_overdue(self, task: tuple[str, int, bool]) -> None:
        _, unit, audit = task
        self.overdue.add((unit, audit))
        self.tell(e.Overdue(unit, audit))

    def join(self, node: str) -> None:
        self.ours.add(node)
        self.theirs.discard(node)
        self.tell(e.NodeJoined(node, self.slots))

    def look_for_nodes(self) -> None:
        """Say so if none is left because they were barred."""
        if self.barred and not self.ours | self.theirs:
            self.tell(e.NoNodeLeft())

    def start(self, node: str) -> str:
        self.starting.remove(node)
        self.named += 1
        name = f"{node}-{self.named}"
        self.workers[name] = node
        self.tell(e.WorkerJoined(name, node))
        return name

    def digest(self, worker: str, unit: int) -> str:
        node = worker.rpartition("-")[0]
        return f"wrong at {node}" if node in self.wrong_nodes else f"right for {unit}"

    def finish(self, task: tuple[str, int, bool]) -> None:
        self.in_flight.remove(task)
        worker, unit, audit = task
        if audit:
            self.call_off(unit, audit=True)
            self.tell(e.AuditDone(worker, unit, self.digest(worker, unit)))
            return
        assert unit not in self.done
        result = self.digest(worker, unit)
        if self.results.setdefault(unit, result) == result:
            self.done[unit] = result
            self.call_off(unit, audit=False)
            self.tell(e.UnitDone(worker, unit, result))
        else:
            self.failures[unit, False] += 1
            self.failed_at.add((worker, unit))
            self.tell(e.UnitFailed(worker, unit, "another result is there", conflict=True))

    def finish_late(self, task: tuple[str, int, bool]) -> None:
        """Nobody waits for it, yet it is stored if nothing else is.

        If the same worker has been given the same task anew, its first word on it counts.
        """
        if task in self.in_flight:
            self.finish(task)
            return
        self.late.remove(task)
        worker, unit, audit = task
        before = self.state.status
        result = self.digest(worker, unit)
        if audit:
            self.tell(e.AuditDone(worker, unit, result))
        elif self.results.setdefault(unit, result) == result:
            self.tell(e.UnitDone(worker, unit, result))
        else:
            self.tell(e.UnitFailed(worker, unit, "another result is there", conflict=True))
        for unit, status in enumerate(before):
            if status in (UnitStatus.DONE, UnitStatus.QUARANTINED):
                assert self.state.status[unit] is status

    def fail(self, task: tuple[str, int, bool]) -> None:
        self.in_flight.remove(task)
        worker, unit, audit = task
        self.failures[unit, audit] += 1
        self.failed_at.add((worker, unit))
        self.tell(e.UnitFailed(worker, unit, "boom", audit=audit))

    def lose(self, worker: str, cause: e.LossCause) -> None:
        node = self.workers[worker]
        self.remove(worker)
        self.tell(e.WorkerLost(worker, node, cause))

    def lose_node(self, node: str, *, given_back: bool = False) -> None:
        for worker in [name for name, where in self.workers.items() if where == node]:
            self.remove(worker)
        self.starting = [name for name in self.starting if name != node]
        self.ours.discard(node)
        self.tell(e.NodeLost(node, given_back))

    def remove(self, worker: str) -> None:
        self.workers.pop(worker, None)
        self.in_flight = [task for task in self.in_flight if task[0] != worker]
        self.late = [task for task in self.late if task[0] != worker]

    def run_on(self, limit: int = 10_000) -> None:
        """Let everything that is under way go well until the run ends."""
        for _ in range(limit):
            if self.outcome is not None:
                return
            if self.asked:
                self.answer(e.PlanComplete())
            elif self.starting:
                self.start(self.starting[0])
            elif self.in_flight:
                self.finish(self.in_flight[0])
            elif self.late:
                self.finish_late(self.late[0])
            elif self.theirs:
                self.join(min(self.theirs))
            elif self.barred and not self.ours:
                self.look_for_nodes()
            else:
                pytest.fail("the run has not ended, yet nothing is under way")
        pytest.fail("the run does not end")


def started(cluster: Cluster, *nodes: str) -> None:
    for node in nodes:
        cluster.join(node)
        cluster.start(node)
