"""Two workers against one: the same run on real clusters of one machine, of one thread each.

The clusters are those of ``deploy/local-cluster.sh``: every worker is a node of its own, with a
table of its own, as on two machines. One worker's time, halved, is the peer: the ratio is the
efficiency. Solving alone is timed, from the first worker's start to the last unit settled.

Two tables know less than one, whoever fills them. How much that costs is told by ``bare``: the
efficiency of two processes that do nothing but solve half of the same units each, with a table of
its own. Where other programs disturb, ``by_processor`` tells more than the clock: the share of the
time that threads were at work on a unit, times how little more processor time the same units took.
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from _harness import Comparison, parser, show
from plymill.cluster import RunStore, load_run

SCRIPT = Path(__file__).parents[1] / "deploy" / "local-cluster.sh"
PART = Path(__file__).with_name("_part.py")


@dataclass(frozen=True)
class Turn:
    """Seconds of one run, and what came out."""

    solving: float
    processor: float
    in_units: float
    start: float
    units: int
    items: int
    digests: dict[int, str]
    run_id: str


def on_cluster(workers: int, arguments: list[str], store: str) -> Turn:
    """Carry out the run on a cluster of so many workers."""
    with tempfile.TemporaryDirectory(prefix="plymill-") as folder:
        environment = {
            **os.environ,
            "PLYMILL_CLUSTER_DIR": f"{folder}/cluster",
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }
        script = [str(SCRIPT)]
        subprocess.run(
            [*script, "start", "--nodes", str(workers)],
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        try:
            told = subprocess.run(
                [*script, "env"], env=environment, check=True, capture_output=True, text=True
            ).stdout
            for line in told.splitlines():
                name, _, value = line.removeprefix("export ").partition("=")
                environment[name] = value.strip("'")
            command = [sys.executable, "-m", "plymill", "book", "build", *arguments, "--json"]
            done = subprocess.run(
                [*command, "--store", store, "--address", environment["RAY_ADDRESS"]],
                env=environment,
                check=False,
                capture_output=True,
                text=True,
            )
            if done.returncode:
                raise SystemExit(done.stderr[-2000:])
        finally:
            subprocess.run([*script, "stop"], env=environment, check=True)
        return read(store, json.loads(done.stdout)["run_id"], workers)


def read(store: str, run_id: str, workers: int) -> Turn:
    """The figures of a finished run."""
    first: dict[str, float] = {}
    for event in RunStore.open(store, run_id).read_events():
        first.setdefault(event["event"], event["time"])
    provenance = load_run(store, run_id).provenance
    assert provenance is not None
    units = provenance["units"]
    solving = first["all units settled"] - first["worker joined"]
    plan = RunStore.open(store, run_id).read_plan()
    assert plan is not None
    return Turn(
        solving=solving,
        processor=sum(unit["processor_seconds"] for unit in units),
        in_units=sum(unit["seconds"] for unit in units) / (workers * solving),
        start=first["worker joined"] - first["node joined"],
        units=len(units),
        items=plan.items,
        digests={unit["unit"]: unit["digest"] for unit in units},
        run_id=run_id,
    )


def bare(turn: Turn, store: str, table_mb: int, processes: int) -> tuple[float, int]:
    """Seconds of the slowest of so many bare processes, and the sum of all scores."""
    words = [sys.executable, str(PART), store, turn.run_id, str(table_mb)]
    there = [
        subprocess.Popen([*words, str(part), str(processes)], stdout=subprocess.PIPE, text=True)
        for part in range(processes)
    ]
    told = [json.loads(process.communicate()[0]) for process in there]
    assert sum(each["items"] for each in told) == turn.items
    return max(each["seconds"] for each in told), sum(each["total"] for each in told)


def main() -> None:
    command = parser(__doc__)
    command.add_argument("--opening", default="4444", help="positions that follow it")
    command.add_argument("--table-mb", type=int, default=256)
    options = command.parse_args()
    flags = ["--opening", options.opening, "--table-mb", str(options.table_mb)]
    flags += ["--audit-fraction", "0", "--validate-sample", "0"]
    with tempfile.TemporaryDirectory(prefix="plymill-") as folder:
        stores = [f"{folder}/{workers}" for workers in (1, 2)]
        one, two = (on_cluster(1, flags, stores[0]), on_cluster(2, flags, stores[1]))
        alone, both = (bare(one, stores[0], options.table_mb, count) for count in (1, 2))
    assert one.digests == two.digests
    assert alone[1] == both[1]
    by_processor = one.processor / two.processor * two.in_units / one.in_units
    result = Comparison(
        claim="Solving with two workers of one thread each, against half of one worker's time",
        ours=two.solving,
        peer=one.solving / 2,
        unit="s",
        larger_is_better=False,
        checked=one.items,
        extra={
            "bare": round(alone[0] / both[0] / 2, 3),
            "bare_s": [round(alone[0], 1), round(both[0], 1)],
            "by_processor": round(by_processor, 3),
            "processor_s": [round(turn.processor, 1) for turn in (one, two)],
            "in_units_percent": [round(100 * turn.in_units, 1) for turn in (one, two)],
            "start_s": [round(turn.start, 1) for turn in (one, two)],
            "units": one.units,
        },
    )
    show(result, as_json=options.json)


if __name__ == "__main__":
    main()
