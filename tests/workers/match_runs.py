"""Whole runs of match jobs in this process and in memory, without charts unless they are wanted."""

from typing import Any

from plymill.cluster import (
    Coordinator,
    LocalExecutor,
    MemoryFiles,
    Plan,
    RunOptions,
    RunResult,
    RunStore,
)
from plymill.matches.records import Matches
from plymill.workers import MatchJob, make_job
from plymill.workers.match_results import read_attempts


def store_of(spec: MatchJob, files: MemoryFiles) -> RunStore:
    return RunStore(files, spec.run_id)


def play(
    spec: MatchJob, files: MemoryFiles, nodes: dict[str, int] | None = None, **more: Any
) -> RunResult:
    """The run in this process."""
    job, store = make_job(spec, RunOptions()), store_of(spec, files)
    return Coordinator(job, store, LocalExecutor(job, store, nodes), **more).run()


def artifacts(spec: MatchJob, files: MemoryFiles) -> dict[str, bytes]:
    """All artefacts by name."""
    folder = store_of(spec, files).files.sub("artifacts")
    return {name: folder.read(name) for name in folder.list("")}


def played(spec: MatchJob, files: MemoryFiles) -> Matches:
    """The last attempts at all matches, with their moves."""
    store = store_of(spec, files)
    plan = store.read_plan()
    assert plan is not None
    return read_attempts(store, plan.units, moves=True).matches


def plan_of(spec: MatchJob, files: MemoryFiles) -> tuple[RunStore, Plan]:
    store = store_of(spec, files)
    plan = store.read_plan()
    assert plan is not None
    return store, plan


def foreign(name: str, **options: Any) -> str:
    more = "".join(f",{key}={value}" for key, value in options.items())
    return f"python:tests.workers.faulty:{name}{more}"
