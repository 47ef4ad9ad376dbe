"""The run state in trouble: units that fail, nodes and workers that are lost, wrong results."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plymill.cluster.machine import events as e
from plymill.cluster.machine.attempts import MAX_FAILURES
from plymill.cluster.machine.crew import MAX_STRIKES
from tests.cluster.state_model import Cluster, started


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
