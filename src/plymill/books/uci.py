"""The Connect-4 data set of the UCI repository: all 8-ply positions without a threat.

A line has 42 fields for the squares a1, a2, ... a6, b1, ... g6 (``x`` player 1, ``o`` player 2,
``b`` blank), then ``win``, ``loss`` or ``draw`` for player 1, separated by commas.
"""

import os

import numpy as np
import numpy.typing as npt

from plymill.books.errors import BookFormatError
from plymill.errors import InvalidPositionError, not_utf8, told
from plymill.games.connect4 import HEIGHT, SQUARES, WIDTH, Position
from plymill.texts import open_text

_STONES = {"b": 0, "x": 1, "o": 2}
_OUTCOMES = {"loss": -1, "draw": 0, "win": 1}


def read_uci(path: str | os.PathLike[str]) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int8]]:
    """Reads a data file.

    Returns:
        The canonical keys of the positions in the order of the file, and for each its outcome
        seen from the side to move: -1, 0 or 1.

    Raises:
        BookFormatError: the file cannot be read, or a line is no position with an outcome; the
            message names the line.
    """
    try:
        lines = open_text(path).read().splitlines()
    except OSError as error:
        raise BookFormatError(f"cannot read {path}: {told(error)}") from error
    except UnicodeDecodeError as error:
        raise BookFormatError(f"{path}: expected a data file {not_utf8(error)}") from None
    rows = [
        _read_line(line.strip(), f"line {number} of {path}")
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]
    keys = np.array([key for key, _ in rows], dtype=np.uint64)
    return keys, np.array([outcome for _, outcome in rows], dtype=np.int8)


def _read_line(line: str, name: str) -> tuple[int, int]:
    *squares, outcome = line.split(",")
    if len(squares) != SQUARES or not _STONES.keys() >= set(squares) or outcome not in _OUTCOMES:
        raise BookFormatError(
            f"{name} is {line!r}, expected {SQUARES} fields of x, o or b and then "
            "win, loss or draw, separated by commas"
        )
    columns = np.array([_STONES[square] for square in squares]).reshape(WIDTH, HEIGHT)
    try:
        position = Position.from_array(columns.T[::-1])
    except InvalidPositionError as error:
        raise BookFormatError(f"{name} is no position: {error}") from None
    value = _OUTCOMES[outcome]
    return position.canonical_key, value if position.to_move == 1 else -value
