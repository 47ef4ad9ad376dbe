"""The sequential test: against published values, its laws, and its error rates by simulation."""

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plymill.matches import MISSING, VOID, MatchError, Sprt, Verdict, pair_results, score_from_elo
from plymill.matches.elo import NORMALIZED

PUBLISHED = json.loads((Path(__file__).parent / "data" / "sprt_published.json").read_text())

pairs = st.lists(st.integers(0, 4), max_size=60)


@pytest.mark.parametrize("case", PUBLISHED["llr"], ids=str)
def test_llr_is_the_published_one(case: list[Any]) -> None:
    _, model, elo0, elo1, counts, expected, tolerance = case
    test = Sprt(elo0=elo0, elo1=elo1, model=model, pentanomial=len(counts) == 5)
    assert float(test.llr(counts)) == pytest.approx(expected, rel=tolerance)


@pytest.mark.parametrize("pentanomial", [True, False])
@pytest.mark.parametrize(("model", "limit"), [("logistic", 1000), ("normalized", 200)])
def test_up_to_its_limits_the_llr_is_finite_whatever_the_results_are(
    model: Any, limit: int, *, pentanomial: bool
) -> None:
    for elo0, elo1 in ((-limit, limit), (0, limit), (-limit, 1 - limit)):
        test = Sprt(elo0=elo0, elo1=elo1, model=model, pentanomial=pentanomial)
        counts = np.array(list(itertools.product((0, 1, 1000), repeat=test.kinds)))
        assert np.isfinite(test.llr(counts)).all()


def test_bounds_are_walds() -> None:
    assert Sprt(elo0=0, elo1=5).bounds == pytest.approx((-math.log(19), math.log(19)))
    lower, upper = Sprt(elo0=0, elo1=5, alpha=0.05, beta=0.1).bounds
    assert (lower, upper) == pytest.approx((math.log(0.1 / 0.95), math.log(0.9 / 0.05)))


@settings(deadline=None)  # the machine may be busy
@given(
    st.lists(st.integers(0, 500), min_size=5, max_size=5),
    st.sampled_from(["logistic", "normalized"]),
)
def test_exchanging_the_players_exchanges_the_hypotheses(counts: list[int], model: Any) -> None:
    test = Sprt(elo0=-3, elo1=8, model=model)
    mirrored = Sprt(elo0=-8, elo1=3, model=model)
    assert float(test.llr(counts)) == pytest.approx(-float(mirrored.llr(counts[::-1])), abs=1e-6)


@settings(deadline=None)  # the machine may be busy
@given(pairs)
def test_many_counts_at_once_give_what_each_gives_alone(results: list[int]) -> None:
    test = Sprt(elo0=0, elo1=20)
    counts = np.cumsum(np.array(results, np.int64)[:, None] == np.arange(5), axis=0)
    together = test.llr(counts.reshape(-1, 5))
    assert together.tolist() == [float(test.llr(c)) for c in counts], "to the last bit"


@settings(deadline=None)  # the machine may be busy
@given(pairs, pairs)
def test_the_decision_is_made_by_the_first_results_that_suffice(
    results: list[int], later: list[int]
) -> None:
    test = Sprt(elo0=-50, elo1=50)
    decision = test.decide(results)
    lower, upper = test.bounds
    for end in range(1, decision.results):
        assert lower < float(test.llr(np.bincount(results[:end], minlength=5))) < upper
    if decision.verdict is not Verdict.OPEN:
        assert test.decide(results + later) == decision
        assert decision.llr <= lower or decision.llr >= upper
    else:
        assert decision.results == len(results)
    assert sum(decision.counts) == decision.results


@settings(deadline=None)  # the machine may be busy
@given(st.lists(st.integers(0, 4), min_size=1, max_size=60), st.data())
def test_the_decision_does_not_depend_on_the_order_of_arrival(
    results: list[int], data: st.DataObject
) -> None:
    test = Sprt(elo0=-50, elo1=50)
    final = test.decide(results)
    arrived = np.full(len(results), MISSING)
    seen = []
    for place in data.draw(st.permutations(range(len(results)))):
        arrived[place] = results[place]
        decision = test.decide(arrived)
        if decision.verdict is not Verdict.OPEN:
            seen.append(decision)
    assert all(decision == final for decision in seen)


@settings(deadline=None)  # the machine may be busy
@given(pairs, st.data())
def test_void_results_are_passed_over(results: list[int], data: st.DataObject) -> None:
    void = data.draw(st.lists(st.integers(0, len(results)), max_size=5))
    filled = results.copy()
    for place in sorted(void, reverse=True):
        filled.insert(place, VOID)
    test = Sprt(elo0=-50, elo1=50)
    assert test.decide(filled) == test.decide(results)


def test_pairs_of_results() -> None:
    first = np.array([2, 1, 0, MISSING, 2, VOID, MISSING], np.int8)
    second = np.array([2, 0, 0, 1, MISSING, 2, VOID], np.int8)
    assert pair_results(first, second).tolist() == [4, 1, 0, MISSING, MISSING, VOID, VOID]


