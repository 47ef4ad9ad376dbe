"""Books that the tests share: late ones solved by plain minimax, and the published ones."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from plymill.books import ArrayBook, Book, Scope, convert_book, open_book, positions_of
from plymill.games import Position


@cache
def minimax(position: Position) -> int:
    """The score of a late position, by trying everything: the oracle of these tests."""
    if position.winner():
        return -(position.moves_left // 2 + 1)
    scores = [-minimax(position.play(column)) for column in position.legal_moves()]
    return max(scores, default=0)


#: A game of 27 moves below which 1,058 positions of ply 32 have nearly every score.
OPENING = "526764154731135223326647735"


@pytest.fixture(scope="session")
def score() -> Callable[[Position], int]:
    """Gives the exact score of a position with few squares left."""
    return minimax


@pytest.fixture(scope="session")
def opening() -> str:
    """The game of 27 moves that the late books lie below."""
    return OPENING


@pytest.fixture(scope="session")
def late_book(opening: str) -> ArrayBook:
    """The whole book of ply 32 below the opening, its values found by minimax."""
    return solved(Scope(ply=32, distances=True, opening=opening))


@pytest.fixture(scope="session")
def solve() -> Callable[[Scope], ArrayBook]:
    """Makes a complete late book of any scope."""
    return solved


def solved(scope: Scope) -> ArrayBook:
    keys = positions_of(scope)
    scores = [minimax(Position.from_key(key)) for key in keys.tolist()]
    values = np.array(scores, dtype=np.int8)
    return ArrayBook(keys, values if scope.distances else np.sign(values), scope)


@pytest.fixture(scope="session")
def published() -> Callable[[str], Path]:
    """Gives the path of a published book by its layout; skips where they are not installed."""
    package = pytest.importorskip(
        "bitbully_databases", reason="the published books come with the bitbully-databases package"
    )
    names = {
        "8ply": "book_8ply.dat",
        "12ply": "book_12ply.dat",
        "12ply-dist": "book_12ply_distances.dat",
    }
    assets = Path(package.__file__).parent / "assets"
    return lambda layout: assets / names[layout]


@pytest.fixture(scope="session")
def published_book(published: Callable[[str], Path]) -> Callable[[str], Book]:
    """Opens a published book by its layout, once a session."""
    return cache(lambda layout: open_book(published(layout), layout))


@pytest.fixture(scope="session")
def packed(
    published_book: Callable[[str], Book], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """Gives the path of a published book converted to plymill's own format."""

    @cache
    def convert(layout: str) -> Path:
        path = tmp_path_factory.mktemp("packed") / f"{layout}.book"
        convert_book(published_book(layout), path)
        return path

    return convert
