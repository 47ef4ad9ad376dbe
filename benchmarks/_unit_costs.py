"""What the units of the 12-ply layer cost; `scaling_simulated.py` computes on.

Run it to measure anew how units differ, into ``unit_costs.json`` beside it (some minutes of one
core; processor time, so that a busy machine does little harm): of each stretch of 10,000 positions
in the order of a real job, the seconds that a random position takes with an empty table.

The level, and what a worker loses where it begins anew, follow from three figures of
``solver_layer.py`` on a quiet machine (see docs/performance.md): core-hours for the layer with
tables that have seen 20,000 to 40,000 positions of the place, the first 40,000, or 5,000 to 10,000.
"""

import json
import math
import time
from pathlib import Path

import numpy as np

from plymill.solver import Solver, enumerate_ply, locality_order

FILE = Path(__file__).with_name("unit_costs.json")
STRETCH = 10_000
POSITIONS = 4_200_899
#: Core-hours for the layer, by the positions that the table had seen before and at the end.
MEASURED = {(20_000, 40_000): 3.17, (0, 40_000): 3.59, (5_000, 10_000): 4.37}
#: Core-hours with a table that has seen everything near, how many times as long again the first
#: position takes, and after how many positions that has faded to a third: fits to within 4%.
WARM_CORE_HOURS, EXCESS, FADING = 2.94, 0.75, 13_500
_SAMPLE = 12


def core_hours(seen: int, end: int) -> float:
    """The layer at the pace of the positions from ``seen`` to ``end`` after a fresh start."""
    faded = math.exp(-seen / FADING) - math.exp(-end / FADING)
    return WARM_CORE_HOURS * (1 + EXCESS * FADING * faded / (end - seen))


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
    FILE.write_text(json.dumps({"difficulty": difficulty}) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
