"""One position: from moves to keys and back, what it refuses, and how it is drawn."""

import pickle
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plymill.errors import IllegalMoveError, InvalidPositionError, PlymillError
from plymill.games import HEIGHT, WIDTH, Position
from plymill.games.connect4 import HUFFMAN_MAX_PLY
from plymill.games.layers import layer_below


@st.composite
def games(draw: st.DrawFn, most: int = 42) -> Position:
    """A position after up to ``most`` random moves; the game may be over."""
    position = Position()
    for choice in draw(st.lists(st.integers(0, 6), max_size=most)):
        if legal := position.legal_moves():
            position = position.play(legal[choice % len(legal)])
    return position


def test_the_board_is_7_by_6() -> None:
    assert (WIDTH, HEIGHT) == (7, 6)


def test_the_empty_board() -> None:
    empty = Position()
    assert (empty.own, empty.mask, empty.key) == (0, 0, 0)
    assert (empty.ply, empty.moves_left, empty.to_move, empty.moves) == (0, 42, 1, "")
    assert empty.legal_moves() == [1, 2, 3, 4, 5, 6, 7]
    assert empty.winner() == 0
    assert not empty.is_over()
    assert not empty.has_immediate_win()
    assert empty.mirror() == empty


def test_stones_lie_on_the_documented_bits() -> None:
    # a1 and d1 of player 1, d2 of player 2: bits 0, 21 and 22; player 2 is to move.
    position = Position("414")
    assert position.mask == 1 << 0 | 1 << 21 | 1 << 22
    assert position.own == 1 << 0
    assert position.key == position.own + position.mask
    assert position.to_move == 2


@given(games())
def test_counts_follow_from_the_stones(position: Position) -> None:
    assert position.ply == position.mask.bit_count() == len(position.moves or "")
    assert position.ply + position.moves_left == 42
    assert position.own.bit_count() == position.ply // 2
    assert position.to_move == 1 + position.ply % 2


@given(games())
def test_every_coding_gives_the_position_back(position: Position) -> None:
    codings = [
        Position(position.moves or ""),
        Position.from_key(position.key),
        Position.from_array(position.to_array()),
        Position.from_array(position.to_array().tolist()),
        pickle.loads(pickle.dumps(position)),
    ]
    if position.ply <= HUFFMAN_MAX_PLY:
        codings.append(Position.from_huffman(position.huffman_key, position.ply))
    for other in codings:
        assert (other.own, other.mask) == (position.own, position.mask)
        assert other == position
        assert hash(other) == hash(position)
    assert Position.from_key(position.key).moves is None
    assert pickle.loads(pickle.dumps(position)).moves == position.moves


@given(games())
def test_the_mirror_image_is_the_game_with_columns_reversed(position: Position) -> None:
    moves = position.moves or ""
    reversed_moves = "".join(str(8 - int(move)) for move in moves)
    mirrored = position.mirror()
    assert mirrored == Position(reversed_moves)
    assert mirrored.moves == reversed_moves
    assert mirrored.mirror() == position
    assert mirrored.to_array().tolist() == position.to_array()[:, ::-1].tolist()
    assert mirrored.winner() == position.winner()
    assert mirrored.canonical_key == position.canonical_key == min(position.key, mirrored.key)


@given(games())
def test_positions_differ_if_their_boards_differ(position: Position) -> None:
    for column in position.legal_moves():
        assert position.play(column) != position
        assert position.play(column).key != position.key
    own_key: object = position.key
    assert position != own_key
    assert (position == position.mirror()) == (position.key == position.mirror().key)


@given(games())
def test_playing_leaves_the_position_as_it_was(position: Position) -> None:
    before = (position.own, position.mask, position.moves)
    for column in position.legal_moves():
        after = position.play(column)
        assert after.ply == position.ply + 1
        assert after.moves == f"{position.moves}{column}"
    assert (position.own, position.mask, position.moves) == before


def test_a_position_cannot_be_changed() -> None:
    position = Position("44")
    for name in ("key", "own", "mask", "moves", "ply", "anything"):
        with pytest.raises(AttributeError):
            setattr(position, name, 1)


