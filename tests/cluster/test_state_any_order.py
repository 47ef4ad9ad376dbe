"""The run state under any order of events: hypothesis plays the cluster."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from plymill.cluster.machine import events as e
from plymill.cluster.machine.units import UnitStatus
from tests.cluster.state_model import CAUSES, Cluster


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
