"""Intervals of means: the Wilson score interval, for one mean or for arrays of them."""

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from plymill.matches.errors import MatchError

CONFIDENCE = 0.95

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval and what it is of.

    Attributes:
        mean: the estimate.
        low: lower end.
        high: upper end.
    """

    mean: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """From the lower to the upper end."""
        return self.high - self.low


def normal_quantile(confidence: float = CONFIDENCE) -> float:
    """How many standard deviations to either side hold that much of a normal distribution.

    Raises:
        MatchError: the confidence is not between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise MatchError(f"confidence: expected a number between 0 and 1, got {confidence}.")
    return NormalDist().inv_cdf((1 + confidence) / 2)


def wilson_bounds(mean: Any, count: Any, confidence: float = CONFIDENCE) -> tuple[Floats, Floats]:
    """Both ends of the Wilson score interval of means of values from 0 to 1; arrays broadcast.

    The interval is the one for a share of successes, with the mean in the place of the share. Of
    all distributions on 0 to 1 with that mean, wins and losses alone spread most: with draws the
    interval is wider than it had to be, never narrower. From no value at all it is 0 to 1.

    E. B. Wilson, Probable inference, the law of succession, and statistical inference,
    Journal of the American Statistical Association 22 (1927).
    """
    mean = np.asarray(mean, dtype=np.float64)
    count = np.asarray(count, dtype=np.float64)
    z2 = normal_quantile(confidence) ** 2
    some = np.maximum(count, 1)
    centre = (mean + z2 / (2 * some)) / (1 + z2 / some)
    half = np.sqrt(z2 * (mean * (1 - mean) / some + z2 / (4 * some * some))) / (1 + z2 / some)
    # Rounding must not leave the mean, nor 0 and 1, outside.
    low = np.where(count > 0, np.minimum(np.maximum(centre - half, 0), mean), 0.0)
    high = np.where(count > 0, np.maximum(np.minimum(centre + half, 1), mean), 1.0)
    return low, high


def wilson(mean: float, count: float, confidence: float = CONFIDENCE) -> Interval:
    """The Wilson score interval of one mean; see `wilson_bounds`."""
    low, high = wilson_bounds(mean, count, confidence)
    return Interval(float(mean), float(low), float(high))
