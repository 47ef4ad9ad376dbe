"""Comparing grids: exact cases, laws, and that chance is called chance as often as it should."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plymill.matches import (
    Agreement,
    GridComparison,
    MatchError,
    Sample,
    compare_cell,
    compare_grids,
)

counts = st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40)).filter(any)


def sample(wins: int, draws: int, losses: int, *, known: bool = True) -> Sample:
    size = wins + draws + losses
    return Sample(size, (wins + draws / 2) / size, draws / size / 4 if known else None)


def shuffled(
    ours: tuple[int, int, int], theirs: tuple[int, int, int]
) -> tuple[float, float, float]:
    """z, p and the variance of z squared by trying every shuffle of a few results."""
    first = [2] * ours[0] + [1] * ours[1] + [0] * ours[2]
    pooled = first + [2] * theirs[0] + [1] * theirs[1] + [0] * theirs[2]
    size = len(first)
    centre = Fraction(sum(pooled) * size, len(pooled))
    offsets = [sum(chosen) - centre for chosen in combinations(pooled, size)]
    seen = sum(first) - centre
    variance = sum(offset**2 for offset in offsets) / len(offsets)
    p = Fraction(sum(abs(offset) >= abs(seen) for offset in offsets), len(offsets))
    squares = [float(offset**2 / variance) for offset in offsets]
    return float(seen) / math.sqrt(variance), float(p), float(np.var(squares))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ((3, 1, 2), (1, 2, 4)),
        ((5, 0, 0), (4, 0, 1)),
        ((0, 3, 3), (2, 3, 0)),
        ((1, 6, 1), (0, 6, 0)),
    ],
)
def test_a_cell_is_what_trying_every_shuffle_says(
    ours: tuple[int, int, int], theirs: tuple[int, int, int]
) -> None:
    found = compare_cell(10, 20, sample(*ours), sample(*theirs))
    z, p, variance = shuffled(ours, theirs)
    assert found.z == pytest.approx(z, rel=1e-9)
    assert found.p == pytest.approx(p, rel=1e-9)
    assert found.variance == pytest.approx(variance, rel=1e-6)


@given(counts, counts)
def test_exchanging_the_grids_changes_the_sign_only(
    ours: tuple[int, int, int], theirs: tuple[int, int, int]
) -> None:
    here = compare_cell(1, 1, sample(*ours), sample(*theirs))
    there = compare_cell(1, 1, sample(*theirs), sample(*ours))
    assert here.z == pytest.approx(-there.z, abs=1e-12)
    assert here.p == pytest.approx(there.p, rel=1e-9)
    assert here.variance == pytest.approx(there.variance, rel=1e-6, abs=1e-9)


@given(counts, counts)
def test_mirrored_results_mirror_z(
    ours: tuple[int, int, int], theirs: tuple[int, int, int]
) -> None:
    here = compare_cell(1, 1, sample(*ours), sample(*theirs))
    mirrored = compare_cell(1, 1, sample(*ours[::-1]), sample(*theirs[::-1]))
    assert here.z == pytest.approx(-mirrored.z, abs=1e-9)
    assert here.p == pytest.approx(mirrored.p, rel=1e-9)


@given(counts)
def test_equal_samples_do_not_differ(ours: tuple[int, int, int]) -> None:
    found = compare_cell(1, 1, sample(*ours), sample(*ours))
    assert found.z == 0.0
    assert found.p == pytest.approx(1.0)


@pytest.mark.parametrize("same", [(100, 0, 0), (0, 0, 100), (0, 100, 0)])
def test_cells_in_which_all_is_the_same_say_nothing(same: tuple[int, int, int]) -> None:
    for known in (True, False):
        found = compare_cell(1, 1, sample(*same), sample(*same, known=known))
        assert (found.z, found.p, found.informative) == (0.0, 1.0, False)


def test_one_loss_in_a_cell_of_wins_is_nothing() -> None:
    found = compare_cell(1, 1, sample(100, 0, 0), sample(113, 0, 1))
    assert found.z == pytest.approx(math.sqrt(100 / 114), rel=1e-9)
    assert found.p == pytest.approx(1.0)  # the loss is in one of the two samples in any case


def test_all_wins_against_all_losses_stand_out() -> None:
    found = compare_cell(1, 1, sample(100, 0, 0), sample(0, 0, 100))
    assert found.z > 14
    assert found.p == pytest.approx(2 / math.comb(200, 100), rel=1e-6)


def test_unknown_draws_are_taken_from_ours() -> None:
    """Draws halve the deviation, so that the same difference weighs more."""
    ours = sample(30, 60, 10)
    found = compare_cell(1, 1, ours, sample(20, 60, 20, known=False))
    assert found.z == pytest.approx(compare_cell(1, 1, ours, sample(20, 60, 20)).z, rel=1e-6)
    without = compare_cell(1, 1, sample(60, 0, 40), sample(50, 0, 50, known=False))
    assert found.z > without.z > 1


def test_more_draws_than_the_mean_allows_are_not_assumed() -> None:
    found = compare_cell(1, 1, sample(0, 100, 0), Sample(114, 0.496, None))
    assert found.informative
    assert 0.5 < found.z < 1.5
    assert found.p > 0.2


def test_goals_other_than_wins_draws_and_losses_are_normal() -> None:
    ours, theirs = Sample(100, 0.523, 0.2), Sample(100, 0.518, 0.21)
    found = compare_cell(1, 1, ours, theirs)
    assert found.variance == 2.0
    assert found.p == pytest.approx(math.erfc(abs(found.z) / math.sqrt(2)))


def test_large_samples_are_normal_and_quick() -> None:
    ours = sample(30_000, 40_000, 30_000)
    found = compare_cell(1, 1, ours, sample(30_300, 40_000, 29_700))
    assert found.variance == 2.0
    assert found.z == pytest.approx(-1.73, abs=0.01)


def drawn(
    chance: np.ndarray, draws: float, samples: int, seed: int
) -> dict[tuple[int, int], Sample]:
    generator = np.random.default_rng(seed)
    grid = {}
    for (row, column), p in np.ndenumerate(chance):
        share = draws * min(p, 1 - p) * 2
        result = generator.multinomial(samples, [p - share / 2, share, 1 - p - share / 2])
        grid[10 << row, 10 << column] = sample(*map(int, result))
    return grid


#: As in a real grid: an even diagonal, and corners in which one side always wins.
CHANCES = 1 / (1 + np.exp(np.subtract.outer(-np.arange(9), -np.arange(9)) * 1.1))


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False])
def test_chance_is_called_chance(known: bool) -> None:
    """Of 300 pairs of equal grids 1% are doubtful or worse, and 5% at most have a cell that
    stands out; chi-squared per cell is 1 on average."""
    found: list[GridComparison] = []
    for seed in range(300):
        theirs = drawn(CHANCES, 0.3, 114, 2 * seed + 1)
        if not known:
            theirs = {cell: Sample(s.matches, s.mean) for cell, s in theirs.items()}
        found.append(compare_grids(drawn(CHANCES, 0.3, 100, 2 * seed), theirs))
    assert np.mean([c.chi_squared_per_cell for c in found]) == pytest.approx(1, abs=0.04)
    assert np.mean([c.p < 0.01 for c in found]) < 0.035
    assert np.mean([c.p < 0.5 for c in found]) == pytest.approx(0.5, abs=0.1)
    assert np.mean([bool(c.outstanding) for c in found]) < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 300)
    assert np.std([c.bias_z for c in found]) == pytest.approx(1, abs=0.15)


def test_a_real_difference_is_found() -> None:
    stronger = 1 / (1 + np.exp(-np.log(CHANCES / (1 - CHANCES)) - 0.5))
    found = compare_grids(drawn(stronger, 0.1, 100, 1), drawn(CHANCES, 0.1, 114, 2))
    assert found.agreement is Agreement.DIFFERS
    assert found.bias > 0
    assert found.bias_z > 5
    assert "The grid differs: chi-squared" in found.verdict


def test_one_cell_that_is_far_off_stands_out() -> None:
    theirs = drawn(CHANCES, 0.1, 114, 4)
    ours = drawn(CHANCES, 0.1, 100, 3)
    ours[10, 10] = sample(90, 0, 10)
    found = compare_grids(ours, theirs)
    assert [(cell.row, cell.column) for cell in found.outstanding] == [(10, 10)]
    assert "one cell stands out" in found.verdict


def test_cells_of_one_grid_only_are_left_out() -> None:
    ours, theirs = drawn(CHANCES, 0.1, 50, 1), drawn(CHANCES, 0.1, 50, 2)
    del ours[10, 10]
    theirs[7, 7] = sample(1, 1, 1)
    found = compare_grids(ours, theirs)
    assert len(found.cells) == 80
    assert found.left_out == 2


def test_grids_without_a_common_cell_are_refused() -> None:
    with pytest.raises(MatchError) as error:
        compare_grids({(10, 10): sample(1, 1, 1)}, {(5, 10): sample(1, 1, 1)})
    assert str(error.value) == (
        "The grids have no cell in common: expected some of 10 to 10 by 10 to 10, "
        "got 5 to 5 by 10 to 10."
    )


def test_a_grid_of_draws_only_has_no_verdict() -> None:
    grid = {(10, 10): sample(0, 50, 0)}
    found = compare_grids(grid, grid)
    assert found.agreement is Agreement.NOTHING
    assert found.p == 1.0
    assert "nothing to compare" in found.verdict
