"""The run state when workers lag or hang: what they have is copied, and the first result counts."""

from plymill.cluster.machine import events as e
from plymill.cluster.machine.state import RunState
from plymill.cluster.machine.units import UnitStatus
from tests.cluster.state_model import Cluster, started


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
