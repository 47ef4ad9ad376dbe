"""`Book`: what every opening book answers, whatever the layout of its file."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from types import TracebackType
from typing import Self, overload

import numpy as np
import numpy.typing as npt

from plymill.books.errors import NotInBookError
from plymill.books.induction import induce, win_value
from plymill.books.scope import Scope
from plymill.books.scores import describe
from plymill.games.arrays import balanced, canonical_keys, decided, immediate_wins, key_array, plies
from plymill.games.connect4 import WIDTH, Position
from plymill.games.layers import undecided_layers

Keys = npt.NDArray[np.uint64]
Values = npt.NDArray[np.int8]
Block = tuple[Keys, Values]


class Book(ABC):
    """A read-only map from the positions of one ply to their values, ordered by canonical key.

    Values are seen from the side to move: scores if :attr:`distances`, else -1, 0 and 1. Of a
    mirror pair one image answers for both. A position that the book leaves out by its filter is
    answered as well, where the rule of its layout says what a miss means: the side to move wins
    at once, or, in books without the wins of player 1, player 1 wins.

    Attributes:
        scope: which positions the book holds, and what kind of values.
        layout: ``plymill``, or the published layout that it was read from, or ``memory``.
        source: where it comes from, for messages.
    """

    scope: Scope
    layout: str
    source: str

    @property
    def ply(self) -> int:
        """Number of stones of every position in the book."""
        return self.scope.ply

    @property
    def distances(self) -> bool:
        """Whether values are scores, that tell the distance to the end of the game."""
        return self.scope.distances

    @property
    def opening(self) -> str:
        """The moves that all positions of the book follow."""
        return self.scope.opening

    @abstractmethod
    def __len__(self) -> int:
        """Number of positions stored."""

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """All positions as arrays of keys and values, ascending by key from block to block."""

    @abstractmethod
    def _slice(self, start: int, stop: int) -> Block:
        """The keys and values from place ``start`` up to, and without, place ``stop``."""

    @abstractmethod
    def _stored(self, keys: Keys) -> tuple[Values, npt.NDArray[np.bool_]]:
        """The values stored under exactly these keys, and where there was one."""

    @abstractmethod
    def _stored_value(self, key: int) -> int | None:
        """The value stored under exactly this key, or None."""

    def find(self, position: Position) -> int:
        """The value of a position of the book's ply.

        Raises:
            NotInBookError: another number of stones, a finished game, a position that does not
                follow the book's opening, or one that is missing though it should be there.
        """
        if position.ply == self.ply:
            value = self._stored_value(self._key(position))
            if value is not None:
                return value
        return self._value_of_miss(position)

    def get(self, position: Position) -> int | None:
        """The value of a position, or None where :meth:`find` would raise."""
        try:
            return self.find(position)
        except NotInBookError:
            return None

    def __contains__(self, position: Position) -> bool:
        return self.get(position) is not None

    def lookup(
        self, keys: npt.ArrayLike, *, stored_only: bool = False
    ) -> tuple[Values, npt.NDArray[np.bool_]]:
        """The values of many positions at once.

        Args:
            keys: n keys of positions, canonical or not.
            stored_only: answer only for positions that are stored, not for those that the book
                leaves out by its rules.

        Returns:
            An int8 array of n values, 0 where the book knows none, and a bool array that is True
            where it knows one: where :meth:`find` would not raise.
        """
        asked = key_array(keys)
        if not self.scope.mirrored:
            asked = canonical_keys(asked)
        values, found = self._stored(asked)
        missing = np.flatnonzero(~found)
        if len(missing) and not stored_only:
            values[missing], found[missing] = self._values_of_misses(asked[missing])
        return values, found

    def moves(self, position: Position) -> list[int | None]:
        """The value of every move, seen from the side that makes it.

        Works for all positions above the book's ply: from a book in memory by alpha-beta down to
        it, within milliseconds; from others by backward induction, which is fast a few plies
        above the book and takes seconds at the empty board.

        Returns:
            One value for each of the seven columns, None where the column is full.

        Raises:
            NotInBookError: the position has as many stones as the book's, or more; the game is
                over; or a position that is needed is not in the book.
        """
        self._require_above(position)
        legal = position.legal_moves()
        values: list[int | None] = [None] * WIDTH
        for column in legal:
            if position.can_win(column):
                values[column - 1] = win_value(position.ply, distances=self.distances)
        others = [column for column in legal if not position.can_win(column)]
        for column, value in zip(others, self._below(position, others), strict=True):
            values[column - 1] = -value
        return values

    def value(self, position: Position) -> int:
        """The value of a position of the book's ply or, by backward induction, above it.

        Raises:
            NotInBookError: as for :meth:`find` and :meth:`moves`.
        """
        if position.ply == self.ply:
            return self.find(position)
        return max(value for value in self.moves(position) if value is not None)

    def describe(self, position: Position) -> str:
        """The value of a position in words: ``player 1 wins in 29 plies``."""
        value = self.value(position)
        return describe(value, position.moves_left, position.to_move, distances=self.distances)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for keys, values in self.blocks():
            yield from zip(keys.tolist(), values.tolist(), strict=True)

    @overload
    def __getitem__(self, place: int) -> tuple[int, int]: ...
    @overload
    def __getitem__(self, place: slice) -> Block: ...
    def __getitem__(self, place: int | slice) -> tuple[int, int] | Block:
        """Key and value at a place in the order of keys; two arrays for a slice."""
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            if step < 0:
                keys, values = self._slice(stop + 1, start + 1)
                return keys[::-1][::-step], values[::-1][::-step]
            keys, values = self._slice(start, max(start, stop))
            return keys[::step], values[::step]
        index = place + len(self) if place < 0 else place
        if not 0 <= index < len(self):
            raise IndexError(
                f"place {place} is outside of {self.source} with {len(self)} positions"
            )
        keys, values = self._slice(index, index + 1)
        return int(keys[0]), int(values[0])

    def verify(self) -> None:  # noqa: B027 - published layouts hold no digest
        """Checks the whole file against its digest, where it holds one."""

    def close(self) -> None:  # noqa: B027 - most books hold nothing open
        """Gives the file back; the book answers no more."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        below = f" below {self.opening}" if self.opening else ""
        return f"<{self.layout} book of {len(self)} positions of ply {self.ply}{below}>"

    def _key(self, position: Position) -> int:
        return position.key if self.scope.mirrored else position.canonical_key

    def _below(self, position: Position, columns: list[int]) -> list[int]:
        """The values of the positions after each of these moves, none of which wins."""
        children = [position.play(column) for column in columns]
        if position.ply + 1 == self.ply or not children:
            return [self.find(child) for child in children]
        roots = np.array([child.key for child in children], dtype=np.uint64)
        layers = list(undecided_layers(roots, self.ply - position.ply - 2))
        values, _ = induce(layers, self).lookup(roots)
        return [int(value) for value in values]

    def _value_of_miss(self, position: Position) -> int:
        """What it means that a position is not stored, by the rules of the book's scope."""
        name = _name(position)
        if position.ply != self.ply:
            raise NotInBookError(
                f"{name} has {position.ply} stones, {self.source} holds positions of {self.ply}"
            )
        if position.winner():
            raise NotInBookError(
                f"{name} is over, player {position.winner()} has won; "
                f"{self.source} holds games that go on"
            )
        self._require_opening(position)
        values, found = self._values_of_misses(np.array([position.key], dtype=np.uint64))
        if not found[0]:
            raise NotInBookError(
                f"{name} is missing in {self.source} and has no immediate win, which is the "
                "only reason for a position to be left out"
            )
        return int(values[0])

    def _values_of_misses(self, keys: Keys) -> tuple[Values, npt.NDArray[np.bool_]]:
        """The values of keys that are not stored, and where the scope tells one."""
        scope = self.scope
        usable = balanced(keys) & (plies(keys) == scope.ply) & ~decided(keys)
        usable[usable] &= scope.follows_opening(keys[usable])
        at_once = usable & immediate_wins(keys)
        values = np.zeros(len(keys), dtype=np.int8)
        found = np.zeros(len(keys), dtype=np.bool_)
        if scope.first_wins_omitted:
            values[usable] = 1 if scope.to_move == 1 else -1
            found |= usable
        if not scope.immediate_wins:
            values[at_once] = win_value(scope.ply, distances=scope.distances)
            found |= at_once
        return values, found

    def _require_above(self, position: Position) -> None:
        name = _name(position)
        if position.ply >= self.ply:
            raise NotInBookError(
                f"{self.source} holds positions of {self.ply} stones, so it tells the moves of "
                f"positions with fewer; {name} has {position.ply}"
            )
        if position.winner():
            raise NotInBookError(f"{name} is over, player {position.winner()} has won")
        self._require_opening(position)

    def _require_opening(self, position: Position) -> None:
        if not self.scope.follows_opening(np.array([position.key], dtype=np.uint64))[0]:
            raise NotInBookError(
                f"{_name(position)} does not follow {self.opening}, and {self.source} holds "
                "only positions that do"
            )


def _name(position: Position) -> str:
    return f"position {position.moves}" if position.moves else repr(position)
