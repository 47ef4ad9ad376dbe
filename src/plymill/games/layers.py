"""All positions that follow others, layer by layer: whole arrays at once, breadth first."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from plymill.games import arrays
from plymill.games.arrays import canonical_keys, play_all
from plymill.games.connect4 import WIDTH, Position

Keys = npt.NDArray[np.uint64]


def layer_below(
    root: Position,
    ply: int,
    *,
    decided: bool = False,
    immediate_wins: bool = False,
    mirrored: bool = False,
) -> Keys:
    """The positions with exactly ``ply`` stones that can follow a root; won games end there.

    By default nobody has won, the side to move cannot win at once, and of a mirror pair only the
    position with the smaller key is there. Up to ply 12 in seconds and half a gigabyte.

    Args:
        root: the position from which to start, of at most ``ply`` stones.
        ply: number of stones, those of the root included.
        decided: keep positions that a player has won with the last stone.
        immediate_wins: keep positions in which the side to move can win at once.
        mirrored: keep positions apart from their mirror images.

    Returns:
        Keys, ascending and each once.
    """
    keys = np.array([root.key if mirrored else root.canonical_key], dtype=np.uint64)
    for _ in range(root.ply, ply):
        keys = children(keys[~arrays.decided(keys)], fold=not mirrored)
    over = arrays.decided(keys)
    if not decided:
        keys, over = keys[~over], over[~over]
    if not immediate_wins:
        keys = keys[over | ~arrays.immediate_wins(keys)]
    return keys


def undecided_layers(roots: Keys, depth: int) -> Iterator[Keys]:
    """The positions 0, 1, ... ``depth`` plies after the roots in which nobody has won yet.

    Args:
        roots: keys of positions that have the same number of stones.
        depth: how many layers to go down.

    Yields:
        ``depth + 1`` arrays of canonical keys, ascending and each key once. Games that have
        been won are not continued.
    """
    layer = sorted_unique(canonical_keys(roots))
    layer = layer[~arrays.decided(layer)]
    yield layer
    for _ in range(depth):
        layer = children(layer)
        layer = layer[~arrays.decided(layer)]
        yield layer


def children(keys: Keys, *, fold: bool = True) -> Keys:
    """The positions one ply after these, won ones included: ascending, each key once.

    Args:
        keys: keys of undecided positions.
        fold: of a child and its mirror image keep only the canonical one.
    """
    columns = []
    for column in range(1, WIDTH + 1):
        after = play_all(keys, column)
        legal = after[after != 0]
        columns.append(canonical_keys(legal) if fold else legal)
    return sorted_unique(np.concatenate(columns))


def sorted_unique(keys: Keys) -> Keys:
    """The keys in ascending order, each once.

    Not ``numpy.unique``: its hash table takes some forty times longer here than a vectorised sort.
    """
    ordered = np.sort(keys)
    first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]
