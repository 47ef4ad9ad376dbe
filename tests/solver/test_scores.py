"""Scores: against trying everything, against other people's figures, and the laws they obey."""

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plymill.games import Position
from plymill.solver import Solver, Table, locality_order

SHARED = Path(__file__).parents[3] / "shared" / "reference" / "connect4"


def late_position(empty: int, seed: int) -> Position:
    """A random undecided position with so many empty squares; the mover may have a win."""
    choice = random.Random(seed).choice
    while True:
        position = Position()
        while position.moves_left > empty:
            quiet = [c for c in position.legal_moves() if not position.can_win(c)]
            if not quiet:
                break
            position = position.play(choice(quiet))
        else:
            return position


def late_positions(most: int) -> st.SearchStrategy[Position]:
    return st.builds(late_position, st.integers(0, most), st.integers(0, 2**32))


@pytest.fixture(scope="module")
def solver() -> Solver:
    """One solver for all tests that do not care what its table holds."""
    return Solver(32)


@settings(max_examples=200, deadline=None)
@given(position=late_positions(11))
def test_late_scores_are_what_trying_everything_finds(
    solver: Solver, brute_force: Callable[[str], int], position: Position
) -> None:
    assert position.moves is not None
    score = brute_force(position.moves)
    assert solver.score(position) == score
    assert solver.score(position.moves) == score
    assert solver.outcome(position) == np.sign(score)


@settings(deadline=None)
@given(position=late_positions(10))
def test_scores_of_moves_are_what_trying_everything_finds(
    solver: Solver, brute_force: Callable[[str], int], position: Position
) -> None:
    expected: list[int | None] = [None] * 7
    for column in position.legal_moves():
        after = position.play(column)
        win = (position.moves_left + 1) // 2
        expected[column - 1] = win if after.winner() else -brute_force(after.moves or "")
    known = [score for score in expected if score is not None]
    best = [c for c in range(1, 8) if known and expected[c - 1] == max(known)]
    assert solver.scores(position) == expected
    assert solver.best_moves(position) == best


@settings(deadline=None)
@given(position=late_positions(20))
def test_a_score_is_the_best_of_its_moves_and_the_same_in_the_mirror(
    solver: Solver, position: Position
) -> None:
    score = solver.score(position)
    scores = solver.scores(position)
    assert score == max((s for s in scores if s is not None), default=0)
    assert [s is not None for s in scores] == [c in position.legal_moves() for c in range(1, 8)]
    assert solver.score(position.mirror()) == score
    assert solver.scores(position.mirror()) == scores[::-1]
    assert (
        solver.best_moves(position.mirror()) == [8 - c for c in solver.best_moves(position)][::-1]
    )
    assert solver.outcome(position) == np.sign(score)


@settings(deadline=None)
@given(positions=st.lists(late_positions(18), max_size=20))
def test_many_scores_are_the_scores_one_by_one(solver: Solver, positions: list[Position]) -> None:
    keys = [position.key for position in positions]
    scores = solver.score_many(keys)
    assert scores.dtype == np.int8
    assert scores.tolist() == [solver.score(position) for position in positions]
    assert solver.score_many(keys, outcomes=True).tolist() == np.sign(scores).tolist()


def test_known_scores_of_every_kind(known_scores: list[tuple[str, int]], table: Table) -> None:
    solver = Solver(table=table)
    assert {score for _, score in known_scores} == set(range(-15, 19))
    assert [solver.score(moves) for moves, _ in known_scores] == [s for _, s in known_scores]


def test_outcomes_from_a_cold_table(known_scores: list[tuple[str, int]], table: Table) -> None:
    solver = Solver(table=table)
    outcomes = [solver.outcome(moves) for moves, _ in known_scores]
    assert outcomes == [(score > 0) - (score < 0) for _, score in known_scores]


def test_outcomes_cost_less_than_scores(known_scores: list[tuple[str, int]]) -> None:
    scores, outcomes = Solver(16), Solver(16)
    keys = [Position(moves).key for moves, _ in known_scores]
    scores.score_many(keys)
    outcomes.score_many(keys, outcomes=True)
    assert outcomes.counters.nodes < scores.counters.nodes


def test_a_full_board_is_a_draw_without_a_move(solver: Solver) -> None:
    full = "461136646756634713335277214532714722155524"
    assert solver.score(full) == solver.outcome(full) == 0
    assert solver.scores(full) == [None] * 7
    assert solver.best_moves(full) == []


def test_a_win_with_the_next_stone_needs_no_search() -> None:
    solver = Solver(1)
    assert solver.score("121212") == 18
    assert solver.outcome("121212") == 1
    assert solver.counters.nodes == 0
    assert solver.scores("121212")[0] == 18


def test_no_positions_have_no_scores(solver: Solver) -> None:
    assert solver.score_many([]).tolist() == []


@pytest.mark.long
def test_the_first_moves_score_as_published() -> None:
    """Allis and Allen (1988), with distances by Tromp: player 1 wins with his 21st stone."""
    solver = Solver(512)
    assert solver.scores("") == [-2, -1, 0, 1, 0, -1, -2]
    assert solver.score("") == 1
    assert solver.best_moves("") == [4]


def published_sample(count: int) -> tuple[npt.NDArray[np.uint64], list[int]]:
    """A fixed random sample of the published 12-ply book: keys and scores."""
    package = pytest.importorskip(
        "bitbully_databases", reason="the published books come with the bitbully-databases package"
    )
    path = Path(package.__file__).parent / "assets" / "book_12ply_distances.dat"
    records = np.fromfile(path, dtype=[("huffman", ">u4"), ("value", "i1")])
    chosen = np.sort(np.random.default_rng(12).choice(len(records), count, replace=False))
    keys = [Position.from_huffman(int(h), 12).key for h in records["huffman"][chosen]]
    # 30 squares are empty. 100 - d for a win after d plies: d = 31 - 2s and d = 32 - 2|s|.
    values = [int(value) for value in records["value"][chosen]]
    scores = [(v - 69) // 2 if v > 0 else -((-v - 68) // 2) if v < 0 else 0 for v in values]
    return np.array(keys, dtype=np.uint64), scores


@pytest.mark.slow
def test_2000_positions_of_the_published_12_ply_book() -> None:
    keys, scores = published_sample(2000)
    order = locality_order(keys)
    found = Solver(256).score_many(keys[order])
    assert found.tolist() == np.array(scores)[order].tolist()
    assert min(scores) < -8
    assert max(scores) > 8
    assert scores.count(0) > 50


def test_40_positions_of_the_published_12_ply_book(solver: Solver) -> None:
    keys, scores = published_sample(2000)
    assert solver.score_many(keys[::50]).tolist() == scores[::50]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("begin-medium", marks=pytest.mark.slow),
        "middle-easy",
        "middle-medium",
    ],
)
def test_1000_reference_positions(name: str) -> None:
    path = SHARED / name
    if not path.is_file():
        pytest.skip(f"the reference positions {name} are not here: they lie beside the repository")
    lines = [line.split() for line in path.read_text().splitlines()]
    keys = np.array([Position(moves).key for moves, _ in lines], dtype=np.uint64)
    scores = np.array([int(score) for _, score in lines])
    order = locality_order(keys)
    assert len(keys) == 1000
    assert Solver(256).score_many(keys[order]).tolist() == scores[order].tolist()
