"""The UCT chart: who wins, by the iterations of both players."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from plymill.matches.aggregates import CellResult
from plymill.matches.charts.theme import (
    EMPTY,
    INK,
    Chart,
    Subject,
    altair,
    cell_tooltip,
    count_text,
    dressed,
    goals_colour,
    heading,
    iterations_axis,
    step,
    values,
)

#: Pixels of a chart: small grids have larger cells.
WIDTH, LEAST_CELL, MOST_CELL = 420, 38, 64
#: First moves that are shown beside the chart.
_MOST_MOVES = 24
_DIGITS = re.compile(r"(\d+)")

#: Iterations of the first player and of the second.
Axes = tuple[Sequence[int], Sequence[int]]
#: By cell, how often each first move was played, as text.
MovesByCell = Mapping[int, Mapping[str, int]]


def grid_rows(results: Iterable[CellResult]) -> list[dict[str, Any]]:
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


def axis_counts(results: Iterable[CellResult]) -> tuple[list[int], list[int]]:
    """The numbers of iterations of both players, ascending."""
    found = list(results)
    return (
        sorted({r.first_iterations for r in found if r.first_iterations}),
        sorted({r.second_iterations for r in found if r.second_iterations}),
    )


def cell_size(axes: Axes) -> int:
    """Pixels of a cell."""
    return step(max(map(len, axes)), width=WIDTH, least=LEAST_CELL, most=MOST_CELL)


def grid_chart(
    results: Sequence[CellResult],
    *,
    game: str,
    sides: tuple[str, str] | None = None,
    moves: MovesByCell | None = None,
    note: str = "",
) -> Chart:
    """The chart of a grid; with first moves beside it, those of a cell after a click on it.

    Args:
        results: the cells.
        game: name of the game.
        sides: names of the first and the second player, if they have any.
        moves: how often each first move was played, by cell.
        note: a further line below the title.
    """
    alt = altair()
    subject = Subject(game, sides)
    axes = axis_counts(results)
    chart = _cells(results, axes, subject, clickable=bool(moves))
    if moves:
        parts = (chart, _moves(moves, results, subject))
        chart = alt.hconcat(*parts, spacing=30).resolve_scale(color="independent")
    return dressed(
        chart.properties(
            title=heading(
                f"{subject.title}: mean goal of the {subject.first}",
                f"Blue: the first player wins. Red: the second player wins. {_sizes(results)}.",
                note,
                "On the interactive page a click on a cell shows its first moves." if moves else "",
            )
        )
    )


def _sizes(results: Sequence[CellResult]) -> str:
    sizes = [r.matches for r in results if r.matches]
    few, many = min(sizes, default=0), max(sizes, default=0)
    return f"{few:,} matches a cell" if few == many else f"{few:,} to {many:,} matches a cell"


def _cells(
    results: Sequence[CellResult],
    axes: Axes,
    subject: Subject,
    *,
    clickable: bool,
) -> Chart:
    alt = altair()
    rows, columns = axes
    base = alt.Chart(values(grid_rows(results))).encode(
        x=iterations_axis("x", "second", columns, f"iterations a move, {subject.second}"),
        y=iterations_axis("y", "first", rows, f"iterations a move, {subject.first}"),
        tooltip=[*cell_tooltip(subject), alt.Tooltip("plies:Q", title="mean plies", format=".1f")],
    )
    size = cell_size(axes)
    colour = goals_colour(min(200, size * len(rows) - 30))
    shade = _clickable(base, colour) if clickable else base.mark_rect().encode(color=colour)
    # Numbers let the mouse through to the cell below.
    number = base.mark_text(fontSize=11, cursor="pointer" if clickable else "default").encode(
        text=alt.Text("mean:Q", format=".0f"),
        color=alt.condition("abs(datum.mean - 50) > 30", alt.value("white"), alt.value(INK)),
    )
    return alt.layer(shade, number).properties(
        width=size * len(columns), height=size * len(rows), view={"fill": EMPTY}
    )


def _clickable(base: Chart, colour: Any) -> Chart:
    """Cells with a frame round the one that was clicked."""
    alt = altair()
    click = alt.selection_point(
        name="cell", fields=["first", "second"], on="click", clear="dblclick"
    )
    return (
        base.mark_rect(cursor="pointer")
        .encode(
            color=colour,
            stroke=alt.condition(click, alt.value(INK), alt.value(None), empty=False),
            strokeWidth=alt.value(2.5),
        )
        .properties(name="cells")
        .add_params(click)
    )


def _natural(text: str) -> list[tuple[int, str]]:
    """Orders texts by the numbers in them as numbers: 9 before 10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in _DIGITS.split(text)]


def _moves(moves: MovesByCell, results: Sequence[CellResult], subject: Subject) -> Chart:
    """Bars of the first moves, of the cell that was clicked or of all."""
    alt = altair()
    order = _shown_moves(moves)
    data = [
        {
            "first": row["first"],
            "second": row["second"],
            "move": move if move in order else "",  # rare ones count, but are not shown
            "count": count,
        }
        for row in grid_rows(results)
        for move, count in moves.get(row["cell"], {}).items()
        if count
    ]
    base = _move_shares(data, order, subject)
    bars = base.mark_bar(color="#5b7c99")
    label = base.mark_text(align="left", dx=4, fontSize=10, color=INK).encode(
        text=alt.Text("share:Q", format=".0%" if len(order) <= 12 else ".1%")
    )
    shown = "cell.first ? cell.first[0] + ' against ' + cell.second[0] : 'all cells'"
    axes = axis_counts(results)
    height = max(15 * len(order), min(cell_size(axes) * len(axes[0]), 26 * len(order)), 60)
    return alt.layer(bars, label).properties(
        width=170,
        height=height,
        title=alt.TitleParams(text=alt.ExprRef(shown), fontSize=12, offset=6, anchor="start"),
    )


def _shown_moves(moves: MovesByCell) -> list[str]:
    """The moves that get a bar: all by number, or those played most if they are too many."""
    totals: Counter[str] = Counter()
    for counts in moves.values():
        totals.update(counts)
    order = sorted(totals, key=_natural)
    if len(order) > _MOST_MOVES:
        order = sorted(order, key=lambda move: -totals[move])[:_MOST_MOVES]
    return order


def _move_shares(data: list[dict[str, Any]], order: list[str], subject: Subject) -> Chart:
    """Where the bars lie, of the cell that was clicked or of all, and what is told of each."""
    alt = altair()
    return (
        alt.Chart(values(data))
        .transform_filter({"param": "cell"})
        .transform_aggregate(count="sum(count)", groupby=["move"])
        .transform_joinaggregate(total="sum(count)")
        .transform_calculate(share="datum.count / datum.total")
        .transform_filter("datum.move != ''")
        .encode(
            y=alt.Y("move:N", sort=order, scale=alt.Scale(domain=order, paddingInner=0.15)).axis(
                title=f"first move of the {subject.first}", domain=False, ticks=False
            ),
            x=alt.X("share:Q", scale=alt.Scale(domainMin=0)).axis(
                title="share of matches", format="%", tickCount=4, grid=True, gridColor="#e8e8e8"
            ),
            tooltip=[
                alt.Tooltip("move:N", title="first move"),
                alt.Tooltip("share:Q", title="share", format=".1%"),
                alt.Tooltip("count:Q", title="matches", format=","),
            ],
        )
    )
