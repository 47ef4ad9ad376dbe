"""The parts of match jobs under any input: stretches, attempts, openings, rounds of a duel."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plymill.cluster import MemoryFiles, Plan, Receipt, RunStore, SpecError
from plymill.cluster.storage.unitfile import arrays_digest
from plymill.matches.errors import MatchError
from plymill.matches.grids import Stretch
from plymill.matches.openings import Openings
from plymill.matches.records import Matches, MatchRecord, Status
from plymill.matches.sprt import VOID, Decision, Verdict
from plymill.workers import DuelJob, GridJob
from plymill.workers.match_duel import (
    FEWEST_PAIRS,
    Standing,
    counted,
    first_pairs,
    llr_history,
    more_pairs,
    standing,
)
from plymill.workers.match_look import parse_match_id
from plymill.workers.match_plan import Planner, pack_openings, unpack_openings, unpack_stretches
from plymill.workers.match_results import read_attempts, stretches_of

IDS = st.tuples(st.integers(0, 3), st.integers(0, 40))
DUEL = DuelJob(game="tictactoe", player_a="uct:20", player_b="random", elo1=30)


@given(st.sets(IDS))
def test_ids_become_the_fewest_stretches_that_hold_them(ids: set[tuple[int, int]]) -> None:
    numbers = np.array([cell << 32 | match for cell, match in ids], dtype=np.uint64)
    stretches = stretches_of(numbers)
    held = [(s.cell, match) for s in stretches for match in range(s.start, s.stop)]
    assert sorted(held) == sorted(ids)
    assert held == sorted(held)
    ends = {(s.cell, s.stop) for s in stretches}
    assert not ends & {(s.cell, s.start) for s in stretches}, "no two of them touch"


@given(st.lists(st.binary(max_size=6), max_size=8))
def test_openings_survive_the_trip_through_a_units_input(codes: list[bytes]) -> None:
    arrays = pack_openings(Openings(tuple(codes)))
    assert unpack_openings(arrays) == Openings(tuple(codes))


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 60)), min_size=1, max_size=8),
    st.floats(1e-5, 1.0),
)
def test_units_hold_every_match_once_whatever_their_size(
    sizes: list[tuple[int, int]], seconds: float
) -> None:
    spec = GridJob(
        game="tictactoe", first=(10, 1000), second=(10, 1000), unit_seconds=seconds,
        audit_fraction=0.3,
    )  # fmt: skip
    store = RunStore(MemoryFiles(), spec.run_id)
    stretches, ends = [], dict.fromkeys(range(4), 0)
    for cell, size in sizes:
        stretches.append(Stretch(cell, ends[cell], ends[cell] + size))
        ends[cell] += size
    planner = Planner(spec, store, Openings())
    plan = planner.begin(stretches)
    longer = planner.go_on(plan, [Stretch(0, 1000, 1003)], avoid="somebody")
    assert longer.first(len(plan.units)) == plan
    assert all(unit.avoid == "somebody" for unit in longer.units[len(plan.units) :])
    held: list[tuple[int, int]] = []
    for unit in longer.units:
        parts = unpack_stretches(store.read_input(unit))
        assert sum(part.matches for part in parts) == unit.items
        held += [(part.cell, match) for part in parts for match in range(part.start, part.stop)]
    expected = {(s.cell, match) for s in stretches for match in range(s.start, s.stop)}
    assert len(held) == len(set(held))
    assert set(held) == expected | {(0, 1000), (0, 1001), (0, 1002)}
    assert Plan.model_validate(longer.model_dump()) == longer


def test_a_job_that_would_make_more_units_than_a_store_can_bear_is_refused_before_any_is_made() -> (
    None
):
    spec = GridJob(game="tictactoe", first=(10_000_000,), second=(10_000_000,), samples=1_000_000)
    store = RunStore(MemoryFiles(), spec.run_id)
    with pytest.raises(SpecError, match=r"make [0-9,]+ units and take a core about .* expected"):
        Planner(spec, store, Openings()).begin([Stretch(0, 0, 1_000_000)])
    assert store.files.list("input") == []


def record(cell: int, match: int, goal: int | None) -> MatchRecord:
    """A match with this goal of the first player, or one that failed."""
    if goal is None:
        return MatchRecord(cell, match, -1, -1, 1, Status.SECOND_HUNG, b"\x01", (5,))
    return MatchRecord(cell, match, goal, 100 - goal, 1, Status.PLAYED, b"\x01", (5,))


@settings(deadline=None)
@given(
    st.lists(
        st.dictionaries(IDS, st.sampled_from([0, 50, 100, None]), min_size=1, max_size=12),
        min_size=1,
        max_size=5,
    )
)
def test_the_last_attempt_counts_and_the_first_failure_is_tried_again(
    units: list[dict[tuple[int, int], int | None]],
) -> None:
    spec = GridJob(game="tictactoe", first=(10, 20), second=(10, 20))
    store = RunStore(MemoryFiles(), spec.run_id)
    planner = Planner(spec, store, Openings())
    plan = planner.begin([Stretch(0, 0, 1)])
    while len(plan.units) < len(units):
        plan = planner.go_on(plan, [Stretch(0, plan.items, plan.items + 1)])
    for unit, played in zip(plan.units, units, strict=True):
        matches = Matches.of([record(*key, goal) for key, goal in sorted(played.items())])
        receipt = Receipt(
            unit=unit.index, digest=arrays_digest(matches.arrays), worker=f"w{unit.index % 2}",
            seconds=1.0, finished=0.0, host="h", pid=1,
        )  # fmt: skip
        details = {
            "seconds": [float(unit.index)] * len(played),
            "faults": {f"{c}:{m}": ["it hung", ""] for (c, m), g in played.items() if g is None},
        }
        store.write_unit(unit, matches.arrays, receipt, details=details)
    attempts = read_attempts(store, plan.units, moves=True)
    last = {key: (goal, index) for index, unit in enumerate(units) for key, goal in unit.items()}
    times = {key: sum(key in unit for unit in units) for key in last}
    assert list(attempts.matches) == [record(*key, last[key][0]) for key in sorted(last)]
    assert attempts.times.tolist() == [times[key] for key in sorted(last)]
    assert attempts.seconds.tolist() == [float(last[key][1]) for key in sorted(last)]
    retried = {
        (s.cell, match, worker)
        for worker, stretches in attempts.to_retry().items()
        for s in stretches
        for match in range(s.start, s.stop)
    }
    assert retried == {
        (*key, f"w{index % 2}")
        for key, (goal, index) in last.items()
        if goal is None and times[key] == 1
    }
    assert len(attempts.faults) == sum(goal is None for unit in units for goal in unit.values())


# --- duels ----------------------------------------------------------------------------------------


def duel_matches(goals: list[tuple[int | None, int | None]], *, seed: int = 0) -> Matches:
    """Pairs by A's goal where it moves first and B's goal where B does, in any order."""
    records = [record(0, pair, goal) for pair, (goal, _) in enumerate(goals)]
    records += [record(1, pair, goal) for pair, (_, goal) in enumerate(goals)]
    np.random.default_rng(seed).shuffle(records)
    return Matches.of(records)


GOALS = st.sampled_from([0, 50, 100, 100, 100, None])


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(GOALS, GOALS), min_size=1, max_size=200), st.booleans())
def test_a_duel_stands_alike_in_whatever_order_its_matches_come(
    goals: list[tuple[int | None, int | None]], pentanomial: bool
) -> None:
    spec = DUEL.model_copy(update={"pentanomial": pentanomial})
    stand = standing(spec, duel_matches(goals))
    assert stand == standing(spec, duel_matches(goals, seed=1))
    assert stand.tried == len(goals)
    assert stand.void == sum(None in pair for pair in goals)
    kept = counted(duel_matches(goals), stand)
    assert len(kept) == 2 * stand.pairs
    if stand.decided:
        again = standing(spec, kept)
        assert (again.decision, again.pairs) == (stand.decision, stand.pairs)
        shorter = standing(
            spec, duel_matches(goals[: stand.pairs - 1]) if stand.pairs > 1 else kept
        )
        assert stand.pairs == 1 or not shorter.decided, "no earlier pair decides"
    else:
        assert stand.pairs == len(goals)
    history = llr_history(spec, duel_matches(goals))
    assert (not history) == (stand.decision.results == 0)
    if history:
        end, llr = history[-1]
        assert end == stand.decision.results
        assert llr == pytest.approx(stand.decision.llr, abs=1e-4)
        assert [n for n, _ in history] == sorted({n for n, _ in history})


@given(st.integers(1, 5000), st.floats(-2.9, 2.9), st.integers(0, 5000), st.floats(1e-6, 10))
def test_rounds_of_a_duel_grow_within_bounds(
    tried: int, llr: float, void: int, seconds: float
) -> None:
    counts = Decision(Verdict.OPEN, llr, tried, (tried, 0, 0, 0, 0))
    stand = Standing(counts, tried, tried, min(void, tried))
    more = more_pairs(DUEL, stand)
    first = first_pairs(DUEL, seconds)
    assert FEWEST_PAIRS <= first <= 2048
    if stand.hopeless or tried >= DUEL.max_pairs:
        assert more == 0
    else:
        assert 0 < more <= max(tried, FEWEST_PAIRS)
        assert more >= tried / 4 or tried + more == DUEL.max_pairs, "not many short rounds"
        assert tried + more <= DUEL.max_pairs


def test_a_pair_is_void_if_either_of_its_matches_failed() -> None:
    stand = standing(DUEL, duel_matches([(100, None), (None, 0), (100, 0)]))
    assert (stand.void, stand.decision.results, stand.decision.counts) == (2, 1, (0, 0, 0, 0, 1))
    assert VOID < 0


@pytest.mark.parametrize(
    "text", ["", "3", "3:", ":3", "a:b", "1:2:3", "-1:2", "²:1", "9" * 40 + ":1"]
)
def test_what_is_no_id_of_a_match_is_refused(text: str) -> None:
    with pytest.raises(MatchError, match="expected CELL:MATCH"):
        parse_match_id(text)


def test_an_id_of_a_match_is_read() -> None:
    assert parse_match_id("17:3") == (17, 3)
