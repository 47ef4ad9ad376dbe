"""What the job system costs: a run on local Ray with two threads, against two bare threads.

The peer is the strictest there is: two threads of one process that share one table, as the
worker's do, and take the same units from a queue, with no store, no Ray and no receipts. Ours is
the time from the worker's start to the last unit settled; the whole run is told beside it.
Of that time, ``busy_percent`` is the share of the processors that the worker's threads used for
solving, and ``in_units_percent`` the share that they were at work on a unit by the clock: it tells
the overhead even where other programs disturb the comparison.
"""

import tempfile
import threading
import time
from queue import Empty, SimpleQueue
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from _harness import Comparison, parser, show
from plymill.cluster import Plan, RunOptions, RunStore, load_run
from plymill.solver import Solver, Table
from plymill.workers import BookJob, run_job

THREADS = 2
Scores = dict[int, npt.NDArray[np.int8]]


class Turn(NamedTuple):
    """Seconds of both, and how much was solved and compared."""

    ours: float
    peer: float
    whole_run: float
    busy: float
    in_units: float
    units: int
    checked: int


def bare(plan: Plan, inputs: list[npt.NDArray[np.uint64]], table_mb: int) -> tuple[float, Scores]:
    """Seconds and scores of the units, solved by threads that do nothing else."""
    table = Table(table_mb)
    queue: SimpleQueue[int] = SimpleQueue()
    scores: Scores = {}
    for unit in plan.units:
        queue.put(unit.index)

    def work() -> None:
        solver = Solver(table=table)
        while True:
            try:
                index = queue.get_nowait()
            except Empty:
                return
            scores[index] = solver.score_many(inputs[index])

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - start, scores


def on_ray(spec: BookJob, url: str, table_mb: int) -> tuple[float, float, float, float]:
    """Seconds of solving and of the whole run; the shares of processor and wall time of units."""
    start = time.perf_counter()
    run_job(spec, url, options=RunOptions(threads=THREADS, table_mb=table_mb))
    whole = time.perf_counter() - start
    times = {line["event"]: line["time"] for line in RunStore.open(url, spec.run_id).read_events()}
    solving = times["all units settled"] - times["worker joined"]
    units = load_run(url, spec.run_id).provenance
    assert units is not None
    busy, in_units = (
        sum(unit[seconds] for unit in units["units"]) / (THREADS * solving)
        for seconds in ("processor_seconds", "seconds")
    )
    return solving, whole, busy, in_units


def turn(spec: BookJob, table_mb: int) -> Turn:
    """Both once, with all scores compared."""
    with tempfile.TemporaryDirectory() as url:
        ours, whole_run, busy, in_units = on_ray(spec, url, table_mb)
        store = RunStore.open(url, spec.run_id)
        plan = store.read_plan()
        assert plan is not None
        inputs = [store.read_input(unit)["keys"] for unit in plan.units]
        peer, scores = bare(plan, inputs, table_mb)
        for unit in plan.units:
            arrays, _ = store.read_unit(unit)
            order = np.argsort(inputs[unit.index])
            np.testing.assert_array_equal(arrays["scores"], scores[unit.index][order])
    return Turn(ours, peer, whole_run, busy, in_units, len(plan.units), plan.items)


def main() -> None:
    command = parser(__doc__)
    command.add_argument("--opening", default="4444", help="positions that follow it")
    command.add_argument("--table-mb", type=int, default=256)
    command.add_argument(
        "--repeat", type=int, default=2, help="turns; the best time of each counts"
    )
    arguments = command.parse_args()
    spec = BookJob(opening=arguments.opening, audit_fraction=0.0, validate_sample=0)
    turns = [turn(spec, arguments.table_mb) for _ in range(arguments.repeat)]
    ours = min(turn.ours for turn in turns)
    peer = min(turn.peer for turn in turns)
    result = Comparison(
        claim=f"Solving {turns[0].units} units on local Ray with {THREADS} threads",
        ours=ours,
        peer=peer,
        unit="s",
        larger_is_better=False,
        checked=turns[0].checked,
        extra={
            "longer_percent": round(100 * (ours / peer - 1), 1),
            "busy_percent": round(100 * max(turn.busy for turn in turns), 1),
            "in_units_percent": round(100 * max(turn.in_units for turn in turns), 1),
            "whole_run_s": round(min(turn.whole_run for turn in turns), 1),
        },
    )
    show(result, as_json=arguments.json)


if __name__ == "__main__":
    main()
