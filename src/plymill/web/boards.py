"""Positions of any game as boards that a browser shows, from how the game draws them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plymill.games import State

_STONES = {"X": "first", "O": "second", "W": "first", "S": "second", ".": ""}
_DISCS = ("connect4",)


@dataclass(frozen=True)
class Square:
    """A square of a board.

    Attributes:
        player: ``first``, ``second`` or empty.
        mark: the letter that stands there in the drawing.
        last: whether it changed with the last move.
    """

    player: str
    mark: str
    last: bool


@dataclass(frozen=True)
class Board:
    """A position to show.

    Attributes:
        kind: ``discs`` or ``squares`` for rows of squares, ``text`` for a drawing.
        rows: from the top.
        lines: what is said below.
        text: the drawing.
    """

    kind: str
    rows: Sequence[Sequence[Square]]
    lines: Sequence[str]
    text: str


def board_of(state: "State", before: "State | None" = None) -> Board:
    """The board of a position.

    Args:
        state: the position.
        before: the one before the last move, to mark what changed.
    """
    text = str(state)
    rows, lines = _grid(text)
    if not rows:
        return Board("text", (), (), text)
    old = _grid(str(before))[0] if before is not None else rows
    squares = [
        [Square(_STONES[mark], mark, mark != was) for mark, was in zip(row, olds, strict=True)]
        for row, olds in zip(rows, old, strict=True)
    ]
    kind = "discs" if state.game.name.startswith(_DISCS) else "squares"
    return Board(kind, squares, lines, text)


def _grid(text: str) -> tuple[list[list[str]], list[str]]:
    """Rows of marks, and the lines that are none; no rows if there are no such."""
    rows: list[list[str]] = []
    lines: list[str] = []
    for line in text.splitlines():
        marks = line.split()
        if len(marks) > 1 and marks[0].isdecimal() and marks[1] in _STONES:
            marks = marks[1:]  # the number of the row
        if marks and all(mark in _STONES for mark in marks):
            rows.append(marks)
        elif ":" in line:
            lines.append(line)
    return rows, lines
