"""From finished units of a match job to artefacts: the table of matches, sums, verdicts, charts.

All of it is a function of the spec and the matches: equal on any cluster, byte for byte.
"""

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from plymill.cluster import Stage, StageContext
from plymill.matches.aggregates import CellResult, results_csv, results_json, summarize
from plymill.matches.charts import page, png, svg
from plymill.matches.elo import estimate_elo
from plymill.matches.errors import MatchError
from plymill.matches.records import Matches
from plymill.matches.tables import MatchTable
from plymill.workers.match_charts import figures_of
from plymill.workers.match_duel import Standing, counted, standing
from plymill.workers.match_failures import failed_text
from plymill.workers.match_plan import unpack_openings
from plymill.workers.match_pool import (
    cross_csv,
    interval_json,
    points_of,
    ratings_of,
    table_of,
)
from plymill.workers.match_results import read_attempts
from plymill.workers.match_spec import DuelJob, GridJob, MatchJob, PoolJob
from plymill.workers.match_words import outcome_lines

MATCHES, CELLS, PAGE = "matches.parquet", "cells", "charts.html"
_DIGITS = 6


def match_stages(spec: MatchJob) -> tuple[Stage, ...]:
    """The finishing stages of a match job, in order."""
    stages = [
        Stage("matches", lambda context: write_matches(spec, context)),
        Stage("cells", lambda context: write_cells(spec, context)),
    ]
    if isinstance(spec, DuelJob):
        stages.append(Stage("duel", lambda context: judge_duel(spec, context)))
    if isinstance(spec, PoolJob):
        stages.append(Stage("pool", lambda context: rate_pool(spec, context)))
    stages.append(Stage("charts", lambda context: draw_charts(spec, context)))
    return (*stages, Stage("summary", lambda context: sum_up(spec, context)))


def result_matches(spec: MatchJob, context: StageContext, *, moves: bool = False) -> Matches:
    """The matches that belong to the result, sorted by id: of a duel without the surplus."""
    return _of_result(spec, read_attempts(context.store, context.plan.units, moves=moves).matches)


def _of_result(spec: MatchJob, matches: Matches) -> Matches:
    return counted(matches, standing(spec, matches)) if isinstance(spec, DuelJob) else matches


def write_matches(spec: MatchJob, context: StageContext) -> dict[str, Any]:
    """One row for each match."""
    matches = result_matches(spec, context, moves=True)
    table = MatchTable(
        game=spec.rules,
        cells=spec.cells,
        seed=spec.seed,
        openings=unpack_openings(context.store.read_input(context.plan.units[0])),
    )
    data = io.BytesIO()
    table.write(data, matches)
    context.publish(MATCHES, data.getvalue())
    failed = len(matches) - int(matches.played.sum())
    return {"matches": len(matches), "failed": failed}


def write_cells(spec: MatchJob, context: StageContext) -> dict[str, Any]:
    """The sums of each cell."""
    matches = result_matches(spec, context, moves=True)
    results = summarize(spec.cells, matches)
    context.publish(f"{CELLS}.csv", results_csv(results).encode())
    about = {"game": spec.game, "kind": spec.kind}
    context.publish(f"{CELLS}.json", results_json(results, **about).encode())
    wins, draws, losses = (
        sum(getattr(result, name) for result in results) for name in ("wins", "draws", "losses")
    )
    sums = {"cells": len(results), "wins": wins, "draws": draws, "losses": losses}
    return sums | (_width(spec, results) if isinstance(spec, GridJob) else {})


def _width(spec: GridJob, results: Sequence[CellResult]) -> dict[str, Any]:
    """How many cells have a wider interval than was asked for, if anything was."""
    if spec.until is None:
        return {}
    most = 100 * spec.until + 1e-4  # bounds are rounded
    return {"until": spec.until, "wide": sum(cell.high - cell.low > most for cell in results)}


def draw_charts(spec: MatchJob, context: StageContext) -> dict[str, Any]:
    """The charts as SVG and PNG, and all of them on an interactive page."""
    attempts = read_attempts(context.store, context.plan.units, moves=True)
    figures = figures_of(spec, attempts.matches)
    for name, figure in figures.items():
        context.publish(f"{name}.svg", svg(figure.chart).encode())
        context.publish(f"{name}.png", png(figure.chart))
    if figures:
        context.publish(PAGE, page(spec.title, list(figures.values())).encode())
    return {"charts": list(figures)}


def judge_duel(spec: DuelJob, context: StageContext) -> dict[str, Any]:
    """The verdict of a duel, and how large the difference is."""
    matches = read_attempts(context.store, context.plan.units).matches
    stand = standing(spec, matches)
    result = _verdict(spec, stand)
    _publish_json(context, "duel.json", result)
    return result


def _verdict(spec: DuelJob, stand: Standing) -> dict[str, Any]:
    lower, upper = spec.sprt.bounds
    decision = stand.decision
    result: dict[str, Any] = {
        "player_a": spec.player_a,
        "player_b": spec.player_b,
        "verdict": decision.verdict.value,
        "hypotheses": [spec.elo0, spec.elo1],
        "model": spec.model,
        "llr": round(decision.llr, _DIGITS),
        "bounds": [round(lower, _DIGITS), round(upper, _DIGITS)],
        "pairs": stand.pairs,
        "void": stand.void,
        "counts": list(decision.counts),
        "counted": "pairs by A's half points" if spec.pentanomial else "matches by half points",
    }
    try:
        estimate = estimate_elo(decision.counts)
    except MatchError:  # no pair counts
        return result
    return result | {
        "score": interval_json(estimate.score),
        "elo": interval_json(estimate.elo),
        "normalized_elo": interval_json(estimate.normalized),
        "superiority": round(estimate.superiority, _DIGITS),
    }


def rate_pool(spec: PoolJob, context: StageContext) -> dict[str, Any]:
    """Ratings of all players, and the cross table."""
    table = table_of(spec, result_matches(spec, context))
    ratings = ratings_of(table)
    _publish_json(context, "pool.json", {"ratings": ratings, "points": points_of(table)})
    context.publish("crosstable.csv", cross_csv(table).encode())
    return {"ratings": ratings}


def sum_up(spec: MatchJob, context: StageContext) -> dict[str, Any]:
    """What came out, in a few lines of text."""
    lines = outcome_lines(context.earlier)
    attempts = read_attempts(context.store, context.plan.units)
    note = failed_text(spec, _of_result(spec, attempts.matches), attempts)
    text = "".join(f"{line}\n" for line in [spec.title, *lines, note] if line)
    context.publish("summary.txt", text.encode())
    return {"lines": lines, "note": note}


def _publish_json(context: StageContext, name: str, value: Mapping[str, Any]) -> None:
    context.publish(name, (json.dumps(value, indent=2) + "\n").encode())
