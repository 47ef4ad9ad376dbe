"""The sequential probability ratio test: does A beat B, with as few matches as that takes?

Two hypotheses, "the difference is `elo0`" and "it is `elo1`", are weighed by the logarithm of
their likelihood ratio (LLR). It is the generalized one: under each hypothesis the distribution of
results is the most likely one that fits it, as fishtest and fastchess do it. A's win is worth 1, a
draw 1/2. Results count one by one (trinomial), or in pairs with the same opening and both colours
(pentanomial), which takes care of openings that favour one side.

A hypothesis speaks of Elo in one of two ways:

- ``logistic``: the usual Elo, of the expected score;
- ``normalized``: the expected score above 1/2 over the standard deviation of one match, on a scale
  where it equals the usual Elo near 0 if there are no draws. How long the test takes then does not
  depend on how many draws there are.

M. Van den Bergh, Comments on normalized Elo (2021), propositions 1.1 and section 4.1; A. Wald,
Sequential Analysis (1947).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from plymill.matches.elo import NORMALIZED, score_from_elo
from plymill.matches.errors import MatchError
from plymill.matches.intervals import Floats

Model = Literal["logistic", "normalized"]

#: Entries of a sequence of results that are no results.
MISSING = -1
VOID = -2

#: The largest difference of either sign that a hypothesis may speak of. At 1,000 Elo the stronger
#: player scores 99.7%. Normalized Elo beyond 200 is a mean further above 1/2 than distributions of
#: few kinds of results allow to be fitted.
LIMITS = {"logistic": 1000, "normalized": 200}

#: What a kind of result counts that never occurred, so that it stays possible; as in fishtest.
_NEVER = 1e-3


class Verdict(Enum):
    """What a test says: go on, or which hypothesis it has accepted."""

    OPEN = "open"
    H0 = "H0"
    H1 = "H1"


@dataclass(frozen=True, slots=True)
class Decision:
    """Where a test stands after the results that were counted.

    Attributes:
        verdict: what the test says.
        llr: logarithm of the likelihood ratio after the last result that counts.
        results: how many results count: all until the decision, or until the first missing one.
        counts: how many of them of each kind, from the worst for A to the best.
    """

    verdict: Verdict
    llr: float
    results: int
    counts: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Sprt:
    """A test.

    Attributes:
        elo0: difference under the null hypothesis, within `LIMITS`.
        elo1: difference under the alternative, likewise.
        alpha: accepted risk to accept the alternative where the null hypothesis is true (type I).
        beta: accepted risk of the opposite (type II).
        model: what kind of Elo the bounds are.
        pentanomial: results are pairs of matches, each with 0 to 4 half points for A; otherwise
            they are single matches with 0 to 2.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05
    model: Model = "logistic"
    pentanomial: bool = True

    def __post_init__(self) -> None:
        if self.model not in LIMITS:
            raise MatchError(f"SPRT: expected logistic or normalized Elo, got '{self.model}'.")
        limit = LIMITS[self.model]
        for name in ("elo0", "elo1"):
            if not abs(getattr(self, name)) <= limit:  # NaN is not, either
                raise MatchError(
                    f"SPRT: {name}: expected {self.model} Elo from -{limit} to {limit}, "
                    f"got {getattr(self, name)}."
                )
        if self.elo0 >= self.elo1:
            raise MatchError(
                f"SPRT: expected elo0 less than elo1, got {self.elo0} and {self.elo1}."
            )
        for name in ("alpha", "beta"):
            if not 0 < getattr(self, name) < 0.5:
                raise MatchError(
                    f"SPRT: {name}: expected more than 0 and less than 0.5, "
                    f"got {getattr(self, name)}."
                )

    @property
    def bounds(self) -> tuple[float, float]:
        """At or below the first the null hypothesis is accepted, at or above the second the other.

        Wald's bounds: with them the risks are `alpha` and `beta` at most, but for what the last
        result goes beyond them.
        """
        return (
            math.log(self.beta / (1 - self.alpha)),
            math.log((1 - self.beta) / self.alpha),
        )

    @property
    def kinds(self) -> int:
        """How many kinds of results there are: 5 in pairs, 3 one by one."""
        return 5 if self.pentanomial else 3

    def llr(self, counts: Any) -> Floats:
        """The LLR after results; over the last axis of ``counts`` run the kinds of results."""
        numbers = np.asarray(counts, dtype=np.float64)
        if numbers.shape[-1:] != (self.kinds,):
            raise MatchError(
                f"SPRT: expected {self.kinds} counts of results, got {numbers.shape[-1:]}."
            )
        regular = np.where(numbers == 0, _NEVER, numbers)
        total = regular.sum(axis=-1)
        shares = regular / total[..., np.newaxis]
        ratio = _log_ratio(shares, self._statistics(), normalized=self.model == "normalized")
        return np.where(numbers.sum(axis=-1) > 0, total * ratio, 0.0)

    def decide(self, results: Sequence[int] | npt.NDArray[np.integer]) -> Decision:
        """What the test says after results, which are read in order up to the first bound crossed.

        The decision depends on the results by their ids only, not on when they came: results
        beyond one that is missing do not count yet.

        Args:
            results: half points of A by id, `MISSING` where there is no result yet, `VOID` where
                there never will be.
        """
        scores = np.asarray(results, dtype=np.int64)
        missing = np.flatnonzero(scores == MISSING)
        scores = scores[: missing[0]] if len(missing) else scores
        scores = scores[scores != VOID]
        if len(scores) and not (scores.min() >= 0 and scores.max() < self.kinds):
            raise MatchError(f"SPRT: expected results from 0 to {self.kinds - 1} half points.")
        counts = np.cumsum(scores[:, np.newaxis] == np.arange(self.kinds), axis=0)
        lower, upper = self.bounds
        llr = self.llr(counts) if len(scores) else np.zeros(0)
        crossed = np.flatnonzero((llr <= lower) | (llr >= upper))
        end = int(crossed[0]) + 1 if len(crossed) else len(scores)
        if not end:
            return Decision(Verdict.OPEN, 0.0, 0, (0,) * self.kinds)
        last = float(llr[end - 1])
        verdict = Verdict.OPEN
        if len(crossed):
            verdict = Verdict.H1 if last >= upper else Verdict.H0
        return Decision(verdict, last, end, tuple(counts[end - 1].tolist()))

    def _statistics(self) -> tuple[float, float]:
        """What the hypotheses say of one result: its mean, or its mean above 1/2 in deviations."""
        if self.model == "logistic":
            return score_from_elo(self.elo0), score_from_elo(self.elo1)
        # A result is the mean of a pair's two matches, whose deviation is smaller by sqrt(2).
        scale = math.sqrt(2) / NORMALIZED if self.pentanomial else 1 / NORMALIZED
        return self.elo0 * scale, self.elo1 * scale


