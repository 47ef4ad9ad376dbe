"""The UCT chart: who wins, by the iterations of both players."""

from collections.abc import Mapping, Sequence
from typing import Any

from plymill.matches.aggregates import CellResult
from plymill.matches.charts.theme import (
    EMPTY,
    INK,
    Chart,
    altair,
    count_text,
    dressed,
    goals_colour,
    heading,
    iterations_axis,
    values,
)

#: Pixels of a cell, and of one in a chart of many.
CELL = 38
SMALL_CELL = 13
#: First moves that are shown beside the chart.
_MOST_MOVES = 24

#: By cell, how often each first move was played, as text.
MovesByCell = Mapping[int, Mapping[str, int]]


def grid_rows(results: Sequence[CellResult]) -> list[dict[str, Any]]:
    """The cells of a grid as data; cells without a match are left out."""
    return [
        {
            "cell": r.cell,
            "first": count_text(r.first_iterations),
            "second": count_text(r.second_iterations),
            "mean": r.mean_goal,
            "interval": f"{r.low:.1f} to {r.high:.1f}",
            "record": f"{r.wins} / {r.draws} / {r.losses}",
            "matches": r.matches,
            "plies": r.mean_plies,
        }
        for r in results
        if r.first_iterations and r.second_iterations and r.mean_goal is not None
    ]


def axis_counts(results: Sequence[CellResult]) -> tuple[list[int], list[int]]:
    """The numbers of iterations of both players, ascending."""
    return (
        sorted({r.first_iterations for r in results if r.first_iterations}),
        sorted({r.second_iterations for r in results if r.second_iterations}),
    )


def grid_chart(
    results: Sequence[CellResult],
    *,
    game: str,
    sides: tuple[str, str] = ("first player", "second player"),
    moves: MovesByCell | None = None,
    note: str = "",
) -> Chart:
    """The chart of a grid; with first moves beside it, those of a cell after a click on it.

    Args:
        results: the cells.
        game: what is played, for the title.
        sides: what the first and the second player are called.
        moves: how often each first move was played, by cell.
        note: a line below the title.
    """
    rows, columns = axis_counts(results)
    grid = _cells(results, rows, columns, sides)
    parts = grid if not moves else altair().hconcat(grid, _moves(moves, sides, rows), spacing=36)
    few, many = _range(r.matches for r in results)
    sizes = f"{few:,} matches a cell" if few == many else f"{few:,} to {many:,} matches a cell"
    explanation = "Click on a cell for its first moves." if moves else ""
    return dressed(
        parts.properties(
            title=heading(
                f"{game}: mean goal of the {sides[0]} by iterations of UCT a move",
                note or f"Blue: the {sides[0]} wins. Red: the {sides[1]} wins. {sizes}.",
                explanation,
            )
        )
    )


def _cells(
    results: Sequence[CellResult],
    rows: Sequence[int],
    columns: Sequence[int],
    sides: tuple[str, str],
) -> Chart:
    alt = altair()
    data = values(grid_rows(results))
    clicked = alt.selection_point(name="cell_click", fields=["cell"], on="click", clear="dblclick")
    base = alt.Chart(data, name="grid").encode(
        x=iterations_axis("x", "second", columns, f"iterations of the {sides[1]}"),
        y=iterations_axis("y", "first", rows, f"iterations of the {sides[0]}"),
        tooltip=[
            alt.Tooltip("first:N", title=f"iterations of the {sides[0]}"),
            alt.Tooltip("second:N", title=f"iterations of the {sides[1]}"),
            alt.Tooltip("mean:Q", title="mean goal", format=".1f"),
            alt.Tooltip("interval:N", title="95% interval (Wilson)"),
            alt.Tooltip("record:N", title="wins / draws / losses"),
            alt.Tooltip("matches:Q", title="matches", format=","),
            alt.Tooltip("plies:Q", title="mean plies", format=".1f"),
        ],
    )
    shade = base.mark_rect(cursor="pointer").encode(
        color=goals_colour("mean goal"),
        stroke=alt.condition(clicked, alt.value(INK), alt.value(None), empty=False),
        strokeWidth=alt.value(2),
    )
    number = base.mark_text(fontSize=11).encode(
        text=alt.Text("mean:Q", format=".0f"),
        color=alt.condition(
            "datum.mean < 20 || datum.mean > 80", alt.value("white"), alt.value(INK)
        ),
    )
    return alt.layer(shade.add_params(clicked), number).properties(
        width=CELL * len(columns), height=CELL * len(rows), view={"fill": EMPTY}
    )


def _moves(moves: MovesByCell, sides: tuple[str, str], rows: Sequence[int]) -> Chart:
    """Bars of the first moves, of the cell that was clicked or of all."""
    alt = altair()
    totals: dict[str, int] = {}
    for counts in moves.values():
        for move, count in counts.items():
            totals[move] = totals.get(move, 0) + count
    order = list(totals)
    if len(order) > _MOST_MOVES:
        order = sorted(order, key=lambda move: -totals[move])[:_MOST_MOVES]
    data = values(
        {"cell": cell, "move": move, "count": count}
        for cell, counts in moves.items()
        for move, count in counts.items()
        if move in order
    )
    bars = (
        alt.Chart(data, name="moves")
        .transform_filter({"param": "cell_click"})
        .transform_aggregate(count="sum(count)", groupby=["move"])
        .transform_joinaggregate(total="sum(count)")
        .transform_calculate(share="datum.count / datum.total")
        .encode(
            y=alt.Y("move:N", sort=order, scale=alt.Scale(domain=order)).axis(
                title=f"first move of the {sides[0]}", domain=False, ticks=False
            ),
            x=alt.X("share:Q").axis(title="share of matches", format="%", tickCount=4),
            tooltip=[
                alt.Tooltip("move:N", title="first move"),
                alt.Tooltip("share:Q", title="share", format=".1%"),
                alt.Tooltip("count:Q", title="matches", format=","),
            ],
        )
    )
    height = max(120, min(CELL * len(rows), 26 * len(order)))
    return alt.layer(
        bars.mark_bar(color="#4a6a8a"),
        bars.mark_text(align="left", dx=3, fontSize=10).encode(
            text=alt.Text("share:Q", format=".0%")
        ),
    ).properties(width=170, height=height)


def _range(numbers: Any) -> tuple[int, int]:
    found = list(numbers)
    return min(found, default=0), max(found, default=0)
