"""Solves an even part of a run's units, as a bare process: ``_part.py STORE RUN TABLE_MB PART OF``.

Prints one JSON object: the seconds of solving, how many positions it were, and the sum of their
scores. Units are taken in the order of the plan, with one table, and nothing is stored.
"""

import json
import sys
import time

from plymill.cluster import RunStore
from plymill.solver import Solver


def main(url: str, run_id: str, table_mb: int, part: int, of: int) -> None:
    store = RunStore.open(url, run_id)
    plan = store.read_plan()
    assert plan is not None
    first, end = (len(plan.units) * number // of for number in (part, part + 1))
    inputs = [store.read_input(unit)["keys"] for unit in plan.units[first:end]]
    solver = Solver(table_mb=table_mb)
    total = 0
    start = time.perf_counter()
    for keys in inputs:
        total += int(solver.score_many(keys).sum(dtype=int))
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "items": sum(map(len, inputs)), "total": total}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
