"""Bradley-Terry ratings and the cross table."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plymill.matches import (
    Cell,
    CrossTable,
    Interval,
    MatchError,
    Matches,
    Rating,
    Status,
    cross_table,
    rate,
    score_from_elo,
)
from tests.matches.conftest import record


def table(wins: list[list[int]], draws: list[list[int]] | None = None) -> CrossTable:
    size = len(wins)
    drawn = np.array(draws) if draws else np.zeros((size, size), np.int64)
    return CrossTable(tuple("abcdef"[:size]), np.array(wins), drawn)


def elo_of(rating: Rating) -> Interval:
    assert rating.elo is not None
    return rating.elo


@st.composite
def tables(draw: st.DrawFn) -> CrossTable:
    size = draw(st.integers(2, 5))
    numbers = st.lists(st.integers(0, 30), min_size=size * size, max_size=size * size)
    wins = np.array(draw(numbers)).reshape(size, size)
    draws = np.array(draw(numbers)).reshape(size, size)
    np.fill_diagonal(wins, 0)
    draws = np.triu(draws, 1)
    return CrossTable(tuple("abcde"[:size]), wins, draws + draws.T)


def test_the_cross_table_counts_both_colours() -> None:
    cells = [Cell(0, "a", "b"), Cell(1, "b", "a"), Cell(2, "b", "c")]
    matches = Matches.of(
        [
            record(0, 0, 100),
            record(0, 1, 50),
            record(1, 0, 100),
            record(1, 1, 0),
            record(1, 2, status=Status.FIRST_RAISED),
            record(2, 0, 0),
        ]
    )
    found = cross_table(["a", "b", "c"], cells, matches)
    assert found.wins.tolist() == [[0, 2, 0], [1, 0, 0], [0, 1, 0]]
    assert found.draws.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert found.points.tolist() == [[0, 2.5, 0], [1.5, 0, 0], [0, 1, 0]]
    assert found.matches.tolist() == [[0, 4, 0], [4, 0, 1], [0, 1, 0]]
    assert cross_table(["a", "b", "c"], cells, Matches.of([])).wins.tolist() == [[0] * 3] * 3


@settings(deadline=None)  # the first call loads scipy
@given(tables())
def test_ratings_explain_the_points(found: CrossTable) -> None:
    """At the maximum every player's expected points are its real ones, the prior's included.

    Players who played nobody have no rating, and no part in it.
    """
    ratings = rate(found)
    assert [rating.elo is None for rating in ratings] == [r.matches == 0 for r in ratings]
    rated = [(i, r.points, r.elo) for i, r in enumerate(ratings) if r.elo is not None]
    prior = 0.5 / max(1, len(rated) - 1)
    for i, points, mine in rated:
        expected = sum(
            (found.matches[i, j] + 2 * prior) * score_from_elo(mine.mean - other.mean)
            for j, _, other in rated
            if j != i
        )
        assert expected == pytest.approx(points + 0.5, abs=1e-3)
        assert mine.low < mine.mean < mine.high
    assert sum(elo.mean for _, _, elo in rated) == pytest.approx(0, abs=1e-6)


@settings(deadline=None)  # the first call loads scipy
@given(tables())
def test_mirrored_results_mirror_ratings(found: CrossTable) -> None:
    mirrored = rate(CrossTable(found.players, found.wins.T, found.draws))
    for here, there in zip(rate(found), mirrored, strict=True):
        if here.elo is None or there.elo is None:
            assert here.elo is there.elo is None
        else:
            assert here.elo.mean == pytest.approx(-there.elo.mean, abs=1e-3)
            assert here.elo.width == pytest.approx(there.elo.width, rel=1e-4)


def test_two_players_differ_by_the_elo_of_their_score() -> None:
    ratings = rate(table([[0, 7500], [2500, 0]]))
    difference = elo_of(ratings[0]).mean - elo_of(ratings[1]).mean
    assert difference == pytest.approx(400 * math.log10(3), abs=0.1)


def test_a_draw_is_half_a_win_for_either() -> None:
    drawn = rate(table([[0, 60], [20, 0]], [[0, 40], [40, 0]]))
    decided = rate(table([[0, 80], [40, 0]]))
    assert [elo_of(r).mean for r in drawn] == pytest.approx(
        [elo_of(r).mean for r in decided], abs=1e-6
    )


def test_who_won_everything_has_a_finite_rating() -> None:
    ratings = rate(table([[0, 10, 10], [0, 0, 10], [0, 0, 0]]))
    means = [elo_of(rating).mean for rating in ratings]
    assert means == sorted(means, reverse=True)
    assert all(math.isfinite(elo_of(rating).high) for rating in ratings)


def test_players_who_never_met_are_rated_with_great_uncertainty() -> None:
    ratings = rate(table([[0, 50, 0, 0], [50, 0, 0, 0], [0, 0, 0, 50], [0, 0, 50, 0]]))
    assert [elo_of(rating).mean for rating in ratings] == pytest.approx([0] * 4, abs=0.01)
    assert all(elo_of(rating).width > 300 for rating in ratings)


def test_who_has_not_played_is_not_rated_and_changes_nothing() -> None:
    ratings = rate(table([[0, 0, 30], [0, 0, 0], [10, 0, 0]]))
    assert ratings[1].elo is None
    assert ratings[1].matches == 0
    alone = rate(table([[0, 30], [10, 0]]))
    assert [elo_of(r) for r in (ratings[0], ratings[2])] == [elo_of(r) for r in alone]


def test_one_player_cannot_be_rated() -> None:
    with pytest.raises(MatchError, match="ratings: expected two players at least, got 1"):
        rate(table([[0]]))


@pytest.mark.slow
def test_intervals_cover_as_often_as_they_say() -> None:
    generator = np.random.default_rng(8)
    truth = np.array([-120.0, -30.0, 20.0, 130.0])
    inside = []
    for _ in range(400):
        wins = np.zeros((4, 4), np.int64)
        for i in range(4):
            for j in range(i):
                wins[i, j] = generator.binomial(60, score_from_elo(truth[i] - truth[j]))
                wins[j, i] = 60 - wins[i, j]
        ratings = rate(CrossTable(tuple("abcd"), wins, np.zeros((4, 4), np.int64)))
        inside += [
            elo_of(r).low <= t <= elo_of(r).high for r, t in zip(ratings, truth, strict=True)
        ]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.02)