def test_moves_stay_unknown_after_a_position_without_moves() -> None:
    assert Position.from_key(Position("44").key).play(4).moves is None


def test_the_drawing_shows_the_board_as_one_sees_it() -> None:
    assert str(Position("4453")).splitlines() == [
        ". . . . . . .",
        ". . . . . . .",
        ". . . . . . .",
        ". . . . . . .",
        ". . . O . . .",
        ". . O X X . .",
        "1 2 3 4 5 6 7",
    ]


def test_repr_can_be_read_back() -> None:
    for position in (Position("4453"), Position.from_key(Position("4453").key)):
        assert eval(repr(position)) == position


def test_the_array_has_the_top_row_first() -> None:
    board = Position("4453").to_array()
    assert board.dtype == np.int8
    assert board.shape == (6, 7)
    assert board[5].tolist() == [0, 0, 2, 1, 1, 0, 0]
    assert board[4].tolist() == [0, 0, 0, 2, 0, 0, 0]
    assert not board[:4].any()


def test_huffman_keys_as_documented() -> None:
    # Columns a to g, 10 for player 1 and 11 for player 2, 0 after each column, 0 at the end.
    assert Position().huffman_key == 0
    assert Position("1").huffman_key == 0b10_0_0_0_0_0_0_0_0
    assert Position("4453").huffman_key == 0b0_0_110_10110_100_0_0_0
    assert Position("444444").huffman_key == 0b0_0_0_101110111011_0_0_0_0_0


@pytest.mark.parametrize(
    ("moves", "place", "says"),
    [
        ("8", 1, "move 1 of '8' is '8', expected a column from 1 to 7"),
        ("440", 3, "move 3 of '440' is '0', expected a column from 1 to 7"),
        ("44a4", 3, "is 'a'"),
        ("4 4", 2, "is ' '"),
        ("4\u0664", 2, "expected a column from 1 to 7"),  # a digit, but no ASCII digit
        ("4444444", 7, "move 7 of '4444444' is in column 4, which is full"),
        ("12121212", 8, "after the end of the game: player 1 has won"),
        ("712121212", 9, "after the end of the game: player 2 has won"),
    ],
)
def test_an_illegal_move_is_named_with_its_place(moves: str, place: int, says: str) -> None:
    with pytest.raises(IllegalMoveError) as caught:
        Position(moves)
    assert caught.value.place == place
    assert f"move {place} of" in str(caught.value)
    assert says in str(caught.value)
    assert isinstance(caught.value, PlymillError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("moves", "column", "says"),
    [
        ("44", 0, "move 3 is 0, expected a column from 1 to 7"),
        ("44", 8, "move 3 is 8, expected a column from 1 to 7"),
        ("44", -1, "expected a column"),
        ("444444", 4, "move 7 of '4444444' is in column 4, which is full"),
        ("1212121", 5, "move 8 of '12121215' comes after the end of the game"),
    ],
)
def test_playing_an_illegal_move_is_refused(moves: str, column: int, says: str) -> None:
    position = Position(moves)
    with pytest.raises(IllegalMoveError, match=says) as caught:
        position.play(column)
    assert caught.value.place == len(moves) + 1
    assert position.moves == moves


def test_without_moves_only_the_number_of_the_move_is_told() -> None:
    full, over = (Position.from_key(Position(moves).key) for moves in ("444444", "1212121"))
    with pytest.raises(IllegalMoveError, match=r"^move 7 is in column 4, which is full$"):
        full.play(4)
    with pytest.raises(IllegalMoveError, match=r"^move 8 comes after the end of the game"):
        over.play(4)


def test_numbers_that_are_not_whole_are_not_rounded() -> None:
    number: Any = 4.7
    position = Position("121212")
    for ask in (position.play, position.can_win, Position.from_key):
        with pytest.raises(TypeError):
            ask(number)
    with pytest.raises(TypeError):
        Position.from_huffman(number, 0)


@pytest.mark.parametrize("column", [2**31, -(2**64)])
def test_a_column_of_any_size_is_refused_in_a_sentence(column: int) -> None:
    with pytest.raises(IllegalMoveError, match=f"move 1 is {column}, expected a column from 1"):
        Position().play(column)
    assert not Position("121212").can_win(column)


