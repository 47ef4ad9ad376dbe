"""All positions that follow others, layer by layer: whole arrays at once, breadth first."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from plymill.games.connect4 import WIDTH, canonical_keys, decided, play_all

Keys = npt.NDArray[np.uint64]


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
    layer = layer[~decided(layer)]
    yield layer
    for _ in range(depth):
        layer = children(layer)
        layer = layer[~decided(layer)]
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
