"""The perfect player of Connect Four on 7x6: an opening book, and the solver.

A small book of all positions with 8 stones comes with the package: from it the moves of the first
plies are known at once, each of which would take the solver up to a minute. It is the published
book of 12 plies with distances, taken back by ``plymill book derive published:12ply-dist 8``; the
tests derive it again where that is installed, and solve samples of it.
"""

from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from plymill.books import Book, NotInBookError, open_book
from plymill.games import Position
from plymill.players.answers import outcome
from plymill.players.errors import PlayerError
from plymill.players.player import Choice
from plymill.solver import Solver

if TYPE_CHECKING:
    from plymill.games.game import Game, State, Stream
    from plymill.players.spec import PerfectSpec

GAME = "connect4-7x6"
BUNDLED = Path(__file__).with_name("data") / "connect4-8ply.plymill"
BUNDLED_PLY = 8
_TABLE_MB = 64
_REMEMBERED = 1 << 16  # positions of a process


class PerfectPlayer:
    """Never makes a mistake.

    All players of a process share one solver, which solves one position after the other, and what
    it has found.

    Args:
        game: Connect Four on 7x6.
        spec: whether only the outcome counts or the number of moves too, and the book.

    Raises:
        PlayerError: another game, or a book that does not tell what is needed.
        BookFormatError: the book cannot be read.
    """

    def __init__(self, game: "Game", spec: "PerfectSpec") -> None:
        if game.name != GAME:
            raise PlayerError(f"Player '{spec}' plays {GAME} only, not {game.name}")
        self.game = game
        self.spec = spec
        self._book = _open(spec.book, spec.layout or None) if spec.book else None
        if self._book is not None and spec.delay and not self._book.distances:
            raise PlayerError(
                f"Player '{spec}': {spec.book} holds outcomes only, expected a book with distances"
            )

    def begin(self, side: int, stream: "Stream") -> None:
        """A new match."""
        self._side = side
        self._stream = stream

    def choose(self, state: "State") -> Choice:
        """One of the best moves; one draw, even where there is one best move only."""
        own, mask = state.words[:2]
        values = _values(self._book, self.spec.delay, own + mask)
        best = max(value for value in values if value is not None)
        moves = [column for column, value in enumerate(values) if value == best]
        return Choice(moves[self._stream.below(len(moves))], (1 + outcome(best)) / 2)

    def observe(self, moves: tuple[int, ...]) -> None:
        """Takes no notice."""

    def close(self) -> None:
        """The book is shared, and stays open."""


@cache
def _open(path: str, layout: str | None) -> Book:
    """A book, which all players of the process share."""
    return open_book(path, layout)


@cache
def _solver() -> Solver:
    return Solver(_TABLE_MB)


@lru_cache(_REMEMBERED)
def _values(book: Book | None, delay: bool, key: int) -> tuple[int | None, ...]:
    """For each column the score (``delay``) or the outcome of its move; None if it is full."""
    position = Position.from_key(key)
    values = (
        _from_book(book, position)
        or _from_book(_open(str(BUNDLED), None), position)
        or _solved(position, delay=delay)
    )
    return tuple(value if value is None or delay else outcome(value) for value in values)


def _from_book(book: Book | None, position: Position) -> list[int | None] | None:
    if book is None or position.ply >= book.ply:
        return None
    try:
        return book.moves(position)
    except NotInBookError:  # a book of another opening
        return None


def _solved(position: Position, *, delay: bool) -> list[int | None]:
    if delay:
        return _solver().scores(position)
    values: list[int | None] = [None] * 7
    searched = []
    for column in position.legal_moves():
        if position.can_win(column):
            values[column - 1] = 1
        else:
            searched.append(column)
    children = [position.play(column).key for column in searched]
    for column, value in zip(searched, _solver().score_many(children, outcomes=True), strict=True):
        values[column - 1] = -int(value)
    return values
