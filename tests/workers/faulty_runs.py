"""Runs that are driven into trouble: workers that go wrong, drivers in processes of their own."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ray
from ray.cluster_utils import Cluster

from plymill.cluster import Coordinator, Receipt, RunOptions, RunStore, Unit
from plymill.cluster.on_ray.executor import RayExecutor
from plymill.solver import Solver
from plymill.workers import BookJob, BookRun
from plymill.workers.actor import UnitActor
from plymill.workers.book_worker import BookWorker

OPTIONS = RunOptions(table_mb=16, report_every=0.05)

_PIECE = 32 * 2**20


class WrongWorker(BookWorker):
    """Its processor adds one to a score of each unit, once it has solved a few."""

    notes: Path
    right: int | None
    crowd: int

    def run(self, unit: Unit) -> Receipt:
        self._wait_for_the_others()
        receipt = super().run(unit)
        (self.notes / f"{self._name} {unit.name}").touch()
        return receipt

    def _wait_for_the_others(self) -> None:
        """Where only two disagree there is no judge, and the one who is right may be retired."""
        here = self.notes / "here"
        here.mkdir(exist_ok=True)
        (here / self._name).touch()
        deadline = time.monotonic() + 120
        while len(list(here.iterdir())) < self.crowd and time.monotonic() < deadline:
            time.sleep(0.05)

    def _solve(self, unit: Unit, solver: Solver) -> dict[str, Any]:
        arrays = super()._solve(unit, solver)
        if self.right is not None:
            self.right -= 1
            if self.right < 0:
                arrays["scores"][0] += 1
        return arrays


class WrongRun(BookRun):
    """One node computes wrongly.

    Args:
        spec: the job.
        options: as for `BookRun`.
        node: the beginning of its name.
        right: how many units it still solves well.
        notes: a folder for the names of the units that each worker has stored.
        crowd: how many workers there are to be before the first unit is solved.
    """

    def __init__(
        self, spec: BookJob, options: RunOptions, *, node: str, right: int, notes: Path, crowd: int
    ) -> None:
        super().__init__(spec, options)
        self._node, self._right, self._notes, self._crowd = node, right, notes, crowd

    def make_worker(self, store: RunStore, name: str, threads: int) -> BookWorker:
        worker = WrongWorker(self.spec, store, name, threads=threads, table_mb=16)
        worker.notes, worker.crowd = self._notes, self._crowd
        worker.right = self._right if name.startswith(self._node) else None
        return worker


class HungryWorker(BookWorker):
    """Takes all the memory that it can get in the middle of a unit, until it is stopped."""

    unit: int
    marker: Path
    most: int

    def run(self, unit: Unit) -> Receipt:
        if unit.index == self.unit and not self.marker.exists():
            self.marker.touch()
            taken: list[bytes] = []
            while len(taken) * _PIECE < self.most:
                taken.append(b"\1" * _PIECE)
                time.sleep(0.02)
            time.sleep(20)  # the monitor looks ten times a second
        return super().run(unit)


class HungryRun(BookRun):
    """One unit takes too much memory, the first time that it is tried.

    Args:
        spec: the job.
        options: as for `BookRun`.
        unit: which.
        marker: a file that is not there yet.
        most: bytes at which it stops all the same, for the sake of the machine.
    """

    def __init__(
        self, spec: BookJob, options: RunOptions, *, unit: int, marker: Path, most: int
    ) -> None:
        super().__init__(spec, options)
        self._unit, self._marker, self._most = unit, marker, most

    def make_worker(self, store: RunStore, name: str, threads: int) -> BookWorker:
        worker = HungryWorker(self.spec, store, name, threads=threads, table_mb=16)
        worker.unit, worker.marker, worker.most = self._unit, self._marker, self._most
        return worker


@contextmanager
def sent_along() -> Iterator[None]:
    """Ray's workers cannot import the tests: this module travels with what it defines."""
    cloudpickle: Any = ray.cloudpickle
    module = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        cloudpickle.unregister_pickle_by_value(module)


DRIVER = """
import sys
from plymill.cluster import RunOptions
from plymill.workers import resume_run
run_id, url, address = sys.argv[1:]
resume_run(run_id, url, address=address, options=RunOptions(
    table_mb=16, report_every=0.05, allow_insecure=True))
"""


def node_ids(cluster: Cluster) -> set[str]:
    head: Any = cluster.head_node
    return {head.node_id, *(node.node_id for node in cluster.worker_nodes)}


def events(url: str, run_id: str, name: str) -> list[dict[str, Any]]:
    return [line for line in RunStore.open(url, run_id).read_events() if line["event"] == name]


def drive(run: Any, url: str) -> Any:
    """Carry out a job of our own on the cluster that this process is connected to."""
    store = RunStore.open(url, run.spec.run_id)
    with sent_along():
        executor = RayExecutor(run, store, UnitActor, threads=None)
        return Coordinator(run, store, executor, options=OPTIONS).run()


def start_driver(
    job: BookJob, url: str, address: str, environment: dict[str, str]
) -> subprocess.Popen[str]:
    RunStore.open(url, job.run_id).write_spec(job)
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, job.run_id, url, address],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def wait_for_units(driver: subprocess.Popen[str], store: RunStore, count: int) -> None:
    deadline = time.monotonic() + 120
    while len(store.finished_units()) < count:
        assert driver.poll() is None, f"the driver has ended early: {driver.communicate()[0]}"
        assert time.monotonic() < deadline, "the driver does not come to work"
        time.sleep(0.01)
