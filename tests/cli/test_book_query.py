"""``plymill book query`` and ``plymill solve``: what a person and a program are told."""

import json
from pathlib import Path

import numpy as np
import pytest

from plymill.books import open_book, write_book
from plymill.solver import Solver
from tests.cli.helpers import OPENING, Plymill

OUTSIDE = "11111122222"  # symmetric to nothing that follows OPENING, and quickly solved


def test_a_book_answers_above_its_ply_in_words(plymill_: Plymill, book: Path) -> None:
    asked = plymill_("book", "query", book, f"{OPENING}16")
    assert asked.code == 0
    assert ". . . O . . .\n" in asked.out
    assert f"After {OPENING}16, player 1 (X) to move: player" in asked.out
    assert asked.out.count("player 1 wins in") + asked.out.count("player 2 wins in") >= 2
    assert "   4  full" in asked.out
    assert "  best" in asked.out
    assert f"Answered by {book}." in asked.out


def test_a_book_and_the_solver_tell_the_same(plymill_: Plymill, book: Path) -> None:
    moves = f"{OPENING}16"
    asked = json.loads(plymill_("book", "query", book, moves, "--json").out)
    solved = json.loads(plymill_("solve", moves, "--json").out)
    assert asked["source"] == "book"
    assert asked["nodes"] == 0
    assert solved["source"] == "solver"
    assert solved["nodes"] > 0
    for field in ("board", "ply", "to_move", "value", "columns", "best"):
        assert asked[field] == solved[field], field


def test_json_holds_score_winner_and_distance_of_every_move(plymill_: Plymill) -> None:
    # Player 1 wins at once in column 4; player 2 threatens nothing.
    found = json.loads(plymill_("solve", "415161", "--json").out)
    assert found["ply"] == 6
    assert found["to_move"] == 1
    assert found["board"][5] == [2, 0, 0, 1, 1, 1, 0]
    assert found["columns"]["7"] == {
        "score": 18,
        "winner": 1,
        "plies": 1,
        "words": "player 1 wins in 1 ply",
    }
    assert found["best"] == [3, 7]
    assert found["value"] == found["columns"]["3"]


@pytest.mark.parametrize("extra", ["7116", "711656"])
def test_positions_below_the_book_are_solved_and_the_answer_says_so(
    plymill_: Plymill, book: Path, extra: str
) -> None:
    moves = OPENING + extra
    asked = plymill_("book", "query", book, moves)
    assert asked.code == 0
    assert "solved" in asked.out.lower()
    assert "nodes" in asked.out
    found = json.loads(plymill_("book", "query", book, moves, "--json").out)
    assert found["source"] == "solver"
    assert found["value"]["score"] == Solver(table_mb=16).score(moves)


def test_positions_outside_the_opening_are_solved_and_the_answer_says_so(
    plymill_: Plymill, book: Path
) -> None:
    asked = plymill_("book", "query", book, OUTSIDE)
    assert asked.code == 0
    assert f"does not follow {OPENING}" in asked.out
    assert "Solved instead" in asked.out


def test_a_game_that_is_over_has_a_winner_and_no_moves(plymill_: Plymill, book: Path) -> None:
    over = plymill_("book", "query", book, "1212121")
    assert over.code == 0
    assert over.out.endswith("After 1212121, the game is over: player 1 has won.\n")


def test_a_full_board_without_four_is_a_draw(plymill_: Plymill) -> None:
    moves = "257771314744647214154617633623313656555222"
    told = plymill_("solve", moves)
    assert told.code == 0
    assert f"After {moves}, the game is over: draw." in told.out
    found = json.loads(plymill_("solve", moves, "--json").out)
    assert found["to_move"] is None
    assert found["value"] == {"score": 0, "winner": None, "plies": None, "words": "draw"}
    assert set(found["columns"].values()) == {None}


def test_a_book_of_outcomes_answers_in_outcomes(
    plymill_: Plymill, book: Path, tmp_path: Path
) -> None:
    with open_book(book) as exact:
        keys, values = exact[:]
        outcomes = values.clip(-1, 1)
        path = tmp_path / "outcomes.plymill"
        write_book(path, keys, outcomes, ply=12, distances=False, opening=OPENING)
    found = json.loads(plymill_("book", "query", path, f"{OPENING}16", "--json").out)
    assert found["source"] == "book"
    assert found["value"]["score"] is None
    assert found["value"]["plies"] is None
    assert found["value"]["words"] in ("draw", "player 1 wins", "player 2 wins")


def test_a_book_that_contradicts_the_solver_is_called_unsound(
    plymill_: Plymill, book: Path, tmp_path: Path
) -> None:
    with open_book(book) as exact:
        keys, values = exact[:]
        wrong = np.where(values == 1, 2, 1).astype(np.int8)
        path = tmp_path / "wrong.plymill"
        write_book(path, keys, wrong, ply=12, distances=True, opening=OPENING)
    asked = plymill_("book", "query", path, f"{OPENING}7116")
    assert asked.code == 2
    assert "is not sound" in asked.err


def test_solve_asks_the_book_that_it_is_given(plymill_: Plymill, book: Path) -> None:
    found = json.loads(plymill_("solve", f"{OPENING}16", "--book", book, "--json").out)
    assert found["source"] == "book"
    assert found["book"] == str(book)


def test_solve_asks_the_bundled_book_about_few_stones_and_says_so(plymill_: Plymill) -> None:
    told = plymill_("solve")
    assert told.code == 0
    assert "On the empty board, player 1 (X) to move: player 1 wins in 41 plies." in told.out
    assert "Answered by the book of 8 stones that comes with plymill." in told.out
    found = json.loads(plymill_("solve", "444444", "--json").out)
    assert (found["source"], found["book"], found["nodes"]) == ("book", "bundled", 0)
    deeper = json.loads(plymill_("solve", "44444416", "--json").out)
    assert (deeper["source"], deeper["book"]) == ("solver", None)


def test_solve_searches_without_a_book_where_it_is_told_to(plymill_: Plymill) -> None:
    searched = json.loads(plymill_("solve", "415161", "--search", "--json").out)
    asked = json.loads(plymill_("solve", "415161", "--json").out)
    assert (searched["source"], searched["book"]) == ("solver", None)
    assert searched["nodes"] > 0
    assert searched["columns"] == asked["columns"]


def test_the_bundled_book_is_a_book_like_others(plymill_: Plymill) -> None:
    facts = json.loads(plymill_("book", "info", "bundled", "--json").out)
    assert (facts["ply"], facts["distances"], facts["opening"]) == (8, True, "")
    wrong = plymill_("book", "info", "bundled", "--layout", "8ply")
    assert wrong.code == 2
    assert "is a plymill book and not of the 8ply layout" in wrong.err
