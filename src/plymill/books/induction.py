"""Backward induction: the values of positions from the values of those that follow them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from plymill.books.errors import NotInBookError
from plymill.books.scope import Scope
from plymill.books.scores import win_score
from plymill.books.sorted_keys import find_sorted
from plymill.games.arrays import canonical_keys, immediate_wins, mirror_keys, play_all
from plymill.games.connect4 import SQUARES, WIDTH, Position
from plymill.games.layers import layer_below, sorted_unique

Keys = npt.NDArray[np.uint64]
Values = npt.NDArray[np.int8]
Found = npt.NDArray[np.bool_]

#: Below every value that a position can have.
_NONE = -128


class Known(Protocol):
    """Anything that knows the values of positions of one ply: a book, or a layer."""

    @property
    def ply(self) -> int:
        """Number of stones of the positions."""

    @property
    def distances(self) -> bool:
        """Whether values are scores rather than outcomes."""

    def lookup(self, keys: npt.ArrayLike, /) -> tuple[Values, Found]:
        """Values of positions, and where there is one."""


@dataclass(frozen=True)
class Layer:
    """The positions of one ply without an immediate win, and their values."""

    keys: Keys
    values: Values
    ply: int
    distances: bool

    def lookup(self, keys: npt.ArrayLike, /) -> tuple[Values, Found]:
        """Values of positions in which nobody has won, and where there is one."""
        asked = canonical_keys(keys)
        values, found = find_sorted(self.keys, self.values, asked)
        at_once = immediate_wins(asked)
        values[at_once] = win_value(self.ply, distances=self.distances)
        return values, found | at_once


def positions_of(scope: Scope) -> Keys:
    """The keys of all positions that a book of this scope should hold, ascending.

    Below an opening a book with both mirror images holds those of the opening's as well.
    """
    keys = layer_below(
        Position(scope.opening),
        scope.ply,
        decided=scope.decided,
        immediate_wins=scope.immediate_wins,
    )
    return sorted_unique(np.concatenate((keys, mirror_keys(keys)))) if scope.mirrored else keys


def win_value(ply: int, *, distances: bool) -> int:
    """The value of a position of so many stones in which the side to move wins at once."""
    return win_score(SQUARES - ply) if distances else 1


def induce(layers: Sequence[Keys], below: Known) -> Layer:
    """The values of the first layer, found from the last one upwards.

    Args:
        layers: canonical keys of layer after layer, ascending, nobody has won; all positions
            that follow those of one layer are in the next, and ``below`` knows what follows the
            last one.
        below: the values of the ply that comes after the last layer.

    Returns:
        The first layer, without the positions in which the side to move wins at once.

    Raises:
        NotInBookError: ``below`` does not know a position that follows.
    """
    for keys in reversed(layers):
        quiet = keys[~immediate_wins(keys)]
        below = Layer(quiet, best_of_moves(quiet, below), below.ply - 1, below.distances)
    if not isinstance(below, Layer):
        raise ValueError("expected at least one layer")
    return below


def best_of_moves(keys: Keys, below: Known) -> Values:
    """The values of positions in which nobody wins at once: for each the best of its moves.

    With the solver's scores a move is worth the negative of what follows, distances included: the
    winner's unused stones are the same before and after it.
    """
    best = np.full(len(keys), _NONE, dtype=np.int8)
    for column in range(1, WIDTH + 1):
        after = play_all(keys, column)
        places = np.flatnonzero(after)
        values, found = below.lookup(after[places])
        if not found.all():
            raise _unknown(int(keys[places[~found][0]]), column)
        best[places] = np.maximum(best[places], -values)
    best[best == _NONE] = 0  # no square left: a draw
    return best


def _unknown(key: int, column: int) -> NotInBookError:
    position = Position.from_key(key)
    return NotInBookError(
        f"no value is known after a stone in column {column} of {position!r}, though the values "
        f"of all positions that follow are needed:\n{position}"
    )
