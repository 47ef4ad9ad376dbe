"""What the slow implementations have in common: the shape of the Game Description Language.

They were written from the published rule sheets, not from the Cython: lists and dictionaries,
moves as the sheets write them, no codes and no bits.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator
from itertools import product

Moves = tuple[str | None, str | None]


class SlowState(ABC):
    """A position of a game for two, 0 and 1."""

    @abstractmethod
    def legal(self, player: int) -> list[str]:
        """The player's moves; none for one who can only wait (``noop``)."""

    @abstractmethod
    def after(self, moves: Moves) -> "SlowState":
        """The position after these moves, None for one who waits."""

    @abstractmethod
    def over(self) -> bool: ...

    @abstractmethod
    def goals(self) -> tuple[int, int]:
        """At the end of the game."""

    @abstractmethod
    def key(self) -> Hashable:
        """The same for equal positions, and for no others."""

    def joint_moves(self) -> Iterator[Moves]:
        """All that can be played at once; nothing when the game is over."""
        if not self.over():
            yield from product(self._choices(0), self._choices(1))

    def _choices(self, player: int) -> list[str | None]:
        return [*self.legal(player)] or [None]


def layers(start: SlowState) -> Iterator[list[tuple[SlowState, int]]]:
    """The positions after 0, 1, 2, ... plies, each with the number of ways to play to it."""
    layer = {start.key(): (start, 1)}
    while layer:
        yield list(layer.values())
        following: dict[Hashable, tuple[SlowState, int]] = {}
        for state, ways in layer.values():
            for moves in state.joint_moves():
                after = state.after(moves)
                known = following.get(after.key(), (after, 0))
                following[after.key()] = (known[0], known[1] + ways)
        layer = following
