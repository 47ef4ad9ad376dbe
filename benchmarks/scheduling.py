"""What walking in stretches is worth: the same units, dealt to the same workers, at random.

Each worker has a table of its own, as on machines of their own, and solves the units that it gets
in the order in which it gets them. Times are those of one core, summed over the workers.
"""

import time
from random import Random

import numpy as np
import numpy.typing as npt

from _harness import Comparison, parser, show
from plymill.cluster.machine.stretches import Stretches
from plymill.solver import Solver, enumerate_ply, locality_order

Walks = list[list[int]]


def stretches(units: int, workers: int) -> Walks:
    """Who gets what from the scheduler when all units take equally long."""
    rest = Stretches(range(units))
    walks: Walks = [[] for _ in range(workers)]
    for turn in range(units):
        unit = rest.take(str(turn % workers))
        assert unit is not None
        walks[turn % workers].append(unit)
    return walks


def at_random(units: int, workers: int) -> Walks:
    """The same number of units for each worker, dealt at random."""
    dealt = Random(1).sample(range(units), units)
    return [dealt[worker::workers] for worker in range(workers)]


def solve(
    keys: list[npt.NDArray[np.uint64]], walks: Walks, table_mb: int
) -> tuple[float, int, dict[int, npt.NDArray[np.int8]]]:
    """Seconds of one core, nodes searched, and the scores by unit."""
    scores: dict[int, npt.NDArray[np.int8]] = {}
    seconds, nodes = 0.0, 0
    for walk in walks:
        solver = Solver(table_mb)
        for unit in walk:
            start = time.thread_time()
            scores[unit] = solver.score_many(keys[unit])
            seconds += time.thread_time() - start
        nodes += solver.counters.nodes
    return seconds, nodes, scores


def main() -> None:
    command = parser(__doc__)
    command.add_argument("--opening", default="444443", help="positions that follow it")
    command.add_argument("--workers", type=int, default=4)
    command.add_argument("--units", type=int, default=64)
    command.add_argument("--table-mb", type=int, default=64)
    arguments = command.parse_args()
    keys = enumerate_ply(12, arguments.opening)
    parts = np.array_split(keys[locality_order(keys)], arguments.units)
    ours, our_nodes, scores = solve(
        parts, stretches(arguments.units, arguments.workers), arguments.table_mb
    )
    peer, peer_nodes, others = solve(
        parts, at_random(arguments.units, arguments.workers), arguments.table_mb
    )
    for unit in range(arguments.units):
        np.testing.assert_array_equal(scores[unit], others[unit])
    result = Comparison(
        claim=f"Solving with {arguments.workers} workers that walk in stretches, not at random",
        ours=ours,
        peer=peer,
        unit="core seconds",
        larger_is_better=False,
        checked=len(keys),
        extra={"nodes_ratio": round(peer_nodes / our_nodes, 3), "units": arguments.units},
    )
    show(result, as_json=arguments.json)


if __name__ == "__main__":
    main()
