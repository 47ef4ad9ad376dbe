"""The rules and the functions on whole arrays, against a slow and obvious board of lists."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plymill.errors import IllegalMoveError, InvalidPositionError
from plymill.games import Position
from plymill.games.arrays import (
    balanced,
    boards,
    canonical_keys,
    decided,
    immediate_wins,
    mirror_keys,
    play_all,
    plies,
)

DIRECTIONS = {"vertical": (0, 1), "horizontal": (1, 0), "rising": (1, 1), "falling": (1, -1)}
SQUARES = [(column, row) for column in range(7) for row in range(6)]
LINES = {
    (name, start): [(start[0] + i * dx, start[1] + i * dy) for i in range(4)]
    for name, (dx, dy) in DIRECTIONS.items()
    for start in SQUARES
    if start[0] + 3 * dx < 7 and 0 <= start[1] + 3 * dy < 6
}


@dataclass
class SlowBoard:
    """Seven lists of stones, bottom first; no bit is shifted here."""

    columns: list[list[int]] = field(default_factory=lambda: [[] for _ in range(7)])

    @property
    def ply(self) -> int:
        return sum(len(column) for column in self.columns)

    @property
    def to_move(self) -> int:
        return 1 + self.ply % 2

    def played(self, column: int) -> "SlowBoard":
        columns = [list(stones) for stones in self.columns]
        columns[column - 1].append(self.to_move)
        return SlowBoard(columns)

    def stone(self, square: tuple[int, int]) -> int:
        column, row = square
        return self.columns[column][row] if row < len(self.columns[column]) else 0

    def winner(self) -> int:
        for line in LINES.values():
            stones = {self.stone(square) for square in line}
            if stones in ({1}, {2}):
                return stones.pop()
        return 0

    def free(self) -> list[int]:
        return [c for c in range(1, 8) if len(self.columns[c - 1]) < 6]

    def wins(self) -> list[int]:
        """The columns in which the side to move wins at once."""
        if self.winner():
            return []
        return [c for c in self.free() if self.played(c).winner()]

    def boards(self) -> tuple[int, int]:
        """Own stones and all stones as bitboards: bit 7 * column + row."""
        filled = [(c, r) for c, r in SQUARES if self.stone((c, r))]
        own = [square for square in filled if self.stone(square) == self.to_move]
        return sum(1 << 7 * c + r for c, r in own), sum(1 << 7 * c + r for c, r in filled)

    def key(self) -> int:
        return sum(self.boards())

    def mirrored(self) -> "SlowBoard":
        return SlowBoard(self.columns[::-1])


def playout(moves: int, seed: int) -> SlowBoard:
    """A board after some random moves, fewer if the game ends before."""
    board, random_move = SlowBoard(), random.Random(seed)
    while board.ply < moves and board.free() and not board.winner():
        board = board.played(random_move.choice(board.free()))
    return board


playouts = st.builds(playout, st.integers(0, 42), st.integers(0, 2**32))


def position_of(board: SlowBoard) -> Position:
    rows = [[board.stone((column, row)) for column in range(7)] for row in reversed(range(6))]
    return Position.from_array(rows)


def test_there_are_69_lines() -> None:
    assert len(LINES) == 69


@given(playouts)
def test_a_position_follows_the_rules(board: SlowBoard) -> None:
    position = position_of(board)
    over = board.winner() != 0 or not board.free()
    assert (position.own, position.mask) == board.boards()
    assert (position.ply, position.to_move) == (board.ply, board.to_move)
    assert position.winner() == board.winner()
    assert position.is_over() == over
    assert position.legal_moves() == ([] if over else board.free())
    assert [c for c in range(1, 8) if position.can_win(c)] == board.wins()
    assert position.has_immediate_win() == bool(board.wins())
    for column in position.legal_moves():
        assert position.play(column) == position_of(board.played(column))


@pytest.mark.parametrize("player", [1, 2])
@pytest.mark.parametrize(("name", "start"), LINES)
def test_every_line_wins_in_every_order(name: str, start: tuple[int, int], player: int) -> None:
    """Each of the 69 lines, completed at each of its four squares, wins for each player.

    The rest of the board is a pattern without a four; what is above the line is empty.
    """
    line = LINES[name, start]
    # Two columns alike, then two of the other colour, rows alternating: no line of three anywhere.
    columns = [[1 + (c // 2 + r) % 2 for r in range(6)] for c in range(7)]
    for column, row in line:
        columns[column][row] = player
    for column in range(7):
        top = max((row for c, row in line if c == column), default=-1)
        columns[column] = columns[column][: top + 1]
    board = SlowBoard(columns)
    masks = [sum(1 << 7 * c + r for c, r in SQUARES if board.stone((c, r)) == p) for p in (1, 2)]
    loser, winner = masks[2 - player], masks[player - 1]
    key = np.array([loser + (loser | winner)], dtype=np.uint64)  # the loser is to move
    assert board.winner() == player
    assert decided(key).tolist() == [True]
    for column, row in line:
        if row != len(columns[column]) - 1:
            continue
        square = 1 << 7 * column + row
        before = np.array([(winner ^ square) + ((loser | winner) ^ square)], dtype=np.uint64)
        open_lines = [
            other for other in LINES.values() if {board.stone(s) for s in other} == {player}
        ]
        only_here = all((column, row) in other for other in open_lines)
        assert decided(before).tolist() == [not only_here]
        assert immediate_wins(before).tolist() == [True]
        assert play_all(before, column + 1).tolist() == key.tolist()


@pytest.mark.parametrize(
    ("moves", "winner"),
    [
        ("1212121", 1),  # vertical
        ("71212121", 2),
        ("1122334", 1),  # horizontal
        ("71122334", 2),
        ("12233434474", 1),  # rising
        ("76655454414", 1),  # falling
    ],
)
def test_games_won_by_the_last_stone(moves: str, winner: int) -> None:
    position = Position(moves)
    assert position.winner() == winner
    assert position.is_over()
    assert position.legal_moves() == []
    assert not position.has_immediate_win()
    before = Position(moves[:-1])
    assert before.winner() == 0
    assert before.has_immediate_win()
    assert before.can_win(int(moves[-1]))


def test_a_full_board_without_a_four_is_a_draw() -> None:
    moves = "461136646756634713335277214532714722155524"
    position = Position(moves)
    assert position.moves_left == 0
    assert position.winner() == 0
    assert position.is_over()
    assert position.legal_moves() == []
    assert not position.has_immediate_win()
    with pytest.raises(IllegalMoveError, match=r"move 43 of .* is in column 4, which is full"):
        position.play(4)


@given(st.lists(playouts, max_size=30))
def test_array_functions_agree_with_the_slow_board(some: list[SlowBoard]) -> None:
    keys = np.array([board.key() for board in some], dtype=np.uint64)
    own, mask = boards(keys)
    assert list(zip(own.tolist(), mask.tolist(), strict=True)) == [b.boards() for b in some]
    assert plies(keys).tolist() == [board.ply for board in some]
    assert balanced(keys).tolist() == [True] * len(some)
    assert decided(keys).tolist() == [board.winner() != 0 for board in some]
    mirrored = [board.mirrored().key() for board in some]
    assert mirror_keys(keys).tolist() == mirrored
    assert canonical_keys(keys).tolist() == [
        min(pair) for pair in zip(keys.tolist(), mirrored, strict=True)
    ]
    for column in range(1, 8):
        assert play_all(keys, column).tolist() == [
            board.played(column).key() if column in board.free() else 0 for board in some
        ]


@given(st.lists(playouts, max_size=30))
def test_immediate_wins_agree_with_the_slow_board(some: list[SlowBoard]) -> None:
    undecided = [board for board in some if not board.winner()]
    keys = np.array([board.key() for board in undecided], dtype=np.uint64)
    assert immediate_wins(keys).tolist() == [bool(board.wins()) for board in undecided]


def test_array_functions_have_the_documented_types_and_take_lists() -> None:
    keys = [Position("44").key, Position("4455").key]
    assert boards(keys)[0].dtype == boards(keys)[1].dtype == np.uint64
    assert plies(keys).dtype == np.uint8
    for unsigned in (mirror_keys(keys), canonical_keys(keys), play_all(keys, 1)):
        assert unsigned.dtype == np.uint64
    for truth in (balanced(keys), decided(keys), immediate_wins(keys)):
        assert truth.dtype == np.bool_
    every_second = np.repeat(np.array(keys, dtype=np.uint64), 2)[::2]
    assert plies(every_second).tolist() == [2, 4]


def test_array_functions_do_not_write_to_their_input() -> None:
    keys = np.array([Position("1").key, Position("44").key], dtype=np.uint64)
    keys.flags.writeable = False
    assert mirror_keys(keys).tolist() == [Position("7").key, Position("44").key]
    assert canonical_keys(keys).tolist() == [Position("1").key, Position("44").key]
    assert play_all(keys, 4).tolist() == [Position("14").key, Position("444").key]


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ([0, 0.9], r"\[0, 0.9\] holds no keys, expected whole numbers"),
        ([-1], "expected whole numbers from 0"),
        ([1 << 64], "expected whole numbers from 0"),
        (["44"], "expected whole numbers from 0"),
        (7, "7 holds no keys"),
        (np.array([0.9]), "an array of float64 that begins with 0.9 holds no keys"),
        (np.array([5, -1]), "an array of int64 that begins with 5 holds no keys"),
        (np.array([True]), "an array of bool"),
        (np.zeros((1, 2), dtype=np.uint64), r"keys have shape \(1, 2\), expected one dimension"),
    ],
)
@pytest.mark.parametrize(
    "ask", [mirror_keys, canonical_keys, boards, plies, balanced, immediate_wins, decided]
)
def test_arrays_that_hold_no_keys_are_refused(
    ask: Callable[[Any], object], keys: Any, says: str
) -> None:
    with pytest.raises(InvalidPositionError, match=says):
        ask(keys)


def test_whole_numbers_of_any_type_are_keys() -> None:
    for kind in (np.int64, np.uint8, np.int32):
        assert plies(np.array([0, 1], dtype=kind)).tolist() == [0, 1]
    assert plies(np.array([])).tolist() == plies([]).tolist() == []
    assert balanced([0, 1 << 63]).tolist() == [True, False]


@pytest.mark.parametrize("column", [0, 8, -1, 2**31])
def test_playing_off_the_board_is_refused(column: int) -> None:
    with pytest.raises(IllegalMoveError, match=f"column {column} is off the board, expected 1 to"):
        play_all([0], column)


@given(playouts, st.integers(0, 48))
def test_a_key_with_a_bit_flipped_is_balanced_only_if_sides_take_turns(
    board: SlowBoard, bit: int
) -> None:
    key = board.key() ^ 1 << bit
    columns = []
    for content in (key >> 7 * column & 127 for column in range(7)):
        height = (content + 1).bit_length() - 1
        columns.append((height, (content - (2**height - 1)).bit_count()))
    stones, own = sum(height for height, _ in columns), sum(own for _, own in columns)
    overfull = any(height > 6 for height, _ in columns)
    assert balanced([key]).tolist() == [not overfull and own == stones // 2]
