"""Elo differences from results, with their intervals.

Results come as counts: of losses, draws and wins (trinomial), or of pairs of matches with the same
opening and both colours by the points they gave, 0, 1/2, 1, 3/2 and 2 (pentanomial). The matches
of a pair are not independent, so that pairs are what the variance has to be taken over.

The normalized Elo is the mean over the standard deviation of a single match: it says how many
matches it takes to tell two players apart. M. Van den Bergh, Normalized Elo (2020).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from plymill.matches.errors import MatchError
from plymill.matches.intervals import CONFIDENCE, Floats, Interval, normal_quantile, wilson

#: Normalized Elo of a player whose mean lies one standard deviation above one half.
NORMALIZED = 800 / math.log(10)


@dataclass(frozen=True, slots=True)
class EloEstimate:
    """What results say about the difference of two players.

    Attributes:
        matches: number of matches.
        score: mean score of the player, 0 to 1, with its interval.
        elo: Elo difference; infinite where all matches were won or lost.
        normalized: the same as normalized Elo.
        superiority: likelihood that the player is the better one (LOS).
    """

    matches: int
    score: Interval
    elo: Interval
    normalized: Interval
    superiority: float


def elo_from_score(score: float) -> float:
    """The Elo difference at which a player is expected to score so much, 0 to 1."""
    if score <= 0 or score >= 1:
        return math.copysign(math.inf, score - 0.5)
    return -400 * math.log10(1 / score - 1)


def score_from_elo(elo: float) -> float:
    """The expected score, 0 to 1, of a player so much stronger."""
    return float(1 / (1 + 10 ** (-elo / 400)))


def estimate_elo(counts: Sequence[int], confidence: float = CONFIDENCE) -> EloEstimate:
    """The difference that results speak for.

    The interval is the normal one of the mean score, its ends turned into Elo. Where all results
    are alike they have no variance, and the Wilson interval takes its place.

    Args:
        counts: losses, draws and wins; or pairs by their points, 0 to 2 in halves.
        confidence: of the intervals.

    Raises:
        MatchError: there are neither three nor five counts, one is negative, or all are 0.
    """
    scores, shares, samples = shares_of(counts)
    per_sample = (len(counts) - 1) // 2
    matches = samples * per_sample
    mean = float(scores @ shares)
    deviation = math.sqrt(per_sample * float(shares @ (scores - mean) ** 2))
    half = normal_quantile(confidence) * deviation / math.sqrt(matches)
    score = Interval(mean, max(0.0, mean - half), min(1.0, mean + half))
    if deviation == 0:
        score = wilson(mean, matches, confidence)
        normalized = Interval(*(math.copysign(math.inf, mean - 0.5) if mean != 0.5 else 0.0,) * 3)
    else:
        centre, error = (mean - 0.5) / deviation, half / deviation
        normalized = Interval(
            NORMALIZED * centre, NORMALIZED * (centre - error), NORMALIZED * (centre + error)
        )
    return EloEstimate(
        matches=matches,
        score=score,
        elo=Interval(*map(elo_from_score, (score.mean, score.low, score.high))),
        normalized=normalized,
        superiority=_superiority(mean, deviation, matches),
    )


def shares_of(counts: Sequence[int]) -> tuple[Floats, Floats, int]:
    """The scores from 0 to 1 that counts belong to, the share of each, and their sum.

    Raises:
        MatchError: there are neither three nor five counts, one is negative, or all are 0.
    """
    numbers = np.asarray(counts, dtype=np.float64)
    if len(numbers) not in (3, 5) or (numbers < 0).any() or not numbers.sum():
        raise MatchError(
            "results: expected counts of losses, draws and wins, or of pairs with 0 to 2 points "
            f"in halves, not all of them 0, got {', '.join(map(str, counts)) or 'none'}."
        )
    return np.linspace(0, 1, len(numbers)), numbers / numbers.sum(), int(numbers.sum())


def _superiority(mean: float, deviation: float, matches: int) -> float:
    if deviation == 0:
        return 0.5 if mean == 0.5 else float(mean > 0.5)
    return NormalDist().cdf((mean - 0.5) / deviation * math.sqrt(matches))
