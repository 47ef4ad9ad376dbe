"""The value of a position and of each of its moves, from a book where it can, else solved."""

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from plymill.books import Book, BookContentError, NotInBookError, describe
from plymill.books.scores import plies_to_end
from plymill.games import WIDTH, Position
from plymill.solver import Solver
from plymill.words import duration

#: Something to do while a question takes its time; it is told what is being done.
Busy = Callable[[str], AbstractContextManager[None]]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What is known of a position.

    Attributes:
        position: the position asked for.
        values: the value of each move by column 1 to 7, side to move's view, None where the column
            is full; all None once the game is over.
        distances: whether the values are scores, else outcomes.
        source: ``book``, ``solver``, or ``rules`` for games that are over.
        reason: where the answer comes from, in a sentence.
        nodes: positions that the solver searched.
        seconds: how long that took.
    """

    position: Position
    values: Mapping[int, int | None]
    distances: bool
    source: str
    reason: str
    nodes: int = 0
    seconds: float = 0.0

    @property
    def best(self) -> list[int]:
        """The columns of the best moves."""
        return [c for c, value in self.values.items() if value is not None and value == self.value]

    @property
    def value(self) -> int:
        """The position's value, side to move's view."""
        known = [value for value in self.values.values() if value is not None]
        if known:
            return max(known)
        if not self.position.winner():
            return 0
        return -((self.position.moves_left // 2) + 1) if self.distances else -1

    def words(self, value: int) -> str:
        """A value of this position in words."""
        position = self.position
        return describe(value, position.moves_left, position.to_move, distances=self.distances)

    def told(self, value: int) -> dict[str, Any]:
        """A value of this position for a program: score, winner, plies to the end, words."""
        position = self.position
        ends = self.distances and value != 0
        winner = position.to_move if value > 0 else 3 - position.to_move
        return {
            "score": value if self.distances else None,
            "winner": winner if value else None,
            "plies": plies_to_end(value, position.moves_left) if ends else None,
            "words": self.words(value),
        }

    def as_json(self) -> dict[str, Any]:
        """The answer for a program. Values are seen from the side to move."""
        position = self.position
        return {
            "moves": position.moves,
            "ply": position.ply,
            "to_move": None if position.is_over() else position.to_move,
            "board": position.to_array().tolist(),
            "value": self.told(self.value),
            "columns": {
                str(column): None if value is None else self.told(value)
                for column, value in self.values.items()
            },
            "best": self.best,
            "source": self.source,
            "reason": self.reason,
        }


def answer(
    position: Position,
    book: Book | None,
    solver: Callable[[], Solver] | None,
    *,
    name: str = "",
    busy: Busy = lambda _: nullcontext(),
) -> Answer:
    """Ask the book; where it cannot answer, solve.

    Args:
        position: any position.
        book: the book to ask first, if there is one.
        solver: makes or gets the solver when it is needed; None if nothing is to be solved.
        name: what to call the book.
        busy: entered while the book is asked, and while a position is solved.

    Raises:
        BookContentError: the book contradicts the solver.
        NotInBookError: the book cannot answer, and nothing is to be solved.
    """
    if position.is_over():
        nothing = dict.fromkeys(range(1, WIDTH + 1))
        return Answer(
            position=position,
            values=nothing,
            distances=True,
            source="rules",
            reason="The game is over.",
        )
    if book is None:
        if solver is None:
            raise NotInBookError("there is no book to ask")
        return _solved(position, solver(), "Solved here", busy)
    try:
        with busy("Looking it up in the book"):
            values = book.moves(position)
    except NotInBookError as error:
        if solver is None:
            raise
        if position.ply == book.ply and book.get(position) is not None:
            return _confirmed(position, book, solver(), name, busy)
        reason = f"The book cannot tell: {error}. Solved instead"
        return _solved(position, solver(), reason, busy)
    return Answer(
        position=position,
        values=dict(enumerate(values, start=1)),
        distances=book.distances,
        source="book",
        reason=f"Answered by {name}.",
    )


def _solved(position: Position, solver: Solver, reason: str, busy: Busy) -> Answer:
    began, nodes = time.perf_counter(), solver.counters.nodes
    with busy(f"Solving {position.moves or 'the empty board'}"):
        scores = solver.scores(position)
    seconds = time.perf_counter() - began
    nodes = solver.counters.nodes - nodes
    return Answer(
        position=position,
        values=dict(enumerate(scores, start=1)),
        distances=True,
        source="solver",
        reason=f"{reason}, in {_time(seconds)} and {nodes:,} nodes.",
        nodes=nodes,
        seconds=seconds,
    )


def _confirmed(position: Position, book: Book, solver: Solver, name: str, busy: Busy) -> Answer:
    """The book ends at this position: the moves are solved, and must give the book's value."""
    ending = f"{name} ends at {book.ply} stones; its value agrees with the moves, solved"
    found = _solved(position, solver, ending, busy)
    held = book.find(position)
    same = held == found.value if book.distances else held == outcome(found.value)
    if not same:
        raise BookContentError(
            f"{book.source} holds the value {held} for the position {position.moves}, "
            f"but the solver finds {found.value}: the book is not sound"
        )
    return found


def outcome(value: int) -> int:
    """1 for a won value, score or outcome, 0 for a draw, -1 for a loss."""
    return (value > 0) - (value < 0)


def _time(seconds: float) -> str:
    return duration(seconds) if seconds >= 10 else f"{seconds:.2g} s"
