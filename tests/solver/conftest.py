"""The oracle of these tests, and positions of known score."""

import csv
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from plymill.solver import Table

DATA = Path(__file__).parents[1] / "data"

#: What is in each column, bottom first, as a string of "1" and "2".
Columns = tuple[str, ...]


class BruteForce:
    """Scores by trying everything, on a board of strings of any size: slow and obvious."""

    def __init__(self, width: int = 7, height: int = 6) -> None:
        self.width = width
        self.height = height
        self.score = cache(self._score)

    def after(self, moves: str) -> Columns:
        """The columns after these moves."""
        columns: Columns = ("",) * self.width
        for ply, move in enumerate(moves):
            columns = self.dropped(columns, int(move) - 1, "12"[ply % 2])
        return columns

    def dropped(self, columns: Columns, column: int, stone: str) -> Columns:
        return (*columns[:column], columns[column] + stone, *columns[column + 1 :])

    def ends(self, columns: Columns, column: int) -> bool:
        """True if the top stone of the column lies in a line of four."""
        row = len(columns[column]) - 1
        stone = columns[column][row]

        def reach(dx: int, dy: int) -> int:
            """How many stones of the same player follow in this direction."""
            x, y, count = column + dx, row + dy, 0
            while 0 <= x < self.width and 0 <= y < len(columns[x]) and columns[x][y] == stone:
                x, y, count = x + dx, y + dy, count + 1
            return count

        lines = ((0, 1), (1, 0), (1, 1), (1, -1))
        return any(reach(dx, dy) + reach(-dx, -dy) >= 3 for dx, dy in lines)

    def _score(self, columns: Columns) -> int:
        ply = sum(len(column) for column in columns)
        left = self.width * self.height - ply
        children = []
        for column in range(self.width):
            if len(columns[column]) < self.height:
                child = self.dropped(columns, column, "12"[ply % 2])
                if self.ends(child, column):
                    return (left + 1) // 2  # nothing is better than to win now
                children.append(child)
        return max((-self.score(child) for child in children), default=0)


@pytest.fixture(scope="session")
def brute_force() -> Callable[[str], int]:
    """Gives the score after a string of moves that leaves few squares."""
    oracle = BruteForce()
    return lambda moves: oracle.score(oracle.after(moves))


@pytest.fixture(scope="session")
def oracle() -> Callable[[int, int], BruteForce]:
    """Makes the slow board of so many columns and rows."""
    return BruteForce


def read(name: str) -> list[dict[str, str]]:
    with (DATA / name).open() as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


@pytest.fixture(scope="session")
def rows() -> Callable[[str], list[dict[str, str]]]:
    """Reads a table of tests/data; its origin stands in the file."""
    return read


@pytest.fixture(scope="session")
def known_scores() -> list[tuple[str, int]]:
    """Moves and score of positions with every score from -15 to 18."""
    return [(row["moves"], int(row["score"])) for row in read("connect4_scores.csv")]


@pytest.fixture
def table() -> Table:
    """A small, empty table of the test's own."""
    return Table(16)
