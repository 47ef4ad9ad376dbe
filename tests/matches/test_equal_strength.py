"""The line of equal strength: where it is known, its laws, and its uncertainty."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from plymill.matches import CellResult, EqualStrength, equal_strength, grid_cells
from plymill.matches.equal_strength import _falling
from tests.matches.conftest import drawn_grid


def row(*results: tuple[int, int, int], first: int = 100) -> list[CellResult]:
    """One row of wins, draws and losses, against 10, 20, 40, ..."""
    cells = grid_cells((first,), [10 << k for k in range(len(results))])
    return [
        CellResult(
            cell=cell.index,
            first=cell.first,
            second=cell.second,
            first_iterations=cell.row,
            second_iterations=cell.column,
            matches=sum(result),
            failed=0,
            wins=result[0],
            draws=result[1],
            losses=result[2],
            mean_goal=100 * (result[0] + result[1] / 2) / sum(result),
            low=0.0,
            high=100.0,
            spread=25 * result[1] / sum(result),
            mean_plies=20.0,
        )
        for cell, result in zip(cells, results, strict=True)
    ]


def only(results: list[CellResult]) -> EqualStrength:
    (point,) = equal_strength(results)
    return point


def test_a_crossing_at_a_cell() -> None:
    point = only(row((90, 0, 10), (70, 0, 30), (50, 0, 50), (20, 0, 80)))
    assert point.second == pytest.approx(40)
    assert point.handicap == pytest.approx(0.4)
    assert point.low is not None
    assert point.high is not None
    assert 25 < point.low < 40 < point.high < 60


def test_a_crossing_between_cells_is_halfway_in_the_logarithm() -> None:
    point = only(row((900, 0, 100), (600, 0, 400), (400, 0, 600), (100, 0, 900)))
    assert point.second == pytest.approx(20 * math.sqrt(2))


def test_more_matches_make_it_more_certain() -> None:
    few = only(row((18, 0, 2), (12, 0, 8), (8, 0, 12), (2, 0, 18)))
    many = only(row((1800, 0, 200), (1200, 0, 800), (800, 0, 1200), (200, 0, 1800)))
    assert None not in (few.low, few.high, many.low, many.high)
    assert many.high / many.low < few.high / few.low  # type: ignore[operator]


def test_a_stretch_of_draws_counts_by_its_middle() -> None:
    point = only(row((80, 20, 0), (0, 100, 0), (0, 100, 0), (0, 100, 0), (0, 40, 60)))
    assert point.second == pytest.approx(40)


@pytest.mark.parametrize(
    ("results", "side"),
    [(((95, 0, 5), (90, 0, 10)), "first"), (((5, 0, 95), (2, 0, 98)), "second")],
)
def test_a_line_beyond_the_grid(results: tuple[tuple[int, int, int], ...], side: str) -> None:
    point = only(row(*results))
    assert (point.second, point.handicap, point.side) == (None, None, side)
    assert (point.high if side == "first" else point.low) is None


def test_an_end_of_the_interval_may_lie_beyond_the_grid() -> None:
    point = only(row((80, 0, 20), (60, 0, 40), (48, 0, 52)))
    assert point.second is not None
    assert point.low is not None
    assert point.high is None


def test_a_row_of_one_cell_has_no_line() -> None:
    assert equal_strength(row((1, 0, 1))) == []


def test_the_same_results_give_the_same_line() -> None:
    results, _ = drawn_grid([10, 20, 40, 80], 30, edge=0.3)
    assert equal_strength(results) == equal_strength(list(reversed(results)))
    assert equal_strength(results, seed=1) != equal_strength(results)


def test_an_advantage_of_the_first_player_is_a_handicap_of_more_than_one() -> None:
    results, _ = drawn_grid([10 << k for k in range(6)], 400, edge=0.9)  # worth one doubling
    inner = [point for point in equal_strength(results) if point.handicap and point.high]
    assert len(inner) >= 4
    for point in inner:
        assert point.handicap == pytest.approx(2, rel=0.35)


@pytest.mark.slow
def test_intervals_cover_as_often_as_they_say() -> None:
    generator = np.random.default_rng(3)
    chances = 1 / (1 + np.exp(0.9 * np.arange(-3, 4) - 0.4))  # even at 80 * 2 ** (0.4 / 0.9)
    truth = 80 * 2 ** (0.4 / 0.9)
    inside = []
    for _ in range(300):
        wins = generator.binomial(100, chances)
        point = only(row(*((int(w), 0, 100 - int(w)) for w in wins)))
        inside.append((point.low or 0) <= truth <= (point.high or math.inf))
    assert np.mean(inside) > 0.91


@given(
    st_numpy.arrays(np.float64, st.integers(1, 8), elements=st.floats(0, 1)),
    st.data(),
)
def test_the_monotone_fit_is_the_nearest_one(means: np.ndarray, data: st.DataObject) -> None:
    """Falls, keeps the weighted mean, and no other falling sequence is nearer."""
    weights = data.draw(st_numpy.arrays(np.float64, len(means), elements=st.floats(1, 100)))
    fitted = _falling(means[np.newaxis], weights)[0]
    assert (np.diff(fitted) <= 1e-12).all()
    assert weights @ fitted == pytest.approx(weights @ means, abs=1e-9)
    other = np.sort(data.draw(st_numpy.arrays(np.float64, len(means), elements=st.floats(0, 1))))[
        ::-1
    ]
    assert weights @ (fitted - means) ** 2 <= weights @ (other - means) ** 2 + 1e-9
    if (np.diff(means) <= 0).all():
        assert fitted == pytest.approx(means)
