"""Alpha-beta down to a layer finds what trying everything finds, whatever the layer leaves out."""

from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from plymill.books import ArrayBook, Book, NotInBookError, Scope, positions_of
from plymill.books.induction import win_value
from plymill.books.lookahead import values_above
from plymill.games import Position


def moves_by_trying_everything(book: Book, position: Position) -> list[int | None]:
    """The oracle: plain minimax down to the book."""

    @cache
    def value(position: Position) -> int:
        if position.ply == book.ply:
            return book.find(position)
        return max((worth(position, column) for column in position.legal_moves()), default=0)

    def worth(position: Position, column: int) -> int:
        if position.can_win(column):
            return win_value(position.ply, distances=book.distances)
        return -value(position.play(column))

    legal = position.legal_moves()
    return [worth(position, column) if column in legal else None for column in range(1, 8)]


@st.composite
def positions(draw: st.DrawFn, most: int) -> Position:
    """Positions of a game that goes on."""
    position = Position()
    for choice in draw(st.lists(st.integers(0, 6), max_size=most)):
        legal = [column for column in position.legal_moves() if not position.can_win(column)]
        if not legal:
            break
        position = position.play(legal[choice % len(legal)])
    return position


@st.composite
def layers(draw: st.DrawFn) -> tuple[Position, ArrayBook]:
    """A position, and a book one to four plies below it that holds any values there can be."""
    position = draw(positions(most=40))
    ply = min(42, position.ply + draw(st.integers(1, 4)))
    decided = draw(st.booleans())
    scope = Scope(
        ply=ply,
        distances=draw(st.booleans()),
        opening=position.moves or "",
        decided=decided,
        immediate_wins=decided or draw(st.booleans()),
        mirrored=draw(st.booleans()),
    )
    keys = positions_of(scope)
    low, high = Scope(ply=ply, distances=scope.distances, opening=scope.opening).value_range
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = chance.integers(low, high, size=len(keys), endpoint=True).astype(np.int8)
    for place, key in enumerate(keys.tolist()):
        stored = Position.from_key(key)
        # Mirror images are worth the same, and wins on the spot what they are worth.
        values[place] = values[np.flatnonzero(keys == min(key, stored.mirror().key))[0]]
        if any(stored.can_win(column) for column in stored.legal_moves()):
            values[place] = win_value(ply, distances=scope.distances)
    return position, ArrayBook(keys, values, scope)


@settings(max_examples=200, deadline=None)
@given(layers())
def test_every_move_is_worth_what_trying_everything_says(found: tuple[Position, ArrayBook]) -> None:
    position, book = found
    assume(not position.is_over())
    assert book.moves(position) == moves_by_trying_everything(book, position)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), positions(most=3))
def test_wins_of_player_1_may_be_left_out(seed: int, position: Position) -> None:
    whole = positions_of(Scope(ply=5, distances=False))
    values = np.random.default_rng(seed).integers(0, 2, size=len(whole), dtype=np.int8)
    kept = np.random.default_rng(seed + 1).random(len(whole)) < 0.5
    scope = Scope(ply=5, distances=False, first_wins_omitted=True)
    book = ArrayBook(whole[kept], values[kept], scope)
    assert book.moves(position) == moves_by_trying_everything(book, position)


def test_a_position_that_is_missing_is_named() -> None:
    scope = Scope(ply=6, distances=True)
    keys = positions_of(scope)
    gone = int(Position("444444").canonical_key)
    kept = keys != gone
    book = ArrayBook(keys[kept], np.zeros(kept.sum(), dtype=np.int8), scope)
    with pytest.raises(NotInBookError, match="no value is known after a stone in column 4"):
        book.moves(Position("4444"))
    assert book.moves(Position("1234")) is not None


def test_roots_below_the_layer_are_refused() -> None:
    scope = Scope(ply=2, distances=True)
    keys = positions_of(scope)
    roots = np.array([Position("444").key], dtype=np.uint64)
    with pytest.raises(ValueError, match="1 plies below the layer"):
        values_above(keys, np.zeros(len(keys), dtype=np.int8), scope, roots)
