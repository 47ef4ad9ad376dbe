"""Cold solves of single positions, plymill and bitbully in turn, position by position."""

import time

import numpy as np

from _harness import Comparison
from _positions import Bitbully, Keys, Scores
from plymill.solver import Solver


def compare_cold(
    claim: str, keys: Keys, table_mb: int, expected: Scores | None = None
) -> Comparison:
    """Mean milliseconds of processor time of a cold solve, ours and bitbully's.

    The two take turns, so that a change of the machine's speed meets both alike.
    """
    solver, peer = Solver(table_mb), Bitbully()
    ours = theirs = 0.0
    scores = np.empty(len(keys), dtype=np.int8)
    for i in range(len(keys)):
        solver.reset()
        start = time.thread_time()
        scores[i] = solver.score_many(keys[i : i + 1])[0]
        ours += time.thread_time() - start
        answer, seconds = peer.solve(keys[i : i + 1])
        theirs += seconds
        if answer[0] != scores[i]:
            raise AssertionError(f"key {keys[i]}: {scores[i]}, bitbully says {answer[0]}")
    if expected is not None and not np.array_equal(scores, expected):
        raise AssertionError("scores differ from the published book's")
    return Comparison(
        claim=claim,
        ours=1e3 * ours / len(keys),
        peer=1e3 * theirs / len(keys),
        unit="ms a position",
        larger_is_better=False,
        checked=len(keys),
        extra={
            "nodes_a_position": round(solver.counters.nodes / len(keys)),
            "million_nodes_a_second": round(solver.counters.nodes / ours / 1e6, 2),
        },
    )
