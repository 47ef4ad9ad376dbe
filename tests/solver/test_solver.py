"""The solver as an object: what it remembers, threads, interrupts, variants and errors."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plymill.solver
from plymill.errors import PlymillError, SolverError
from plymill.games import Position
from plymill.solver import Counters, Solver, Table, enumerate_ply, variants

Known = list[tuple[str, int]]
Keys = npt.NDArray[np.uint64]


@pytest.fixture(scope="module")
def late(known_scores: Known) -> tuple[Keys, list[int]]:
    """Known positions that take some ten thousand nodes at most, and their scores."""
    chosen = [(moves, score) for moves, score in known_scores if len(moves) >= 15]
    return np.array([Position(m).key for m, _ in chosen], dtype=np.uint64), [s for _, s in chosen]


# --- history ----------------------------------------------------------------------------------


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**32), outcomes_first=st.booleans())
def test_scores_do_not_depend_on_what_was_solved_before(
    late: tuple[Keys, list[int]], seed: int, outcomes_first: bool
) -> None:
    """Any order, any warm-up, with a table so small that entries push one another out."""
    keys, scores = late
    order = np.random.default_rng(seed).permutation(len(keys))
    solver = Solver(1)
    if outcomes_first:
        solver.score_many(keys[order[::2]], outcomes=True)
    for part in np.array_split(order, 3):
        assert solver.score_many(keys[part]).tolist() == [scores[i] for i in part]


def test_a_second_time_costs_less_and_gives_the_same(late: tuple[Keys, list[int]]) -> None:
    keys, scores = late
    solver = Solver(16)
    assert solver.score_many(keys).tolist() == scores
    first = solver.counters
    assert solver.score_many(keys).tolist() == scores
    second = solver.counters
    assert second.nodes - first.nodes < first.nodes / 10
    assert second.table_hits > first.table_hits


def test_reset_makes_the_next_search_as_cold_as_the_first(late: tuple[Keys, list[int]]) -> None:
    keys, scores = late
    solver = Solver(16)
    costs = []
    for _ in range(2):
        before = solver.counters.nodes
        assert solver.score_many(keys).tolist() == scores
        costs.append(solver.counters.nodes - before)
        assert solver.table.filled() > 0
        solver.reset()
        assert solver.table.filled() == 0
    assert costs[0] == costs[1] > 0


def test_counters_tell_of_the_work_done(late: tuple[Keys, list[int]]) -> None:
    solver = Solver(4)
    assert solver.counters == Counters(nodes=0, table_probes=0, table_hits=0, seconds=0.0)
    solver.score_many(late[0])
    counters = solver.counters
    assert counters.nodes > counters.table_probes > counters.table_hits > 0
    assert counters.seconds > 0


def test_solvers_that_share_a_table_learn_from_each_other(late: tuple[Keys, list[int]]) -> None:
    table = Table(16)
    first, second = Solver(table=table), Solver(table=table)
    assert first.table is second.table is table
    assert first.score_many(late[0]).tolist() == late[1]
    assert second.score_many(late[0]).tolist() == late[1]
    assert second.counters.nodes < first.counters.nodes / 4


# --- threads and interrupts -----------------------------------------------------------------------


@pytest.mark.parametrize("mb", [1, 16])
def test_threads_on_one_table_give_the_right_scores(late: tuple[Keys, list[int]], mb: int) -> None:
    """Four threads start together, each in an order of its own, and write to the same buckets."""
    keys, scores = late
    table, start = Table(mb), threading.Barrier(4)

    def solve(seed: int) -> list[bool]:
        solver, order = Solver(table=table), np.random.default_rng(seed).permutation(len(keys))
        start.wait()
        found = solver.score_many(keys[order])
        return [score == scores[i] for i, score in zip(order, found.tolist(), strict=True)]

    with ThreadPoolExecutor(4) as pool:
        for right in pool.map(solve, range(4)):
            assert all(right)
            assert len(right) == len(keys)


def test_threads_that_share_one_solver_wait_for_each_other(late: tuple[Keys, list[int]]) -> None:
    keys, scores = late
    solver = Solver(16)
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda i: solver.score_many(keys[i::4]).tolist(), range(4)))
    assert parts == [scores[i::4] for i in range(4)]


@pytest.fixture
def python_interrupts() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt, whatever runs the tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


#: Searches that take from half a minute to hours, one position or many.
LONG_SEARCHES: dict[str, Callable[[], Keys]] = {
    "one position": lambda: np.array([0], dtype=np.uint64),
    "many positions": lambda: enumerate_ply(7),
}


@pytest.mark.usefixtures("python_interrupts")
@pytest.mark.parametrize("name", LONG_SEARCHES)
def test_ctrl_c_ends_a_long_search_while_other_threads_run(
    name: str, late: tuple[Keys, list[int]]
) -> None:
    """Another Python thread sees the search under way and sends SIGINT, which ends it.

    That thread can only run if the search has released the GIL: else it would see no node before
    the search has come to its end. Nor could the interrupt come before the search has started.
    """
    keys = LONG_SEARCHES[name]()
    solver = Solver(16)
    seen = []

    def interrupt() -> None:
        while (nodes := solver.counters.nodes) == 0:
            pass
        seen.append(nodes)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        solver.score_many(keys)
    thread.join()
    # About a second's work at the most, of minutes; the rest of the machine may be busy.
    assert solver.counters.nodes - seen[0] < 30_000_000
    assert solver.score_many(late[0]).tolist() == late[1]


# --- variants -------------------------------------------------------------------------------------


def test_the_best_variant_is_the_default_and_a_portable_one_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert variants()[-1] in ("v2", "generic")
    monkeypatch.delenv("PLYMILL_VARIANT", raising=False)
    assert type(Solver(1)._kernel) is type(Solver(1, variant=variants()[0])._kernel)
    monkeypatch.setenv("PLYMILL_VARIANT", variants()[-1])
    assert type(Solver(1)._kernel) is type(Solver(1, variant=variants()[-1])._kernel)


def test_all_variants_agree_on_scores_and_nodes(late: tuple[Keys, list[int]]) -> None:
    """Vector or scalar look-ahead: the same search, node for node, warm and cold, one or many."""
    keys, scores = late
    counts = {}
    for variant in variants():
        solver = Solver(4, variant=variant)
        assert solver.score_many(keys).tolist() == scores
        solver.score_many(keys[::3], outcomes=True)
        solver.reset()
        for key in keys[::2]:
            solver.score_many([key])
        counters = solver.counters
        counts[variant] = (counters.nodes, counters.table_probes, counters.table_hits)
    assert len(set(counts.values())) == 1, counts


@pytest.mark.skipif(len(variants()) < 2, reason="only one variant of the search runs here")
def test_variants_can_share_a_table(late: tuple[Keys, list[int]]) -> None:
    keys, scores = late
    table = Table(4)
    for variant in (*variants(), *variants()[::-1]):
        assert Solver(table=table, variant=variant).score_many(keys).tolist() == scores


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("ask", [Solver.score, Solver.scores, Solver.outcome, Solver.best_moves])
@pytest.mark.parametrize(("moves", "winner"), [("1212121", 1), ("71212121", 2)])
def test_a_decided_position_is_refused(
    ask: Callable[[Solver, Position | str], object], moves: str, winner: int
) -> None:
    for position in (moves, Position(moves), Position.from_key(Position(moves).key)):
        with pytest.raises(SolverError, match=f"is over: player {winner} has won"):
            ask(Solver(1), position)


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ([0, 2], "key 2 at index 1 is no position of the board"),
        ([0, 1 << 49], f"key {1 << 49} at index 1 is no position"),
        ([127], "key 127 at index 0 is no position"),
        ([Position("4").key, Position("1212121").key], "at index 1 is a position that a player"),
    ],
)
def test_bad_keys_are_refused_before_any_search(keys: list[int], says: str) -> None:
    solver = Solver(1)
    with pytest.raises(SolverError, match=says):
        solver.score_many(keys)
    assert solver.counters.nodes == 0


@pytest.mark.parametrize("mb", [0, -1, 2**31])
def test_a_table_without_size_is_refused(mb: int) -> None:
    for make in (Table, Solver):
        with pytest.raises(SolverError, match=f"table size is {mb} MiB, expected 1 to"):
            make(mb)


@pytest.mark.parametrize(
    ("mb", "rounded"), [(1, 1), (3, 2), (63, 32), (64, 64), (2048, 2048), (4096, 4096)]
)
def test_table_sizes_are_rounded_down_to_a_power_of_two(mb: int, rounded: int) -> None:
    table = Table(mb)
    assert table.nbytes == rounded << 20
    assert table.filled() == 0
    assert repr(table) == f"Table(mb={rounded})"


def test_an_unknown_variant_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    says = "search variant 'v9' does not run here, expected one of .*" + variants()[-1]
    with pytest.raises(SolverError, match=says):
        Solver(1, variant="v9")
    monkeypatch.setenv("PLYMILL_VARIANT", "v9")
    with pytest.raises(SolverError, match=r"variant 'v9' \(from PLYMILL_VARIANT\) does not run"):
        Solver(1)


def test_a_variant_that_the_processor_lacks_is_not_offered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("plymill.solver.dispatch.supported_levels", list)
    assert variants() == [variants()[-1]]
    if "v2" in variants():
        with pytest.raises(SolverError, match="search variant 'v3' does not run here"):
            Solver(1, variant="v3")


def test_solver_errors_are_what_the_command_line_can_print() -> None:
    assert issubclass(SolverError, PlymillError)
    assert issubclass(SolverError, ValueError)
    assert set(plymill.solver.__all__) >= {"Solver", "Table", "enumerate_ply", "solve"}
