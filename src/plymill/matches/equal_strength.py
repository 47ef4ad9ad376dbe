"""The line of equal strength: what handicap makes both sides of a game even.

For each number of iterations of the first player, how many does the second one need to score as
much? The mean goal falls as the second player gets more; it is made monotone (isotonic
regression), and where it crosses one half is read off between the cells, linearly in the logarithm
of the iterations. Where it equals one half over some stretch, as where all matches are drawn, the
middle of the stretch counts.

The uncertainty comes from a parametric bootstrap: the results of every cell are drawn again from
its shares of wins, draws and losses, each with half a result more in it, so that a cell of wins
alone is not certain for ever. A line that leaves the grid in some of the samples has an open end
there.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plymill.matches.aggregates import CellResult
from plymill.matches.intervals import CONFIDENCE, Floats

SAMPLES = 2000


@dataclass(frozen=True, slots=True)
class EqualStrength:
    """Where the sides are even, for one number of iterations of the first player.

    Attributes:
        first: iterations of the first player.
        second: iterations with which the second player is even; None if that is outside the grid.
        low: lower end of the interval, within the grid; None if it goes on below it.
        high: upper end of the interval, within the grid; None if it goes on above it.
        side: which player is the better one wherever the grid reaches, if it leaves the grid:
            ``first`` (the second player would need more than the most), ``second``, or None.
    """

    first: int
    second: float | None
    low: float | None
    high: float | None
    side: str | None

    @property
    def handicap(self) -> float | None:
        """Iterations of the second player for each one of the first."""
        return None if self.second is None else self.second / self.first


def equal_strength(
    results: Sequence[CellResult], *, seed: int = 0, confidence: float = CONFIDENCE
) -> list[EqualStrength]:
    """The line of equal strength of a grid, by ascending iterations of the first player.

    Rows with fewer than two cells are left out. The same results and the same seed give the same
    line.
    """
    rows: dict[int, list[CellResult]] = {}
    for result in results:
        if result.first_iterations is not None and result.matches:
            rows.setdefault(result.first_iterations, []).append(result)
    generator = np.random.default_rng(seed)
    return [
        _row(first, sorted(cells, key=lambda c: c.second_iterations or 0), generator, confidence)
        for first, cells in sorted(rows.items())
        if len(cells) > 1
    ]


def _row(
    first: int, cells: Sequence[CellResult], generator: np.random.Generator, confidence: float
) -> EqualStrength:
    axis = np.log([float(cell.second_iterations or 0) for cell in cells])
    weights = np.array([cell.matches for cell in cells], dtype=np.float64)
    means = np.array([(cell.wins + cell.draws / 2) / cell.matches for cell in cells])
    middle = _crossing(axis, _falling(means[np.newaxis], weights))[0]
    drawn = np.stack([_drawn(cell, generator) for cell in cells], axis=1)
    crossings = np.sort(_crossing(axis, _falling(drawn, weights)))
    tail = (1 - confidence) / 2
    low = crossings[math.floor(tail * SAMPLES)]
    high = crossings[math.ceil((1 - tail) * SAMPLES) - 1]
    return EqualStrength(
        first,
        _iterations(middle),
        _iterations(min(low, axis[-1])),
        _iterations(max(high, axis[0])),
        {math.inf: "first", -math.inf: "second"}.get(float(middle)),
    )


def _iterations(crossing: float) -> float | None:
    return math.exp(crossing) if math.isfinite(crossing) else None


def _drawn(cell: CellResult, generator: np.random.Generator) -> Floats:
    """Means of the cell in all samples."""
    prior = 0.5 / 3
    counts = np.array([cell.wins, cell.draws, cell.losses]) + prior
    samples = generator.multinomial(cell.matches, counts / counts.sum(), size=SAMPLES)
    means: Floats = (samples[:, 0] + samples[:, 1] / 2) / cell.matches
    return means


def _falling(means: Floats, weights: Floats) -> Floats:
    """The nearest sequences that do not rise, over the last axis: max-min of weighted averages."""
    size = means.shape[-1]
    sums = np.concatenate(
        [np.zeros((*means.shape[:-1], 1)), np.cumsum(means * weights, axis=-1)], axis=-1
    )
    totals = np.concatenate([[0.0], np.cumsum(weights)])
    fitted = np.empty_like(means)
    for k in range(size):
        # The value at k is the least over all begins of the greatest over all ends.
        best = np.full(means.shape[:-1], np.inf)
        for begin in range(k + 1):
            ends = np.arange(k + 1, size + 1)
            averages = (sums[..., ends] - sums[..., [begin]]) / (totals[ends] - totals[begin])
            best = np.minimum(best, averages.max(axis=-1))
        fitted[..., k] = best
    return fitted


def _crossing(axis: Floats, fitted: Floats) -> Floats:
    """Where falling sequences cross one half; minus infinity below the axis, infinity above."""
    above = (fitted > 0.5 + 1e-12).sum(axis=-1)  # how many cells the first player is ahead in
    below = (fitted < 0.5 - 1e-12).sum(axis=-1)
    size = len(axis)
    level = size - above - below
    rows = np.arange(len(fitted))
    left = np.clip(above - 1, 0, size - 1)
    right = np.clip(above, 0, size - 1)
    drop = fitted[rows, left] - fitted[rows, right]
    share = np.where(drop > 0, (fitted[rows, left] - 0.5) / np.where(drop > 0, drop, 1), 0.0)
    between = axis[left] + share * (axis[right] - axis[left])
    flat = (axis[right] + axis[np.clip(size - below - 1, 0, size - 1)]) / 2
    crossing = np.where(level > 0, flat, between)
    crossing = np.where((level == 0) & (above == size), np.inf, crossing)
    return np.where((level == 0) & (below == size), -np.inf, crossing)