def test_moves_outside_the_board_win_nothing() -> None:
    position = Position("121212")
    assert position.can_win(1)
    assert not any(position.can_win(column) for column in (-1, 0, 2, 8, 9))


def board_of(*rows: str) -> list[list[int]]:
    """An array from the lowest rows of a drawing, the rows above them empty; ``?`` is no stone."""
    drawn = [[".XO?".index(stone) for stone in row] for row in rows]
    return [[0] * 7 for _ in range(6 - len(rows))] + drawn


@pytest.mark.parametrize(
    ("board", "says"),
    [
        ([[0] * 7] * 5, r"6 rows of 7, top row first; got shape \(5, 7\)"),
        ([[0] * 6] * 7, r"got shape \(7, 6\)"),
        ([0] * 42, r"got shape \(42,\)"),
        ([[0] * 7] * 5 + [[0] * 6], "6 rows of 7, top row first; got rows of unequal length"),
        (board_of("...?..."), "row 6, column 4 holds .*3.*, expected 0"),
        ([[0] * 7] * 5 + [[0, -1, 0, 0, 0, 0, 0]], "row 6, column 2 holds .*-1"),
        ([[0] * 7] * 5 + [[0, 0.5, 0, 0, 0, 0, 0]], "row 6, column 2 holds .*0.5"),
        (board_of("...X...", "......."), "row 5, column 4 holds a stone with nothing below it"),
        (board_of("XX....."), "player 1 has 2 stones and player 2 has 0"),
        (board_of("O......"), "player 1 has 0 stones and player 2 has 1"),
    ],
)
def test_an_array_that_is_no_board_is_refused(board: list[list[int]], says: str) -> None:
    with pytest.raises(InvalidPositionError, match=says):
        Position.from_array(board)


#: Boards with the right number of stones that no game can end or go on with.
AFTER_THE_END = [
    pytest.param(board_of("XXXX...", "OOOO..."), "four in a row for player 1", id="both-have-won"),
    pytest.param(
        board_of("X......", "X......", "XOO....", "XOO...."),
        "four in a row for player 1, who is to move",
        id="player-2-moved-on",
    ),
    pytest.param(
        board_of("O......", "O......", "O......", "OXXX.XX"),
        "four in a row for player 2, who is to move",
        id="player-1-moved-on",
    ),
    pytest.param(
        board_of("X.....X", "X.....X", "XOO.O.X", "XOO.OOX"),
        "fours for player 1 that no single last stone made",
        id="two-fours-far-apart",
    ),
    pytest.param(
        board_of("OOOX...", "XXXXO.."),
        "fours for player 1 that no single last stone made",
        id="four-is-buried",
    ),
]


@pytest.mark.parametrize(("board", "says"), AFTER_THE_END)
def test_a_board_on_which_play_went_on_after_the_end_is_refused(
    board: list[list[int]], says: str
) -> None:
    with pytest.raises(InvalidPositionError, match=says):
        Position.from_array(board)
    with pytest.raises(InvalidPositionError, match=says):
        Position.from_key(key_of(board))


UNREACHABLE = [
    pytest.param(board_of("X......", "O......"), id="player-2-before-player-1"),
    pytest.param(board_of("X.X....", "O.O...."), id="nobody-can-begin"),
    pytest.param(
        board_of("...X...", "...X...", "...X...", "XO.X...", "OO.O..."), id="a-four-from-nowhere"
    ),
    pytest.param(
        board_of("..X....", "..O....", "..O....", "..O....", ".OXO...", "XXXX..."),
        id="a-stack-that-none-could-begin",
    ),
]


@pytest.mark.parametrize("board", UNREACHABLE)
def test_a_board_that_no_order_of_moves_leads_to_is_refused(board: list[list[int]]) -> None:
    with pytest.raises(InvalidPositionError, match=r"^no order of moves leads to the board"):
        Position.from_array(board)
    assert not Position.from_key(key_of(board)).is_reachable()


@given(games())
def test_what_was_played_can_be_reached(position: Position) -> None:
    assert position.is_reachable()
    assert Position.from_key(position.key).is_reachable()


