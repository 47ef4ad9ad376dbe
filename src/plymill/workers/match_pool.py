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
    """The players' ratings as JSON, the best first; last those without a match that counts.

    Theirs are None, and so are their points.
    """
    ordered = sorted(rate(table), key=lambda rating: -rating.elo.mean if rating.elo else math.inf)
    return [
        {
            "player": rating.player,
            "elo": interval_json(rating.elo) if rating.elo else None,
            "points": rating.points if rating.matches else None,
            "matches": rating.matches,
        }
        for rating in ordered
    ]


def points_of(table: CrossTable) -> dict[str, dict[str, float | None]]:
    """Points of each player against each other one; None where no match between them counts."""
    players = table.players
    return {
        player: {
            other: table.points[i, j].item() if table.matches[i, j] else None
            for j, other in enumerate(players)
        }
        for i, player in enumerate(players)
    }


def cross_csv(table: CrossTable) -> str:
    """Points of the players of the rows against those of the columns, and how many matches.

    Where no match counts the field is empty.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["player", *table.players, "points", "matches"])
    for place, (player, row) in enumerate(points_of(table).items()):
        matches = table.matches[place].sum()
        total = table.points[place].sum() if matches else None
        writer.writerow([player, *row.values(), total, matches])
    return text.getvalue()


def interval_json(interval: Interval) -> Mapping[str, float | None]:
    """An interval as JSON, which knows no infinity."""
    values = {"mean": interval.mean, "low": interval.low, "high": interval.high}
    return {
        name: round(value, _DIGITS) if math.isfinite(value) else None
        for name, value in values.items()
    }
