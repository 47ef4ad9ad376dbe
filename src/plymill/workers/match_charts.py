"""The charts of match jobs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from plymill.matches.aggregates import CellResult, summarize
from plymill.matches.charts import (
    Figure,
    conditional_chart,
    equal_strength_chart,
    first_moves_chart,
    grid_chart,
)
from plymill.matches.charts.theme import FAINT, INK, Subject, altair, dressed, heading, values
from plymill.matches.equal_strength import equal_strength
from plymill.matches.first_moves import count_first_moves
from plymill.matches.moves import first_move_text
from plymill.matches.records import Matches
from plymill.workers.match_duel import llr_history
from plymill.workers.match_pool import ratings_of, table_of
from plymill.workers.match_spec import DuelJob, GridJob, MatchJob, PoolJob

if TYPE_CHECKING:
    from plymill.games import Game

GRID, FIRST_MOVES, CONDITIONAL, EQUAL = "grid", "first-moves", "conditional", "equal-strength"
LLR, RATINGS = "llr", "ratings"


def figures_of(spec: MatchJob, matches: Matches) -> dict[str, Figure]:
    """The charts of a job by name, those left out for which there is too little.

    Args:
        spec: the job.
        matches: all its matches, with their moves.
    """
    match spec:
        case GridJob():
            return grid_figures(spec, matches)
        case DuelJob():
            return duel_figures(spec, llr_history(spec, matches))
        case PoolJob():
            return pool_figures(spec, ratings_of(table_of(spec, matches)))
    raise TypeError(f"no charts of {type(spec).__name__}")


def grid_figures(spec: GridJob, matches: Matches) -> dict[str, Figure]:
    """Who wins, by the iterations of both; the first moves, and what follows from each."""
    played = matches.take(matches.played)
    if not len(played):
        return {}
    results = summarize(spec.cells, played)
    texts = _first_moves(spec.rules)
    game, sides = spec.game, spec.rules.players
    figures = {
        GRID: Figure(
            grid_chart(results, moves=_moves_by_cell(played, texts), game=game, sides=sides),
            "Each cell is a pair of fixed numbers of iterations a move. Intervals are 95% Wilson "
            "score intervals of the mean goal.",
        )
    }
    counts = count_first_moves(played, spec.cells)
    by_count = {n: {texts[c]: k for c, k in codes.items()} for n, codes in counts.items()}
    figures[FIRST_MOVES] = Figure(
        first_moves_chart(by_count, list(texts.values()), game=game, sides=sides)
    )
    figures[CONDITIONAL] = Figure(
        conditional_chart(_by_move(spec, played, texts), game=game, sides=sides)
    )
    line = equal_strength(results, seed=spec.seed)
    if line:
        figures[EQUAL] = Figure(equal_strength_chart(line, spec.second, game=game, sides=sides))
    return figures


def duel_figures(spec: DuelJob, history: Sequence[tuple[int, float]]) -> dict[str, Figure]:
    """The way of the test through a duel, between its bounds."""
    if not history:
        return {}
    alt = altair()
    lower, upper = spec.sprt.bounds
    what = "pairs" if spec.pentanomial else "matches"
    x = alt.X("results:Q", title=f"{what} that count")
    y = alt.Y("llr:Q", title="log likelihood ratio")
    way = (
        alt.Chart(values({"results": n, "llr": llr} for n, llr in history), name="llr")
        .mark_line(color=INK)
        .encode(x=x, y=y, tooltip=[alt.Tooltip("results:Q"), alt.Tooltip("llr:Q", format=".2f")])
    )
    bounds = (
        alt.Chart(values([{"llr": lower, "says": "H0"}, {"llr": upper, "says": "H1"}]))
        .mark_rule(color=FAINT, strokeDash=[4, 3])
        .encode(y=y)
    )
    names = bounds.mark_text(align="left", baseline="bottom", dx=4, x=0).encode(text="says:N", y=y)
    title = heading(
        f"{Subject(spec.game).title}: {spec.player_a} against {spec.player_b}",
        f"Log likelihood ratio of {spec.elo1:g} against {spec.elo0:g} {spec.model} Elo.",
    )
    chart = alt.layer(bounds, names, way).properties(width=560, height=300, title=title)
    return {LLR: Figure(dressed(chart), "The test ends where the line leaves the bounds.")}


def pool_figures(spec: PoolJob, ratings: Sequence[Mapping[str, Any]]) -> dict[str, Figure]:
    """The ratings of a pool, the best on top, without the players that have none."""
    rows = [{"player": rating["player"], **rating["elo"]} for rating in ratings if rating["elo"]]
    if not rows:
        return {}
    alt = altair()
    base = alt.Chart(values(rows)).encode(
        y=alt.Y("player:N", sort=[row["player"] for row in rows], title=None),
        tooltip=[
            alt.Tooltip("player:N"),
            *(alt.Tooltip(f"{name}:Q", format="+.0f") for name in ("mean", "low", "high")),
        ],
    )
    scale = alt.Scale(zero=False)
    bars = base.mark_rule(strokeWidth=3, color=FAINT).encode(
        x=alt.X("low:Q", title="Elo", scale=scale), x2="high:Q"
    )
    points = base.mark_circle(size=70, opacity=1, color=INK).encode(x=alt.X("mean:Q", scale=scale))
    title = heading(
        f"{Subject(spec.game).title}: ratings", "Bradley-Terry; bars: 95% intervals; mean 0."
    )
    chart = alt.layer(bars, points).properties(width=560, height=26 * len(rows), title=title)
    return {RATINGS: Figure(dressed(chart))}


def _first_moves(game: "Game") -> dict[int, str]:
    """The first player's first moves as text, by code."""
    return {code: first_move_text(game, code) for code in game.start().moves(0)}


def _moves_by_cell(played: Matches, texts: Mapping[int, str]) -> dict[int, dict[str, int]]:
    pairs = zip(played.arrays["cell"].tolist(), played.first_moves().tolist(), strict=True)
    found: dict[int, dict[str, int]] = {}
    for (cell, code), count in sorted(Counter(pairs).items()):
        found.setdefault(cell, {})[texts[code]] = count
    return found


def _by_move(
    spec: GridJob, played: Matches, texts: Mapping[int, str]
) -> dict[str, list[CellResult]]:
    """The sums of all cells after each first move that was played at all."""
    first = played.first_moves()
    return {
        text: summarize(spec.cells, played.take(first == code))
        for code, text in texts.items()
        if (first == code).any()
    }
