"""The codec of whole arrays against the definition, and what it refuses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plymill.books import huffman_keys, keys_from_huffman
from plymill.errors import InvalidPositionError
from plymill.games import Position
from plymill.games.arrays import canonical_keys, mirror_keys
from plymill.games.connect4 import HUFFMAN_MAX_PLY


@st.composite
def games(draw: st.DrawFn, most: int = HUFFMAN_MAX_PLY) -> Position:
    position = Position()
    for choice in draw(st.lists(st.integers(0, 6), max_size=most)):
        legal = position.legal_moves()
        if not legal:
            break
        position = position.play(legal[choice % len(legal)])
    return position


def spelled_out(position: Position) -> int:
    """The Huffman key as the definition spells it, bit by bit."""
    bits = ""
    for column in position.to_array()[::-1].T:
        bits += "".join({1: "10", 2: "11"}[stone] for stone in column if stone) + "0"
    return int(bits + "0", 2)


@given(games())
def test_a_key_is_what_the_definition_spells(position: Position) -> None:
    assert huffman_keys([position.key]).tolist() == [spelled_out(position)]


@given(st.lists(games(), max_size=20))
def test_decoding_gives_back_every_position(positions: list[Position]) -> None:
    for position in positions:
        codes = huffman_keys(np.array([position.key], dtype=np.uint64))
        assert keys_from_huffman(codes, position.ply).tolist() == [position.key]


@given(games())
def test_the_mirror_image_has_the_code_of_the_columns_in_reverse(position: Position) -> None:
    mirrored = mirror_keys([position.key])
    assert huffman_keys(mirrored).tolist() == [spelled_out(position.mirror())]
    assert mirror_keys(mirrored).tolist() == [position.key]
    assert canonical_keys(mirrored).tolist() == canonical_keys([position.key]).tolist()


@given(st.integers(0, 2**24 - 1))
def test_a_number_is_either_refused_or_the_code_of_its_position(code: int) -> None:
    try:
        keys = keys_from_huffman([code], 8)
    except InvalidPositionError:
        with pytest.raises(InvalidPositionError):
            Position.from_huffman(code, 8)
    else:
        assert huffman_keys(keys).tolist() == [code]
        assert Position.from_huffman(code, 8).key == keys[0]


def test_a_refusal_names_the_index_and_the_value() -> None:
    good = Position("44").huffman_key
    with pytest.raises(InvalidPositionError, match=r"0xdead at index 2 is no position of 2 stones"):
        keys_from_huffman([good, good, 0xDEAD, good], 2)


def test_a_code_with_four_in_a_row_for_the_side_to_move_is_refused() -> None:
    code = spelled_out(Position("1122334"))  # player 1 has just won
    assert len(keys_from_huffman([code], 7)) == 1
    ended = np.zeros((6, 7), dtype=np.int8)
    ended[5, :4], ended[4, :4] = 1, 2
    bits = "".join("1011" + "0" if column < 4 else "0" for column in range(7)) + "0"
    with pytest.raises(InvalidPositionError, match="at index 0"):
        keys_from_huffman([int(bits, 2)], 8)


@pytest.mark.parametrize("ply", [-1, 29, 43, 2**31 - 1, 2**40])
def test_a_ply_that_fits_no_code_is_refused(ply: int) -> None:
    with pytest.raises(InvalidPositionError, match=f"no position of {ply} stones"):
        keys_from_huffman([0], ply)


def test_a_key_that_is_no_position_or_too_long_is_refused(opening: str) -> None:
    with pytest.raises(InvalidPositionError, match="at index 1"):
        huffman_keys([0, 2**49])
    longest = Position(opening)
    longest = longest.play(longest.legal_moves()[0])
    assert len(huffman_keys([longest.key])) == 1
    with pytest.raises(InvalidPositionError, match="at most 28 stones"):
        huffman_keys([longest.play(longest.legal_moves()[0]).key])


def test_no_keys_give_no_codes() -> None:
    empty = np.empty(0, dtype=np.uint64)
    assert len(huffman_keys(empty)) == len(keys_from_huffman(empty, 12)) == 0
