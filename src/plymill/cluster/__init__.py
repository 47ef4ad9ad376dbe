"""The job system: specs, plans, run state, store, coordinator, executors. Knows no game."""

from plymill.cluster.coordinator import Coordinator, RunResult
from plymill.cluster.errors import (
    ClusterError,
    CorruptFileError,
    RunFailedError,
    RunInterruptedError,
    RunNotFoundError,
    SpecError,
    StoreError,
    StoreFullError,
)
from plymill.cluster.executor import Executor, LocalExecutor
from plymill.cluster.job import Job, Stage, StageContext, Worker
from plymill.cluster.machine.state import RunState
from plymill.cluster.machine.units import UnitStatus
from plymill.cluster.plan import Plan, Round, Unit
from plymill.cluster.progress import Progress, WorkerFigures
from plymill.cluster.runs import RunInfo, download, list_runs, load_run
from plymill.cluster.spec import JobSpec, RunOptions
from plymill.cluster.storage.files import ArrowFiles, Files, MemoryFiles
from plymill.cluster.storage.receipts import Receipt
from plymill.cluster.storage.store import RunStore

__all__ = [
    "ArrowFiles",
    "ClusterError",
    "Coordinator",
    "CorruptFileError",
    "Executor",
    "Files",
    "Job",
    "JobSpec",
    "LocalExecutor",
    "MemoryFiles",
    "Plan",
    "Progress",
    "Receipt",
    "Round",
    "RunFailedError",
    "RunInfo",
    "RunInterruptedError",
    "RunNotFoundError",
    "RunOptions",
    "RunResult",
    "RunState",
    "RunStore",
    "SpecError",
    "Stage",
    "StageContext",
    "StoreError",
    "StoreFullError",
    "Unit",
    "UnitStatus",
    "Worker",
    "WorkerFigures",
    "download",
    "list_runs",
    "load_run",
]
