"""Grids: which players meet in which cell, and what a cell costs.

A job's matches are numbered cell by cell. How many matches of which cells there are is a list of
`Stretch`; where the list is cut into units depends on what the matches are estimated to cost.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np

from plymill.matches.errors import MatchError
from plymill.players.spec import MAX_ITERATIONS

MAX_AXIS = 64
_FORMS = "a list such as 10,20,50, or the doubling from 10 to 5120 as 10..5120"


@dataclass(frozen=True, slots=True)
class Cell:
    """A pair of players.

    Attributes:
        index: number of the cell in its job.
        first: description of the player who moves first.
        second: description of the other one.
        row: iterations of the first player, in a grid.
        column: iterations of the second player, in a grid.
    """

    index: int
    first: str
    second: str
    row: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive matches of one cell.

    Attributes:
        cell: the cell's number.
        start: the first match.
        stop: one past the last one.
    """

    cell: int
    start: int
    stop: int

    @property
    def matches(self) -> int:
        """How many there are."""
        return self.stop - self.start


@dataclass(frozen=True, slots=True)
class Cut:
    """What one unit plays: a part of the job's matches in their order.

    Attributes:
        start: the first match, counted over all stretches.
        stop: one past the last one.
        cost: estimated seconds of one core.
    """

    start: int
    stop: int
    cost: float


def parse_iterations(text: str) -> tuple[int, ...]:
    """Numbers of iterations: ``10,20,50``, or ``10..5120`` for 10 and its doublings up to 5120.

    Raises:
        MatchError: the text is neither, a number is out of range, or they do not ascend.
    """
    counts = [count for part in text.split(",") for count in _part(part.strip(), text)]
    if any(b <= a for a, b in pairwise(counts)):
        raise MatchError(f"iterations '{text}': expected ascending numbers, none of them twice.")
    if len(counts) > MAX_AXIS:
        raise MatchError(f"iterations '{text}': expected {MAX_AXIS} numbers at most.")
    return tuple(counts)


def _part(part: str, text: str) -> list[int]:
    first, dots, last = part.partition("..")
    if not dots:
        return [_count(part, text)]
    low, high = _count(first, text), _count(last, text)
    ratio, rest = divmod(high, low)
    if rest or ratio & (ratio - 1) or not ratio:
        fitting = low << max(0, (high // low).bit_length() - 1)
        raise MatchError(
            f"iterations '{text}': expected the last of {part} to be the first one doubled some "
            f"times, such as {low}..{fitting}."
        )
    return [low << k for k in range(ratio.bit_length())]


def _count(number: str, text: str) -> int:
    if not (number.isascii() and number.isdigit()):
        raise MatchError(f"iterations '{text}': expected {_FORMS}.")
    # A number with very many digits would be slow to read.
    count = int(number) if len(number) <= 12 else MAX_ITERATIONS + 1
    if not 1 <= count <= MAX_ITERATIONS:
        raise MatchError(
            f"iterations '{text}': expected numbers from 1 to {MAX_ITERATIONS}, got {number}."
        )
    return count


def grid_cells(
    first: Sequence[int], second: Sequence[int], *, options: str = ""
) -> tuple[Cell, ...]:
    """The cells of a grid of UCT players, row by row: a row for each of the first player's counts.

    Args:
        first: iterations of the first player.
        second: iterations of the second player.
        options: further options of both, such as ``c=1.0,final=visits``.
    """
    tail = f",{options}" if options else ""
    pairs = [(row, column) for row in first for column in second]
    return tuple(
        Cell(index, f"uct:{row}{tail}", f"uct:{column}{tail}", row, column)
        for index, (row, column) in enumerate(pairs)
    )


class Schedule:
    """The matches of a job in their order.

    Args:
        stretches: which matches of which cells.

    Raises:
        MatchError: a stretch is empty.
    """

    def __init__(self, stretches: Sequence[Stretch]) -> None:
        self.stretches = tuple(stretches)
        if any(stretch.matches <= 0 for stretch in self.stretches):
            raise MatchError("matches: expected at least one in every cell.")

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(stretch.matches for stretch in self.stretches))

    @property
    def matches(self) -> int:
        """How many matches there are."""
        return self._ends[-1] if self._ends else 0

    def part(self, start: int, stop: int) -> Iterator[Stretch]:
        """The matches from ``start`` to before ``stop``, counted over all stretches."""
        for place in range(bisect_right(self._ends, start), len(self._ends)):
            stretch, end = self.stretches[place], self._ends[place]
            begin = end - stretch.matches
            low, high = max(start, begin), min(stop, end)
            if low >= stop:
                break
            yield Stretch(stretch.cell, stretch.start + low - begin, stretch.start + high - begin)

    def cut(
        self, seconds_of: Callable[[int], float], unit_seconds: float, *, start: int = 0
    ) -> list[Cut]:
        """Cuts the matches into units that take about the same time.

        Args:
            seconds_of: estimated seconds of one match of a cell.
            unit_seconds: how long a unit should take; a single match may take longer.
            start: the first match that is to be cut; those before it are left alone.
        """
        costs = np.repeat(
            [seconds_of(stretch.cell) for stretch in self.stretches],
            [stretch.matches for stretch in self.stretches],
        )[start:]
        total = np.cumsum(costs)
        if not len(total):
            return []
        units = max(1, round(float(total[-1]) / unit_seconds))
        # Each goal of the running total ends the match that comes nearest to it.
        goals = float(total[-1]) * np.arange(1, units + 1) / units
        ends = np.searchsorted(total - costs / 2, goals)
        ends[-1] = len(total)
        ends = np.unique(ends[ends > 0])
        begins = np.concatenate([[0], ends[:-1]])
        spent = np.concatenate([[0.0], total])[[begins, ends]]
        return [
            Cut(start + begin, start + end, cost)
            for begin, end, cost in zip(
                begins.tolist(), ends.tolist(), (spent[1] - spent[0]).tolist(), strict=True
            )
        ]
