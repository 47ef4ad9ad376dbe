"""The kinds of job that there are."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from plymill.cluster import Job, JobSpec, RunOptions, SpecError
from plymill.cluster.spec import read_toml
from plymill.workers.book import BookRun
from plymill.workers.book_spec import BookJob
from plymill.workers.match_run import DuelRun, GridRun, PoolRun
from plymill.workers.match_spec import DuelJob, GridJob, PoolJob

_JOBS: Mapping[type[JobSpec], Callable[[Any, RunOptions], Job]] = {
    BookJob: BookRun,
    GridJob: GridRun,
    DuelJob: DuelRun,
    PoolJob: PoolRun,
}
SPECS: Mapping[str, type[JobSpec]] = {
    "book": BookJob,
    "grid": GridJob,
    "duel": DuelJob,
    "pool": PoolJob,
}


def spec_from_fields(fields: Mapping[str, Any], *, where: str = "the job") -> JobSpec:
    """The spec of whatever kind the field ``kind`` names.

    Raises:
        SpecError: there is no such kind, or its fields are not valid.
    """
    kind = fields.get("kind")
    spec = SPECS.get(kind) if isinstance(kind, str) else None
    if spec is None:
        raise SpecError(f"{where}: kind: expected one of {', '.join(SPECS)}, got {kind!r}.")
    return spec.from_fields(fields, where=where)


def spec_from_toml(path: str | Path) -> JobSpec:
    """The spec in a TOML file, of whatever kind it names.

    Raises:
        SpecError: the file is missing, is not TOML, or describes no valid job.
    """
    return spec_from_fields(read_toml(path), where=str(path))


def make_job(spec: JobSpec, options: RunOptions) -> Job:
    """The job that a spec describes."""
    job = _JOBS.get(type(spec))
    if job is None:
        raise SpecError(f"There is no job of kind '{spec.kind}'.")
    return job(spec, options)
