"""A book that lies in memory: two arrays."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from plymill.books.book import Block, Book, Keys, Values
from plymill.books.errors import BookContentError
from plymill.books.lookahead import values_above
from plymill.books.scope import Scope
from plymill.books.sorted_keys import find_sorted
from plymill.games.arrays import key_array
from plymill.games.connect4 import Position

_BLOCK = 1 << 16


class ArrayBook(Book):
    """A book held as an ascending array of keys and one of values.

    Args:
        keys: ascending keys, canonical unless the scope is ``mirrored``.
        values: the value of each.
        scope: what the book holds.
        layout: the layout of the file that it came from.
        source: where it comes from, for messages.

    Raises:
        BookContentError: keys do not ascend, or there are not as many values as keys.
    """

    def __init__(
        self,
        keys: npt.ArrayLike,
        values: npt.ArrayLike,
        scope: Scope,
        *,
        layout: str = "memory",
        source: str = "the book",
    ) -> None:
        self.scope = scope
        self.layout = layout
        self.source = source
        self.keys: Keys = key_array(keys)
        self.values: Values = np.ascontiguousarray(values, dtype=np.int8)
        if len(self.keys) != len(self.values):
            raise BookContentError(
                f"{source} has {len(self.keys)} keys and {len(self.values)} values, "
                "expected one value for each key"
            )
        falls = np.flatnonzero(self.keys[1:] <= self.keys[:-1])
        if len(falls):
            raise BookContentError(
                f"key {self.keys[falls[0] + 1]} at place {falls[0] + 1} of {source} does not "
                "come after the one before it: expected ascending keys"
            )

    def __len__(self) -> int:
        return len(self.keys)

    def blocks(self) -> Iterator[Block]:
        """All positions as arrays of keys and values, ascending by key from block to block."""
        for start in range(0, len(self), _BLOCK):
            yield self._slice(start, start + _BLOCK)

    def _slice(self, start: int, stop: int) -> Block:
        return self.keys[start:stop], self.values[start:stop]

    def _stored(self, keys: Keys) -> tuple[Values, npt.NDArray[np.bool_]]:
        return find_sorted(self.keys, self.values, keys)

    def _stored_value(self, key: int) -> int | None:
        place = int(np.searchsorted(self.keys, np.uint64(key)))
        if place < len(self.keys) and int(self.keys[place]) == key:
            return int(self.values[place])
        return None

    def _below(self, position: Position, columns: list[int]) -> list[int]:
        roots = np.array([position.play(column).key for column in columns], dtype=np.uint64)
        values = values_above(self.keys, self.values, self.scope, roots)
        # Induction says in words what is missing.
        return super()._below(position, columns) if values is None else values.tolist()
