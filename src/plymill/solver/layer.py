"""The positions of one ply: all of them, and the order in which to solve them."""

from functools import cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from plymill.errors import SolverError
from plymill.games import arrays
from plymill.games.connect4 import HEIGHT, SQUARES, WIDTH, Position
from plymill.games.layers import layer_below

Keys: TypeAlias = npt.NDArray[np.uint64]


def enumerate_ply(
    n: int,
    opening: str | Position = "",
    *,
    decided: bool = False,
    immediate_wins: bool = False,
    mirrored: bool = False,
) -> Keys:
    """Every position with exactly ``n`` stones that can follow ``opening``.

    By default the opening book's filter: nobody has won, the mover has no immediate win, and of a
    position and its mirror image only the one with the smaller key. Won games are not continued.

    Args:
        n: number of stones, opening included.
        opening: moves, or a position, from which to start.
        decided: keep positions that a player has won with the last stone.
        immediate_wins: keep positions in which the mover can win at once.
        mirrored: keep positions apart from their mirror images.

    Returns:
        Keys, uint64, ascending and without duplicates; 4,200,899 for the 12-ply layer.

    Raises:
        SolverError: ``n`` is less than the opening's stones or more than the board holds.
        IllegalMoveError: the opening is no legal move string.
    """
    start = Position(opening) if isinstance(opening, str) else opening
    if not start.ply <= n <= SQUARES:
        raise SolverError(
            f"ply {n} cannot follow an opening of {start.ply} stones: "
            f"expected {start.ply} to {SQUARES}"
        )
    return layer_below(start, n, decided=decided, immediate_wins=immediate_wins, mirrored=mirrored)


def locality_order(keys: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """The permutation that brings positions with common openings together.

    Columns are compared from the centre out, each from the bottom up (empty before own before
    opponent's stone), on the smaller of the position and its mirror image. So those that follow one
    opening stand together, and neighbours lead to the same positions later: what one search has
    put into the transposition table serves the next.
    """
    array = arrays.key_array(keys)
    rank = np.minimum(_locality_rank(array), _locality_rank(arrays.mirror_keys(array)))
    return np.argsort(rank, kind="stable")


def _locality_rank(keys: Keys) -> Keys:
    ranks = _column_ranks()
    stride = np.uint64(HEIGHT + 1)
    column_mask = np.uint64((1 << (HEIGHT + 1)) - 1)
    total = np.zeros(len(keys), dtype=np.uint64)
    for column in sorted(range(WIDTH), key=lambda c: (abs(2 * c - WIDTH + 1), c)):
        content = (keys >> (stride * np.uint64(column))) & column_mask
        total = (total << stride) | ranks[content]
    return total


@cache
def _column_ranks() -> Keys:
    """Rank of every column of a key (own + mask, row 0 lowest) among columns read bottom up."""

    def stones(content: int) -> tuple[int, ...]:
        height = (content + 1).bit_length() - 1
        own = content - ((1 << height) - 1)
        return tuple(1 if own >> row & 1 else 2 for row in range(height))

    contents = sorted(range((1 << (HEIGHT + 1)) - 1), key=stones)
    ranks = np.zeros(1 << (HEIGHT + 1), dtype=np.uint64)
    ranks[contents] = np.arange(len(contents), dtype=np.uint64)
    return ranks
