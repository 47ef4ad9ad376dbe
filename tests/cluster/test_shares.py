"""How runs share a cluster: laws of the pure functions, and the ledger over time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plymill.cluster.shares import SILENCE, TURN, Claim, Ledger, allot, deal

NODES = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 8), min_size=1)


@st.composite
def crowds(draw: st.DrawFn) -> tuple[dict[str, int], dict[str, Claim]]:
    """Some nodes, and some runs; what runs hold fits on the nodes."""
    nodes = draw(NODES)
    free = dict(nodes)
    claims = {}
    for name in draw(st.sets(st.sampled_from("uvwxyz"), min_size=1)):
        offers = {n: draw(st.integers(0, most)) for n, most in nodes.items()}
        holding = {}
        for node in nodes:
            count = draw(st.integers(0, min(free[node], offers[node])))
            if count:
                holding[node] = count
                free[node] -= count
        wanted = draw(st.one_of(st.integers(0, 6), st.just(10**6)))
        claims[name] = Claim(draw(st.sampled_from([0.5, 1.0, 3.0])), wanted, offers, holding)
    return nodes, claims


def total(slots: dict[str, int]) -> int:
    return sum(slots.values())


@given(crowds())
def test_no_node_is_given_twice_and_no_run_more_than_it_can_use(
    crowd: tuple[dict[str, int], dict[str, Claim]],
) -> None:
    nodes, claims = crowd
    given = allot(nodes, claims)
    for node, slots in nodes.items():
        assert sum(mine.get(node, 0) for mine in given.values()) <= slots
    for run, mine in given.items():
        assert all(0 < count <= claims[run].offers[node] for node, count in mine.items())


@given(crowds())
def test_nobody_is_left_without_if_there_is_room(
    crowd: tuple[dict[str, int], dict[str, Claim]],
) -> None:
    nodes, claims = crowd
    shares = deal(sum(nodes.values()), claims)
    hungry = [run for run, claim in claims.items() if claim.usable]
    if len(hungry) <= sum(nodes.values()):
        assert all(shares[run] for run in hungry)
    assert total(shares) == min(sum(nodes.values()), sum(c.usable for c in claims.values()))


@given(
    st.integers(10, 200),
    st.dictionaries(st.sampled_from("uvwxyz"), st.sampled_from([1.0, 2.0, 5.0]), min_size=1),
)
def test_shares_follow_weights_to_within_a_slot(capacity: int, weights: dict[str, float]) -> None:
    claims = {run: Claim(w, 10**6, {"a": capacity}) for run, w in weights.items()}
    shares = deal(capacity, claims)
    for run, weight in weights.items():
        exact = capacity * weight / sum(weights.values())
        assert abs(shares[run] - exact) <= max(1.0, len(weights) / 2)


@given(crowds())
def test_what_is_given_soon_stays_given(crowd: tuple[dict[str, int], dict[str, Claim]]) -> None:
    """Runs report what they were given, and soon nothing moves: workers are not tossed about."""
    nodes, claims = crowd
    for _ in range(4):
        given = allot(nodes, claims)
        claims = {
            run: Claim(claim.weight, claim.wanted, claim.offers, given[run])
            for run, claim in claims.items()
        }
    assert allot(nodes, claims) == given


def test_a_run_that_is_alone_keeps_all_even_when_it_wants_less() -> None:
    claims = {"u": Claim(1, 1, {"a": 2, "b": 2}, {"a": 2, "b": 2})}
    assert allot({"a": 2, "b": 2}, claims) == {"u": {"a": 2, "b": 2}}


def test_a_newcomer_gets_whole_nodes_and_the_old_one_keeps_whole_nodes() -> None:
    nodes = {"a": 4, "b": 4}
    claims = {
        "old": Claim(1, 1000, nodes, nodes),
        "new": Claim(1, 1000, nodes),
    }
    assert allot(nodes, claims) == {"old": {"a": 4}, "new": {"b": 4}}


def test_one_node_is_shared_by_its_slots() -> None:
    claims = {"old": Claim(3, 1000, {"a": 4}, {"a": 4}), "new": Claim(1, 1000, {"a": 4})}
    assert allot({"a": 4}, claims) == {"old": {"a": 3}, "new": {"a": 1}}


# --- over time ------------------------------------------------------------------------------------


def test_fewer_slots_than_runs_are_used_in_turns() -> None:
    ledger, nodes = Ledger(), {"a": 1}
    holding: dict[str, dict[str, int]] = {"u": {}, "v": {}, "w": {}}
    had = dict.fromkeys(holding, 0.0)
    now = 0.0
    while now < 30 * TURN:
        for run, held in list(holding.items()):
            mine = ledger.report(run, Claim(1, 1000, nodes, held), nodes, now)
            others = [r for r in holding if r != run and holding[r]]
            holding[run] = {} if others else mine  # waits until the other gives it back
            had[run] += 5 * total(holding[run])
        now += 5
    assert max(had.values()) < 1.5 * min(had.values()), had


def test_a_small_run_gets_its_slot_at_its_first_report() -> None:
    ledger, nodes = Ledger(), {"a": 2, "b": 2}
    claim = Claim(1, 10**6, nodes)
    assert total(ledger.report("long", claim, nodes, 0.0)) == 4
    small = ledger.report("small", Claim(1, 1, nodes), nodes, 2.0)
    assert total(small) == 1
    claim = Claim(1, 10**6, nodes, {"a": 2, "b": 2})
    assert total(ledger.report("long", claim, nodes, 4.0)) == 3


def test_a_run_that_leaves_or_falls_silent_is_forgotten() -> None:
    ledger, nodes = Ledger(), {"a": 2}
    claim = Claim(1, 1000, nodes)
    for run in ("u", "v", "w"):
        ledger.report(run, claim, nodes, 0.0)
    ledger.leave("w")
    assert ledger.runs == ["u", "v"]
    assert ledger.report("u", claim, nodes, 1.0) == {"a": 1}
    assert ledger.report("u", claim, nodes, SILENCE + 1) == {"a": 2}
    assert ledger.runs == ["u"]


@pytest.mark.parametrize("weight", [1.0, 10.0])
def test_who_comes_late_has_no_arrears(weight: float) -> None:
    ledger, nodes = Ledger(), {"a": 1}
    ledger.report("old", Claim(1, 1000, nodes, {"a": 1}), nodes, 0.0)
    for second in range(0, 1000, 10):
        ledger.report("old", Claim(1, 1000, nodes, {"a": 1}), nodes, float(second))
    assert ledger.report("new", Claim(weight, 1000, nodes), nodes, 1000.0) in ({}, {"a": 1})


def test_what_all_runs_want_is_the_sum_without_those_of_which_nothing_is_heard() -> None:
    ledger, nodes = Ledger(), {"a": 2}
    ledger.report("dead", Claim(weight=1, wanted=100, offers=nodes), nodes, 0.0)
    ledger.report("living", Claim(weight=1, wanted=7, offers=nodes), nodes, 30.0)
    assert ledger.wanted(30.0) == 107
    assert ledger.wanted(61.0) == 7
    ledger.leave("living")
    assert ledger.wanted(61.0) == 0