def pair_results(
    first_colour: npt.NDArray[np.int8], second_colour: npt.NDArray[np.int8]
) -> npt.NDArray[np.int8]:
    """Half points of A in pairs of matches, by the id of the pair.

    A pair is void if one of its matches is, or else missing if one of them is.

    Args:
        first_colour: half points of A where it moves first: 0 to 2, `MISSING` or `VOID`.
        second_colour: the same where it moves second.
    """
    both = (first_colour + second_colour).astype(np.int8)
    missing = (first_colour == MISSING) | (second_colour == MISSING)
    void = (first_colour == VOID) | (second_colour == VOID)
    return np.where(void, VOID, np.where(missing, MISSING, both)).astype(np.int8)


def _log_ratio(shares: Floats, statistics: tuple[float, float], *, normalized: bool) -> Floats:
    """Mean over the results of the log ratio of the most likely distributions."""
    scores = np.linspace(0, 1, shares.shape[-1])
    fit = _most_likely_with_t if normalized else _most_likely_with_mean
    logs = [np.log(fit(shares, scores, statistic)) for statistic in statistics]
    ratio: Floats = (shares * (logs[1] - logs[0])).sum(axis=-1)
    return ratio


def _most_likely_with_mean(shares: Floats, scores: Floats, mean: float) -> Floats:
    """Of all distributions with that mean the one that makes the observed shares most likely."""
    slopes = np.broadcast_to(scores - mean, shares.shape)
    return _tilted(shares, slopes, np.zeros(shares.shape[:-1]))[0]


def _most_likely_with_t(shares: Floats, scores: Floats, t: float) -> Floats:
    """Of all distributions with (mean - 1/2) / deviation = t the most likely one, by iteration."""
    fitted, x = np.full(shares.shape, 1 / shares.shape[-1]), np.zeros(shares.shape[:-1])
    settled = np.zeros(shares.shape[:-1], dtype=np.bool_)  # each row as if it were alone
    for _ in range(20):
        mean = (fitted * scores).sum(axis=-1, keepdims=True)
        variance = (fitted * (scores - mean) ** 2).sum(axis=-1, keepdims=True)
        deviation = np.sqrt(variance)
        slopes = scores - 0.5 - 0.5 * t * deviation * (1 + (scores - mean) ** 2 / variance)
        new, new_x = _tilted(shares, slopes, x)
        x = np.where(settled, x, new_x)
        change = np.abs(new - fitted).max(axis=-1)
        fitted = np.where(settled[..., np.newaxis], fitted, new)
        settled |= change < 1e-10
        if settled.all():
            break
    return fitted


def _tilted(shares: Floats, slopes: Floats, start: Floats) -> tuple[Floats, Floats]:
    """The shares divided by 1 + x * slopes, and the x that brings their sum to 1.

    The sum of shares * slopes / (1 + x * slopes) falls from plus to minus infinity between the
    poles, -1 / max(slopes) and -1 / min(slopes): its zero is found by Newton steps from ``start``
    that fall back to halving where they would leave the bracket. Each is found as if it were alone:
    what comes out for one never depends, not even in its last bit, on which others there are.
    """
    low = -1 / slopes.max(axis=-1)
    high = -1 / slopes.min(axis=-1)
    x = np.where((start > low) & (start < high), start, 0.0)
    settled = np.zeros(x.shape, dtype=np.bool_)
    for _ in range(100):
        parts = slopes / (1 + x[..., np.newaxis] * slopes)
        value = (shares * parts).sum(axis=-1)
        low, high = np.where(value > 0, x, low), np.where(value > 0, high, x)
        step = x + value / (shares * parts * parts).sum(axis=-1)
        inside = (step > low) & (step < high)
        new = np.where(settled, x, np.where(inside, step, (low + high) / 2))
        settled |= np.abs(new - x) <= 1e-14 * np.maximum(np.abs(x), 1)
        x = new
        if settled.all():
            break
    return shares / (1 + x[..., np.newaxis] * slopes), x
