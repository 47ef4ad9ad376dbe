"""Charts of first moves: how often they are played, and how the game goes after each."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from plymill.matches.aggregates import CellResult
from plymill.matches.charts.grid import Axes, axis_counts, grid_rows
from plymill.matches.charts.theme import (
    INK,
    SHARE_COLOURS,
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
from plymill.matches.intervals import wilson

#: Most first moves that get a chart of their own.
_MOST_CHARTS = 12

#: The cells of a grid by the first move of the matches that they sum up.
ByMove = Mapping[str, Sequence[CellResult]]


def first_moves_chart(
    counts: Mapping[int, Mapping[str, int]],
    moves: Sequence[str],
    *,
    game: str,
    sides: tuple[str, str] | None = None,
) -> Chart:
    """How the choice of the first move changes with the iterations of the first player.

    Args:
        counts: how often each first move was played, by iterations.
        moves: all first moves, in the order in which they are shown.
        game: name of the game.
        sides: names of the first and the second player, if they have any.
    """
    alt = altair()
    subject = Subject(game, sides)
    axis = sorted(counts)
    rows = [row for n in axis for row in _shares(n, counts[n], moves)]
    most = max((row["share"] for row in rows), default=1.0)
    base = _share_cells(rows, axis, moves, subject)
    shade = base.mark_rect().encode(
        color=alt.Color(
            "share:Q",
            scale=alt.Scale(range=SHARE_COLOURS, domain=[0, most]),
            legend=alt.Legend(title="share of matches", format=".0%", gradientLength=120),
        )
    )
    number = (
        base.transform_filter("datum.share >= 0.005")
        .mark_text(fontSize=10)
        .encode(
            text=alt.Text("share:Q", format=".0%" if most > 0.1 else ".1%"),
            color=alt.condition(f"datum.share > {0.55 * most}", alt.value("white"), alt.value(INK)),
        )
    )
    return dressed(
        alt.layer(shade, number).properties(
            width=42 * len(axis),
            height=max(15, min(28, 900 // max(1, len(moves)))) * len(moves),
            title=heading(
                f"{subject.title}: first move of the {subject.first}",
                "Share of all matches, whatever the iterations of the second player.",
            ),
        )
    )


def _share_cells(
    rows: Sequence[Any], axis: Sequence[int], moves: Sequence[str], subject: Subject
) -> Chart:
    """Where the shares lie, and what is told of each."""
    alt = altair()
    return alt.Chart(values(rows)).encode(
        x=iterations_axis("x", "iterations", axis, f"iterations a move, {subject.first}"),
        y=alt.Y("move:N", sort=list(moves), scale=alt.Scale(paddingInner=0.03)).axis(
            title="first move", domain=False, ticks=False, labelPadding=6
        ),
        tooltip=[
            alt.Tooltip("iterations:N", title="iterations"),
            alt.Tooltip("move:N", title="first move"),
            alt.Tooltip("share:Q", title="share", format=".1%"),
            alt.Tooltip("interval:N", title="95% interval (Wilson)"),
            alt.Tooltip("matches:N", title="matches"),
        ],
    )


def _shares(iterations: int, counts: Mapping[str, int], moves: Sequence[str]) -> list[Any]:
    total = sum(counts.values())
    found = []
    for move in moves if total else ():
        share = wilson(counts.get(move, 0) / total, total)
        found.append(
            {
                "iterations": count_text(iterations),
                "move": move,
                "share": share.mean,
                "interval": f"{share.low:.1%} to {share.high:.1%}",
                "matches": f"{counts.get(move, 0):,} of {total:,}",
            }
        )
    return found


def conditional_chart(
    by_move: ByMove,
    *,
    game: str,
    sides: tuple[str, str] | None = None,
) -> Chart:
    """The chart of a grid once for each first move, of the matches that began with it only.

    The area of a square is the share of the cell's matches that began so: the full cell for all.

    Args:
        by_move: the cells by first move, in the order in which they are shown.
        game: name of the game.
        sides: names of the first and the second player, if they have any.
    """
    alt = altair()
    subject = Subject(game, sides)
    axes = axis_counts(r for results in by_move.values() for r in results)
    titles = _after_titles(by_move)
    columns = 3 if len(titles) % 4 and not len(titles) % 3 else 4
    left_out = "" if len(titles) == len(by_move) else f" The {len(titles)} moves played most."
    return dressed(
        _squares(axes, subject)
        .facet(
            facet=alt.Facet("after:N", sort=list(titles.values())).header(
                title=None, labelFontSize=12, labelFontWeight="bold", labelAnchor="start"
            ),
            columns=columns,
            spacing={"row": 14, "column": 18},
            data=values(_after_rows(by_move, titles)),
        )
        .properties(
            title=heading(
                f"{subject.title}: mean goal of the {subject.first} after each of its first moves",
                "Blue: the first player wins. Red: the second player wins.",
                f"The larger a square, the more of the cell's matches began so.{left_out}",
            )
        )
    )


def _after_titles(by_move: ByMove) -> dict[str, str]:
    """The moves that get a chart of their own, with its title, in the order of all."""
    played = {move: sum(r.matches for r in results) for move, results in by_move.items()}
    chosen = sorted(played, key=lambda move: -played[move])[:_MOST_CHARTS]
    total = max(1, sum(played.values()))
    return {
        move: f"{move}: {played[move] / total:.1%} of matches"
        for move in by_move
        if move in chosen and played[move]
    }


def _after_rows(by_move: ByMove, titles: Mapping[str, str]) -> list[dict[str, Any]]:
    """The cells after each of these moves, with their share of the cell's matches."""
    totals: Counter[int] = Counter()
    for results in by_move.values():
        totals.update({result.cell: result.matches for result in results})
    return [
        row | {"share": row["matches"] / totals[row["cell"]], "after": title}
        for move, title in titles.items()
        for row in grid_rows(by_move[move])
    ]


def _squares(axes: Axes, subject: Subject) -> Chart:
    """The cells after one first move, as squares of different sizes."""
    alt = altair()
    rows, columns = axes
    size = step(max(len(rows), len(columns)), width=190, least=13, most=36)
    return (
        alt.Chart()
        .mark_square(opacity=1, stroke="#9a9a9a", strokeWidth=0.4)
        .encode(
            x=iterations_axis(
                "x",
                "second",
                columns,
                f"iterations, {subject.second}",
                bands=False,
                values=_some(columns),
            ),
            y=iterations_axis(
                "y", "first", rows, f"iterations, {subject.first}", bands=False, values=_some(rows)
            ),
            color=goals_colour(120),
            size=alt.Size(
                "share:Q",
                scale=alt.Scale(domain=[0, 1], range=[0, (size - 1) ** 2]),
                legend=None,
            ),
            tooltip=[
                *cell_tooltip(subject),
                alt.Tooltip("share:Q", title="share of the cell's matches", format=".1%"),
            ],
        )
        .properties(width=size * len(columns), height=size * len(rows), view={"stroke": "#d0d0d0"})
    )


def _some(counts: Sequence[int]) -> list[str]:
    """So many of an axis' numbers that their labels do not touch."""
    return [count_text(count) for count in counts[:: max(1, round(len(counts) / 5))]]
