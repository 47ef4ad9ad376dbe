"""Published numbers of UCT grids, read from CSV files of either of two shapes.

A row is a cell. Both shapes name a game (``game``, any text), the iterations of both players
(``first_iters``, ``second_iters``) and the number of matches (``samples``: a number, or two such
as ``113-114`` where only the range is known). One gives the mean goal of the first player, 0 to
100, as ``avg_goal_first``; the other wins, draws and losses as ``wins_first``, ``draws`` and
``wins_second``. Further columns, such as the mean seconds of a match (``mean_seconds``), may be
there.
"""

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from plymill.errors import not_utf8
from plymill.matches.errors import MatchError

_KEY = ("game", "first_iters", "second_iters", "samples")
_FIRST_MOVES = ("game", "player", "move", "iters", "fraction")
_MEAN = "avg_goal_first"
_COUNTS = ("wins_first", "draws", "wins_second")
_MOST = 10**12

T = TypeVar("T")


#: Fractions of the first player's first moves: by its iterations, then by the move.
FirstMoves = Mapping[int, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Sample:
    """What is known of the results of one cell, of ours or published.

    Attributes:
        matches: how many there were.
        mean: mean goal of the first player, 0 to 1.
        spread: mean of goal * (1 - goal), each goal from 0 to 1: a quarter of the share of draws,
            if goals are 0, 1/2 and 1. None if it is not known.
        seconds: mean seconds of a match, if known.
    """

    matches: int
    mean: float
    spread: float | None = None
    seconds: float | None = None


#: Samples by the iterations of the first and the second player.
Grid = Mapping[tuple[int, int], Sample]


def read_published(lines: Iterable[str], *, where: str) -> dict[str, Grid]:
    """The grids in a CSV file, by the name of the game there.

    Args:
        lines: the lines of the file, the first with the names of the columns.
        where: name of the file, for errors.

    Raises:
        MatchError: the file is of neither shape, or an entry is wrong; the message names its line
            and column.
    """
    grids: dict[str, dict[tuple[int, int], Sample]] = {}
    rows = _rows(lines, where)
    with_counts = _shape(next(rows), where)
    for row in rows:
        cell = (row.integer("first_iters", 1), row.integer("second_iters", 1))
        grid = grids.setdefault(row.text("game"), {})
        if cell in grid:
            raise MatchError(f"{row.place}: the cell {cell[0]}, {cell[1]} is there twice.")
        grid[cell] = _counted(row) if with_counts else _averaged(row)
    if not grids:
        raise MatchError(f"{where}: expected a row for each cell of a grid, got none.")
    return dict(grids)


def read_first_moves(lines: Iterable[str], *, where: str) -> dict[str, FirstMoves]:
    """How often each first move was played, in a CSV file, by the name of the game there.

    The columns are ``game``, ``player`` (rows of the second player are passed over), ``move`` as
    the rules write it, ``iters`` and ``fraction``, from 0 to 1.

    Args:
        lines: the lines of the file, the first with the names of the columns.
        where: name of the file, for errors.

    Raises:
        MatchError: as for `read_published`.
    """
    games: dict[str, dict[int, dict[str, float]]] = {}
    rows = _rows(lines, where)
    columns = next(rows).columns
    if any(name not in columns for name in _FIRST_MOVES):
        raise MatchError(
            f"{where}, line 1: expected the columns {', '.join(_FIRST_MOVES)}, "
            f"got {', '.join(columns) or 'nothing'}."
        )
    for row in rows:
        if row.integer("player", 1) != 1:
            continue
        moves = games.setdefault(row.text("game"), {}).setdefault(row.integer("iters", 1), {})
        move = plain_move(row.text("move"))
        if move in moves:
            raise MatchError(f"{row.place}: the move {move} is there twice.")
        moves[move] = row.real("fraction", 1)
    return dict(games)


def plain_move(text: str) -> str:
    """A move without parentheses and further blanks: ``drop 1`` for ``( drop 1 )``."""
    return " ".join(text.replace("(", " ").replace(")", " ").split())


def of_game(tables: Mapping[str, T], game: str, *, where: str) -> T:
    """What a file says of a game, by plymill's name of the game or by the name in the file.

    Raises:
        MatchError: there is none; the message lists those that there are.
    """
    wanted = [game, *_PUBLISHED_NAMES.get(game, ())]
    for name in wanted:
        if name in tables:
            return tables[name]
    raise MatchError(
        f"{where}: there is no game {game}, expected one of {', '.join(sorted(tables))}."
    )


#: What the games are called in published files.
_PUBLISHED_NAMES: Mapping[str, tuple[str, ...]] = {
    "connect4-8x6": ("connectFour", "Connect Four (8x6)"),
    "connect4-suicide-8x6": ("connectFourSuicide",),
    "tictactoe": ("ticTacToe", "Tic-tac-toe"),
    "bidding-tictactoe": ("biddingTicTacToe",),
    "boxes-5x5": ("dotsAndBoxes", "Dots and Boxes (5x5)"),
    "boxes-suicide-5x5": ("dotsAndBoxesSuicide",),
    "sheep-and-wolf": ("sheepAndWolf",),
}


def _rows(lines: Iterable[str], where: str) -> Iterator["_Row"]:
    """The rows of a CSV file; the first one has the names of the columns only."""
    rows = csv.DictReader(_without_mark(lines), strict=True)
    try:
        rows.fieldnames = columns = [name.strip() for name in rows.fieldnames or ()]
        _require_columns(columns, where)
        yield _Row(dict.fromkeys(columns, ""), f"{where}, line 1")
        for entries in rows:
            yield _Row(entries, f"{where}, line {rows.line_num}")
    except csv.Error as error:
        line = rows.reader.line_num
        raise MatchError(f"{where}, line {line}: expected CSV, but {error}.") from None
    except UnicodeDecodeError as error:
        raise MatchError(f"{where}: expected CSV {not_utf8(error)}.") from None


def _without_mark(lines: Iterable[str]) -> Iterator[str]:
    """The lines without the byte order mark that spreadsheets write before the first."""
    for number, line in enumerate(lines):
        yield line if number else line.removeprefix("\ufeff")


def _require_columns(columns: Sequence[str], where: str) -> None:
    for place, name in enumerate(columns):
        if name and name in columns[:place]:
            raise MatchError(f"{where}, line 1: there are two columns '{name}', expected one.")


def _shape(head: "_Row", where: str) -> bool:
    """Whether the file gives wins, draws and losses rather than means."""
    columns = head.columns
    missing = [name for name in _KEY if name not in columns]
    has_counts = all(name in columns for name in _COUNTS)
    if missing or not (has_counts or _MEAN in columns):
        raise MatchError(
            f"{where}, line 1: expected the columns {', '.join(_KEY)} and either {_MEAN} or "
            f"{', '.join(_COUNTS)}, got {', '.join(columns) or 'nothing'}."
        )
    return has_counts


def _averaged(row: "_Row") -> Sample:
    mean = row.real(_MEAN, 100) / 100
    low, high = row.range("samples")
    # Goals are 0, 50 and 100 in nearly all games: their sum is a multiple of 50, which tells what
    # number of matches it was. Of several that would do the smallest claims least.
    matches = min(range(low, high + 1), key=lambda n: (round(_distance(2 * mean * n), 2), n))
    return Sample(matches, mean, None, row.seconds())


def _counted(row: "_Row") -> Sample:
    wins, draws, losses = (row.integer(name, 0) for name in _COUNTS)
    low, high = row.range("samples")
    matches = wins + draws + losses
    if not low <= matches <= high:
        raise MatchError(
            f"{row.place}, column samples: expected {matches}, the sum of {', '.join(_COUNTS)}, "
            f"got {row.text('samples')}."
        )
    return Sample(matches, (wins + draws / 2) / matches, draws / matches / 4, row.seconds())


def _distance(x: float) -> float:
    return abs(x - round(x))


class _Row:
    """A row, whose entries are read with an error that names their place."""

    def __init__(self, entries: Mapping[str | Any, Any], place: str) -> None:
        self.place = place
        self.columns = list(entries)
        self._entries = entries
        if None in entries or None in entries.values():
            count = sum(value is not None for value in entries.values())
            raise MatchError(f"{place}: expected one entry for each column, got {count}.")

    def text(self, column: str) -> str:
        text = str(self._entries[column]).strip()
        if not text:
            raise self._wrong(column, "an entry")
        return text

    def integer(self, column: str, least: int) -> int:
        return int(self._read(column, int, f"a whole number of at least {least}", least, _MOST))

    def real(self, column: str, most: float) -> float:
        return self._read(column, float, f"a number from 0 to {most:g}", 0, most)

    def range(self, column: str) -> tuple[int, int]:
        """A number, or two with a hyphen between them."""
        low, hyphen, high = self.text(column).partition("-")
        try:
            ends = int(low), int(high if hyphen else low)
        except ValueError:
            ends = 0, 0
        if not 1 <= ends[0] <= ends[1] <= _MOST or ends[1] - ends[0] > 1000:
            raise self._wrong(column, "a number of matches, or a range such as 113-114")
        return ends

    def seconds(self) -> float | None:
        if not str(self._entries.get("mean_seconds", "")).strip():
            return None
        return self.real("mean_seconds", 1e9)

    def _read(
        self, column: str, kind: Callable[[str], float], expected: str, least: float, most: float
    ) -> float:
        try:
            number = kind(self.text(column))
        except ValueError:
            raise self._wrong(column, expected) from None
        if not (math.isfinite(number) and least <= number <= most):
            raise self._wrong(column, expected)
        return number

    def _wrong(self, column: str, expected: str) -> MatchError:
        got = self._entries[column]
        return MatchError(f"{self.place}, column {column}: expected {expected}, got '{got}'.")
