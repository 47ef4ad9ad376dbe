"""The difference of two grids, with what is more than chance."""

from plymill.matches.charts.grid import CELL
from plymill.matches.charts.theme import (
    DIFFERENCE_SCHEME,
    EMPTY,
    INK,
    Chart,
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
    ours: str = "ours",
    theirs: str = "the other",
    sides: tuple[str, str] = ("first player", "second player"),
) -> Chart:
    """Difference of the mean goals in every cell.

    A dot marks cells that differ at 5% taken alone, of which there are some by chance; a frame
    those that stand out among all of the grid.

    Args:
        comparison: the two grids.
        game: what is played, for the title.
        ours: what the first grid is called.
        theirs: what the second grid is called.
        sides: what the first and the second player are called.
    """
    alt = altair()
    rows = sorted({cell.row for cell in comparison.cells})
    columns = sorted({cell.column for cell in comparison.cells})
    data = [
        {
            "first": count_text(cell.row),
            "second": count_text(cell.column),
            "difference": 100 * cell.difference,
            "ours": f"{100 * cell.ours.mean:.1f} of {cell.ours.matches:,} matches",
            "theirs": f"{100 * cell.theirs.mean:.1f} of {cell.theirs.matches:,} matches",
            "z": cell.z,
            "p": cell.p,
            "alone": cell.informative and cell.p <= _SINGLE,
            "stands_out": cell.stands_out,
        }
        for cell in comparison.cells
    ]
    largest = max(10.0, *(abs(100 * cell.difference) for cell in comparison.cells))
    base = alt.Chart(values(data), name="difference").encode(
        x=iterations_axis("x", "second", columns, f"iterations of the {sides[1]}"),
        y=iterations_axis("y", "first", rows, f"iterations of the {sides[0]}"),
        tooltip=[
            alt.Tooltip("first:N", title=f"iterations of the {sides[0]}"),
            alt.Tooltip("second:N", title=f"iterations of the {sides[1]}"),
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
            legend=alt.Legend(title=f"goals, {ours} less {theirs}", gradientLength=200),
        )
    )
    number = base.mark_text(fontSize=11).encode(
        text=alt.Text("difference:Q", format="+.0f"),
        color=alt.condition(
            f"abs(datum.difference) > {0.65 * largest}", alt.value("white"), alt.value(INK)
        ),
    )
    dot = base.transform_filter("datum.alone").mark_circle(
        size=22, color=INK, opacity=1, xOffset=CELL / 2 - 6, yOffset=6 - CELL / 2
    )
    frame = base.transform_filter("datum.stands_out").mark_rect(
        fill=None, stroke=INK, strokeWidth=2.5
    )
    out = len(comparison.outstanding)
    alone = sum(bool(row["alone"]) for row in data)
    return dressed(
        alt.layer(shade, number, dot, frame).properties(
            width=CELL * len(columns),
            height=CELL * len(rows),
            view={"fill": EMPTY},
            title=heading(
                f"{game}: mean goal of the {sides[0]}, {ours} less {theirs}",
                comparison.verdict,
                f"Dot: differs at 5% taken alone ({alone} cells, about "
                f"{_SINGLE * comparison.informative:.0f} by chance). "
                f"Frame: stands out among all ({out}).",
            ),
        )
    )