@pytest.mark.parametrize("ply", range(9))
def test_what_can_be_reached_is_what_playing_reaches(ply: int) -> None:
    """All ways to put so many stones on the board, won games included."""
    played = layer_below(Position(), ply, decided=True, immediate_wins=True, mirrored=True)
    found = []
    for key in all_keys(ply):
        try:
            position = Position.from_key(key)
        except InvalidPositionError:
            continue
        if position.is_reachable():
            found.append(key)
    assert sorted(found) == played.tolist()


def all_keys(ply: int) -> Iterator[int]:
    """Keys of all boards with so many stones, half of them (rounded down) the mover's."""
    for heights in all_heights(ply, 7):
        squares = [1 << 7 * c + r for c, height in enumerate(heights) for r in range(height)]
        for own in combinations(squares, ply // 2):
            yield sum(squares) + sum(own)


def all_heights(stones: int, columns: int) -> Iterator[tuple[int, ...]]:
    if not columns:
        yield from [()] if not stones else []
        return
    for height in range(min(6, stones) + 1):
        for rest in all_heights(stones - height, columns - 1):
            yield (height, *rest)


def key_of(board: list[list[int]]) -> int:
    """own + mask of any board, column by column: 2 ** height - 1 plus the mover's stones."""
    stones = [stone for row in board for stone in row if stone]
    mover = 1 if stones.count(1) == stones.count(2) else 2
    key = 0
    for column in range(7):
        content = [row[column] for row in reversed(board) if row[column]]
        own = sum(1 << height for height, stone in enumerate(content) if stone == mover)
        key |= ((1 << len(content)) - 1 + own) << (7 * column)
    return key


@given(games())
def test_a_key_spelled_out_is_the_key(position: Position) -> None:
    assert key_of(position.to_array().tolist()) == position.key


def test_two_fours_by_one_stone_are_a_position() -> None:
    # d1 completes a1-d1 and d1-g1 at once.
    board = board_of("OOO.OOO", "XXXXXXX")
    assert Position.from_array(board).winner() == 1


@pytest.mark.parametrize(
    ("key", "why"),
    [
        (-1, "negative"),
        (1 << 49, "a bit above the board"),
        ((1 << 64) + 1, "more than 64 bits"),
        (2, "one stone, and it is the mover's"),
        (1 | 1 << 7, "two stones of the side that has just moved"),
        (0b1111111, "a column of seven stones"),
    ],
)
def test_a_key_out_of_range_or_balance_is_refused(key: int, why: str) -> None:
    with pytest.raises(InvalidPositionError, match=f"key {key} is no position of the 7x6 board"):
        Position.from_key(key)


@given(games(), st.integers(-(2**49), 2**49))
def test_any_number_is_refused_or_the_key_of_its_position(position: Position, change: int) -> None:
    for key in (change, position.key ^ abs(change) & 0x3F, position.key + change):
        try:
            found = Position.from_key(key)
        except InvalidPositionError:
            continue
        assert found.key == key == key_of(found.to_array().tolist())


@pytest.mark.parametrize(
    ("key", "ply"),
    [
        (0, 1),  # the empty board under a wrong count
        (0b10_0_0_0_0_0_0_0_0, 0),  # one stone under a wrong count
        (0b11_0_0_0_0_0_0_0_0, 1),  # a first stone of player 2
        (0b10_0_0_0_0_0_0_0_1, 1),  # no padding at the end
        (0b10111011101110 << 8, 7),  # seven stones in one column
        (-1, 0),
        (1 << 64, 12),
        (0, -1),
        (0, 43),
        (0, 2**31 - 1),  # twice as much does not fit 32 bits
        (0, 2**40),
    ],
)
def test_a_huffman_key_of_no_position_is_refused(key: int, ply: int) -> None:
    with pytest.raises(InvalidPositionError, match=f"no position of {ply} stones"):
        Position.from_huffman(key, ply)


def test_a_huffman_key_has_room_for_28_stones() -> None:
    moves = "25523546615174352275776622367"
    assert HUFFMAN_MAX_PLY == 28
    assert Position.from_huffman(Position(moves[:28]).huffman_key, 28) == Position(moves[:28])
    with pytest.raises(InvalidPositionError, match="at most 28 stones, this position has 29"):
        _ = Position(moves).huffman_key
