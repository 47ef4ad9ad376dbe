"""The run state when units follow from the results of others, or are done again from there on."""

from plymill.cluster.machine import events as e
from tests.cluster.state_model import Cluster, started


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
