"""What the tests of the command line share."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plymill.cluster import Coordinator, JobSpec, LocalExecutor, RunResult, RunStore
from plymill.workers import make_job
from plymill.workers.run import _store_reference


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str


Plymill = Callable[..., Outcome]

#: 279 positions with 12 stones, solved in a fraction of a second.
OPENING = "44444422"
TINY = ("--opening", OPENING, "--validate-sample", "20", "--audit-fraction", "0.2")

#: A file with a small job.
GRID = 'kind = "grid"\ngame = "tictactoe"\nfirst = "10,20"\nsecond = "10"\nsamples = 4\n'

#: 4 cells of 30 matches, played in no time.
SMALL_GRID = ("--game", "tictactoe", "--first", "10,40", "--second", "10,40", "--samples", "30")


def run_without_ray(
    spec: JobSpec,
    store_url: str,
    *,
    options: Any,
    address: str | None,
    on_progress: Any,
    reference: Path | None = None,
) -> RunResult:
    """What `run_job` does, with workers in this process."""
    assert address is None, "these tests have no cluster"
    store = RunStore.open(store_url, spec.run_id)
    job = make_job(spec, options)
    store.write_spec(spec)
    _store_reference(spec, store, reference)
    executor = LocalExecutor(job, store, {"here": 2})
    return Coordinator(job, store, executor, options=options, on_progress=on_progress).run()
