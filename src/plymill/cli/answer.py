"""The value of a position and of each of its moves, from a book where it can, else solved."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plymill.cli.failures import UsageError
from plymill.cli.output import say, say_table
from plymill.cli.patience import patience
from plymill.cli.sources import shown
from plymill.cli.words import duration

if TYPE_CHECKING:
    from plymill.books import Book
    from plymill.games import Position

_STONES = {1: "X", 2: "O"}


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

    position: "Position"
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
        from plymill.books import describe

        position = self.position
        return describe(value, position.moves_left, position.to_move, distances=self.distances)


def answer(position: "Position", book: "Book | None", table_mb: int | None) -> Answer:
    """Ask the book; where it cannot answer, solve.

    Raises:
        UsageError: the book contradicts the solver.
    """
    if position.is_over():
        nothing = dict.fromkeys(range(1, 8))
        return Answer(
            position=position,
            values=nothing,
            distances=True,
            source="rules",
            reason="The game is over.",
        )
    if book is None:
        return _solved(position, table_mb, "Solved here")
    from plymill.books import NotInBookError

    try:
        with patience("Looking it up in the book"):
            values = book.moves(position)
    except NotInBookError as error:
        if position.ply == book.ply and book.get(position) is not None:
            return _confirmed(position, book, table_mb)
        return _solved(position, table_mb, f"The book cannot tell: {error}. Solved instead")
    return Answer(
        position=position,
        values=dict(enumerate(values, start=1)),
        distances=book.distances,
        source="book",
        reason=f"Answered by {shown(book.source)}.",
    )


def show(found: Answer) -> None:
    """Print an answer for a person."""
    position = found.position
    say(str(position))
    say()
    after = f"After {position.moves}" if position.moves else "On the empty board"
    turn = f"player {position.to_move} ({_STONES[position.to_move]}) to move"
    if position.is_over():
        turn = "the game is over"
    say(f"{after}, {turn}: {found.words(found.value)}.")
    if not position.is_over():
        say()
        rows = [
            (str(column), "full" if value is None else found.words(value), mark)
            for column, value in found.values.items()
            for mark in ["best" if column in found.best else ""]
        ]
        say_table(("move", "then", ""), rows, right="r")
        say()
        say(found.reason)


def as_json(found: Answer, book: str | None) -> dict[str, Any]:
    """An answer for a program. Values are seen from the side to move."""
    position = found.position
    return {
        "moves": position.moves,
        "ply": position.ply,
        "to_move": None if position.is_over() else position.to_move,
        "board": position.to_array().tolist(),
        "value": _value_as_json(found, found.value),
        "columns": {
            str(column): None if value is None else _value_as_json(found, value)
            for column, value in found.values.items()
        },
        "best": found.best,
        "source": found.source,
        "reason": found.reason,
        "book": book,
        "nodes": found.nodes,
        "seconds": round(found.seconds, 6),
    }


def _value_as_json(found: Answer, value: int) -> dict[str, Any]:
    from plymill.books.scores import plies_to_end

    position = found.position
    ends = found.distances and value != 0
    winner = position.to_move if value > 0 else 3 - position.to_move
    return {
        "score": value if found.distances else None,
        "winner": winner if value else None,
        "plies": plies_to_end(value, position.moves_left) if ends else None,
        "words": found.words(value),
    }


def _solved(position: "Position", table_mb: int | None, reason: str) -> Answer:
    from plymill.solver import Solver

    solver = Solver() if table_mb is None else Solver(table_mb=table_mb)
    began = time.perf_counter()
    with patience(f"Solving {position.moves or 'the empty board'}"):
        scores = solver.scores(position)
    seconds = time.perf_counter() - began
    nodes = solver.counters.nodes
    return Answer(
        position=position,
        values=dict(enumerate(scores, start=1)),
        distances=True,
        source="solver",
        reason=f"{reason}, in {_time(seconds)} and {nodes:,} nodes.",
        nodes=nodes,
        seconds=seconds,
    )


def _confirmed(position: "Position", book: "Book", table_mb: int | None) -> Answer:
    """The book ends at this position: the moves are solved, and must give the book's value."""
    ending = (
        f"{shown(book.source)} ends at {book.ply} stones; its value agrees with the moves, solved"
    )
    found = _solved(position, table_mb, ending)
    held = book.find(position)
    same = held == found.value if book.distances else held == _sign(found.value)
    if not same:
        raise UsageError(
            f"{book.source} holds the value {held} for the position {position.moves}, "
            f"but the solver finds {found.value}: the book is not sound"
        )
    return found


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)


def _time(seconds: float) -> str:
    return duration(seconds) if seconds >= 10 else f"{seconds:.2g} s"
