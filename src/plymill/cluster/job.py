"""What a kind of job brings: its plan, its workers and its finishing stages.

The job system calls these and knows nothing else of the job. A job object is small and can be
pickled; it travels to every process that does something for the run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from plymill.cluster.plan import Plan, Unit
from plymill.cluster.spec import JobSpec
from plymill.cluster.storage.receipts import Receipt
from plymill.cluster.storage.store import RunStore


class Worker(Protocol):
    """Solves units. Several threads may call one worker at once."""

    def run(self, unit: Unit) -> Receipt:
        """Solve the unit, store its result, and return the receipt."""

    def audit(self, unit: Unit) -> str:
        """Solve the unit again, with nothing remembered, and return the digest of the result."""


@dataclass(frozen=True, slots=True)
class StageContext:
    """What a finishing stage may use.

    Attributes:
        store: the run's files.
        plan: the run's units, all of them finished.
        scratch: an empty local folder, removed afterwards.
        earlier: the results of the stages before, by stage.
        publish: publishes bytes under ``artifacts/``; the file becomes part of the stage's record.
    """

    store: RunStore
    plan: Plan
    scratch: Path
    earlier: Mapping[str, Any]
    publish: Callable[[str, bytes], None]


@dataclass(frozen=True, slots=True)
class Stage:
    """A step that turns finished units into artefacts.

    Attributes:
        name: names the stage's record.
        run: does it; what it returns (JSON) is kept for later stages and for the result.
    """

    name: str
    run: Callable[[StageContext], Mapping[str, Any]]


class Job(Protocol):
    """A kind of job with its spec."""

    @property
    def spec(self) -> JobSpec:
        """What was asked."""

    def plan(self, store: RunStore) -> Plan:
        """Write the inputs of all units to the store and return the plan. Same spec, same plan."""

    def extend(self, store: RunStore, plan: Plan) -> Plan | None:
        """What follows from the results of all units of the plan, each of them in the store.

        Returns:
            A plan with further units behind those of ``plan`` (see `Plan.extended`), their inputs
            written; None if nothing is left to do. A function of the spec and the results alone.
        """

    def make_worker(self, store: RunStore, name: str, threads: int) -> Worker:
        """A worker called ``name``, for ``threads`` calls at a time."""

    def worker_memory(self, threads: int) -> int:
        """Bytes that such a worker needs."""

    @property
    def task_memory(self) -> int:
        """Bytes that planning or one finishing stage needs."""

    @property
    def stages(self) -> Sequence[Stage]:
        """The finishing stages, in order."""

    def provenance_files(self, store: RunStore, plan: Plan) -> Mapping[str, bytes]:
        """Files by name that lie beside ``provenance.json``: what may differ between equal runs."""

    def page(
        self, store: RunStore, manifest: Mapping[str, Any], provenance: Mapping[str, Any]
    ) -> str:
        """The page that shows the finished run, as HTML that needs nothing else."""
