"""Scores, distances and words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plymill.books import describe
from plymill.books.scores import (
    NO_SCORE,
    distance_bytes,
    plies_to_end,
    scores_from_distance_bytes,
    win_score,
)


@given(st.integers(0, 42), st.data())
def test_distance_and_score_follow_from_each_other(moves_left: int, data: st.DataObject) -> None:
    distance = data.draw(st.integers(0, moves_left))
    score = (moves_left - distance) // 2 + 1
    signed = score if distance % 2 else -score
    assert plies_to_end(signed, moves_left) == distance


@given(st.integers(0, 42))
def test_a_win_with_the_next_stone_ends_the_game_in_one_ply(moves_left: int) -> None:
    if moves_left:
        assert plies_to_end(win_score(moves_left), moves_left) == 1


@pytest.mark.parametrize("moves_left", [30, 31, 34])
def test_bytes_of_the_published_layout_and_scores_are_inverse(moves_left: int) -> None:
    scores = np.arange(-(moves_left // 2), (moves_left + 1) // 2 + 1).astype(np.int8)
    stored = distance_bytes(scores, moves_left)
    assert scores_from_distance_bytes(stored, moves_left).tolist() == scores.tolist()


def test_bytes_at_ply_12_are_the_documented_ones() -> None:
    # A win of player 1 after 29 plies, his loss after 12, a draw.
    assert distance_bytes(np.array([1, -10, 0], dtype=np.int8), 30).tolist() == [71, -88, 0]


def test_bytes_are_seen_from_player_1_also_when_player_2_is_to_move() -> None:
    assert distance_bytes(np.array([15], dtype=np.int8), 29).tolist() == [-99]


def test_a_byte_that_is_no_distance_is_marked() -> None:
    marked = scores_from_distance_bytes(np.array([1, -1, 70], dtype=np.int8), 30)
    assert marked.tolist() == [NO_SCORE] * 3


def test_values_in_words() -> None:
    assert describe(1, 42, 1) == "player 1 wins in 41 plies"
    assert describe(-2, 42, 1) == "player 2 wins in 40 plies"
    assert describe(15, 30, 1) == "player 1 wins in 1 ply"
    assert describe(-16, 31, 2) == "player 1 has won"
    assert describe(0, 30, 1) == "draw"
    assert describe(-1, 30, 2, distances=False) == "player 1 wins"
