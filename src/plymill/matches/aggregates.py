"""What a job found, cell by cell, as CSV and JSON."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from plymill.matches.grids import Cell
from plymill.matches.intervals import CONFIDENCE, wilson_bounds
from plymill.matches.records import Matches

#: Digits that are written: beyond them the order of summation might show.
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class CellResult:
    """The matches of one cell, summed up.

    Goals are the first player's, from 0 to 100; the interval is the Wilson score interval of the
    mean goal at 95% (see `wilson_bounds`).

    Attributes:
        cell: the cell's number.
        first: description of the first player.
        second: description of the second player.
        first_iterations: iterations of the first player, in a grid.
        second_iterations: iterations of the second player, in a grid.
        matches: matches played to their end.
        failed: matches that ended by the fault of a player.
        wins: matches in which the first player had the higher goal.
        draws: matches with equal goals.
        losses: matches in which the second player had the higher goal.
        mean_goal: mean goal; None if no match was played, as the other means.
        low: lower end of its interval.
        high: upper end of its interval.
        spread: mean of goal * (100 - goal) / 100, which is 0 unless there are goals between 0 and
            100 (25 for a draw); the variance of the goals follows from it and the mean.
        mean_plies: mean length.
        mean_seconds: mean time, if it is known.
    """

    cell: int
    first: str
    second: str
    first_iterations: int | None
    second_iterations: int | None
    matches: int
    failed: int
    wins: int
    draws: int
    losses: int
    mean_goal: float | None
    low: float
    high: float
    spread: float | None
    mean_plies: float | None
    mean_seconds: float | None = None


COLUMNS = tuple(field.name for field in fields(CellResult))


def summarize(
    cells: Sequence[Cell], matches: Matches, seconds: Mapping[int, float] | None = None
) -> list[CellResult]:
    """Sums up the matches of every cell; their order does not matter.

    Args:
        cells: all cells, by number.
        matches: the matches.
        seconds: mean seconds of the matches of each cell, if known; what comes of them differs
            from run to run.
    """
    size = len(cells)
    played = matches.take(matches.played)
    cell, outcome = played.arrays["cell"], played.outcomes
    goal = played.arrays["first_goal"].astype(np.int64)
    count = np.bincount(cell, minlength=size)
    failed = np.bincount(matches.arrays["cell"], minlength=size) - count
    wins, draws, losses = (np.bincount(cell[outcome == k], minlength=size) for k in (1, 0, -1))

    def mean(values: Any, scale: int = 1) -> list[float | None]:
        # The sums are of whole numbers, hence exact in any order.
        sums = np.bincount(cell, weights=values, minlength=size)
        return [
            round(total / (scale * n), _DIGITS) if n else None
            for total, n in zip(sums.tolist(), count.tolist(), strict=True)
        ]

    means, plies = mean(goal), mean(played.arrays["plies"])
    spread = mean(goal * (100 - goal), 100)
    low, high = wilson_bounds([(m or 0.0) / 100 for m in means], count, CONFIDENCE)
    return [
        CellResult(
            cell=each.index,
            first=each.first,
            second=each.second,
            first_iterations=each.row,
            second_iterations=each.column,
            matches=int(count[i]),
            failed=int(failed[i]),
            wins=int(wins[i]),
            draws=int(draws[i]),
            losses=int(losses[i]),
            mean_goal=means[i],
            low=round(100 * float(low[i]), _DIGITS),
            high=round(100 * float(high[i]), _DIGITS),
            spread=spread[i],
            mean_plies=plies[i],
            mean_seconds=None if seconds is None else seconds.get(each.index),
        )
        for i, each in enumerate(cells)
    ]


def results_csv(results: Sequence[CellResult]) -> str:
    """The results as CSV, a row each; what is unknown stays empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = _columns(results)
    writer.writerow(columns)
    for result in results:
        writer.writerow([getattr(result, name) for name in columns])
    return text.getvalue()


def results_json(results: Sequence[CellResult], **about: Any) -> str:
    """The results as JSON, with whatever else is to be said about them."""
    columns = _columns(results)
    cells = [{name: asdict(result)[name] for name in columns} for result in results]
    interval = f"Wilson score interval of the mean goal at {CONFIDENCE:.0%}"
    return json.dumps({**about, "interval": interval, "cells": cells}, indent=1) + "\n"


def _columns(results: Sequence[CellResult]) -> list[str]:
    """All, but seconds only where they are known."""
    timed = any(result.mean_seconds is not None for result in results)
    return [name for name in COLUMNS if timed or name != "mean_seconds"]
