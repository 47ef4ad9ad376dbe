"""A duel as it goes: where the test stands, what to play next, what belongs to the result.

Pair number p is match p of both cells. The test reads the pairs in this order, whenever and
wherever they were played, up to the one that decides; those beyond it are surplus, because whole
rounds are played, and are no part of the result.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from plymill.matches.grids import Stretch
from plymill.matches.records import Matches
from plymill.matches.rounds import LEAST_GROWTH
from plymill.matches.sprt import MISSING, VOID, Decision, Verdict, pair_results
from plymill.workers.match_spec import DuelJob

FEWEST_PAIRS = 64  # in a round, so that many threads have something to share
ROUND_SECONDS = 20.0  # of one core, at least, where matches are short
_MOST_AT_FIRST = 2048
_A_FIRST, _B_FIRST = 0, 1
_POINTS = 400


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a duel stands.

    Attributes:
        decision: what the test says.
        pairs: how many pairs belong to the result: up to the deciding one, or all.
        tried: how many pairs were played.
        void: how many of them do not count, because a match in them failed.
    """

    decision: Decision
    pairs: int
    tried: int
    void: int

    @property
    def decided(self) -> bool:
        """Whether the test has accepted a hypothesis."""
        return self.decision.verdict is not Verdict.OPEN

    @property
    def hopeless(self) -> bool:
        """Whether most pairs fail."""
        return self.tried >= FEWEST_PAIRS and 2 * self.void > self.tried


def standing(spec: DuelJob, matches: Matches) -> Standing:
    """What the test says after these matches, up to the first pair that is not played yet."""
    results, pairs = _results(spec, matches)
    decision = spec.sprt.decide(results)
    counted = len(pairs)
    if decision.verdict is not Verdict.OPEN:
        last = int(np.flatnonzero(results != VOID)[decision.results - 1])
        counted = (last if spec.pentanomial else last // 2) + 1
    return Standing(decision, counted, len(pairs), int((pairs == VOID).sum()))


def llr_history(spec: DuelJob, matches: Matches) -> list[tuple[int, float]]:
    """The LLR after so many results that count, up to the decision; thinned out for a chart."""
    results, _ = _results(spec, matches)
    end = spec.sprt.decide(results).results
    read = results[results >= 0][:end]
    after = np.unique(np.linspace(1, end, min(end, _POINTS)).astype(int)) if end else np.zeros(0)
    counts = np.cumsum(read[:, np.newaxis] == np.arange(spec.sprt.kinds), axis=0)
    llr = spec.sprt.llr(counts[after - 1]) if end else np.zeros(0)
    return [(int(n), round(float(value), 4)) for n, value in zip(after, llr, strict=True)]


def _results(spec: DuelJob, matches: Matches) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
    """What the test reads, and the half points of A in each pair, which may be void or missing.

    A pair counts as a whole or not at all, as each opening is to be played with both colours.
    """
    size = int(matches.arrays["match"].max(initial=0)) + 1 if len(matches) else 0
    colours = [_half_points(matches, cell, size) for cell in (_A_FIRST, _B_FIRST)]
    pairs = pair_results(*colours)
    if spec.pentanomial:
        return pairs, pairs
    single = np.stack([np.where(pairs < 0, pairs, colour) for colour in colours], axis=1)
    return single.ravel(), pairs


def first_pairs(spec: DuelJob, pair_seconds: float) -> int:
    """How many pairs to begin with."""
    enough = math.ceil(ROUND_SECONDS / max(pair_seconds, 1e-9))
    return min(spec.max_pairs, max(FEWEST_PAIRS, min(enough, _MOST_AT_FIRST)))


def more_pairs(spec: DuelJob, stand: Standing) -> int:
    """How many pairs to play next; 0 to end the duel.

    As many as it takes if the test goes on as it did, but no more than were played so far, and no
    less than a quarter of them: all workers wait for the end of a round.
    """
    if stand.decided or stand.hopeless:
        return 0
    lower, upper = spec.sprt.bounds
    llr = stand.decision.llr
    bound = upper if llr > 0 else lower
    growth = min(1.0, (bound - llr) / llr) if llr else 1.0
    wanted = max(math.ceil(max(growth, LEAST_GROWTH) * stand.tried), FEWEST_PAIRS)
    return max(0, min(wanted, spec.max_pairs - stand.tried))


def pair_stretches(start: int, count: int) -> Sequence[Stretch]:
    """The matches of pairs, with both colours."""
    return [Stretch(cell, start, start + count) for cell in (_A_FIRST, _B_FIRST)] if count else []


def counted(matches: Matches, stand: Standing) -> Matches:
    """The matches that belong to the result."""
    return matches.take(matches.arrays["match"] < stand.pairs)


def _half_points(matches: Matches, cell: int, size: int) -> npt.NDArray[np.int8]:
    """Half points of A in the matches of a cell, by their number."""
    chosen = matches.take(matches.arrays["cell"] == cell)
    outcomes = chosen.outcomes if cell == _A_FIRST else -chosen.outcomes
    points = np.full(size, MISSING, dtype=np.int8)
    points[chosen.arrays["match"]] = np.where(chosen.played, outcomes + 1, VOID)
    return points
