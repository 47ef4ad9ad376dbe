"""What may differ between two equal runs of a match job: seconds, workers, and what went wrong."""

import io
from collections.abc import Mapping

import numpy as np

from plymill.cluster import Plan, RunStore
from plymill.matches.aggregates import CellResult, results_csv, summarize
from plymill.matches.tables import write_times
from plymill.workers.match_failures import FAILURES, failures_json
from plymill.workers.match_results import Attempts, read_attempts
from plymill.workers.match_spec import MatchJob

MATCHES, CELLS = "matches.parquet", "cells.csv"


def provenance_files(spec: MatchJob, store: RunStore, plan: Plan) -> Mapping[str, bytes]:
    """The files of the folder ``provenance``.

    * ``matches.parquet``: seconds and worker of each match, the last attempt at it;
    * ``cells.csv``: the sums of all matches, with mean seconds;
    * ``failures.json``: what went wrong, attempt by attempt.
    """
    attempts = read_attempts(store, plan.units, moves=True)
    times = io.BytesIO()
    write_times(
        times,
        cell=attempts.matches.arrays["cell"],
        match=attempts.matches.arrays["match"],
        seconds=attempts.seconds,
        workers=[attempts.workers[unit] for unit in attempts.units.tolist()],
    )
    return {
        MATCHES: times.getvalue(),
        CELLS: results_csv(timed_results(spec, attempts)).encode(),
        FAILURES: failures_json(attempts),
    }


def timed_results(spec: MatchJob, attempts: Attempts) -> list[CellResult]:
    """The sums of all cells with the mean seconds of their matches, to the microsecond."""
    size = len(spec.cells)
    cell = attempts.matches.arrays["cell"]
    counts = np.bincount(cell, minlength=size)
    means = np.bincount(cell, weights=attempts.seconds, minlength=size) / np.maximum(counts, 1)
    seconds = {index: round(mean, 6) for index, mean in enumerate(means.tolist()) if counts[index]}
    return summarize(spec.cells, attempts.matches, seconds)
