"""Showing the value of a position and of each of its moves."""

from typing import TYPE_CHECKING, Any

from plymill.cli.output import say, say_table
from plymill.cli.patience import patience
from plymill.cli.sources import called

if TYPE_CHECKING:
    from plymill.books import Book
    from plymill.games import Position
    from plymill.players.answers import Answer

_STONES = {1: "X", 2: "O"}


def answer(position: "Position", book: "Book | None", table_mb: int | None) -> "Answer":
    """Ask the book; where it cannot answer, solve.

    Raises:
        BookContentError: the book contradicts the solver.
    """
    from plymill.players.answers import answer as find
    from plymill.solver import Solver

    def solver() -> Solver:
        return Solver() if table_mb is None else Solver(table_mb=table_mb)

    name = "" if book is None else called(book.source)
    return find(position, book, solver, name=name, busy=patience)


def show(found: "Answer") -> None:
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


def as_json(found: "Answer", book: str | None) -> dict[str, Any]:
    """An answer for a program. Values are seen from the side to move."""
    more = {"book": book, "nodes": found.nodes, "seconds": round(found.seconds, 6)}
    return found.as_json() | more
