"""What a book claims to hold: which positions, and what kind of values."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from plymill.books.errors import BookContentError
from plymill.games.arrays import boards, canonical_keys, decided, immediate_wins, plies
from plymill.games.connect4 import SQUARES, Position

Keys = npt.NDArray[np.uint64]
Values = npt.NDArray[np.int8]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Which positions belong into a book, and what is stored with each.

    By default one position of each mirror pair, and only positions in which nobody has won and
    the side to move cannot win at once.

    Attributes:
        ply: number of stones of every position.
        distances: values are scores; otherwise only outcomes: -1, 0 or 1. Both are seen from
            the side to move.
        opening: moves that all positions follow.
        decided: positions in which somebody has won are there as well.
        immediate_wins: positions with an immediate win of the side to move are there as well.
        mirrored: both mirror images are there.
        first_wins_omitted: positions that player 1 wins are left out, as in the published books
            without distances. Only whole books may do so: that a position is missing proves
            nothing unless all others are there.
    """

    ply: int
    distances: bool
    opening: str = ""
    decided: bool = False
    immediate_wins: bool = False
    mirrored: bool = False
    first_wins_omitted: bool = False

    def __post_init__(self) -> None:
        first = Position(self.opening).ply
        if not first <= self.ply <= SQUARES:
            raise BookContentError(
                f"a book of ply {self.ply} cannot lie below the opening {self.opening!r}: "
                f"expected a ply from {first} to {SQUARES}"
            )
        if self.distances and self.first_wins_omitted:
            raise BookContentError(
                "a book with distances cannot leave out the wins of player 1, "
                "expected outcomes only"
            )
        if self.opening and self.first_wins_omitted:
            raise BookContentError(
                f"a book below the opening {self.opening!r} cannot leave out the wins of player 1, "
                "expected a whole book"
            )

    @property
    def moves_left(self) -> int:
        """Empty squares of every position."""
        return SQUARES - self.ply

    @property
    def to_move(self) -> int:
        """1 or 2: the player whose turn it is in every position."""
        return 1 + self.ply % 2

    @property
    def value_range(self) -> tuple[int, int]:
        """The least and the greatest value that a position of this ply can have."""
        if not self.distances:
            return -1, 1
        quickest_loss = self.moves_left // 2 + int(self.decided)
        quickest_win = (self.moves_left + 1) // 2 - int(not self.immediate_wins)
        return -quickest_loss, max(0, quickest_win)

    def follows_opening(self, keys: Keys) -> Mask:
        """True where a position, or its mirror image, holds all stones of the opening.

        Args:
            keys: keys of positions with any number of stones.
        """
        root = Position(self.opening)
        own, mask = boards(keys)
        first = np.where(plies(keys) % 2 == 0, own, own ^ mask)  # stones of player 1
        result = np.zeros(len(keys), dtype=np.bool_)
        for image in (root, root.mirror()):
            root_mask = np.uint64(image.mask)
            root_first = image.own if image.to_move == 1 else image.own ^ image.mask
            result |= (mask & root_mask == root_mask) & (first & root_mask == root_first)
        return result

    def misfits(self, keys: Keys) -> Mask:
        """True where a position has no place in this book: wrong ply, filtered, other opening."""
        wrong: Mask = plies(keys) != self.ply
        over = decided(keys)
        if not self.decided:
            wrong |= over
        if not self.immediate_wins:
            wrong |= immediate_wins(keys) & ~over
        if self.opening:
            wrong |= ~self.follows_opening(keys)
        return wrong

    def require_fitting(
        self, keys: Keys, values: Values, target: object, *, start: int = 0, after: int = -1
    ) -> None:
        """Refuses positions and values that a book of this scope cannot hold.

        Args:
            keys: n keys of positions, at least one.
            values: the n values beside them.
            target: where they are to be written, for the message.
            start: the place of the first of them in the book.
            after: the key that stands before them.

        Raises:
            BookContentError: keys do not ascend, are not canonical or do not belong into the
                book, or a value is out of range; the message names the first such position.
        """
        low, high = self.value_range
        falls = np.concatenate(([int(keys[0]) <= after], keys[1:] <= keys[:-1]))
        faults = [
            (falls, "does not come after the one before it: expected ascending keys"),
            (self.misfits(keys), "does not belong into the book"),
            ((values < low) | (values > high), f"has a value outside of {low} to {high}"),
        ]
        if not self.mirrored:
            faults.append((canonical_keys(keys) != keys, "is not the smaller of its mirror pair"))
        for wrong, complaint in faults:
            if wrong.any():
                first = int(np.argmax(wrong))
                raise BookContentError(
                    f"position {start + first} for {target}, key {keys[first]} "
                    f"and value {values[first]}, {complaint}"
                )
