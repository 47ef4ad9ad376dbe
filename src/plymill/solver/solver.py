"""The solver: exact scores of positions.

Scores are the usual ones of the field, from the view of the side to move: 0 is a draw; a win
scores 1 plus the number of the winner's stones left after the winning one, a loss minus that.
"""

import threading
import time
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from plymill.errors import SolverError
from plymill.games import arrays
from plymill.games.connect4 import WIDTH, Position
from plymill.solver.dispatch import make_kernel
from plymill.solver.table import Table

#: Positions searched in turn by one thread, so that one waits for memory while others compute.
LANES = 4


@dataclass(frozen=True)
class Counters:
    """What a solver has done since it was made.

    Attributes:
        nodes: positions searched.
        table_probes: look-ups in the shared table.
        table_hits: look-ups that found an entry.
        seconds: time spent in searches.
    """

    nodes: int
    table_probes: int
    table_hits: int
    seconds: float


class Solver:
    """Solves positions exactly, one thread at a time.

    Scores never depend on what the table holds; only the time does. Several solvers, one for each
    thread, may share one table, and the GIL is released while they search.

    Args:
        table_mb: size of the transposition table in MiB, rounded down to a power of two.
        table: a table to share; then ``table_mb`` is not used.
        variant: which compiled variant of the search to use; the fastest by default.

    Raises:
        SolverError: a table size below 1 MiB or above 4 TiB, or an unknown variant.
        TableMemoryError: the system has not so much memory.
    """

    def __init__(
        self, table_mb: int = 256, *, table: Table | None = None, variant: str | None = None
    ) -> None:
        self.table = Table(table_mb) if table is None else table
        self._kernel = make_kernel(self.table, lanes=LANES, variant=variant)
        self._seconds = 0.0
        self._lock = threading.Lock()

    @property
    def counters(self) -> Counters:
        """Nodes, table look-ups and time since the solver was made."""
        kernel = self._kernel
        return Counters(kernel.nodes, kernel.probes, kernel.hits, self._seconds)

    def reset(self) -> None:
        """Empties the tables, so that the next search starts cold.

        The shared table is emptied too: no other solver may be searching with it.
        """
        with self._lock:
            self.table.clear()
            self._kernel.clear()

    def score(self, position: Position | str) -> int:
        """The exact score of a position (or move string), side to move's view.

        Raises:
            SolverError: a player has already won.
        """
        return int(self.score_many([_undecided(position).key])[0])

    def outcome(self, position: Position | str) -> int:
        """1 if the side to move wins, 0 for a draw, -1 if it loses. Takes half a score's time.

        Raises:
            SolverError: a player has already won.
        """
        return int(self.score_many([_undecided(position).key], outcomes=True)[0])

    def scores(self, position: Position | str) -> list[int | None]:
        """The score of each move, side to move's view, by column; None where it is illegal.

        Raises:
            SolverError: a player has already won.
        """
        position = _undecided(position)
        scores: list[int | None] = [None] * WIDTH
        searched = []
        for column in position.legal_moves():
            if position.can_win(column):
                scores[column - 1] = (position.moves_left + 1) // 2
            else:
                searched.append(column)
        children = [position.play(column).key for column in searched]
        for column, score in zip(searched, self.score_many(children), strict=True):
            scores[column - 1] = -int(score)
        return scores

    def best_moves(self, position: Position | str) -> list[int]:
        """The columns (1 to 7) of the moves with the highest score; none on a full board.

        Raises:
            SolverError: a player has already won.
        """
        scores = self.scores(position)
        best = max((score for score in scores if score is not None), default=None)
        return [column for column, score in enumerate(scores, start=1) if score == best is not None]

    def score_many(self, keys: npt.ArrayLike, *, outcomes: bool = False) -> npt.NDArray[np.int8]:
        """The scores (or outcomes) of positions given by their keys, in the order given.

        Positions that follow one another should be alike: what one search learns helps the next.

        Args:
            keys: any number of keys (uint64), not necessarily canonical, of undecided positions.
            outcomes: only -1, 0 or 1; about half the work.

        Returns:
            int8 array of the same length.

        Raises:
            InvalidPositionError: not one dimension of whole numbers.
            SolverError: a key is no position, or of one in which a player has won.
        """
        # A copy: what was checked must not change under the search.
        array = np.array(arrays.key_array(keys))
        _require_undecided(array)
        with self._lock:
            start = time.perf_counter()
            try:
                return self._kernel.solve(array, outcomes)
            finally:
                self._seconds += time.perf_counter() - start


class BookOfValues(Protocol):
    """What :func:`solve` needs of an opening book; every ``plymill.Book`` has it."""

    @property
    def ply(self) -> int:
        """The number of stones of the positions in the book."""

    @property
    def distances(self) -> bool:
        """True if values are scores, False if only outcomes."""

    def value(self, position: Position) -> int:
        """The value of a position at or above the book's ply; raises KeyError for others."""


def solve(position: Position | str, book: BookOfValues | None = None) -> int:
    """The exact score of a position, side to move's view.

    Args:
        position: a position or a move string such as ``"4453"``.
        book: an open book with distances; positions at its ply or above are answered from it,
            by backward induction, without any search.

    Raises:
        SolverError: a player has already won.
        IllegalMoveError: the string is no legal sequence of moves.
    """
    position = _undecided(position)
    if book is not None and book.distances and position.ply <= book.ply:
        try:
            return book.value(position)
        except KeyError:  # outside the opening that the book covers
            pass
    return _default_solver().score(position)


@cache
def _default_solver() -> Solver:
    return Solver()


def _undecided(position: Position | str) -> Position:
    if isinstance(position, str):
        position = Position(position)
    if winner := position.winner():
        raise SolverError(
            f"{position!r} is over: player {winner} has won; expected a position to play on"
        )
    return position


def _require_undecided(keys: npt.NDArray[np.uint64]) -> None:
    bad = np.flatnonzero(~arrays.balanced(keys))
    if len(bad):
        raise SolverError(f"key {keys[bad[0]]} at index {bad[0]} is no position of the board")
    over = np.flatnonzero(arrays.decided(keys))
    if len(over):
        raise SolverError(
            f"key {keys[over[0]]} at index {over[0]} is a position that a player has won; "
            "expected positions to play on"
        )
