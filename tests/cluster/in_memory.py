"""Whole runs in this process, on files in memory."""

from collections.abc import Callable
from typing import Any

from plymill.cluster import (
    Coordinator,
    Executor,
    LocalExecutor,
    MemoryFiles,
    RunResult,
    RunStore,
)

MakeJob = Callable[..., Any]


def run(job: Any, files: MemoryFiles, executor: Executor | None = None, **more: Any) -> RunResult:
    store = RunStore(files, job.spec.run_id)
    return Coordinator(job, store, executor or LocalExecutor(job, store), **more).run()


def stored(files: MemoryFiles, job: Any, *folders: str) -> dict[str, bytes]:
    """The files of these folders of the run, by path."""
    store = RunStore(files, job.spec.run_id)
    return {
        f"{folder}/{name}": store.files.read(f"{folder}/{name}")
        for folder in folders
        for name in store.files.list(folder)
    }


def artifacts(files: MemoryFiles, job: Any) -> dict[str, bytes]:
    return stored(files, job, "artifacts")
