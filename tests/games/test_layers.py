"""Breadth-first layers against playing every game move by move."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from plymill.games import Position
from plymill.games.layers import children, sorted_unique, undecided_layers


def played_out(root: Position, depth: int) -> list[set[int]]:
    """The canonical keys of undecided positions 0, 1, ... plies after the root."""
    layers = [{root}]
    for _ in range(depth):
        after = {p.play(c) for p in layers[-1] for c in p.legal_moves()}
        layers.append({p for p in after if not p.winner()})
    return [{p.canonical_key for p in layer} for layer in layers]


@given(st.lists(st.integers(1, 7), max_size=36), st.integers(0, 3))
def test_layers_are_what_playing_reaches(columns: list[int], depth: int) -> None:
    root = Position()
    for column in columns:
        if column in root.legal_moves() and not root.can_win(column):
            root = root.play(column)
    roots = np.array([root.key], dtype=np.uint64)
    layers = [layer.tolist() for layer in undecided_layers(roots, depth)]
    assert layers == [sorted(layer) for layer in played_out(root, depth)]


def test_won_positions_are_children_but_are_not_continued() -> None:
    root = Position("121212")
    after = children(np.array([root.key], dtype=np.uint64))
    assert root.play(1).canonical_key in after
    *_, layer = undecided_layers(np.array([root.key], dtype=np.uint64), 1)
    assert len(layer) == len(after) - 1


def test_a_won_root_has_no_layers() -> None:
    roots = np.array([Position("1212121").key], dtype=np.uint64)
    assert [len(layer) for layer in undecided_layers(roots, 2)] == [0, 0, 0]


@given(st.lists(st.integers(0, 2**49)))
def test_unique_keys_ascend(keys: list[int]) -> None:
    assert sorted_unique(np.array(keys, dtype=np.uint64)).tolist() == sorted(set(keys))
