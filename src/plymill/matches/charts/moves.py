"""Charts of first moves: how often they are played, and how the game goes after each."""

from collections.abc import Mapping, Sequence

from plymill.matches.aggregates import CellResult
from plymill.matches.charts.grid import SMALL_CELL, axis_counts, grid_rows
from plymill.matches.charts.theme import (
    EMPTY,
    INK,
    SHARE_SCHEME,
    Chart,
    altair,
    count_text,
    dressed,
    goals_colour,
    heading,
    iterations_axis,
    values,
)
from plymill.matches.intervals import wilson

#: Most first moves that get a chart of their own.
_MOST_CHARTS = 12
_CHARTS_IN_A_ROW = 4


def first_moves_chart(
    counts: Mapping[int, Mapping[str, int]],
    moves: Sequence[str],
    *,
    game: str,
    sides: tuple[str, str] = ("first player", "second player"),
) -> Chart:
    """How the choice of the first move changes with the iterations of the first player.

    Args:
        counts: how often each first move was played, by iterations.
        moves: all first moves, in the order in which they are shown.
        game: what is played, for the title.
        sides: what the first and the second player are called.
    """
    alt = altair()
    axis = sorted(counts)
    rows, most = [], 0.01
    for iterations in axis:
        total = sum(counts[iterations].values())
        for move in moves:
            count = counts[iterations].get(move, 0)
            share = wilson(count / total, total) if total else None
            if share is not None:
                most = max(most, share.mean)
                rows.append(
                    {
                        "iterations": count_text(iterations),
                        "move": move,
                        "share": share.mean,
                        "interval": f"{share.low:.1%} to {share.high:.1%}",
                        "matches": f"{count:,} of {total:,}",
                    }
                )
    base = alt.Chart(values(rows), name="first_moves").encode(
        x=iterations_axis("x", "iterations", axis, f"iterations of the {sides[0]}"),
        y=alt.Y("move:N", sort=list(moves), scale=alt.Scale(paddingInner=0.04)).axis(
            title="first move", domain=False, ticks=False
        ),
        tooltip=[
            alt.Tooltip("iterations:N", title="iterations"),
            alt.Tooltip("move:N", title="first move"),
            alt.Tooltip("share:Q", title="share", format=".1%"),
            alt.Tooltip("interval:N", title="95% interval (Wilson)"),
            alt.Tooltip("matches:N", title="matches"),
        ],
    )
    shade = base.mark_rect().encode(
        color=alt.Color(
            "share:Q",
            scale=alt.Scale(scheme=SHARE_SCHEME, domain=[0, most]),
            legend=alt.Legend(title="share of matches", format="%", gradientLength=140),
        )
    )
    number = base.mark_text(fontSize=10).encode(
        text=alt.Text("share:Q", format=".0%"),
        color=alt.condition(f"datum.share > {0.6 * most}", alt.value("white"), alt.value(INK)),
    )
    return dressed(
        alt.layer(shade, number).properties(
            width=42 * len(axis),
            height=max(20, min(28, 900 // max(1, len(moves)))) * len(moves),
            title=heading(
                f"{game}: first move of the {sides[0]} by its iterations",
                f"Share of all matches, whatever the iterations of the {sides[1]}.",
            ),
        )
    )


def conditional_chart(
    by_move: Mapping[str, Sequence[CellResult]],
    *,
    game: str,
    sides: tuple[str, str] = ("first player", "second player"),
) -> Chart:
    """The chart of a grid once for each first move, of the matches that began with it only.

    The area of a square is the share of the cell's matches that began so: the full cell for all.

    Args:
        by_move: the cells by first move, in the order in which they are shown.
        game: what is played, for the title.
        sides: what the first and the second player are called.
    """
    alt = altair()
    totals: dict[int, int] = {}
    for results in by_move.values():
        for result in results:
            totals[result.cell] = totals.get(result.cell, 0) + result.matches
    played = {move: sum(r.matches for r in results) for move, results in by_move.items()}
    chosen = sorted(played, key=lambda move: -played[move])[:_MOST_CHARTS]
    shown = [move for move in by_move if move in chosen and played[move]]
    axes = axis_counts([r for results in by_move.values() for r in results])
    charts = []
    for move in shown:
        data = [
            row | {"share": row["matches"] / totals[row["cell"]]}
            for row in grid_rows(by_move[move])
        ]
        title = f"{move} ({played[move] / sum(played.values()):.0%} of matches)"
        charts.append(_one_move(data, title, axes, sides))
    lines = [charts[i : i + _CHARTS_IN_A_ROW] for i in range(0, len(charts), _CHARTS_IN_A_ROW)]
    return dressed(
        alt.vconcat(*(alt.hconcat(*line, spacing=18) for line in lines), spacing=14).properties(
            title=heading(
                f"{game}: mean goal of the {sides[0]} after each of its first moves",
                f"Blue: the {sides[0]} wins. Red: the {sides[1]} wins. The larger a square, the "
                "more of the cell's matches began so.",
                "" if len(shown) == len(by_move) else f"The {len(shown)} moves played most.",
            )
        )
    )


def _one_move(
    data: Sequence[Mapping[str, object]],
    title: str,
    axes: tuple[Sequence[int], Sequence[int]],
    sides: tuple[str, str],
) -> Chart:
    alt = altair()
    rows, columns = axes
    return (
        alt.Chart(values(data))
        .mark_square(opacity=1)
        .encode(
            x=iterations_axis(
                "x", "second", columns, f"iterations of the {sides[1]}", values=_some(columns)
            ),
            y=iterations_axis(
                "y", "first", rows, f"iterations of the {sides[0]}", values=_some(rows)
            ),
            color=goals_colour("mean goal", length=120),
            size=alt.Size(
                "share:Q",
                scale=alt.Scale(domain=[0, 1], range=[0, (SMALL_CELL - 1) ** 2]),
                legend=None,
            ),
            tooltip=[
                alt.Tooltip("first:N", title=f"iterations of the {sides[0]}"),
                alt.Tooltip("second:N", title=f"iterations of the {sides[1]}"),
                alt.Tooltip("mean:Q", title="mean goal", format=".1f"),
                alt.Tooltip("interval:N", title="95% interval (Wilson)"),
                alt.Tooltip("record:N", title="wins / draws / losses"),
                alt.Tooltip("matches:Q", title="matches", format=","),
                alt.Tooltip("share:Q", title="share of the cell's matches", format=".0%"),
            ],
        )
        .properties(
            width=SMALL_CELL * len(columns),
            height=SMALL_CELL * len(rows),
            view={"fill": EMPTY},
            title=alt.TitleParams(title, fontSize=12, offset=6),
        )
    )


def _some(counts: Sequence[int]) -> list[str]:
    """So many of an axis' numbers that their labels do not touch."""
    return [count_text(count) for count in counts[:: max(1, round(len(counts) / 5))]]
