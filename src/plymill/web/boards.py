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
        kind: ``discs`` or ``squares`` for rows of squares, ``dots`` for lines between dots,
            ``text`` for a drawing.
        rows: from the top.
        lines: what is said below.
        text: the drawing.
        size: how many steps there are between dots, across and down.
        dots: the path of the dots.
        drawn: the path of the lines between them.
        fresh: the path of the line that was drawn last.
    """

    kind: str
    rows: Sequence[Sequence[Square]]
    lines: Sequence[str]
    text: str
    size: tuple[int, int] = (0, 0)
    dots: str = ""
    drawn: str = ""
    fresh: str = ""


def board_of(state: "State", before: "State | None" = None) -> Board:
    """The board of a position.

    Args:
        state: the position.
        before: the one before the last move, to mark what changed.
    """
    text = str(state)
    rows, lines = _grid(text)
    if text.startswith("+"):
        return _dots(text, text if before is None else str(before), lines)
    if not rows:
        return Board("text", (), (), text)
    old = _grid(str(before))[0] if before is not None else rows
    squares = [
        [Square(_STONES[mark], mark, mark != was) for mark, was in zip(row, olds, strict=True)]
        for row, olds in zip(rows, old, strict=True)
    ]
    kind = "discs" if state.game.name.startswith(_DISCS) else "squares"
    return Board(kind, squares, lines, text)


def _dots(text: str, before: str, lines: Sequence[str]) -> Board:
    """The board of a game that draws lines between dots, three characters apart."""
    old, new = _strokes(before), _strokes(text)
    ranks = [line for line in text.splitlines() if line.startswith("+")]
    width, height = ranks[0].count("+"), len(ranks)
    return Board(
        kind="dots",
        rows=(),
        lines=lines,
        text=text,
        size=(width - 1, height - 1),
        dots="".join(f"M{x} {y}h0" for y in range(height) for x in range(width)),
        drawn="".join(stroke for stroke in new if stroke in old),
        fresh="".join(stroke for stroke in new if stroke not in old),
    )


def _strokes(text: str) -> list[str]:
    """The lines between dots, as paths."""
    found = []
    for place, line in enumerate(text.splitlines()):
        y, between = divmod(place, 2)
        if between:
            found += [f"M{x // 3} {y}v1" for x, mark in enumerate(line) if mark == "|"]
        elif line.startswith("+"):
            found += [
                f"M{x // 3} {y}h1" for x in range(0, len(line), 3) if line[x + 1 : x + 2] == "-"
            ]
    return found


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
