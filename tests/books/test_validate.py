"""Validation finds what is wrong, counts it, names it, and passes what is right."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from plymill.books import (
    ArrayBook,
    Book,
    BookContentError,
    BookFormatError,
    Scope,
    check_against,
    check_against_uci,
    check_itself,
    check_sample,
    convert_book,
    derive,
    open_book,
    outcomes,
    positions_of,
    read_uci,
    validate,
)
from plymill.books.book import Keys, Values
from plymill.books.report import Check, Fault, Report
from plymill.games import Position
from plymill.games.arrays import boards, immediate_wins, mirror_keys

PublishedBook = Callable[[str], Book]


def altered(book: ArrayBook, place: int, by: int) -> ArrayBook:
    values = book.values.copy()
    values[place] += by
    return ArrayBook(book.keys, values, book.scope, source="the altered book")


def counts(check: Check) -> dict[str, int]:
    return {fault.kind: fault.count for fault in check.faults if fault.count}


def test_a_right_book_passes_every_check(late_book: ArrayBook) -> None:
    report = validate(
        late_book,
        against=[late_book, outcomes(late_book)],
        sample=100,
        solve_keys=lambda keys: late_book.lookup(keys)[0],
    )
    assert report.ok
    assert report.verdict == "passed"
    assert [check.compared for check in report.checks] == [1058, 1058, 1058, 100]
    assert "1,058 positions compared" in str(report)


def test_the_published_book_is_complete_and_consistent(published_book: PublishedBook) -> None:
    book = published_book("12ply-dist")
    report = validate(book, against=[published_book("12ply")])
    assert report.ok
    assert [check.compared for check in report.checks] == [4_200_899, 4_200_899]


def test_published_books_pass_without_player_1s_wins(published_book: PublishedBook) -> None:
    assert validate(published_book("8ply")).ok


def test_missing_extra_and_differing_positions_are_told_apart(late_book: ArrayBook) -> None:
    mine = ArrayBook(late_book.keys[2:], late_book.values[2:], late_book.scope)
    theirs = altered(late_book, 9, 1)
    theirs = ArrayBook(theirs.keys[:-1], theirs.values[:-1], theirs.scope, source="the other")
    check = check_against(mine, theirs)
    assert counts(check) == {"missing": 2, "extra": 1, "differing": 1}
    assert check.verdict == "failed"
    missing, extra, differing = check.faults
    assert [example.key for example in missing.examples] == late_book.keys[:2].tolist()
    assert extra.examples[0].key == late_book.keys[-1]
    value = int(late_book.values[9])
    assert differing.examples[0].note == f"has the value {value}, not {value + 1}"
    assert "1 2 3 4 5 6 7" in str(check)


def test_a_loss_that_is_missing_where_wins_are_left_out_differs() -> None:
    """The miss would be taken for a win, so the book says something else than the other."""
    scope = Scope(ply=2, distances=False, first_wins_omitted=True)
    keys = positions_of(scope)
    values = np.full(len(keys), -1, dtype=np.int8)
    mine, theirs = ArrayBook(keys[1:], values[1:], scope), ArrayBook(keys, values, scope)
    assert counts(check_against(mine, theirs)) == {"differing": 1}
    assert counts(check_against(theirs, mine)) == {"differing": 1}


def test_scores_are_compared_with_outcomes_by_their_sign(late_book: ArrayBook) -> None:
    win = int(np.flatnonzero(late_book.values == 2)[0])
    nearer = altered(late_book, win, 1)
    assert counts(check_against(nearer, late_book)) == {"differing": 1}
    assert check_against(nearer, outcomes(late_book)).ok
    assert check_against(outcomes(late_book), nearer).ok
    assert counts(check_against(altered(late_book, win, -2), outcomes(late_book))) == {
        "differing": 1
    }


def test_a_book_below_an_opening_is_compared_with_the_part_of_the_whole(
    late_book: ArrayBook, solve: Callable[[Scope], ArrayBook], opening: str
) -> None:
    legal = Position(opening).legal_moves()
    below = solve(Scope(ply=32, distances=True, opening=f"{opening}{legal[0]}"))
    assert 0 < len(below) < len(late_book)
    for one, other in ((below, late_book), (late_book, below)):
        check = check_against(one, other)
        assert check.ok
        assert check.compared == len(below)
    part = ArrayBook(below.keys[1:], below.values[1:], below.scope)
    assert counts(check_against(part, late_book)) == {"missing": 1}


def test_books_that_have_nothing_in_common_are_refused(late_book: ArrayBook) -> None:
    with pytest.raises(BookContentError, match="only books of the same ply can be compared"):
        check_against(late_book, derive(late_book, 31))
    one = ArrayBook([], [], Scope(ply=4, distances=True, opening="1"))
    other = ArrayBook([], [], Scope(ply=4, distances=True, opening="2"))
    with pytest.raises(BookContentError, match="one of the openings must continue the other"):
        check_against(one, other)


def test_comparing_nothing_is_no_success() -> None:
    empty = ArrayBook([], [], Scope(ply=4, distances=True))
    check = check_against(empty, empty)
    assert not check.ok
    assert check.verdict == "nothing compared"


@pytest.mark.parametrize(
    ("value", "kind"), [(5, "out of bounds"), (-6, "out of bounds"), (-5, "against the rules")]
)
def test_impossible_values_are_found(late_book: ArrayBook, value: int, kind: str) -> None:
    drawn = int(np.flatnonzero(late_book.values == 0)[0])
    check = check_itself(altered(late_book, drawn, value))
    assert check.count(kind) == 1
    assert (
        check.faults[[fault.kind for fault in check.faults].index(kind)].examples[0].key
        == (late_book.keys[drawn])
    )


@pytest.mark.parametrize("distances", [True, False])
def test_a_loss_in_two_plies_must_be_one(late_book: ArrayBook, distances: bool) -> None:
    book = late_book if distances else outcomes(late_book)
    lost = int(np.flatnonzero(late_book.values == -5)[0])
    check = check_itself(altered(book, lost, 1))
    assert counts(check) == {"against the rules": 1}
    assert "but every move loses at once" in str(check)


def test_gaps_and_foreign_positions_are_found(late_book: ArrayBook) -> None:
    gap = ArrayBook(late_book.keys[3:], late_book.values[3:], late_book.scope)
    assert counts(check_itself(gap)) == {"missing": 3}
    assert counts(check_itself(late_book, expected=late_book.keys[1:])) == {"extra": 1}


def test_misplaced_positions_are_found(late_book: ArrayBook, opening: str) -> None:
    wrong_ply = np.array([Position(opening).canonical_key], dtype=np.uint64)
    winning = positions_of(Scope(ply=32, distances=True, opening=opening, immediate_wins=True))
    winning = winning[immediate_wins(winning)][:1]
    mirrored = mirror_keys(late_book.keys[5:6])
    keys = np.unique(np.concatenate((late_book.keys[:9], wrong_ply, winning, mirrored)))
    book = ArrayBook(keys, np.zeros(len(keys), dtype=np.int8), late_book.scope)
    check = check_itself(book)
    assert check.count("out of place") == 2
    assert check.count("not canonical") == 1
    assert check.count("out of order") == 0


def test_a_damaged_file_cannot_be_checked(late_book: ArrayBook, tmp_path: Path) -> None:
    path = tmp_path / "late.book"
    convert_book(late_book, path)
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)
    with pytest.raises(BookFormatError, match="is damaged"):
        validate(open_book(path))


def test_a_position_that_no_game_reaches_is_not_expected_in_a_book() -> None:
    scope = Scope(ply=2, distances=True)
    keys = positions_of(scope)
    first_below = Position("11").key  # player 1's stone under player 2's, and the other way round
    upside_down = np.uint64(first_below + 1)
    assert not Position.from_key(int(upside_down)).is_reachable()
    wrong = np.sort(np.append(keys, upside_down))
    check = check_itself(ArrayBook(wrong, np.zeros(len(wrong), dtype=np.int8), scope))
    assert counts(check) == {"extra": 1}
    (fault,) = [fault for fault in check.faults if fault.count]
    assert fault.keys.tolist() == [int(upside_down)]


def test_a_fault_knows_all_keys_and_tells_of_some() -> None:
    fault = Fault("differing")
    assert fault.keys.tolist() == []
    for start in (0, 30):
        fault.add(np.arange(start, start + 30, dtype=np.uint64), lambda place: f"is {place}")
    assert fault.keys.tolist() == list(range(60))
    assert (fault.count, len(fault.examples)) == (60, 10)
    assert set(fault.as_json()) == {"kind", "count", "examples"}


def test_a_sample_solved_again_finds_wrong_values(late_book: ArrayBook) -> None:
    def solve_keys(keys: Keys) -> Values:
        return late_book.lookup(keys)[0]

    wrong = ArrayBook(late_book.keys, late_book.values + np.int8(1), late_book.scope)
    check = check_sample(wrong, solve_keys, 50, seed=3)
    assert check.name == "random sample (seed 3) solved again"
    assert check.compared == check.count("differing") == 50
    assert len(check.faults[0].examples) == 10
    assert check_sample(late_book, solve_keys, 10**6).compared == len(late_book)
    assert check_sample(outcomes(late_book), solve_keys, 50).ok


def test_the_seed_alone_chooses_the_sample(late_book: ArrayBook) -> None:
    asked: list[list[int]] = []

    def solve_keys(keys: Keys) -> Values:
        asked.append(keys.tolist())
        return late_book.lookup(keys)[0]

    for seed in (1, 1, 2):
        check_sample(late_book, solve_keys, 20, seed)
    assert asked[0] == asked[1] != asked[2]


def test_a_sample_needs_a_solver(late_book: ArrayBook) -> None:
    with pytest.raises(BookContentError, match="only with a solver"):
        validate(late_book, sample=5)


def uci_line(position: Position, outcome: int) -> str:
    squares = position.to_array()[::-1].T.ravel()
    letters = ["bxo"[stone] for stone in squares]
    return ",".join([*letters, {1: "win", 0: "draw", -1: "loss"}[outcome]])


def test_a_uci_file_of_all_quiet_8ply_positions_agrees(
    published_book: PublishedBook, tmp_path: Path
) -> None:
    """The set and its counts are the published ones: neither side has an immediate threat."""
    book = derive(published_book("12ply-dist"), 8)
    own, mask = boards(book.keys)
    quiet = ~immediate_wins((own ^ mask) + mask)  # the same stones, the other side to move
    keys, values = book.keys[quiet], np.sign(book.values[quiet])
    assert [int(np.count_nonzero(values == sign)) for sign in (1, -1, 0)] == [44473, 16635, 6449]
    lines = [
        uci_line(Position.from_key(key), value)
        for key, value in zip(keys[:2000].tolist(), values[:2000].tolist(), strict=True)
    ]
    (tmp_path / "connect-4.data").write_text("\n".join(lines) + "\n")
    read_keys, read_values = read_uci(tmp_path / "connect-4.data")
    assert np.array_equal(read_keys, keys[:2000])
    assert np.array_equal(read_values, values[:2000])
    check = check_against_uci(book, tmp_path / "connect-4.data")
    assert check.ok
    assert check.compared == 2000


def test_wrong_and_unknown_lines_of_a_uci_file_are_found(tmp_path: Path) -> None:
    path = tmp_path / "some.data"
    keys = positions_of(Scope(ply=2, distances=False))[:5]
    lines = [uci_line(Position.from_key(key), 0) for key in keys.tolist()]
    path.write_text("\n".join(lines))
    values = np.array([0, 0, 1, 0], dtype=np.int8)
    book = ArrayBook(keys[:4], values, Scope(ply=2, distances=False))
    report = validate(book, uci=path, itself=False)
    assert counts(report.checks[0]) == {"missing": 1, "differing": 1}
    figures = json.loads(report.to_json())
    assert figures["verdict"] == "failed"
    assert figures["checks"][0]["compared"] == 5


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x,o,b,win", "line 2 of .* expected 42 fields of x, o or b"),
        (",".join(["b"] * 42 + ["won"]), "line 2 of .* win, loss or draw"),
        (",".join(["b"] * 41 + ["x", "win"]), "line 2 of .* is no position"),
    ],
)
def test_a_bad_line_of_a_uci_file_is_named(line: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "bad.data").write_text(f"{uci_line(Position('44'), 1)}\n{line}\n")
    with pytest.raises(BookFormatError, match=message):
        read_uci(tmp_path / "bad.data")
    with pytest.raises(BookFormatError, match="cannot read"):
        read_uci(tmp_path / "none.data")


def test_uci_outcomes_are_turned_to_the_side_to_move(tmp_path: Path) -> None:
    (tmp_path / "odd.data").write_text(uci_line(Position("4"), 1))
    _, values = read_uci(tmp_path / "odd.data")
    assert values.tolist() == [-1]


def test_a_report_without_checks_has_no_verdict() -> None:
    assert Report("a book", []).verdict == "nothing checked"
    assert not Report("a book", []).ok


def test_examples_are_few_and_counts_are_whole() -> None:
    fault = Fault("missing")
    for _ in range(3):
        fault.add(np.arange(7, dtype=np.uint64), lambda place: f"note {place}")
    assert fault.count == 21
    assert [example.key for example in fault.examples] == [0, 1, 2, 3, 4, 5, 6, 0, 1, 2]
    assert fault.examples[8].note == "note 1"
