"""The difference of two grids, with what is more than chance."""

from typing import Any

from plymill.matches.charts.grid import cell_size
from plymill.matches.charts.theme import (
    DIFFERENCE_SCHEME,
    EMPTY,
    INK,
    Chart,
    Subject,
    altair,
    count_text,
    dressed,
    heading,
    iterations_axis,
    values,
)
from plymill.matches.compare import GridComparison

_SINGLE = 0.05


def difference_chart(
    comparison: GridComparison,
    *,
    game: str,
    sides: tuple[str, str] | None = None,
    ours: str = "ours",
    theirs: str = "theirs",
) -> Chart:
    """Difference of the mean goals in every cell.

    A dot marks cells that differ at 5% taken alone, of which there are some by chance; a frame
    those that stand out among all of the grid.

    Args:
        comparison: the two grids.
        game: name of the game.
        sides: names of the first and the second player, if they have any.
        ours: what the first grid is called.
        theirs: what the second grid is called.
    """
    alt = altair()
    subject = Subject(game, sides)
    rows = sorted({cell.row for cell in comparison.cells})
    columns = sorted({cell.column for cell in comparison.cells})
    data, size = _data(comparison), cell_size((rows, columns))
    largest = max(10.0, *(abs(row["difference"]) for row in data))
    base = alt.Chart(values(data)).encode(
        x=iterations_axis("x", "second", columns, f"iterations a move, {subject.second}"),
        y=iterations_axis("y", "first", rows, f"iterations a move, {subject.first}"),
        tooltip=[
            alt.Tooltip("first:N", title=f"iterations, {subject.first}"),
            alt.Tooltip("second:N", title=f"iterations, {subject.second}"),
            alt.Tooltip("difference:Q", title="difference of goals", format="+.1f"),
            alt.Tooltip("ours:N", title=ours),
            alt.Tooltip("theirs:N", title=theirs),
            alt.Tooltip("z:Q", format="+.2f"),
            alt.Tooltip("p:Q", format=".2g"),
        ],
    )
    shade = base.mark_rect().encode(
        color=alt.Color(
            "difference:Q",
            scale=alt.Scale(scheme=DIFFERENCE_SCHEME, domain=[-largest, largest]),
            legend=alt.Legend(
                title=["mean goal,", f"{ours} less {theirs}"],
                gradientLength=min(200, size * len(rows) - 30),
                format="+.0f",
            ),
        )
    )
    number = base.mark_text(fontSize=11).encode(
        text="text:N",
        color=alt.condition(
            f"abs(datum.difference) > {0.65 * largest}", alt.value("white"), alt.value(INK)
        ),
    )
    dot = base.transform_filter("datum.alone").mark_circle(
        size=24, color=INK, opacity=1, xOffset=size / 2 - 6, yOffset=6 - size / 2
    )
    frame = base.transform_filter("datum.stands_out").mark_rect(
        fill=None, stroke=INK, strokeWidth=2.5
    )
    alone = sum(row["alone"] for row in data)
    return dressed(
        alt.layer(shade, number, dot, frame).properties(
            width=size * len(columns),
            height=size * len(rows),
            view={"fill": EMPTY},
            title=heading(
                f"{subject.title}: mean goal of the {subject.first}, {ours} less {theirs}",
                *comparison.verdict.replace("; ", ";\n").splitlines(),
                f"Dot: differs at 5% taken alone ({alone} of {comparison.informative} cells, about "
                f"{_SINGLE * comparison.informative:.0f} by chance). "
                f"Frame: stands out among all ({len(comparison.outstanding)}).",
            ),
        )
    )


def _data(comparison: GridComparison) -> list[dict[str, Any]]:
    return [
        {
            "first": count_text(cell.row),
            "second": count_text(cell.column),
            "difference": 100 * cell.difference,
            "text": _signed(100 * cell.difference),
            "ours": f"{100 * cell.ours.mean:.1f} in {cell.ours.matches:,} matches",
            "theirs": f"{100 * cell.theirs.mean:.1f} in {cell.theirs.matches:,} matches",
            "z": cell.z,
            "p": cell.p,
            "alone": cell.informative and cell.p <= _SINGLE,
            "stands_out": cell.stands_out,
        }
        for cell in comparison.cells
    ]


def _signed(difference: float) -> str:
    rounded = round(difference)
    return f"{rounded:+d}".replace("-", "\N{MINUS SIGN}") if rounded else "0"
