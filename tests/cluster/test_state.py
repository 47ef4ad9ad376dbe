"""The run state under any order of events: hypothesis plays the cluster."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from plymill.cluster.machine import events as e
from plymill.cluster.machine.attempts import MAX_FAILURES
from plymill.cluster.machine.crew import MAX_COPIES, MAX_STRIKES
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


class AnyOrder(RuleBasedStateMachine):
    """Nodes and workers come and go, units end well or badly, in whatever order."""

    cluster: Cluster

    @initialize(
        count=st.integers(1, 12),
        data=st.data(),
        slots=st.integers(1, 3),
        wrong=st.frozensets(st.sampled_from(["n1", "n2", "n3"])),
    )
    def begin(self, count: int, data: st.DataObject, slots: int, wrong: frozenset[str]) -> None:
        audited = data.draw(st.frozensets(st.integers(0, count - 1)))
        self.cluster = Cluster(count, audited, slots, patient=True)
        self.cluster.wrong_nodes = wrong
        self.nodes = 0
        self.rounds = 0

    def live(self) -> bool:
        return self.cluster.outcome is None

    @precondition(live)
    @rule()
    def node_joins(self) -> None:
        self.nodes += 1
        self.cluster.join(f"n{self.nodes}")

    @precondition(lambda self: self.live() and self.cluster.starting)
    @rule(data=st.data())
    def worker_starts(self, data: st.DataObject) -> None:
        self.cluster.start(data.draw(st.sampled_from(self.cluster.starting)))

    @precondition(lambda self: self.live() and self.cluster.starting)
    @rule(data=st.data())
    def worker_cannot_start(self, data: st.DataObject) -> None:
        node = data.draw(st.sampled_from(self.cluster.starting))
        self.cluster.starting.remove(node)
        self.cluster.tell(e.WorkerLost("nobody", node, e.LossCause.NOT_STARTED))

    @precondition(lambda self: self.live() and self.cluster.in_flight)
    @rule(data=st.data())
    def task_ends_well(self, data: st.DataObject) -> None:
        self.cluster.finish(data.draw(st.sampled_from(self.cluster.in_flight)))

    @precondition(lambda self: self.live() and self.cluster.in_flight)
    @rule(data=st.data())
    def task_raises(self, data: st.DataObject) -> None:
        self.cluster.fail(data.draw(st.sampled_from(self.cluster.in_flight)))

    @precondition(lambda self: self.live() and self.cluster.in_flight)
    @rule(data=st.data())
    def task_is_overdue(self, data: st.DataObject) -> None:
        self.cluster.is_overdue(data.draw(st.sampled_from(self.cluster.in_flight)))

    @precondition(lambda self: self.live() and self.cluster.late)
    @rule(data=st.data())
    def late_task_ends(self, data: st.DataObject) -> None:
        self.cluster.finish_late(data.draw(st.sampled_from(self.cluster.late)))

    @precondition(lambda self: self.live() and self.cluster.late)
    @rule(data=st.data())
    def late_task_is_dropped(self, data: st.DataObject) -> None:
        task = data.draw(st.sampled_from(self.cluster.late))
        self.cluster.late.remove(task)
        self.cluster.tell(e.Dropped(*task))

    @precondition(lambda self: self.live() and self.cluster.workers)
    @rule(data=st.data(), cause=st.sampled_from(CAUSES))
    def worker_dies(self, data: st.DataObject, cause: e.LossCause) -> None:
        self.cluster.lose(data.draw(st.sampled_from(sorted(self.cluster.workers))), cause)

    @precondition(lambda self: self.live() and self.cluster.workers)
    @rule(data=st.data())
    def node_dies(self, data: st.DataObject) -> None:
        worker = data.draw(st.sampled_from(sorted(self.cluster.workers)))
        self.cluster.lose_node(self.cluster.workers[worker])

    @precondition(lambda self: self.live() and self.cluster.ours)
    @rule(data=st.data())
    def node_is_given_back(self, data: st.DataObject) -> None:
        node = data.draw(st.sampled_from(sorted(self.cluster.ours)))
        self.cluster.lose_node(node, given_back=True)
        self.cluster.theirs.add(node)

    @precondition(lambda self: self.live() and self.cluster.theirs)
    @rule(data=st.data())
    def node_is_ours_again(self, data: st.DataObject) -> None:
        self.cluster.join(data.draw(st.sampled_from(sorted(self.cluster.theirs))))

    @precondition(lambda self: self.live() and self.cluster.barred)
    @rule()
    def nodes_are_looked_for(self) -> None:
        cluster = self.cluster
        cluster.look_for_nodes()
        assert isinstance(cluster.outcome, e.Abort) == (not cluster.ours | cluster.theirs)

    @precondition(lambda self: self.live() and (self.cluster.ours or not self.cluster.barred))
    @rule()
    def no_node_is_said_to_be_left_and_one_is(self) -> None:
        """It joined meanwhile; or no node was ever barred, and others may come."""
        self.cluster.tell(e.NoNodeLeft())
        assert self.live()

    @precondition(lambda self: self.live() and self.cluster.workers)
    @rule(data=st.data(), unit=st.integers(0, 11))
    def late_word_of_somebody_gone(self, data: st.DataObject, unit: int) -> None:
        unit %= self.cluster.count
        before = self.cluster.state.status
        self.cluster.tell(e.UnitDone("gone", unit, "late"))
        assert self.cluster.state.status == before

    @precondition(lambda self: self.live() and self.cluster.asked and self.rounds < 3)
    @rule(data=st.data(), more=st.integers(0, 6))
    def plan_is_extended(self, data: st.DataObject, more: int) -> None:
        """Mostly behind what there is; now and then a part of that is replaced."""
        self.rounds += 1
        cluster = self.cluster
        kept = data.draw(st.sampled_from([cluster.count, cluster.count, cluster.count // 2]))
        new = st.integers(kept, kept + more - 1) if more else st.nothing()
        audited = {u for u in cluster.audited if u < kept} | data.draw(st.frozensets(new))
        names = st.sampled_from([*sorted(cluster.workers), "somebody gone"])
        done = data.draw(st.frozensets(new))
        cluster.answer(
            e.PlanExtended(
                kept=kept,
                count=kept + more,
                audited=tuple(sorted(audited)),
                avoid=data.draw(st.dictionaries(new, names)),
                done=tuple(e.UnitDone("old-1", u, f"right for {u}") for u in sorted(done)),
            )
        )

    @precondition(lambda self: self.live() and self.cluster.asked)
    @rule()
    def plan_is_complete(self) -> None:
        self.cluster.answer(e.PlanComplete())
        assert self.cluster.outcome == e.Finish(())

    @precondition(lambda self: self.live() and not self.cluster.asked)
    @rule()
    def nobody_asked(self) -> None:
        before = self.cluster.state.status
        self.cluster.tell(e.PlanExtended(kept=0, count=99))
        self.cluster.tell(e.PlanComplete())
        assert self.live()
        assert self.cluster.state.status == before

    @precondition(lambda self: not self.live())
    @rule()
    def nothing_follows_the_end(self) -> None:
        assert self.cluster.state.handle(e.NodeJoined("late", 1)) == []

    @invariant()
    def books_balance(self) -> None:
        """Every unit is in exactly one place, and inside and outside agree which."""
        if not hasattr(self, "cluster"):
            return
        cluster = self.cluster
        flying = {unit for _, unit, audit in cluster.in_flight if not audit}
        for unit, status in enumerate(cluster.state.status):
            assert (status is UnitStatus.IN_FLIGHT) == (unit in flying)
            if status is UnitStatus.DONE:
                assert cluster.results[unit] == cluster.done[unit], "what was reported is stored"
        for worker in cluster.workers:
            mine = sorted(unit for name, unit, _ in cluster.in_flight if name == worker)
            assert mine == cluster.state.in_flight(worker)
            assert cluster.called_off.issuperset(cluster.late), "the executor was told"
            late = sum(name == worker for name, *_ in cluster.late)
            assert len(mine) + late <= cluster.slots + 1

    @invariant()
    def nobody_idles(self) -> None:
        """While a unit waits that has never given trouble, no worker is without work."""
        if not hasattr(self, "cluster") or self.cluster.outcome is not None:
            return
        cluster = self.cluster
        fresh = [
            unit
            for unit, status in enumerate(cluster.state.status)
            if status is UnitStatus.WAITING and not cluster.failures
        ]
        busy = {worker for worker, _, _ in cluster.in_flight + cluster.late}
        if fresh and not self.troubled() and not cluster.avoid:
            assert busy == set(cluster.workers)

    def troubled(self) -> bool:
        return self.cluster.named > self.nodes  # some worker was lost, units may have to run alone

    def teardown(self) -> None:
        """From wherever it is, the run ends as soon as things go well."""
        if not hasattr(self, "cluster"):
            return
        cluster = self.cluster
        if cluster.outcome is None:
            cluster.join("a good one")
            cluster.run_on()
        if isinstance(cluster.outcome, e.Finish):
            lost = set(cluster.outcome.quarantined)
            assert lost | set(cluster.done) == set(range(cluster.count))
            assert set(cluster.state.quarantined) == lost


AnyOrder.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
test_any_order_of_events = AnyOrder.TestCase


def started(cluster: Cluster, *nodes: str) -> None:
    for node in nodes:
        cluster.join(node)
        cluster.start(node)


@given(st.integers(0, 40), st.integers(1, 5), st.integers(1, 4))
def test_undisturbed_every_unit_is_assigned_once(count: int, nodes: int, slots: int) -> None:
    cluster = Cluster(count, frozenset(), slots)
    cluster.restore([])
    if count:
        started(cluster, *(f"n{i}" for i in range(nodes)))
        cluster.run_on()
    assert cluster.outcome == e.Finish(())
    assert sorted(unit for _, unit in cluster.assigned) == list(range(count))


@given(st.frozensets(st.integers(0, 19)))
def test_what_an_earlier_session_finished_is_not_done_again(done: frozenset[int]) -> None:
    cluster = Cluster(20, frozenset())
    cluster.restore([e.UnitDone("old", u, "old") for u in sorted(done)])
    if len(done) < 20:
        started(cluster, "n")
        cluster.run_on()
    assert {unit for _, unit in cluster.assigned} == set(range(20)) - done
    assert isinstance(cluster.outcome, e.Finish)


def test_a_unit_that_raises_is_tried_three_times_on_different_workers_then_quarantined() -> None:
    cluster = Cluster(30, frozenset())
    started(cluster, "a", "b", "c")
    tried: list[str] = []
    while cluster.outcome is None:
        bad = next((task for task in cluster.in_flight if task[1] == 7), None)
        if bad is None:
            cluster.finish(cluster.in_flight[0])
        else:
            tried.append(bad[0])
            cluster.fail(bad)
    assert len(tried) == MAX_FAILURES
    assert len(set(tried)) == MAX_FAILURES
    assert cluster.outcome == e.Finish((7,))
    assert set(cluster.results) == set(range(30)) - {7}


@pytest.mark.parametrize("cause", [e.LossCause.CRASHED, e.LossCause.OUT_OF_MEMORY])
@pytest.mark.parametrize("slots", [1, 3])
def test_a_unit_that_kills_its_process_is_found_out_and_nobody_else_is_blamed(
    cause: e.LossCause, slots: int
) -> None:
    cluster = Cluster(30, frozenset(), slots)
    cluster.join("only")
    deaths = 0
    while cluster.outcome is None:
        if cluster.starting:
            cluster.start("only")
        elif any(unit == 11 for _, unit, _ in cluster.in_flight):
            deaths += 1
            cluster.lose(next(iter(cluster.workers)), cause)
        else:
            cluster.finish(cluster.in_flight[0])
    assert cluster.outcome == e.Finish((11,))
    assert set(cluster.results) == set(range(30)) - {11}
    assert deaths <= 5


def test_losing_nodes_is_free_however_often_it_happens() -> None:
    cluster = Cluster(3, frozenset(), slots=1)
    for i in range(50):
        started(cluster, f"n{i}")
        cluster.lose_node(f"n{i}")
    started(cluster, "last")
    cluster.run_on()
    assert cluster.outcome == e.Finish(())


def test_a_node_that_always_runs_out_of_memory_is_given_up_and_the_run_says_so() -> None:
    cluster = Cluster(100, frozenset())
    cluster.join("small")
    strike(cluster, "small", e.LossCause.OUT_OF_MEMORY)
    assert cluster.barred == {"small"}
    assert cluster.outcome is None, "there may be others"
    cluster.look_for_nodes()
    assert isinstance(cluster.outcome, e.Abort)
    assert "ran out of memory" in cluster.outcome.reason
    assert cluster.outcome.reason.endswith("No other node is left.")


def strike(cluster: Cluster, node: str, cause: e.LossCause) -> None:
    """Lose the worker of a node again and again, until the node is barred."""
    deaths = 0
    while node not in cluster.barred:
        assert deaths < MAX_STRIKES
        worker = next((name for name, where in cluster.workers.items() if where == node), None)
        cluster.lose(worker or cluster.start(node), cause)
        deaths += 1
    assert deaths == MAX_STRIKES
    assert node not in cluster.starting


def test_a_run_whose_only_node_is_given_up_goes_on_with_those_that_others_have() -> None:
    cluster = Cluster(10, frozenset())
    cluster.theirs.add("theirs")
    cluster.join("bad")
    strike(cluster, "bad", e.LossCause.CRASHED)
    cluster.look_for_nodes()
    cluster.run_on()
    assert cluster.outcome == e.Finish(())


def test_a_run_that_gave_its_good_node_back_goes_on_there_once_the_bad_one_is_barred() -> None:
    cluster = Cluster(10, frozenset(), slots=1)
    started(cluster, "good", "bad")
    cluster.lose_node("good", given_back=True)
    cluster.theirs.add("good")
    strike(cluster, "bad", e.LossCause.CRASHED)
    cluster.run_on()
    assert cluster.outcome == e.Finish(())


def test_that_no_node_is_left_does_not_end_a_run_which_one_has_joined_meanwhile() -> None:
    cluster = Cluster(10, frozenset())
    cluster.join("bad")
    strike(cluster, "bad", e.LossCause.CRASHED)
    cluster.join("late")
    cluster.tell(e.NoNodeLeft())
    cluster.run_on()
    assert cluster.outcome == e.Finish(())


def test_the_node_of_a_worker_proved_wrong_is_barred() -> None:
    cluster = Cluster(10, frozenset({0}), slots=1)
    cluster.wrong_nodes = frozenset({"a"})
    started(cluster, "a", "b")
    cluster.run_on()
    assert cluster.barred == {"a"}
    assert cluster.outcome == e.Finish(())


def test_a_full_disk_ends_the_run_at_once_without_blaming_the_unit() -> None:
    cluster = Cluster(10, frozenset())
    started(cluster, "n")
    worker, unit, _ = cluster.in_flight[0]
    cluster.tell(e.UnitFailed(worker, unit, "The disk is full.", fatal=True))
    assert cluster.outcome == e.Abort("The disk is full.")
    assert cluster.state.quarantined == {}


@given(
    st.sampled_from(["a", "b", "c"]),
    st.randoms(use_true_random=False),
    st.integers(3, 20),
)
def test_the_one_wrong_worker_of_three_is_found_and_all_its_units_are_solved_again(
    wrong: str, random: Random, count: int
) -> None:
    cluster = Cluster(count, frozenset(range(count)), slots=1)
    cluster.wrong_nodes = frozenset({wrong})
    started(cluster, "a", "b", "c")
    while cluster.outcome is None:
        cluster.finish(random.choice(cluster.in_flight))
    assert cluster.outcome == e.Finish(())
    assert cluster.results == {unit: f"right for {unit}" for unit in range(count)}


def test_what_a_wrong_worker_has_confirmed_is_audited_again_by_another() -> None:
    cluster = Cluster(6, frozenset(range(6)), slots=1)
    started(cluster, "a", "b", "c")
    confirmed: list[int] = []
    audits: Counter[int] = Counter()
    while cluster.outcome is None:
        task = cluster.in_flight[0]
        worker, unit, audit = task
        if audit:
            audits[unit] += 1
            if worker.startswith("b") and not cluster.wrong_nodes:
                confirmed.append(unit)
                cluster.finish(task)
                cluster.wrong_nodes = frozenset({"b"})  # from now on
                continue
        cluster.finish(task)
    assert isinstance(cluster.outcome, e.Finish)
    assert "b" not in cluster.workers.values()
    assert len(confirmed) == 1
    assert audits[confirmed[0]] >= 2


def test_an_audit_that_failed_is_not_given_to_the_worker_whose_unit_it_is() -> None:
    cluster = Cluster(12, frozenset(range(12)), slots=1)
    started(cluster, "a", "b", "c")
    solver: dict[int, str] = {}
    failed: set[int] = set()
    while cluster.outcome is None:
        for worker, unit, audit in cluster.in_flight:
            if audit:
                assert worker != solver[unit]
            else:
                solver[unit] = worker
        task = cluster.in_flight[0]
        if task[2] and task[1] not in failed:
            failed.add(task[1])
            cluster.fail(task)
        else:
            cluster.finish(task)
    assert failed == set(range(12))
    assert cluster.outcome == e.Finish(())


def test_whoever_comes_next_takes_up_the_stretch_of_a_lost_worker_where_it_stood() -> None:
    cluster = Cluster(40, frozenset(), slots=1)
    started(cluster, "a", "b")
    for _ in range(6):
        cluster.finish(cluster.in_flight[0])
    stood = min(unit for worker, unit, _ in cluster.in_flight if worker.startswith("a"))
    cluster.lose_node("a")
    before = len(cluster.assigned)
    started(cluster, "c")
    taken = [unit for worker, unit in cluster.assigned[before:] if worker.startswith("c")]
    assert taken == [stood, stood + 1]


def test_with_two_workers_the_auditor_is_believed() -> None:
    cluster = Cluster(10, frozenset({0}), slots=1)
    cluster.wrong_nodes = frozenset({"a"})
    started(cluster, "a", "b")
    cluster.run_on()
    assert cluster.results == {unit: f"right for {unit}" for unit in range(10)}
    assert "a" not in {cluster.workers[worker] for worker in cluster.workers}


def test_an_audit_is_done_by_another_worker_and_by_the_same_only_if_it_is_alone() -> None:
    cluster = Cluster(6, frozenset(range(6)), slots=1)
    started(cluster, "a", "b")
    solver: dict[int, str] = {}
    while cluster.outcome is None:
        for worker, unit, audit in cluster.in_flight:
            if audit:
                assert solver[unit] != worker
            else:
                solver[unit] = worker
        cluster.finish(cluster.in_flight[0])

    alone = Cluster(6, frozenset(range(6)), slots=1)
    started(alone, "a")
    alone.run_on()
    assert alone.outcome == e.Finish(())


def test_a_worker_that_contradicts_itself_with_nobody_else_there_aborts_the_run() -> None:
    cluster = Cluster(4, frozenset({2}), slots=1)
    started(cluster, "a")
    while not cluster.barred:
        if cluster.in_flight[0][2]:
            cluster.wrong_nodes = frozenset({"a"})
        cluster.finish(cluster.in_flight[0])
    cluster.look_for_nodes()
    assert isinstance(cluster.outcome, e.Abort)
    assert cluster.results == {}


def test_a_disagreement_found_by_an_earlier_session_is_acted_on_after_a_restart() -> None:
    cluster = Cluster(4, frozenset({2}))
    cluster.results = dict.fromkeys(range(4), "x")
    done = [e.UnitDone("old-1" if u < 3 else "old-2", u, "x") for u in range(4)]
    cluster.restore(done, (e.AuditDone("old-2", 2, "y"),))
    assert set(cluster.results) == {3}
    started(cluster, "n")
    cluster.run_on()
    assert cluster.outcome == e.Finish(())


def test_the_run_goes_on_with_the_units_that_follow_and_ends_when_none_do() -> None:
    more = (e.PlanExtended(kept=4, count=6), e.PlanExtended(kept=6, count=7, audited=(6,)))
    cluster = Cluster(4, frozenset(), more=more)
    started(cluster, "a", "b")
    cluster.run_on()
    assert cluster.outcome == e.Finish(())
    assert [unit for _, unit in cluster.assigned] == list(range(7))


def test_nothing_follows_where_a_unit_is_quarantined() -> None:
    cluster = Cluster(4, frozenset(), more=(e.PlanExtended(kept=4, count=6),))
    started(cluster, "a")
    while cluster.outcome is None:
        task = cluster.in_flight[0]
        cluster.fail(task) if task[1] == 2 else cluster.finish(task)
    assert cluster.outcome == e.Finish((2,))
    assert len(cluster.more) == 1, "it was not asked for"


def test_workers_that_come_and_go_while_the_next_units_are_thought_out_are_known_after_it() -> None:
    cluster = Cluster(2, frozenset(), patient=True)
    started(cluster, "a", "b")
    while not cluster.asked:
        cluster.finish(cluster.in_flight[0])
    cluster.lose_node("a")
    started(cluster, "c")
    cluster.answer(e.PlanExtended(kept=2, count=10))
    assert {cluster.workers[worker] for worker, _, _ in cluster.in_flight} == {"b", "c"}
    cluster.run_on()
    assert cluster.outcome == e.Finish(())


def test_a_unit_goes_to_another_worker_than_the_one_that_it_avoids() -> None:
    cluster = Cluster(2, frozenset(), patient=True)
    started(cluster, "a", "b")
    while not cluster.asked:
        cluster.finish(cluster.in_flight[0])
    name = {node: worker for worker, node in cluster.workers.items()}
    before = len(cluster.assigned)
    cluster.answer(
        e.PlanExtended(kept=2, count=6, avoid={2: name["a"], 3: name["b"], 4: name["a"]})
    )
    cluster.run_on()
    solver = {unit: cluster_node(worker) for worker, unit in cluster.assigned[before:]}
    assert (solver[2], solver[3], solver[4]) == ("b", "a", "b")


def cluster_node(worker: str) -> str:
    return worker.rpartition("-")[0]


def test_a_unit_goes_to_the_worker_that_it_avoids_if_there_is_no_other() -> None:
    cluster = Cluster(3, frozenset(), avoid={1: "a-1"})
    started(cluster, "a")
    cluster.run_on()
    assert cluster.outcome == e.Finish(())


def test_units_that_are_replaced_are_solved_again_and_audited_anew() -> None:
    replaced = e.PlanExtended(kept=2, count=4, audited=(0, 3))
    cluster = Cluster(4, frozenset({0, 3}), slots=1, more=(replaced,))
    started(cluster, "a", "b")
    cluster.run_on()
    assert cluster.outcome == e.Finish(())
    assert sorted(unit for _, unit in cluster.assigned) == [0, 1, 2, 2, 3, 3]


def test_what_a_wrong_worker_did_in_an_earlier_round_is_solved_again() -> None:
    cluster = Cluster(4, frozenset(), slots=1, more=(e.PlanExtended(4, 8, audited=(4, 5, 6, 7)),))
    cluster.wrong_nodes = frozenset({"b"})
    started(cluster, "a", "b", "c")
    cluster.run_on()
    assert cluster.outcome == e.Finish(())
    assert cluster.results == {unit: f"right for {unit}" for unit in range(8)}


def test_an_overdue_unit_is_copied_once_nothing_waits_and_the_first_result_counts() -> None:
    cluster = Cluster(6, frozenset(), slots=2)
    started(cluster, "slow", "quick")
    slow = [task for task in cluster.in_flight if task[0] == "slow-1"]
    assert len(slow) == 3
    for task in slow:
        cluster.is_overdue(task)
    assert cluster.copies == 0, "others wait"
    while not cluster.copies:
        cluster.finish(next(task for task in cluster.in_flight if task[0] == "quick-2"))
    assert cluster.assigned[-1] == ("quick-2", slow[0][1]), "the one that is overdue longest"
    cluster.finish(
        next(task for task in cluster.in_flight if task == ("quick-2", slow[0][1], False))
    )
    assert slow[0] in cluster.late
    assert cluster.state.status[slow[0][1]] is UnitStatus.DONE
    while cluster.outcome is None:
        cluster.finish(next(task for task in cluster.in_flight if task[0] == "quick-2"))
    assert len(cluster.late) == 3, "the slow worker has reported nothing, and nobody waited"
    assert cluster.copies == 3


def test_a_unit_that_is_slow_everywhere_is_copied_no_more_than_once() -> None:
    cluster = Cluster(1, frozenset(), slots=2)
    started(cluster, "a", "b", "c")
    for _ in range(5):
        cluster.is_overdue(cluster.in_flight[0])
    assert cluster.copies == 1
    cluster.lose(cluster.in_flight[0][0], e.LossCause.CRASHED)
    cluster.is_overdue(cluster.in_flight[0])
    assert cluster.copies == 2, "the one who died is replaced"


def test_a_worker_proved_wrong_takes_the_copies_of_its_units_with_it() -> None:
    """Whoever has a copy may have relied on the result that is discarded."""
    cluster = Cluster(4, frozenset({0}), slots=1)
    cluster.wrong_nodes = frozenset({"bad"})
    started(cluster, "bad")
    cluster.finish(next(task for task in cluster.in_flight if task[1] == 0))
    started(cluster, "auditor", "b", "c")
    for task in [task for task in cluster.in_flight if task[0] == "bad-1"]:
        cluster.is_overdue(task)
    cluster.finish(next(task for task in cluster.in_flight if task[0] == "b-3"))
    assert cluster.copies == 2
    started(cluster, "judge")
    for _ in range(2):
        cluster.finish(next(task for task in cluster.in_flight if task[2]))
    assert "bad-1" not in cluster.workers
    assert len(cluster.late) == 2, "the copies of what it had"
    cluster.run_on()
    assert cluster.outcome == e.Finish(())
    assert all(digest == f"right for {unit}" for unit, digest in cluster.results.items())


def test_a_result_that_contradicts_what_is_stored_is_made_anew() -> None:
    cluster = Cluster(1, frozenset(), slots=1)
    cluster.wrong_nodes = frozenset({"bad"})
    started(cluster, "bad")
    cluster.results[0] = "wrong at bad"  # stored, and then it died before it could report
    cluster.lose("bad-1", e.LossCause.UNREACHABLE)
    cluster.lose_node("bad")
    cluster.starting.clear()
    started(cluster, "good")
    cluster.run_on()
    assert cluster.outcome == e.Finish(())
    assert cluster.results == {0: "right for 0"}


def test_a_unit_that_waits_for_a_worker_that_hangs_does_not_keep_the_others_from_helping() -> None:
    """It failed at the one who is free, and the one where it is to be tried next hangs."""
    cluster = Cluster(3, frozenset(), slots=1)
    started(cluster, "hangs", "free")
    for task in [task for task in cluster.in_flight if task[0] == "hangs-1"]:
        cluster.is_overdue(task)
    cluster.fail(next(task for task in cluster.in_flight if task[0] == "free-2"))
    for _ in range(10):
        mine = [task for task in cluster.in_flight if task[0] == "free-2"]
        if not mine:
            break
        cluster.finish(mine[0])
    assert set(cluster.done) == {0, 1, 2}
    assert cluster.outcome == e.Finish(())


def test_who_is_still_at_a_unit_is_not_asked_to_audit_it() -> None:
    cluster = Cluster(1, frozenset({0}), slots=2)
    started(cluster, "slow", "quick")
    cluster.is_overdue(cluster.in_flight[0])
    cluster.finish(("quick-2", 0, False))
    assert cluster.late == [("slow-1", 0, False)]
    assert cluster.in_flight == []
    cluster.finish_late(cluster.late[0])
    assert cluster.in_flight == [("slow-1", 0, True)]


def test_a_late_word_that_contradicts_the_result_is_told() -> None:
    state = RunState(1)
    state.restore([])
    for node in "ab":
        state.handle(e.NodeJoined(node, 1))
        state.handle(e.WorkerJoined(f"{node}-1", node))
    assert state.handle(e.Overdue(0)) == [e.Assign("b-1", 0, copy=True)]
    state.handle(e.UnitDone("b-1", 0, "right"))
    (warning,) = state.handle(e.UnitFailed("a-1", 0, "another result is there", conflict=True))
    assert isinstance(warning, e.Warn)
    assert "a-1, who is not waited for any more, says: another result" in warning.message


def test_a_copy_that_fails_is_told_and_the_unit_is_not_tried_again_while_the_other_is_at_it() -> (
    None
):
    state = RunState(1)
    state.restore([])
    for node in "ab":
        state.handle(e.NodeJoined(node, 1))
        state.handle(e.WorkerJoined(f"{node}-1", node))
    state.handle(e.Overdue(0))
    (warning,) = state.handle(e.UnitFailed("b-1", 0, "boom"))
    assert isinstance(warning, e.Warn)
    assert "another worker has it, too: boom" in warning.message
    assert state.status == (UnitStatus.IN_FLIGHT,)
