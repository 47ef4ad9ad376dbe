"""Lower books from higher ones, against minimax and against the published books."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from plymill.books import (
    ArrayBook,
    Book,
    BookContentError,
    NotInBookError,
    Scope,
    convert_book,
    derive,
    open_book,
    outcomes,
)
from plymill.games import Position

PublishedBook = Callable[[str], Book]


@pytest.mark.parametrize("ply", [27, 28, 29, 30, 31])
def test_every_lower_book_below_an_opening_is_exact(
    late_book: ArrayBook, solve: Callable[[Scope], ArrayBook], opening: str, ply: int
) -> None:
    derived = derive(late_book, ply)
    solved = solve(Scope(ply=ply, distances=True, opening=opening))
    assert derived.scope == solved.scope
    assert np.array_equal(derived.keys, solved.keys)
    assert np.array_equal(derived.values, solved.values)


def test_outcomes_derive_to_outcomes(late_book: ArrayBook) -> None:
    derived = derive(outcomes(late_book), 29)
    assert not derived.distances
    assert np.array_equal(derived.values, np.sign(derive(late_book, 29).values))


def test_full_boards_derive_too(
    solve: Callable[[Scope], ArrayBook], opening: str, tmp_path: Path
) -> None:
    convert_book(solve(Scope(ply=42, distances=True, opening=opening)), tmp_path / "full.book")
    full = open_book(tmp_path / "full.book")
    assert len(full) > 0
    expected = solve(Scope(ply=38, distances=True, opening=opening))
    assert len(expected) > 0
    assert np.array_equal(derive(full, 38).values, expected.values)


@pytest.mark.parametrize("ply", [-1, 26, 32, 40])
def test_a_ply_that_is_not_between_opening_and_book_is_refused(
    late_book: ArrayBook, ply: int
) -> None:
    with pytest.raises(BookContentError, match=f"cannot derive ply {ply} .* from 27 to 31"):
        derive(late_book, ply)


def test_a_gap_is_named(late_book: ArrayBook) -> None:
    gap = ArrayBook(late_book.keys[1:], late_book.values[1:], late_book.scope)
    with pytest.raises(NotInBookError, match="no value is known after a stone in column"):
        derive(gap, 31)


@pytest.mark.parametrize("source", ["12ply-dist", "12ply"])
def test_the_8ply_book_derived_from_the_published_one_is_the_published_8ply_book(
    published_book: PublishedBook, source: str
) -> None:
    derived = derive(published_book(source), 8)
    other = published_book("8ply")
    assert isinstance(other, ArrayBook)
    assert len(derived) == 77_715
    values, found = other.lookup(derived.keys)
    assert found.all()
    assert np.array_equal(values, np.sign(derived.values))
    lost_or_drawn = derived.keys[derived.values <= 0]
    assert np.array_equal(lost_or_drawn, other.keys)


def test_the_empty_board_derived_from_the_published_book_is_won_on_the_41st_ply(
    published_book: PublishedBook,
) -> None:
    book = derive(published_book("12ply-dist"), 1)
    assert book.moves(Position()) == [-2, -1, 0, 1, 0, -1, -2]
    assert derive(book, 0).describe(Position()) == "player 1 wins in 41 plies"