def test_without_results_nothing_is_decided() -> None:
    decision = Sprt(elo0=0, elo1=5).decide([])
    assert (decision.verdict, decision.llr, decision.results) == (Verdict.OPEN, 0.0, 0)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"elo0": 5, "elo1": 5}, "SPRT: expected elo0 less than elo1, got 5 and 5."),
        ({"elo0": math.nan, "elo1": 5}, "elo0: expected logistic Elo from -1000 to 1000, got nan"),
        ({"elo0": 0, "elo1": math.inf}, "elo1: expected logistic Elo from -1000 to 1000, got inf"),
        ({"elo0": 0, "elo1": 1e9}, "elo1: expected logistic Elo from -1000 to 1000"),
        (
            {"elo0": -201, "elo1": 0, "model": "normalized"},
            "elo0: expected normalized Elo from -200 to 200, got -201.",
        ),
        ({"elo0": 0, "elo1": 5, "alpha": 0}, "alpha: expected more than 0 and less than 0.5"),
        ({"elo0": 0, "elo1": 5, "beta": 0.7}, "beta: expected more than 0 and less than 0.5"),
        ({"elo0": 0, "elo1": 5, "model": "bayes"}, "expected logistic or normalized Elo"),
    ],
)
def test_settings_that_make_no_test_are_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(MatchError) as error:
        Sprt(**settings)
    assert sentence in str(error.value)


def test_results_of_another_kind_are_refused() -> None:
    test = Sprt(elo0=0, elo1=5, pentanomial=False)
    with pytest.raises(MatchError, match="expected results from 0 to 2 half points"):
        test.decide([0, 3])
    with pytest.raises(MatchError, match="expected 3 counts of results"):
        test.llr([1, 2, 3, 4, 5])


#: Pairs in which one colour has an advantage, as shares of 0 to 4 half points for equal players.
EVEN_PAIRS = np.array([0.05, 0.2, 0.5, 0.2, 0.05])
EVEN_SINGLES = np.array([0.3, 0.4, 0.3])


def shares_with_mean(even: npt.NDArray[np.float64], mean: float) -> npt.NDArray[np.float64]:
    """The shares tilted exponentially until they have that mean."""
    scores = np.linspace(0, 1, len(even))
    low, high = -50.0, 50.0
    for _ in range(100):
        tilt = (low + high) / 2
        shares = even * np.exp(tilt * scores)
        shares /= shares.sum()
        low, high = (tilt, high) if shares @ scores < mean else (low, tilt)
    return shares


def mean_of(test: Sprt, even: npt.NDArray[np.float64], elo: float) -> float:
    if test.model == "logistic":
        return score_from_elo(elo)
    scores = np.linspace(0, 1, len(even))
    deviation = math.sqrt(float(even @ (scores - 0.5) ** 2) * (2 if test.pentanomial else 1))
    return 0.5 + elo / NORMALIZED * deviation


def rejected(
    test: Sprt, shares: npt.NDArray[np.float64], duels: int, seed: int
) -> tuple[float, float]:
    """Share of duels decided for the alternative, and their mean length."""
    generator = np.random.default_rng(seed)
    counts = np.zeros((duels, test.kinds))
    alive, won, length = np.arange(duels), 0, 0
    lower, upper = test.bounds
    while len(alive):
        length += len(alive)
        counts[alive, generator.choice(test.kinds, size=len(alive), p=shares)] += 1
        llr = test.llr(counts[alive])
        won += int((llr >= upper).sum())
        alive = alive[(llr > lower) & (llr < upper)]
    return won / duels, length / duels


@pytest.mark.slow
@pytest.mark.parametrize("model", ["logistic", "normalized"])
@pytest.mark.parametrize("pentanomial", [True, False])
def test_error_rates_stay_within_their_bounds(model: Any, pentanomial: bool) -> None:
    """1,000 duels on either hypothesis; the bound is three standard errors above the risk."""
    test = Sprt(elo0=0, elo1=60, alpha=0.05, beta=0.1, model=model, pentanomial=pentanomial)
    even = EVEN_PAIRS if pentanomial else EVEN_SINGLES
    duels = 1000
    first = shares_with_mean(even, mean_of(test, even, test.elo0))
    second = shares_with_mean(even, mean_of(test, even, test.elo1))
    type_one, _ = rejected(test, first, duels, seed=1)
    power, _ = rejected(test, second, duels, seed=2)
    assert type_one <= test.alpha + 3 * math.sqrt(test.alpha * (1 - test.alpha) / duels)
    assert 1 - power <= test.beta + 3 * math.sqrt(test.beta * (1 - test.beta) / duels)
    # Risks that were far below would mean that the test plays longer than it has to.
    assert type_one >= test.alpha / 3
    assert 1 - power >= test.beta / 3
