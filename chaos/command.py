"""The command ``python -m chaos --faults 20 --seed 1``; ``make chaos`` calls it."""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import SystemRandom

import chaos
from chaos.attack import Attack
from chaos.bill import Outcome
from chaos.draw import draw
from chaos.jobs import JOBS, SIZES, job
from chaos.kinds import Kind, all_kinds, impossible
from chaos.nodes import Nodes
from chaos.report import Report
from chaos.session import Place, Session, StuckError
from chaos.strikes import store_disk
from plymill.cluster import JobSpec, RunStore
from tests.faults import jumping_clock_environment


def main(words: Sequence[str] | None = None) -> int:
    """Run it; exit code 1 if bytes differ, a fault did not hit, or the run did not end."""
    command = _parser()
    arguments = command.parse_args(words)
    kinds = all_kinds()
    if arguments.only:
        unknown = [name for name in arguments.only if name not in kinds]
        if unknown:
            command.error(f"there is no fault '{unknown[0]}'; expected some of: {', '.join(kinds)}")
        kinds = {name: kinds[name] for name in arguments.only}
    seed = SystemRandom().randrange(10**6) if arguments.seed is None else arguments.seed
    note(f"Seed {seed}; --seed {seed} draws the same faults again.")
    report = Report(job=arguments.job, size=arguments.size, seed=seed)
    with _place(arguments.nodes, keep=arguments.keep) as place:
        report.left_out = impossible(kinds, disk=place.disk is not None)
        possible = {name: kind for name, kind in kinds.items() if name not in report.left_out}
        if not possible:
            command.error("none of these faults is possible here: " + ", ".join(report.left_out))
        run(report, place, possible, arguments.faults)
    print(json.dumps(report.to_json()) if arguments.json else report)
    return 1 if report.failed else 0


def run(report: Report, place: Place, kinds: dict[str, Kind], faults: int) -> None:
    """Carry the job out in peace, then under attack, and fill in the report."""
    spec = job(report.job, report.size)
    folder = place.store
    place.store = folder / "peace"
    peace = _in_peace(report, place, spec)
    place.store = folder / "chaos"
    session = Session(place, spec)
    attack = Attack(session, kinds, _tell)
    report.outcomes = attack.outcomes
    try:
        attack.carry_out(draw(sorted(kinds), faults, report.seed))
        compare(report, peace, session.store)
    except StuckError as stuck:
        report.stuck = str(stuck)
    finally:
        report.disturbed = session.elapsed
        report.starts = session.starts
        session.close()


def _in_peace(report: Report, place: Place, spec: JobSpec) -> RunStore:
    """The reference, on the same cluster and with the same driver."""
    session = Session(place, spec)
    try:
        session.wait(lambda: session.complete, "the undisturbed run ends", seconds=3600)
    finally:
        session.close()
    report.undisturbed = session.elapsed
    finished = session.watch.finished
    place.truth = {each.unit: each.digest for each in finished}
    report.units = len(place.truth)
    report.processor_seconds = sum(each.processor_seconds for each in finished)
    note(f"In peace: {report.units} units, {report.undisturbed:.0f} s.")
    return session.store


def compare(report: Report, expected: RunStore, found: RunStore) -> None:
    """Compare all artefacts byte for byte; their names have to be the same, too."""
    names = set(expected.files.list("artifacts")) | set(found.files.list("artifacts"))
    for name in sorted(names):
        path = f"artifacts/{name}"
        same = (
            expected.files.exists(path)
            and found.files.exists(path)
            and expected.files.read(path) == found.files.read(path)
        )
        report.compared += same
        if not same:
            report.differing.append(name)


@contextmanager
def _place(count: int, *, keep: bool) -> Iterator[Place]:
    """A cluster, and folders for store, logs and control, all of which is removed in the end."""
    folder = Path(tempfile.mkdtemp(prefix="plymill-chaos-"))
    store, logs, control, clock = (folder / name for name in ("store", "logs", "control", "clock"))
    for each in (store, logs, control):
        each.mkdir()
    os.environ.update(jumping_clock_environment(clock))  # of drivers and nodes, not of ourselves
    disk = store_disk(store)
    try:
        nodes = Nodes(count)
        try:
            yield Place(nodes, store, logs, control, clock, disk)
        finally:
            nodes.destroy()
    finally:
        if disk is not None:
            disk.close()
        if keep:
            note(f"What the drivers said is in {logs}.")
        else:
            shutil.rmtree(folder)


def note(text: str) -> None:
    """Say something on standard error, with the time."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def _tell(outcome: Outcome) -> None:
    end = "goes on"
    if outcome.missed:
        end = f"missed, {outcome.missed}"
    elif outcome.recovered is not None:
        end = f"{outcome.recovered:.1f} s"
    note(f"{outcome.share:4.0%} {outcome.kind}: {outcome.victim}; {end}")


def _parser() -> argparse.ArgumentParser:
    command = argparse.ArgumentParser(prog="python -m chaos", description=chaos.__doc__)
    command.add_argument("--job", choices=JOBS, default="book", help="what is disturbed")
    command.add_argument(
        "--size", choices=SIZES, default="large", help="of the job: many faults need a large one"
    )
    command.add_argument("--faults", type=int, default=20, help="how many")
    command.add_argument("--seed", type=int, help="of the faults; any if left out")
    command.add_argument(
        "--only",
        type=lambda text: [name.strip() for name in text.split(",")],
        help="kinds of fault, with commas: " + ", ".join(all_kinds()),
    )
    command.add_argument("--nodes", type=int, default=3, help="nodes that work, one processor each")
    command.add_argument("--keep", action="store_true", help="keep what the drivers said")
    command.add_argument("--json", action="store_true", help="print one JSON object")
    return command
