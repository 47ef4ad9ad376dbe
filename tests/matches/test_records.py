"""Records as arrays: round trips, order, and everything that is refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plymill.matches import NO_VALUE, Matches, MatchRecord, MatchRecordError, Status, value_code
from tests.matches.conftest import record

faults = st.sampled_from([status for status in Status if status is not Status.PLAYED])


@st.composite
def records(draw: st.DrawFn) -> MatchRecord:
    moves = draw(st.binary(max_size=12))
    plies = draw(st.integers((len(moves) + 1) // 2, len(moves)))
    status = draw(st.sampled_from(Status))
    goals = (st.integers(0, 100), st.integers(0, 100))
    first, second = (draw(g) for g in goals) if status is Status.PLAYED else (-1, -1)
    values = draw(
        st.lists(
            st.integers(0, 10_000) | st.just(NO_VALUE), min_size=len(moves), max_size=len(moves)
        )
    )
    cell, match = draw(st.integers(0, 2**32 - 1)), draw(st.integers(0, 2**32 - 1))
    return MatchRecord(cell, match, first, second, plies, status, moves, tuple(values))


some = st.lists(records(), max_size=8, unique_by=lambda r: (r.cell, r.match))


@given(some)
def test_records_survive_the_way_through_arrays(given_records: list[MatchRecord]) -> None:
    matches = Matches.of(given_records)
    assert list(matches) == given_records
    assert Matches(matches.arrays) == matches
    assert len(matches) == len(given_records)


@given(some, st.randoms())
def test_sorting_forgets_the_order(given_records: list[MatchRecord], random: Any) -> None:
    shuffled = given_records.copy()
    random.shuffle(shuffled)
    expected = sorted(given_records, key=lambda r: (r.cell, r.match))
    assert list(Matches.of(shuffled).sorted()) == expected


@given(some, st.integers(0, 8))
def test_parts_put_together_are_the_whole(given_records: list[MatchRecord], cut: int) -> None:
    parts = [Matches.of(given_records[:cut]), Matches.of(given_records[cut:])]
    assert Matches.concatenated(parts) == Matches.of(given_records)


def test_no_matches_are_matches() -> None:
    nothing = Matches.concatenated([])
    assert len(nothing) == 0
    assert list(nothing.sorted()) == []
    assert nothing.arrays["moves"].dtype == np.uint8


def test_an_id_that_is_there_twice_is_refused() -> None:
    with pytest.raises(MatchRecordError, match=r"The match 3:7 is there twice\."):
        Matches.of([record(3, 7), record(1, 1), record(3, 7)]).sorted()


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("plies", np.array([1], "<u2"), "unit: plies: expected 2 entries as in cell, got 1."),
        ("moves", np.zeros(1, "<u1"), "moves: expected 2 entries, the sum of length, got 1"),
        ("values", np.array([1, 20_000], "<u2"), "values: expected 0 to 10000, or 65535 for none"),
        ("status", np.array([0, 9], "<u1"), "match 0:1: expected a status from 0 to 6"),
        ("first_goal", np.array([100, -1], "<i2"), "match 0:1: expected goals from 0 to 100"),
        ("length", np.array([0, 2], "<u2"), "match 0:0: expected one or two moves a ply"),
        ("cell", np.array([0.5, 1.5]), "cell: expected one dimension of uint32, got float64"),
        ("match", np.array([[0, 1]], "<u4"), "match: expected one dimension"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(name: str, value: Any, sentence: str) -> None:
    arrays = dict(Matches.of([record(0, 0), record(0, 1)]).arrays)
    arrays[name] = value
    with pytest.raises(MatchRecordError) as error:
        Matches(arrays, where="unit")
    assert sentence in str(error.value)


def test_a_missing_array_is_named() -> None:
    arrays = dict(Matches.of([record(0, 0)]).arrays)
    del arrays["plies"]
    with pytest.raises(MatchRecordError, match="expected the arrays cell, match"):
        Matches(arrays)


def test_outcomes_and_first_moves() -> None:
    matches = Matches.of(
        [
            record(0, 0, 100, b"\x05\x01"),
            record(0, 1, 50, b""),
            record(0, 2, 0, b"\x02"),
            record(0, 3, status=Status.SECOND_HUNG),
        ]
    )
    assert matches.outcomes.tolist()[:3] == [1, 0, -1]
    assert matches.first_moves().tolist() == [5, -1, 2, 0]
    assert matches.played.tolist() == [True, True, True, False]


@pytest.mark.parametrize(
    ("value", "code"),
    [(None, NO_VALUE), (0.0, 0), (1.0, 10_000), (0.12344, 1234)],
)
def test_estimates_are_ten_thousandths(value: float | None, code: int) -> None:
    assert value_code(value) == code


@pytest.mark.parametrize("value", [1.5, -0.1, float("nan")])
def test_what_is_no_estimate_is_refused(value: float) -> None:
    with pytest.raises(MatchRecordError, match="expected a number from 0 to 1, got"):
        value_code(value)


def test_what_a_status_is_called() -> None:
    assert [status.text for status in Status] == [
        "played",
        "first player raised",
        "second player raised",
        "first player moved illegally",
        "second player moved illegally",
        "first player hung",
        "second player hung",
    ]
