"""Grids: iteration counts, cutting into units, and which cells go on."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plymill.matches import (
    CellScore,
    MatchError,
    Matches,
    Schedule,
    Status,
    Stretch,
    cell_scores,
    grid_cells,
    next_round,
    parse_iterations,
    wilson,
)
from tests.matches.conftest import record


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("10", (10,)),
        ("10,20,50", (10, 20, 50)),
        (" 10 , 25 ", (10, 25)),
        ("10..10", (10,)),
        ("10..80", (10, 20, 40, 80)),
        ("5,10..40,1000", (5, 10, 20, 40, 1000)),
        ("10..81920", tuple(10 << k for k in range(14))),
    ],
)
def test_iteration_counts(text: str, counts: tuple[int, ...]) -> None:
    assert parse_iterations(text) == counts


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "iterations '': expected a list such as 10,20,50, or the doubling from 10 to 5120"),
        ("10,", "expected a list such as"),
        ("ten", "expected a list such as"),
        ("10...20", "expected a list such as"),
        ("-5", "expected a list such as"),
        ("1e3", "expected a list such as"),
        ("٣", "expected a list such as"),
        ("0", "expected numbers from 1 to 10000000, got 0"),
        ("99999999999999999999", "expected numbers from 1 to 10000000"),
        ("20,10", "iterations '20,10': expected ascending numbers, none of them twice."),
        ("10,10..20", "expected ascending numbers"),
        ("10..100", "expected the last of 10..100 to be the first one doubled some times, such as "
                    "10..80."),
        ("20..10", "such as 20..20."),
        (",".join(map(str, range(1, 70))), "expected 64 numbers at most"),
    ],
)  # fmt: skip
def test_malformed_iteration_counts_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(MatchError) as error:
        parse_iterations(text)
    assert sentence in str(error.value)


def test_the_cells_of_a_grid_go_row_by_row() -> None:
    cells = grid_cells((10, 20), (40, 80, 160), options="c=1.0")
    assert [cell.index for cell in cells] == list(range(6))
    assert (cells[4].first, cells[4].second) == ("uct:20,c=1.0", "uct:80,c=1.0")
    assert (cells[4].row, cells[4].column) == (20, 80)


stretches = st.lists(
    st.builds(
        lambda cell, start, size: Stretch(cell, start, start + size),
        st.integers(0, 9),
        st.integers(0, 50),
        st.integers(1, 30),
    ),
    min_size=1,
    max_size=12,
)


@given(stretches, st.floats(0.1, 100))
def test_units_cover_every_match_once(parts: list[Stretch], unit_seconds: float) -> None:
    schedule = Schedule(parts)
    cuts = schedule.cut(lambda cell: 0.01 * 2**cell, unit_seconds)
    edges = [0] + [cut.stop for cut in cuts]
    assert edges == [cut.start for cut in cuts] + [schedule.matches]
    assert all(cut.stop > cut.start for cut in cuts)
    played = [
        (part.cell, match)
        for cut in cuts
        for part in schedule.part(cut.start, cut.stop)
        for match in range(part.start, part.stop)
    ]
    assert played == [(p.cell, match) for p in parts for match in range(p.start, p.stop)]


@given(stretches, st.floats(0.5, 20))
def test_units_are_balanced_by_cost_not_by_count(parts: list[Stretch], unit_seconds: float) -> None:
    schedule = Schedule(parts)
    cuts = schedule.cut(lambda cell: 0.01 * 2**cell, unit_seconds)
    most = max(0.01 * 2**part.cell for part in parts)
    total = sum(0.01 * 2**part.cell * part.matches for part in parts)
    assert sum(cut.cost for cut in cuts) == pytest.approx(total)
    even = total / max(1, round(total / unit_seconds))
    assert all(cut.cost <= even + most + 1e-9 for cut in cuts)


def test_cutting_can_begin_where_an_earlier_plan_ended() -> None:
    schedule = Schedule([Stretch(0, 0, 10), Stretch(1, 5, 25)])
    cuts = schedule.cut(lambda _: 1.0, 4, start=10)
    assert (cuts[0].start, cuts[-1].stop) == (10, 30)
    assert list(schedule.part(28, 30)) == [Stretch(1, 23, 25)]
    assert list(schedule.part(0, 10**9)) == list(schedule.stretches)
    assert not list(schedule.part(28, 28))
    assert schedule.cut(lambda _: 1.0, 4, start=30) == []


def test_an_empty_stretch_is_refused() -> None:
    with pytest.raises(MatchError, match="matches: expected at least one in every cell"):
        Schedule([Stretch(0, 5, 5)])


scores = st.builds(
    lambda tried, failed, mean: (tried, tried - min(failed, tried), mean),
    st.integers(1, 400),
    st.integers(0, 10) | st.just(400),
    st.floats(0, 1),
)


@given(st.lists(scores, max_size=20), st.floats(0.02, 0.5))
def test_cells_go_on_exactly_if_their_interval_is_too_wide(
    found: list[tuple[int, int, float]], width: float
) -> None:
    given_scores = [CellScore(i, *score) for i, score in enumerate(found)]
    planned = {stretch.cell: stretch for stretch in next_round(given_scores, width)}
    for score in given_scores:
        wide = wilson(score.mean, score.played).width > width
        most_fail = score.played < score.tried / 2
        assert (score.cell in planned) == (wide and not most_fail)
        if score.cell in planned:
            stretch = planned[score.cell]
            assert stretch.start == score.tried
            assert stretch.stop <= 3 * score.tried


@given(st.floats(0, 1), st.floats(0.02, 0.5))
def test_rounds_come_to_an_end_at_the_width_asked_for(mean: float, width: float) -> None:
    tried, rounds = 20, 0
    while planned := next_round([CellScore(0, tried, tried, mean)], width):
        tried, rounds = planned[0].stop, rounds + 1
    assert wilson(mean, tried).width <= width
    assert rounds <= 12
    # Twice as many would do for an interval narrower by a third or so.
    assert tried == 20 or wilson(mean, tried // 2).width > width


@pytest.mark.parametrize("mean", [0.5, 0.7, 0.9, 0.97, 0.995])
@pytest.mark.parametrize("width", [0.1, 0.03, 0.01])
def test_few_rounds_do_though_the_mean_moves(mean: float, width: float) -> None:
    """A cell that hits its goal by little less each time had up to 14."""
    most = math.ceil(math.log(_fewest(0.5, width) / 100, 3)) + 2  # the first, and one that missed
    for seed in range(40):
        generator = np.random.default_rng(seed)
        tried, wins, rounds = 100, generator.binomial(100, mean), 1
        while planned := next_round([CellScore(0, tried, tried, wins / tried)], width):
            before, tried, rounds = tried, planned[0].stop, rounds + 1
            assert tried >= 1.25 * before
            wins += generator.binomial(tried - before, mean)
        assert wilson(wins / tried, tried).width <= width
        assert rounds <= most


def _fewest(mean: float, width: float) -> int:
    count = 1
    while wilson(mean, count).width > width:
        count *= 2
    return count


def test_no_cell_goes_beyond_the_most_matches() -> None:
    planned = next_round([CellScore(0, 90, 90, 0.5), CellScore(1, 100, 100, 0.5)], 0.01, most=100)
    assert planned == [Stretch(0, 90, 100)]


@pytest.mark.parametrize("width", [0, -1, 1.5, float("nan")])
def test_a_width_that_no_interval_has_is_refused(width: float) -> None:
    with pytest.raises(MatchError, match="until: expected the width of an interval"):
        next_round([], width)


def test_scores_of_cells_in_any_order() -> None:
    records = [
        record(2, 0, 50),
        record(0, 1, 0),
        record(0, 0, 100),
        record(0, 2, status=Status.FIRST_HUNG),
    ]
    expected = [CellScore(0, 3, 2, 0.5), CellScore(1, 0, 0, 0.5), CellScore(2, 1, 1, 0.5)]
    for order in (records, records[::-1]):
        assert cell_scores(Matches.of(order), 3) == expected
