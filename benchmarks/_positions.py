"""Positions with known scores, and the published solver that the benchmarks compare with."""

import time
from pathlib import Path

import bitbully_databases
import numpy as np
import numpy.typing as npt
from bitbully import bitbully_core

from plymill.books import Book, open_book
from plymill.games.connect4 import HEIGHT, WIDTH, Position

Keys = npt.NDArray[np.uint64]
Scores = npt.NDArray[np.int8]


def published_distances() -> Book:
    """The published 12-ply book with distances, open."""
    assets = Path(bitbully_databases.__file__).parent / "assets"
    return open_book(assets / "book_12ply_distances.dat", layout="12ply-dist")


def published_book() -> tuple[Keys, Scores]:
    """Canonical keys and scores of the published 12-ply book, in ascending order of keys."""
    with published_distances() as book:
        return book[:]


def scores_of(keys: Keys, book: tuple[Keys, Scores]) -> Scores:
    """The published scores of positions of the 12-ply book."""
    return book[1][np.searchsorted(book[0], keys)]


class Bitbully:
    """bitbully's MTD(f), its opening book off, its table emptied before each position."""

    def __init__(self) -> None:
        self._solver = bitbully_core.BitBullyCore()

    def solve(self, keys: Keys) -> tuple[Scores, float]:
        """Scores of the positions, and the processor time they took together, resets left out."""
        scores = np.empty(len(keys), dtype=np.int8)
        total = 0.0
        for i, key in enumerate(keys):
            board = board_of(Position.from_key(int(key)))
            self._solver.resetTranspositionTable()
            start = time.thread_time()
            scores[i] = self._solver.mtdf(board, 0)
            total += time.thread_time() - start
        return scores, total


def board_of(position: Position) -> bitbully_core.BoardCore:
    """A position as a board of bitbully's: an array of columns, each from the bottom up."""
    rows = position.to_array()
    columns = [
        [int(rows[HEIGHT - 1 - row, column]) for row in range(HEIGHT)] for column in range(WIDTH)
    ]
    board = bitbully_core.BoardCore()
    if not board.setBoard(columns):
        raise AssertionError(f"bitbully refuses {position!r}")
    return board
