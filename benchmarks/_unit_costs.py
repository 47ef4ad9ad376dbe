"""What the units of the 12-ply layer cost, measured in samples; `scaling_simulated.py` computes on.

Run it to measure anew (some 6 minutes of one core; processor time, so that a busy machine does
little harm); the figures go to ``unit_costs.json`` beside it.

* ``difficulty``: of each stretch of 10,000 positions in the order of a real job, the seconds that
  a random position takes with an empty table: how units differ.
* ``warming``: seconds a position, by how many positions a fresh table has seen, in steps of 500:
  what a worker loses where it begins anew. The mean of several places.
"""

import json
import time
from pathlib import Path

import numpy as np

from plymill.solver import Solver, enumerate_ply, locality_order

FILE = Path(__file__).with_name("unit_costs.json")
STRETCH = 10_000
STEP = 500
_SAMPLE = 12
_PLACES = 8
_STEPS = 24


def main() -> None:
    keys = enumerate_ply(12)
    ordered = keys[locality_order(keys)]
    random = np.random.default_rng(12)
    difficulty = []
    for start in range(0, len(ordered), STRETCH):
        stretch = ordered[start : start + STRETCH]
        sample = random.choice(stretch, size=min(_SAMPLE, len(stretch)), replace=False)
        begun = time.thread_time()
        for key in sample:
            Solver(table_mb=2).score_many(np.array([key]))
        difficulty.append(round((time.thread_time() - begun) / len(sample), 6))
    warming = np.zeros(_STEPS)
    for place in range(_PLACES):
        first = int((place + 0.5) * len(ordered) / _PLACES)
        solver = Solver(table_mb=256)
        for step in range(_STEPS):
            part = ordered[first + step * STEP : first + (step + 1) * STEP]
            begun = time.thread_time()
            solver.score_many(part)
            warming[step] += (time.thread_time() - begun) / STEP / _PLACES
    figures = {
        "positions": len(ordered),
        "difficulty": difficulty,
        "warming": [round(float(seconds), 6) for seconds in warming],
    }
    FILE.write_text(json.dumps(figures) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
