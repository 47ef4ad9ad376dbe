"""The line of equal strength as a chart."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from plymill.matches.charts.theme import (
    FAINT,
    LINE,
    Chart,
    Subject,
    altair,
    count_text,
    dressed,
    heading,
    iterations_axis,
    step,
    values,
)
from plymill.matches.equal_strength import EqualStrength

_STEP = 46
_HEIGHT = 340


def equal_strength_chart(
    line: Sequence[EqualStrength],
    columns: Sequence[int],
    *,
    game: str,
    sides: tuple[str, str] | None = None,
) -> Chart:
    """At what handicap both sides are even, by the iterations of the first player.

    Args:
        line: the line of equal strength.
        columns: iterations of the second player that the grid has.
        game: name of the game.
        sides: names of the first and the second player, if they have any.
    """
    alt = altair()
    subject = Subject(game, sides)
    axis = [point.first for point in line]
    rows = [_row(point, min(columns), max(columns)) for point in line]
    for before, row in pairwise(rows):  # the line has gaps where it leaves the grid
        row["part"] = before["part"] + (not row["inside"])
    y = _handicap([row[name] for row in rows for name in ("low", "high")])
    base = _base(rows, axis, subject)
    even = (
        alt.Chart(values([{"ratio": 1.0}]))
        .mark_rule(color=FAINT, strokeDash=[4, 3])
        .encode(y=y("ratio"))
    )
    inside = base.transform_filter("datum.inside").encode(y=y("ratio"))
    chart = alt.layer(
        even,
        *_intervals(base, y),
        inside.mark_line(color=LINE, strokeWidth=1.5).encode(detail="part:N"),
        inside.mark_circle(color=LINE, size=70, opacity=1),
    )
    is_open = any(row["open_low"] or row["open_high"] for row in rows)
    return dressed(
        chart.properties(
            width=step(len(axis), width=460, least=_STEP, most=110) * len(axis),
            height=_HEIGHT,
            title=heading(
                f"{subject.title}: the handicap that makes both sides even",
                "Above 1 the second player needs more time than the first. "
                "Bars: 95% interval (bootstrap).",
                "Arrowheads: it goes on beyond the grid." if is_open else "",
            ),
        )
    )


def _base(rows: Sequence[dict[str, Any]], axis: Sequence[int], subject: Subject) -> Chart:
    """Where the points lie from left to right, and what is told of each."""
    alt = altair()
    return alt.Chart(values(rows)).encode(
        x=iterations_axis("x", "first", axis, f"iterations a move, {subject.first}", bands=False),
        tooltip=[
            alt.Tooltip("first:N", title=f"iterations, {subject.first}"),
            alt.Tooltip("even:N", title=f"even with, {subject.second}"),
            alt.Tooltip("interval:N", title="95% interval (bootstrap)"),
            alt.Tooltip("handicap:N", title="handicap"),
        ],
    )


def _intervals(base: Chart, y: Callable[[str], Any]) -> list[Chart]:
    """Bars, with arrowheads where they go on beyond the grid."""
    alt = altair()
    bars = base.mark_rule(color=LINE, strokeWidth=6, opacity=0.3).encode(y=y("low"), y2="high:Q")
    arrows = [
        base.transform_filter(f"datum.open_{end}")
        .mark_point(filled=True, shape=f"triangle-{way}", color=LINE, size=70, yOffset=shift)
        .encode(y=y(end), opacity=alt.value(0.6))
        for end, way, shift in (("low", "down", 9), ("high", "up", -9))
    ]
    return [bars, *arrows]


def _handicap(ratios: Sequence[float]) -> Callable[[str], Any]:
    """Makes the axis of the handicap: logarithmic, with the powers of two."""
    alt = altair()
    least, most = min(ratios, default=1.0), max(ratios, default=1.0)
    powers = range(
        min(-2, math.floor(math.log2(least) - 0.1)), max(2, math.ceil(math.log2(most) + 0.1)) + 1
    )
    scale = alt.Scale(type="log", base=2, domain=[2.0 ** powers[0], 2.0 ** powers[-1]], nice=False)
    axis = alt.Axis(
        title=["iterations of the second player", "for one of the first"],
        values=[2.0**k for k in powers],
        labelExpr="datum.value < 1 ? '1/' + round(1 / datum.value) : '' + datum.value",
        grid=True,
        gridColor="#e8e8e8",
        domain=False,
        ticks=False,
    )
    return lambda field: alt.Y(f"{field}:Q", scale=scale, axis=axis)


def _row(point: EqualStrength, least: int, most: int) -> dict[str, Any]:
    """A point as data; what lies beyond the grid is drawn at its edge."""
    edge = most if point.side == "first" else least
    second = edge if point.second is None else point.second
    low = least if point.low is None else point.low
    high = most if point.high is None else point.high
    beyond = "" if point.second is not None else "more than " if edge == most else "less than "
    ends = (
        f"{'less than ' if point.low is None else ''}{low:,.0f}",
        f"{'more than ' if point.high is None else ''}{high:,.0f}",
    )
    return {
        "first": count_text(point.first),
        "ratio": second / point.first,
        "low": low / point.first,
        "high": high / point.first,
        "even": f"{beyond}{second:,.0f}",
        "interval": " to ".join(ends),
        "handicap": "" if point.handicap is None else f"{point.handicap:.2f}",
        "part": 0,
        "inside": point.second is not None,
        "open_low": point.low is None,
        "open_high": point.high is None,
    }
