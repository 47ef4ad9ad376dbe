"""Stretches of the 12-ply layer, solved as a job solves them: threads on one table kept warm."""

import threading
import time
from dataclasses import dataclass
from itertools import count

import numpy as np

from _positions import Keys, Scores
from plymill.solver import Solver, Table

CHUNK = 500  # positions a thread takes at a time


@dataclass(frozen=True)
class Stretch:
    """What the measured part of a stretch took, processor time of all threads, and its scores."""

    scores: Scores
    core_seconds: float
    nodes: int


def solve_stretch(keys: Keys, warm: int, threads: int, table_mb: int) -> Stretch:
    """Solves the first ``warm`` positions with an empty table, then measures the others."""
    table = Table(table_mb)
    table.clear()  # the memory is there before the clock starts
    solvers = [Solver(table=table) for _ in range(threads)]
    _solve(solvers, keys[:warm])
    before = sum(solver.counters.nodes for solver in solvers)
    scores, seconds = _solve(solvers, keys[warm:])
    nodes = sum(solver.counters.nodes for solver in solvers) - before
    return Stretch(scores, seconds, nodes)


def _solve(solvers: list[Solver], keys: Keys) -> tuple[Scores, float]:
    scores = np.empty(len(keys), dtype=np.int8)
    chunks = count(0, CHUNK)
    seconds: list[float] = []

    def work(solver: Solver) -> None:
        while (start := next(chunks)) < len(keys):
            scores[start : start + CHUNK] = solver.score_many(keys[start : start + CHUNK])
        seconds.append(time.thread_time())  # a thread of its own, so this is all it has used

    threads = [threading.Thread(target=work, args=(solver,)) for solver in solvers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return scores, sum(seconds)
