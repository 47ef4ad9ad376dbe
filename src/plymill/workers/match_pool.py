"""What comes out of a pool: ratings and the cross table."""

import csv
import io
import math
from collections.abc import Mapping
from typing import Any

from plymill.matches.intervals import Interval
from plymill.matches.ratings import CrossTable, cross_table, rate
from plymill.matches.records import Matches
from plymill.workers.match_spec import PoolJob

_DIGITS = 6


def table_of(spec: PoolJob, matches: Matches) -> CrossTable:
    """Who scored what against whom."""
    return cross_table(spec.players, spec.cells, matches)


def ratings_of(table: CrossTable) -> list[dict[str, Any]]:
    """The players' ratings as JSON, the best first."""
    return [
        {
            "player": rating.player,
            "elo": interval_json(rating.elo),
            "points": rating.points,
            "matches": rating.matches,
        }
        for rating in sorted(rate(table), key=lambda rating: -rating.elo.mean)
    ]


def points_of(table: CrossTable) -> dict[str, dict[str, float]]:
    """Points of each player against each other one."""
    return {
        player: dict(zip(table.players, row, strict=True))
        for player, row in zip(table.players, table.points.tolist(), strict=True)
    }


def cross_csv(table: CrossTable) -> str:
    """Points of the players of the rows against those of the columns, and how many matches."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["player", *table.players, "points", "matches"])
    for place, player in enumerate(table.players):
        points, matches = table.points[place], table.matches[place]
        own = ["" if place == other else points[other] for other in range(len(table.players))]
        writer.writerow([player, *own, points.sum(), matches.sum()])
    return text.getvalue()


def interval_json(interval: Interval) -> Mapping[str, float | None]:
    """An interval as JSON, which knows no infinity."""
    values = {"mean": interval.mean, "low": interval.low, "high": interval.high}
    return {
        name: round(value, _DIGITS) if math.isfinite(value) else None
        for name, value in values.items()
    }
