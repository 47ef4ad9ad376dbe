"""Two grids against each other: ours and a published one, or two of ours.

In every cell the question is whether both samples are from one distribution of goals. Whatever it
is, shuffling the pooled results between the samples changes nothing then: the difference of the
means over its standard deviation under all such shuffles is z, whose square is 1 on average,
however lopsided the cell is. Cells in which all results of both are the same say nothing and are
left out. p is the share of shuffles with a difference at least as large, exact where goals are 0,
1/2 and 1 and the samples are not too large.

Where a published number comes without draws, the share of draws is taken to be ours.

The sum of the squares over the grid is compared with a gamma distribution of the same mean and
variance, which is the chi-squared one if the cells are normal. Cells stand out if they do after
Holm's correction: that any stands out by chance has a probability of 5% at most.
S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of
Statistics 6 (1979).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from statistics import NormalDist

import numpy as np

from plymill.matches.aggregates import CellResult
from plymill.matches.errors import MatchError
from plymill.matches.published import Grid, Sample

FAMILY_ERROR = 0.05
_DOUBT, _DIFFERENCE = 0.01, 0.001
#: Pairs of a number of draws and a number of wins that are enumerated at most.
_ENUMERATED = 4_000_000


class Agreement(Enum):
    """The verdict on a grid."""

    AGREES = "agrees"
    DOUBTFUL = "doubtful"
    DIFFERS = "differs"
    NOTHING = "nothing to compare"


@dataclass(frozen=True, slots=True)
class CellComparison:
    """Two samples of one cell.

    Attributes:
        row: iterations of the first player.
        column: iterations of the second player.
        ours: our sample.
        theirs: the other one.
        z: difference of the means, ours less theirs, in standard deviations.
        p: probability of a difference as large or larger by chance.
        variance: of the square of z, by chance; 2 if z is normal.
        informative: whether the cell says anything.
        stands_out: whether the cell stands out among all of the grid.
    """

    row: int
    column: int
    ours: Sample
    theirs: Sample
    z: float
    p: float
    variance: float
    informative: bool
    stands_out: bool = False

    @property
    def difference(self) -> float:
        """Ours less theirs, from -1 to 1."""
        return self.ours.mean - self.theirs.mean


@dataclass(frozen=True, slots=True)
class GridComparison:
    """Two grids.

    Attributes:
        cells: the cells that both have, by row and column.
        informative: how many of them say anything.
        chi_squared: sum of the squares of their z.
        p: probability of a sum as large by chance.
        bias: mean difference over all cells, ours less theirs.
        bias_z: the same in standard deviations.
        left_out: how many cells only one of the grids has.
    """

    cells: tuple[CellComparison, ...]
    informative: int
    chi_squared: float
    p: float
    bias: float
    bias_z: float
    left_out: int

    @property
    def chi_squared_per_cell(self) -> float:
        """About 1 if both are from the same distributions; 0 without cells."""
        return self.chi_squared / self.informative if self.informative else 0.0

    @property
    def outstanding(self) -> list[CellComparison]:
        """The cells that stand out, the least likely first."""
        return sorted((c for c in self.cells if c.stands_out), key=lambda c: (c.p, -abs(c.z)))

    @property
    def agreement(self) -> Agreement:
        """Differs if p is below 0.001 or a cell stands out, is doubtful below 0.01."""
        if not self.informative:
            return Agreement.NOTHING
        if self.p < _DIFFERENCE or self.outstanding:
            return Agreement.DIFFERS
        return Agreement.DOUBTFUL if self.p < _DOUBT else Agreement.AGREES

    @property
    def verdict(self) -> str:
        """The verdict and what it rests on, in one sentence."""
        if not self.informative:
            return "There is nothing to compare: no cell in common with differing results."
        out = len(self.outstanding)
        cells = {0: "no cell stands out", 1: "one cell stands out"}.get(
            out, f"{out} cells stand out"
        )
        per_cell = self.chi_squared_per_cell
        return (
            f"The grid {self.agreement.value}: chi-squared {per_cell:.2f} per cell over "
            f"{self.informative} cells (p = {self.p:.2g}), {cells}; mean difference "
            f"{100 * self.bias:+.2f} goals (z = {self.bias_z:+.1f})."
        )


def grid_of_results(results: Iterable[CellResult]) -> Grid:
    """The samples of a grid of ours, cells without a match played left out."""
    return {
        (r.first_iterations, r.second_iterations): Sample(
            r.matches, r.mean_goal / 100, r.spread / 100, r.mean_seconds
        )
        for r in results
        if r.first_iterations is not None
        and r.second_iterations is not None
        and r.mean_goal is not None
        and r.spread is not None
    }


def compare_grids(ours: Grid, theirs: Grid) -> GridComparison:
    """Compares the cells that both grids have.

    Raises:
        MatchError: they have none in common.
    """
    common = sorted(ours.keys() & theirs.keys())
    if not common:
        raise MatchError(
            f"The grids have no cell in common: expected some of {_axes(ours)}, "
            f"got {_axes(theirs)}."
        )
    cells = [compare_cell(*cell, ours[cell], theirs[cell]) for cell in common]
    cells = _mark_outstanding(cells)
    telling = [cell for cell in cells if cell.informative]
    total = sum(cell.z**2 for cell in telling)
    errors = [abs(c.difference / c.z) if c.z else _deviation(c.ours, c.theirs) for c in telling]
    error = math.sqrt(sum(e * e for e in errors)) / len(cells)
    bias = sum(cell.difference for cell in cells) / len(cells)
    return GridComparison(
        cells=tuple(cells),
        informative=len(telling),
        chi_squared=total,
        p=_tail(total, len(telling), sum(cell.variance for cell in telling)),
        bias=bias,
        bias_z=bias / error if error else 0.0,
        left_out=len(ours.keys() ^ theirs.keys()),
    )


def compare_cell(row: int, column: int, ours: Sample, theirs: Sample) -> CellComparison:
    """Compares two samples of one cell."""
    deviation = _deviation(ours, theirs)
    if not deviation:
        return CellComparison(row, column, ours, theirs, 0.0, 1.0, 0.0, informative=False)
    z = (ours.mean - theirs.mean) / deviation
    counts = _counts(ours, theirs)
    p, variance = 2 * NormalDist().cdf(-abs(z)), 2.0
    if counts is not None:
        p, variance = _shuffled(*counts)
    return CellComparison(row, column, ours, theirs, z, p, variance, informative=True)


def _deviation(ours: Sample, theirs: Sample) -> float:
    """Standard deviation of the difference of the means under all shuffles; 0 if there is none."""
    both = ours.matches + theirs.matches
    mean = (ours.matches * ours.mean + theirs.matches * theirs.mean) / both
    known = [sample for sample in (ours, theirs) if sample.spread is not None]
    spread = sum(s.matches * (s.spread or 0) for s in known) / max(1, sum(s.matches for s in known))
    # With goals 0, 1/2 and 1 there cannot be more draws than the mean allows.
    variance = mean * (1 - mean) - min(spread, min(mean, 1 - mean) / 2)
    if variance < 1e-12 or both < 2:
        return 0.0
    return math.sqrt(variance * both / (both - 1) * (1 / ours.matches + 1 / theirs.matches))


Counts = tuple[int, int, int]


def _counts(ours: Sample, theirs: Sample) -> tuple[Counts, Counts] | None:
    """Wins, draws and losses of both; None if goals are others, or the numbers too large."""
    shares = [4 * s.spread for s in (ours, theirs) if s.spread is not None]
    found = []
    for sample in (ours, theirs):
        points = 2 * sample.mean * sample.matches
        half_points = round(points)
        if abs(points - half_points) > 0.1:
            return None
        share = shares[0] if sample.spread is None and shares else 4 * (sample.spread or 0)
        most = min(half_points, 2 * sample.matches - half_points)
        # The nearest number of draws of the same parity as the half points.
        draws = min(
            range(half_points % 2, most + 1, 2), key=lambda d: abs(d - share * sample.matches)
        )
        wins = (half_points - draws) // 2
        found.append((wins, draws, sample.matches - wins - draws))
    wins, draws = (found[0][k] + found[1][k] for k in (0, 1))
    if (wins + 1) * (draws + 1) > _ENUMERATED:
        return None
    return found[0], found[1]


def _shuffled(ours: Counts, theirs: Counts) -> tuple[float, float]:
    """Over all shuffles: the share with a difference as large, and the variance of z squared.

    The number of draws, and given it the number of wins, are hypergeometric.
    """
    wins, draws, losses = (a + b for a, b in zip(ours, theirs, strict=True))
    size, total = sum(ours), wins + draws + losses
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, total + 1)))])
    d = np.arange(draws + 1)[:, np.newaxis]
    w = np.arange(wins + 1)[np.newaxis, :]
    rest = size - d - w
    possible = (rest >= 0) & (rest <= losses)
    rest = np.where(possible, rest, 0)
    log_weight = (
        (logs[draws] - logs[d] - logs[draws - d])
        + (logs[wins] - logs[w] - logs[wins - w])
        + (logs[losses] - logs[rest] - logs[losses - rest])
    )
    weight = np.where(possible, np.exp(log_weight - log_weight[possible].max()), 0.0)
    weight /= weight.sum()
    offset = np.abs(total * (2 * w + d) - size * (2 * wins + draws))
    seen = abs(total * (2 * ours[0] + ours[1]) - size * (2 * wins + draws))
    # Whole numbers: what is as far away as what was seen is exactly as far away.
    p = float(weight[offset >= seen].sum())
    squares = offset.astype(np.float64) ** 2
    squares /= (weight * squares).sum()
    return min(1.0, p), float((weight * squares**2).sum() - 1)


def _mark_outstanding(cells: Sequence[CellComparison]) -> list[CellComparison]:
    marked = holm({index: cell.p for index, cell in enumerate(cells) if cell.informative})
    return [replace(cell, stands_out=index in marked) for index, cell in enumerate(cells)]


def holm(p: Mapping[int, float]) -> set[int]:
    """Which of many tests stand out, by Holm's procedure: any by chance with a probability of 5%.

    Args:
        p: what each test says, by its number.
    """
    marked: set[int] = set()
    for rank, (value, number) in enumerate(sorted((value, number) for number, value in p.items())):
        if value > FAMILY_ERROR / (len(p) - rank):
            break
        marked.add(number)
    return marked


def _tail(total: float, mean: float, variance: float) -> float:
    """Probability that a gamma variable of that mean and variance is as large."""
    if not variance:  # no cell, or cells in which the square of z is 1 in every shuffle
        return 1.0
    from scipy.special import gammaincc

    return float(gammaincc(mean * mean / variance, total * mean / variance))


def _axes(grid: Grid) -> str:
    rows, columns = sorted({r for r, _ in grid}), sorted({c for _, c in grid})
    return f"{rows[0]} to {rows[-1]} by {columns[0]} to {columns[-1]}" if grid else "no cells"
