"""The line of equal strength as a chart."""

import math
from collections.abc import Sequence
from typing import Any

from plymill.matches.charts.theme import (
    FAINT,
    Chart,
    altair,
    count_text,
    dressed,
    heading,
    iterations_axis,
    values,
)
from plymill.matches.equal_strength import EqualStrength

_LINE = "#2166ac"
_STEP = 46


def equal_strength_chart(
    line: Sequence[EqualStrength],
    columns: Sequence[int],
    *,
    game: str,
    sides: tuple[str, str] = ("first player", "second player"),
) -> Chart:
    """At what handicap both sides are even, by the iterations of the first player.

    Args:
        line: the line of equal strength.
        columns: iterations of the second player that the grid has.
        game: what is played, for the title.
        sides: what the first and the second player are called.
    """
    alt = altair()
    axis = [point.first for point in line]
    rows = [_row(point, min(columns), max(columns)) for point in line]
    ratios = [row[name] for row in rows for name in ("low", "high")]
    ends = [2.0 ** math.floor(math.log2(min(ratios, default=1) / 1.1)),
            2.0 ** math.ceil(math.log2(max(ratios, default=1) * 1.1))]  # fmt: skip
    powers = range(round(math.log2(ends[0])), round(math.log2(ends[1])) + 1)
    scale = alt.Scale(type="log", base=2, domain=ends, nice=False)
    x = iterations_axis("x", "first", axis, f"iterations of the {sides[0]}")
    base = alt.Chart(values(rows), name="equal_strength").encode(
        x=x,
        tooltip=[
            alt.Tooltip("first:N", title=f"iterations of the {sides[0]}"),
            alt.Tooltip("even:N", title=f"even with iterations of the {sides[1]}"),
            alt.Tooltip("interval:N", title="95% interval (bootstrap)"),
            alt.Tooltip("handicap:N", title="handicap"),
        ],
    )
    y_axis = alt.Axis(
        title=f"iterations of the {sides[1]} for one of the {sides[0]}",
        values=[2.0**k for k in powers],
        labelExpr="datum.value < 1 ? '1/' + round(1 / datum.value) : '' + datum.value",
        grid=True,
        gridColor="#e8e8e8",
        domain=False,
        ticks=False,
    )
    y = alt.Y("ratio:Q", scale=scale, axis=y_axis)
    even = (
        alt.Chart(values([{"ratio": 1.0}]), name="even")
        .mark_rule(color=FAINT, strokeDash=[4, 3])
        .encode(y=y)
    )
    interval = base.mark_rule(color=_LINE, strokeWidth=5, opacity=0.3).encode(
        y=alt.Y("low:Q", scale=scale, axis=y_axis), y2="high:Q"
    )
    inside = base.transform_filter("!datum.open")
    curve = inside.mark_line(color=_LINE, strokeWidth=1.5).encode(y=y)
    points = inside.mark_circle(color=_LINE, size=70, opacity=1).encode(y=y)
    beyond = base.transform_filter("datum.open").mark_point(
        filled=True, color=_LINE, size=80, opacity=1
    ).encode(
        y=y,
        shape=alt.Shape(
            "side:N",
            scale=alt.Scale(
                domain=["first", "second"], range=["triangle-up", "triangle-down"]
            ),
            legend=None,
        ),
    )  # fmt: skip
    left = any(row["open"] for row in rows)
    return dressed(
        alt.layer(even, interval, curve, points, beyond).properties(
            width=_STEP * len(axis),
            height=360,
            title=heading(
                f"{game}: the handicap that makes both sides even",
                f"Above 1 the {sides[1]} needs more time than the {sides[0]}. "
                "Bars: 95% of the bootstrap samples.",
                "Triangles: even only beyond the grid." if left else "",
            ),
        )
    )


def _row(point: EqualStrength, least: int, most: int) -> dict[str, Any]:
    """A point as data; what lies beyond the grid is drawn at its edge."""
    edge = most if point.side == "first" else least
    second = point.second if point.second is not None else edge
    low = point.low if point.low is not None else least
    high = point.high if point.high is not None else most
    text = _about(second)
    if point.second is None:
        text = f"more than {text}" if point.side == "first" else f"less than {text}"
    ends = (
        f"less than {_about(least)}" if point.low is None else _about(low),
        f"more than {_about(most)}" if point.high is None else _about(high),
    )
    return {
        "first": count_text(point.first),
        "ratio": second / point.first,
        "low": min(low, high) / point.first,
        "high": max(low, high) / point.first,
        "even": text,
        "interval": " to ".join(ends),
        "handicap": "" if point.handicap is None else f"{point.handicap:.2f}",
        "open": point.second is None,
        "side": point.side or "first",
    }


def _about(iterations: float) -> str:
    return f"{iterations:,.0f}"
