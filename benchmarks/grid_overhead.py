"""What the job system costs a grid: local Ray with two threads, against two bare processes.

The peer is the strictest there is: two processes that play the same units with the same function,
taken from a queue, with no store, no Ray and no receipts; they have started and warmed up before
their time begins. Ours is the time from the worker's start to the last unit settled; the whole run
is told beside it. Of that time, ``busy_percent`` is the share of the processors that the worker's
threads used for playing, and ``in_units_percent`` the share that they were at work on a unit by the
clock: it tells the overhead even where other programs disturb the comparison.
"""

import multiprocessing as mp
import tempfile
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from _harness import Comparison, parser, show
from plymill.cluster import RunOptions, RunStore, load_run
from plymill.matches.grids import Stretch, parse_iterations
from plymill.players import MatchTask, play_uct_matches
from plymill.workers import GridJob, run_job
from plymill.workers.match_plan import unpack_stretches

PROCESSES = 2
Moves = dict[int, bytes]


class Turn(NamedTuple):
    """Seconds of both, and how much was played and compared."""

    ours: float
    peer: float
    whole_run: float
    busy: float
    in_units: float
    units: int
    checked: int


def play(spec: GridJob, stretches: Sequence[Stretch]) -> bytes:
    """The moves of a unit's matches, one after the other."""
    tasks = [
        MatchTask(stretch.cell, match, *spec.sides(spec.cells[stretch.cell]))
        for stretch in stretches
        for match in range(stretch.start, stretch.stop)
    ]
    return bytes(play_uct_matches(spec.rules, tasks, spec.seed).moves.tobytes())


def bare_process(
    spec: GridJob, units: list[list[Stretch]], queue: Any, start: Any, out: Any
) -> None:
    """Plays units until the queue is empty."""
    play(spec, [Stretch(0, 0, 1)])
    start.wait()
    while (index := queue.get()) is not None:
        out.put((index, play(spec, units[index])))
    out.put(None)


def bare(spec: GridJob, units: list[list[Stretch]]) -> tuple[float, Moves]:
    """Seconds and moves of the units, played by processes that do nothing else."""
    context = mp.get_context("spawn")
    queue, out, start = context.Queue(), context.Queue(), context.Barrier(PROCESSES + 1)
    for index in [*range(len(units)), *[None] * PROCESSES]:
        queue.put(index)
    processes = [
        context.Process(target=bare_process, args=(spec, units, queue, start, out))
        for _ in range(PROCESSES)
    ]
    for process in processes:
        process.start()
    start.wait()
    began = time.perf_counter()
    moves: Moves = {}
    left = PROCESSES
    while left:
        if (played := out.get()) is None:
            left -= 1
        else:
            moves[played[0]] = played[1]
    seconds = time.perf_counter() - began
    for process in processes:
        process.join()
    return seconds, moves


def on_ray(spec: GridJob, url: str) -> tuple[float, float, float, float]:
    """Seconds of playing and of the whole run; the shares of processor and wall time of units."""
    start = time.perf_counter()
    run_job(spec, url, options=RunOptions(threads=PROCESSES))
    whole = time.perf_counter() - start
    times = {line["event"]: line["time"] for line in RunStore.open(url, spec.run_id).read_events()}
    playing = times["all units settled"] - times["worker joined"]
    provenance = load_run(url, spec.run_id).provenance
    assert provenance is not None
    busy, in_units = (
        sum(unit[seconds] for unit in provenance["units"]) / (PROCESSES * playing)
        for seconds in ("processor_seconds", "seconds")
    )
    return playing, whole, busy, in_units


def turn(spec: GridJob) -> Turn:
    """Both once, with the moves of all matches compared."""
    with tempfile.TemporaryDirectory() as url:
        ours, whole_run, busy, in_units = on_ray(spec, url)
        store = RunStore.open(url, spec.run_id)
        plan = store.read_plan()
        assert plan is not None
        units = [unpack_stretches(store.read_input(unit)) for unit in plan.units]
        peer, moves = bare(spec, units)
        for unit in plan.units:
            arrays, _ = store.read_unit(unit)
            assert sorted_moves(arrays, units[unit.index]) == moves[unit.index]
    return Turn(ours, peer, whole_run, busy, in_units, len(plan.units), plan.items)


def sorted_moves(arrays: dict[str, Any], stretches: Sequence[Stretch]) -> bytes:
    """The moves of a stored unit, which are sorted by id, in the order of its stretches."""
    ends = np.cumsum(arrays["length"], dtype=np.int64)
    ids = zip(arrays["cell"].tolist(), arrays["match"].tolist(), strict=True)
    place = {match: index for index, match in enumerate(ids)}
    order = [place[s.cell, match] for s in stretches for match in range(s.start, s.stop)]
    return b"".join(
        arrays["moves"][end - length : end].tobytes()
        for end, length in zip(ends[order], arrays["length"][order].astype(int), strict=True)
    )


def main() -> None:
    command = parser(__doc__)
    command.add_argument("--game", default="connect4-8x6")
    command.add_argument("--iterations", default="10..10240", help="of both players")
    command.add_argument("--samples", type=int, default=150, help="matches in each cell")
    command.add_argument(
        "--repeat", type=int, default=2, help="turns; the best time of each counts"
    )
    arguments = command.parse_args()
    axis = parse_iterations(arguments.iterations)
    spec = GridJob(
        game=arguments.game, first=axis, second=axis, samples=arguments.samples, audit_fraction=0.0
    )
    turns = [turn(spec) for _ in range(arguments.repeat)]
    ours = min(turn.ours for turn in turns)
    peer = min(turn.peer for turn in turns)
    result = Comparison(
        claim=f"Playing {turns[0].units} units of a grid on local Ray with {PROCESSES} threads",
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
