"""Sampling until intervals are narrow: which cells of a grid go on, and for how many matches."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plymill.matches.errors import MatchError
from plymill.matches.grids import Stretch
from plymill.matches.intervals import CONFIDENCE, wilson_bounds
from plymill.matches.records import Matches

#: A round at most multiplies the matches of a cell by this: a mean of few matches misleads.
_GROWTH = 3
#: And adds at least this share to them: a cell that misses its goal by little, again and again as
#: its mean moves, would have many short rounds, each of which all workers wait for.
LEAST_GROWTH = 0.25
#: The mean that is reckoned with is the worst one in the interval of this confidence.
_LIKELY = 0.68
#: A cell with fewer matches played than this share of those tried is given up.
_PLAYED = 0.5
MAX_SAMPLES = 100_000


@dataclass(frozen=True, slots=True)
class CellScore:
    """What is known of a cell.

    Attributes:
        cell: the cell's number.
        tried: matches so far, those that failed included.
        played: matches played to their end.
        mean: mean goal of the first player in them, 0 to 1; 0.5 if there are none.
    """

    cell: int
    tried: int
    played: int
    mean: float


def cell_scores(matches: Matches, cells: int) -> list[CellScore]:
    """The scores of all cells, by number; the order of the matches does not matter."""
    cell = matches.arrays["cell"]
    tried = np.bincount(cell, minlength=cells)
    played = np.bincount(cell[matches.played], minlength=cells)
    # Sums of whole numbers are exact, in whatever order.
    goals = matches.arrays["first_goal"][matches.played].astype(np.float64)
    sums = np.bincount(cell[matches.played], weights=goals, minlength=cells)
    means = np.where(played > 0, sums / (100 * np.maximum(played, 1)), 0.5)
    return [
        CellScore(index, *entry)
        for index, entry in enumerate(
            zip(tried.tolist(), played.tolist(), means.tolist(), strict=True)
        )
    ]


def next_round(
    scores: Sequence[CellScore],
    width: float,
    *,
    confidence: float = CONFIDENCE,
    most: int = MAX_SAMPLES,
) -> list[Stretch]:
    """The matches that are to be played next so that all intervals become as narrow as asked.

    A function of the results only. A cell goes on if its Wilson interval, from end to end, is
    wider than ``width``; it gets as many matches as will probably do (if its mean comes as near to
    one half as one standard deviation allows), but at least a quarter more than it has and at most
    ``_GROWTH`` times as many. Cells in which most matches fail are given up.

    Args:
        scores: all cells, by number.
        width: the widest interval allowed, of a mean goal from 0 to 1.
        confidence: of the intervals.
        most: matches that no cell goes beyond.

    Returns:
        What to play, by cell; empty when all is done.
    """
    check_width(width)
    stretches = []
    for score in scores:
        low, high = wilson_bounds(score.mean, score.played, confidence)
        if high - low <= width or score.played < _PLAYED * score.tried or not score.tried:
            continue
        low, high = wilson_bounds(score.mean, score.played, _LIKELY)
        worst = float(np.clip(0.5, low, high))
        wanted = _needed(worst, width, confidence) - score.played
        # As many again as will fail, if they go on failing as they did.
        wanted = math.ceil(max(LEAST_GROWTH * score.played, wanted) * score.tried / score.played)
        stop = min(score.tried + wanted, score.tried * _GROWTH, most)
        if stop > score.tried:
            stretches.append(Stretch(score.cell, score.tried, stop))
    return stretches


def check_width(width: float) -> None:
    """Refuses a width that no interval of a mean can have.

    Raises:
        MatchError: it is not between 0.001 and 1.
    """
    if not 0.001 <= width <= 1:
        raise MatchError(f"until: expected the width of an interval, from 0.001 to 1, got {width}.")


def _needed(mean: float, width: float, confidence: float) -> int:
    """The fewest matches with which the interval round that mean is narrow enough."""
    low, high = 1, 2
    while np.subtract(*wilson_bounds(mean, high, confidence)[::-1]) > width:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        if np.subtract(*wilson_bounds(mean, middle, confidence)[::-1]) > width:
            low = middle + 1
        else:
            high = middle
    return high
