"""Pictures as SVG: throughput, the map of units, the estimates of a match.

They hold no style of their own, as the policy of the page allows none: colours are classes.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, sqrt

_BINS = 60
_MOST_SQUARES = 6000
_SHORTEST = 1e-6  # seconds of a curve: in less any rate would be without end

#: What a unit can be, by its class, in the order in which a square of several shows them.
_KINDS: Mapping[str, str] = {"q": "failed", "w": "flying", ".": "waiting", "d": "done"}


@dataclass(frozen=True)
class Curve:
    """A chart of values over time that are none below 0.

    Attributes:
        line: the path of its line, in a box of 600 by 100.
        area: the path of what lies below.
        top: the value at the upper edge.
        begin: the time at the left edge.
        end: the time at the right edge.
        mean: the mean value.
    """

    line: str
    area: str
    top: float
    begin: float
    end: float
    mean: float


def throughput(samples: Sequence[tuple[float, float]]) -> Curve | None:
    """Items a second, from samples of time and items done; None if there are too few."""
    points = sorted(samples)
    if len(points) < 2 or points[-1][0] - points[0][0] < _SHORTEST:
        return None
    begin, end = points[0][0], points[-1][0]
    bins = min(_BINS, len(points) - 1)
    width = (end - begin) / bins
    edges = [_at(points, begin + place * width) for place in range(bins + 1)]
    rates = [max(0.0, (b - a) / width) for a, b in pairwise(edges)]
    top = _round_up(max(rates))
    steps = [
        (600 * (k + side) / bins, 100 - 100 * r / top)
        for k, r in enumerate(rates)
        for side in (0, 1)
    ]
    line = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in steps)
    mean = (points[-1][1] - points[0][1]) / (end - begin)
    return Curve(line, f"{line}L600 100L0 100Z", top, begin, end, mean)


def spread(units: Sequence[tuple[float, float, int]]) -> list[tuple[float, float]]:
    """Samples for `throughput` from units: when each ended, how long it took, and its items.

    Its items are spread evenly over the time that it took.
    """
    changes: dict[float, float] = {}
    for end, seconds, items in units:
        rate = items / max(seconds, 1e-6)
        start = end - max(seconds, 1e-6)
        changes[start] = changes.get(start, 0.0) + rate
        changes[end] = changes.get(end, 0.0) - rate
    samples: list[tuple[float, float]] = []
    done = rate = before = 0.0
    for time in sorted(changes):
        done += rate * (time - before) if samples else 0.0
        samples.append((time, done))
        rate, before = rate + changes[time], time
    return samples


@dataclass(frozen=True)
class UnitMap:
    """Units as squares, ten to a side of 1.

    Attributes:
        columns: squares in a row.
        rows: how many rows.
        paths: for each kind of unit the path of all its squares, dashes of 8 with gaps of 2.
        audited: the path of the marks of those of which there is a second opinion, dashes of 4
            with gaps of 6.
        each: how many units a square stands for.
        counts: how many units of each kind there are.
    """

    columns: int
    rows: int
    paths: Mapping[str, str]
    audited: str
    each: int
    counts: Mapping[str, int]


def unit_map(letters: str, audited: Sequence[int]) -> UnitMap:
    """The map of units, from a letter for each, and the places of the audited ones.

    A square of several units is of the most urgent kind among them.
    """
    each = max(1, ceil(len(letters) / _MOST_SQUARES))
    groups = [letters[k : k + each] for k in range(0, len(letters), each)]
    columns = max(10, min(100, ceil(sqrt(8 * len(groups)))))
    squares: dict[str, list[int]] = {}
    for place, group in enumerate(groups):
        kind = next((name for letter, name in _KINDS.items() if letter in group), "waiting")
        squares.setdefault(kind, []).append(place)
    return UnitMap(
        columns=columns,
        rows=max(1, ceil(len(groups) / columns)),
        paths={kind: _rows(places, columns, 8) for kind, places in squares.items()},
        audited=_rows(sorted({index // each for index in audited}), columns, 4),
        each=each,
        counts={name: letters.count(letter) for letter, name in _KINDS.items()},
    )


def _rows(places: Sequence[int], columns: int, size: int) -> str:
    """Squares of a size, as dashes of lines: one for each stretch of neighbours in a row.

    A map of thousands of units, sent every other second, so takes a few kilobytes.
    """
    path: list[str] = []
    start = before = -1
    for place in [*places, -1]:
        if place != before + 1 or place % columns == 0 or place < 0:
            if start >= 0:
                x, y = 10 * (start % columns) + (10 - size) // 2, 10 * (start // columns) + 5
                path.append(f"M{x} {y}h{10 * (before - start) + size}")
            start = place
        before = place
    return "".join(path)


def estimates(
    values: Sequence[tuple[int, float]], plies: int
) -> tuple[str, list[tuple[float, float]]]:
    """The line of a player's estimates in a box of 600 by 100, and its points.

    Args:
        values: ply and estimate from 0 to 1.
        plies: how many plies the match has.
    """
    width = 600 / max(1, plies)
    points = [(round(width * (ply - 0.5), 1), round(100 - 100 * value, 1)) for ply, value in values]
    return ("M" + "L".join(f"{x} {y}" for x, y in points) if points else ""), points


def _at(points: Sequence[tuple[float, float]], time: float) -> float:
    """How much was done at a time, between two samples in proportion."""
    place = bisect_right(points, (time, float("inf")))
    if place == 0:
        return points[0][1]
    if place == len(points):
        return points[-1][1]
    (t0, d0), (t1, d1) = points[place - 1], points[place]
    return d0 + (d1 - d0) * (time - t0) / (t1 - t0) if t1 > t0 else d1


def _round_up(value: float) -> float:
    """The next number that is 1, 2 or 5 and noughts."""
    if value <= 0:
        return 1.0
    size = 1.0
    while size > value:
        size /= 10
    while 10 * size <= value:
        size *= 10
    return next(step * size for step in (1, 2, 5, 10) if step * size >= value)
