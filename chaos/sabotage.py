"""A job whose workers lie when a file says so."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from plymill.cluster import Job, JobSpec, Plan, Receipt, RunStore, Unit
from plymill.cluster.job import Stage, Worker
from plymill.cluster.storage.unitfile import Arrays, arrays_digest

LIAR = "liar"


@dataclass(frozen=True)
class Sabotaged:
    """A `Job` that does what another does.

    Attributes:
        job: the other.
        control: a folder; the file ``liar`` there names the worker that solves wrongly.
    """

    job: Job
    control: Path

    @property
    def spec(self) -> JobSpec:
        """See `Job.spec`."""
        return self.job.spec

    def plan(self, store: RunStore) -> Plan:
        """See `Job.plan`."""
        return self.job.plan(store)

    def extend(self, store: RunStore, plan: Plan) -> Plan | None:
        """See `Job.extend`."""
        return self.job.extend(store, plan)

    def make_worker(self, store: RunStore, name: str, threads: int) -> Worker:
        """See `Job.make_worker`; the worker is one that may lie."""
        path = self.control / LIAR
        lying = LyingStore(store, lambda: path.exists() and path.read_text() == name)
        return MaybeLiar(self.job.make_worker(lying, name, threads), lying)

    def worker_memory(self, threads: int) -> int:
        """See `Job.worker_memory`."""
        return self.job.worker_memory(threads)

    @property
    def task_memory(self) -> int:
        """See `Job.task_memory`."""
        return self.job.task_memory

    @property
    def stages(self) -> Sequence[Stage]:
        """See `Job.stages`."""
        return self.job.stages

    def provenance_files(self, store: RunStore, plan: Plan) -> Mapping[str, bytes]:
        """See `Job.provenance_files`."""
        return self.job.provenance_files(store, plan)

    def page(
        self, store: RunStore, manifest: Mapping[str, Any], provenance: Mapping[str, Any]
    ) -> str:
        """See `Job.page`."""
        return self.job.page(store, manifest, provenance)


class LyingStore(RunStore):
    """The files of a run, as a faulty processor writes them: sound to look at, but wrong.

    Args:
        store: the same files.
        lies: whether to lie at the moment.
    """

    def __init__(self, store: RunStore, lies: Callable[[], bool]) -> None:
        self.run_id = store.run_id
        self.files = store.files
        self._lies = lies
        self.lies_told: dict[int, Receipt] = {}

    def write_unit(
        self,
        unit: Unit,
        arrays: Arrays,
        receipt: Receipt,
        *,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        """See `RunStore.write_unit`."""
        if self._lies():
            arrays = altered(arrays)
            receipt = replace(receipt, digest=arrays_digest(arrays))
            self.lies_told[unit.index] = receipt
        super().write_unit(unit, arrays, receipt, details=details)


class MaybeLiar:
    """A worker that stands by the lies that its store has told; as an auditor it is honest."""

    def __init__(self, worker: Worker, store: LyingStore) -> None:
        self._worker = worker
        self._store = store

    def run(self, unit: Unit) -> Receipt:
        """See `Worker.run`."""
        receipt = self._worker.run(unit)
        return self._store.lies_told.pop(unit.index, receipt)

    def audit(self, unit: Unit) -> str:
        """See `Worker.audit`."""
        return self._worker.audit(unit)


def altered(arrays: Arrays) -> Arrays:
    """The same arrays with one bit of the last value of the last one flipped."""
    name = max(name for name in arrays if len(arrays[name]))
    wrong = np.array(arrays[name])
    wrong.view(np.uint8)[-1] ^= 1
    return {**arrays, name: wrong}
