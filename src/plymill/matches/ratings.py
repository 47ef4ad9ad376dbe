"""Ratings of many players from the matches between them: Bradley-Terry, and the cross table.

The chance that player i beats player j is 1 / (1 + 10 ** ((r_j - r_i) / 400)), with the ratings r
that make the results most likely. A draw counts as half a win for either side. So that ratings
stay finite where somebody won or lost everything, every player is given one drawn match more,
spread over all others. Ratings average 0. Who has not played at all is not rated.

The intervals follow from the curvature of the likelihood, as if every match had been decided:
with draws they are wider than they had to be, never narrower.

R. A. Bradley and M. E. Terry, Rank analysis of incomplete block designs, Biometrika 39 (1952);
the maximum is found by `choix`, L. Maystre and M. Grossglauser, Fast and accurate inference of
Plackett-Luce models (2015).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from plymill.matches.errors import MatchError
from plymill.matches.grids import Cell
from plymill.matches.intervals import CONFIDENCE, Floats, Interval, normal_quantile
from plymill.matches.records import Matches

_ELO = 400 / math.log(10)
_PRIOR = 1.0

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class CrossTable:
    """Who scored what against whom, colours taken together.

    Attributes:
        players: the players' descriptions.
        wins: entry i, j: matches that player i won against player j.
        draws: entry i, j: matches between them that were drawn.
    """

    players: tuple[str, ...]
    wins: Counts
    draws: Counts

    @property
    def points(self) -> Floats:
        """Entry i, j: points of player i against player j, a draw being one half."""
        points: Floats = self.wins + self.draws / 2
        return points

    @property
    def matches(self) -> Counts:
        """Entry i, j: matches between players i and j."""
        return self.wins + self.wins.T + self.draws


@dataclass(frozen=True, slots=True)
class Rating:
    """A player's rating.

    Attributes:
        player: the player's description.
        matches: matches played.
        points: points in them.
        elo: rating with its interval; None without a match played, which says nothing.
    """

    player: str
    matches: int
    points: float
    elo: Interval | None


def cross_table(players: Sequence[str], cells: Sequence[Cell], matches: Matches) -> CrossTable:
    """Counts the results of all matches that were played.

    Args:
        players: the players' descriptions, each once, in the order of the table.
        cells: who met in the cells of the matches.
        matches: the matches, in any order.
    """
    place = {player: index for index, player in enumerate(players)}
    size = len(players)
    wins, draws = np.zeros((size, size), np.int64), np.zeros((size, size), np.int64)
    played = matches.take(matches.played)
    pairs = {cell.index: (place[cell.first], place[cell.second]) for cell in cells}
    sides = np.array([pairs[c] for c in played.arrays["cell"].tolist()], np.intp).reshape(-1, 2)
    outcomes = played.outcomes
    for outcome, table, order in ((1, wins, (0, 1)), (-1, wins, (1, 0)), (0, draws, (0, 1))):
        chosen = sides[outcomes == outcome]
        np.add.at(table, (chosen[:, order[0]], chosen[:, order[1]]), 1)
    return CrossTable(tuple(players), wins, draws + draws.T)


def rate(table: CrossTable, confidence: float = CONFIDENCE) -> list[Rating]:
    """Ratings of all players, in the order of the table; of those who played, their mean is 0.

    Raises:
        MatchError: there are fewer than two players.
    """
    size = len(table.players)
    if size < 2:
        raise MatchError(f"ratings: expected two players at least, got {size}.")
    matches, points = table.matches.sum(axis=1), table.points.sum(axis=1)
    rated = np.flatnonzero(matches)
    elo: dict[int, Interval] = {}
    if len(rated):
        elo = dict(zip(rated.tolist(), _elo(table.points[np.ix_(rated, rated)], confidence),
                       strict=True))  # fmt: skip
    return [
        Rating(player, int(matches[i]), float(points[i]), elo.get(i))
        for i, player in enumerate(table.players)
    ]


def _elo(points: Floats, confidence: float) -> list[Interval]:
    """The ratings of players each of whom has played."""
    import choix

    size = len(points)
    points = points + _PRIOR / 2 / (size - 1) * (1 - np.eye(size))
    strengths: Floats = choix.ilsr_pairwise_dense(points, tol=1e-10, max_iter=10_000)
    strengths -= strengths.mean()
    deviations = np.sqrt(np.diag(_covariance(points, strengths)))
    half = normal_quantile(confidence) * _ELO * deviations
    pairs = zip((_ELO * strengths).tolist(), half.tolist(), strict=True)
    return [Interval(elo, elo - margin, elo + margin) for elo, margin in pairs]


def _covariance(points: Floats, strengths: Floats) -> Floats:
    """Of the strengths, whose sum is 0: the pseudo-inverse of the information of all matches.

    The information knows nothing of all strengths growing together; something is put there before
    inverting, and taken away afterwards.
    """
    chances = 1 / (1 + np.exp(strengths[np.newaxis, :] - strengths[:, np.newaxis]))
    weights = (points + points.T) * chances * (1 - chances)
    np.fill_diagonal(weights, 0)
    information = np.diag(weights.sum(axis=1)) - weights
    size, scale = len(strengths), float(np.trace(information)) / len(strengths)
    together = np.full((size, size), 1 / size)
    return np.asarray(np.linalg.inv(information + scale * together) - together / scale)
