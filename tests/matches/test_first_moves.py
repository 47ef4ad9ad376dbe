"""First moves: counted by iterations, and compared with published fractions."""

from collections import Counter

import numpy as np
import pytest

from plymill.games import open_game
from plymill.matches import (
    MatchError,
    Matches,
    Status,
    compare_first_moves,
    count_first_moves,
    first_move_text,
    grid_cells,
)
from tests.matches.conftest import record

GAME = open_game("connect4-8x6")
PUBLISHED_MOVES = [f"drop {column}" for column in range(1, 9)]


def test_first_moves_are_counted_by_the_iterations_of_the_first_player() -> None:
    cells = grid_cells((10, 20), (10, 20))
    matches = Matches.of(
        [
            record(0, 0, moves=b"\x03"),
            record(1, 0, moves=b"\x03\x01"),
            record(1, 1, moves=b"\x04"),
            record(3, 0, moves=b"\x07"),
            record(3, 1, moves=b"\x07", status=Status.SECOND_RAISED),
        ]
    )
    assert count_first_moves(matches, cells) == {10: Counter({3: 2, 4: 1}), 20: Counter({7: 1})}


def test_first_moves_in_words() -> None:
    assert first_move_text(GAME, 3) == "4"
    assert first_move_text(GAME, 3, gdl=True).split() == ["(", "drop", "4", ")"]


def drawn(weights: list[float], size: int, seed: int) -> Counter[int]:
    shares = np.array(weights) / sum(weights)
    return Counter(dict(enumerate(np.random.default_rng(seed).multinomial(size, shares).tolist())))


WEIGHTS = [1.0, 1, 2, 5, 5, 2, 1, 0.01]


def test_fractions_by_chance_agree_and_others_stand_out() -> None:
    axis = [10 << k for k in range(10)]
    theirs = {
        n: {move: drawn(WEIGHTS, 1400, k)[c] / 1400 for c, move in enumerate(PUBLISHED_MOVES)}
        for k, n in enumerate(axis)
    }
    ours = {n: drawn(WEIGHTS, 1300, 100 + k) for k, n in enumerate(axis)}
    ours[80] = drawn([1, 1, 2, 5, 8, 2, 1, 0], 1300, 5)
    found = compare_first_moves(GAME, ours, theirs, dict.fromkeys(axis, 1400))
    assert [each.iterations for each in found if each.stands_out] == [80]
    odd = found[3]
    assert (odd.farthest, odd.ours, odd.theirs, odd.freedom) == ("drop 5", 1300, 1400, 6)
    assert odd.our_fraction > odd.their_fraction


@pytest.mark.slow
def test_p_is_even_over_0_to_1_by_chance() -> None:
    p = []
    for seed in range(400):
        theirs = {m: drawn(WEIGHTS, 300, 2 * seed)[c] / 300 for c, m in enumerate(PUBLISHED_MOVES)}
        ours = {10: drawn(WEIGHTS, 200, 2 * seed + 1)}
        p.append(compare_first_moves(GAME, ours, {10: theirs}, {10: 300})[0].p)
    assert np.mean(p) == pytest.approx(0.5, abs=0.06)
    assert np.mean([each < 0.05 for each in p]) == pytest.approx(0.05, abs=0.035)


def test_one_move_only_says_nothing() -> None:
    (found,) = compare_first_moves(GAME, {10: Counter({3: 50})}, {10: {"drop 4": 1.0}}, {10: 100})
    assert (found.freedom, found.p, found.stands_out) == (0, 1.0, False)


def test_moves_of_another_game_are_refused() -> None:
    with pytest.raises(MatchError, match="connect4-8x6 has no first move 'mark 1 1', expected one"):
        compare_first_moves(GAME, {10: Counter({3: 50})}, {10: {"mark 1 1": 1.0}}, {10: 100})


def test_other_iterations_are_refused() -> None:
    with pytest.raises(MatchError, match="expected some of our numbers of iterations"):
        compare_first_moves(GAME, {10: Counter({3: 50})}, {20: {"drop 4": 1.0}}, {20: 100})
