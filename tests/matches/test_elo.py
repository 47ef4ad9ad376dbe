"""Elo differences: published values, and that mirrored results give mirrored ratings."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plymill.matches import (
    CONFIDENCE,
    MatchError,
    elo_from_score,
    estimate_elo,
    score_from_elo,
    wilson,
    wilson_bounds,
)
from plymill.matches.intervals import normal_quantile

PUBLISHED = json.loads((Path(__file__).parent / "data" / "sprt_published.json").read_text())

counts_of_pairs = st.lists(st.integers(0, 300), min_size=5, max_size=5).filter(any)


@pytest.mark.parametrize("case", PUBLISHED["elo"], ids=str)
def test_estimates_are_the_published_ones(case: list[Any]) -> None:
    _, counts, elo, error, normalized, normalized_error, superiority = case
    found = estimate_elo(counts)
    assert found.elo.mean == pytest.approx(elo, rel=0.01)
    assert found.elo.width / 2 == pytest.approx(error, rel=0.01)
    assert found.normalized.mean == pytest.approx(normalized, rel=0.01)
    assert found.normalized.width / 2 == pytest.approx(normalized_error, rel=0.01)
    assert found.superiority == pytest.approx(superiority, abs=0.0002)


@given(counts_of_pairs)
def test_mirrored_results_mirror_elo(counts: list[int]) -> None:
    here, there = estimate_elo(counts), estimate_elo(counts[::-1])
    for mine, other in ((here.elo, there.elo), (here.normalized, there.normalized)):
        ends = (mine.mean, mine.low, mine.high)
        mirrored = (-other.mean, -other.high, -other.low)
        assert ends == pytest.approx(mirrored, rel=1e-9, abs=1e-9)
    assert here.superiority == pytest.approx(1 - there.superiority, abs=1e-9)


@given(counts_of_pairs)
def test_intervals_contain_the_estimate(counts: list[int]) -> None:
    found = estimate_elo(counts)
    for interval in (found.score, found.elo, found.normalized):
        assert interval.low <= interval.mean <= interval.high
    assert found.matches == 2 * sum(counts)


@given(st.floats(-2000, 2000))
def test_elo_and_score_are_each_others_inverse(elo: float) -> None:
    assert elo_from_score(score_from_elo(elo)) == pytest.approx(elo, abs=1e-6)


def test_who_won_everything_has_an_interval_with_a_lower_end() -> None:
    found = estimate_elo([0, 0, 20])
    assert found.elo.mean == found.elo.high == math.inf
    assert found.elo.low == pytest.approx(elo_from_score(wilson(1, 20).low))
    assert found.superiority == 1.0


@pytest.mark.parametrize("counts", [[], [0, 0, 0], [1, 2], [1, -1, 3]])
def test_counts_that_are_no_results_are_refused(counts: list[int]) -> None:
    with pytest.raises(MatchError, match="expected counts of losses, draws and wins"):
        estimate_elo(counts)


@given(st.integers(1, 10_000), st.data())
def test_wilson_contains_its_mean_and_solves_its_equation(count: int, data: st.DataObject) -> None:
    wins = data.draw(st.integers(0, count))
    found = wilson(wins / count, count)
    assert 0 <= found.low <= found.mean <= found.high <= 1
    # At either end the mean is just so many standard deviations of the end away.
    for end in (found.low, found.high):
        if 0 < end < 1:
            distance = abs(end - found.mean) / math.sqrt(end * (1 - end) / count)
            assert distance == pytest.approx(normal_quantile(), rel=1e-6)


def test_wilson_known_values() -> None:
    """8 of 10 at 95%, as in textbooks: 0.4902 to 0.9433; nothing known at all: 0 to 1."""
    found = wilson(0.8, 10)
    assert (found.low, found.high) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson_bounds([0.5], [0])[0].tolist() == [0.0]


@given(st.floats(0, 1), st.integers(1, 500))
def test_wilson_narrows_with_more_matches_and_less_confidence(mean: float, count: int) -> None:
    assert wilson(mean, count).width > wilson(mean, 4 * count).width
    assert wilson(mean, count, 0.9).width < wilson(mean, count, CONFIDENCE).width


@pytest.mark.slow
def test_wilson_covers_as_often_as_it_says() -> None:
    generator = np.random.default_rng(5)
    for chance in (0.03, 0.2, 0.5):
        means = generator.binomial(113, chance, size=20_000) / 113
        low, high = wilson_bounds(means, 113)
        assert ((low <= chance) & (chance <= high)).mean() == pytest.approx(CONFIDENCE, abs=0.02)
