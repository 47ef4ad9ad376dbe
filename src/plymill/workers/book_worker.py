"""Solves the units of an opening-book job. No Ray here."""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt

from plymill.cluster import Receipt, RunStore, Unit
from plymill.cluster.storage.unitfile import arrays_digest
from plymill.solver import Solver, Table
from plymill.workers.book_spec import BookJob

AUDIT_TABLE_MB = 64


class BookWorker:
    """Owns one transposition table, and a solver for each thread that may call.

    Args:
        spec: the job.
        store: the run's files.
        name: the worker's name, which goes into its receipts.
        threads: how many threads call at a time.
        table_mb: size of the table that they share.
    """

    def __init__(
        self, spec: BookJob, store: RunStore, name: str, *, threads: int, table_mb: int
    ) -> None:
        self._spec = spec
        self._store = store
        self._name = name
        self._table = Table(table_mb)
        self._solvers: SimpleQueue[Solver] = SimpleQueue()
        for _ in range(threads):
            self._solvers.put(Solver(table=self._table))

    def run(self, unit: Unit) -> Receipt:
        """Solve a unit and store its result: ``keys``, ascending, and int8 ``scores``."""
        with self._solver() as solver:
            began, began_working = time.perf_counter(), time.thread_time()
            nodes, hits = solver.counters.nodes, solver.counters.table_hits
            arrays = self._solve(unit, solver)
            processor_seconds = time.thread_time() - began_working  # the search runs in this thread
            seconds = time.perf_counter() - began
            counters = {
                "nodes": solver.counters.nodes - nodes,
                "table_hits": solver.counters.table_hits - hits,
            }
        receipt = Receipt(
            unit=unit.index,
            digest=arrays_digest(arrays),
            worker=self._name,
            seconds=round(seconds, 6),
            processor_seconds=round(processor_seconds, 6),
            finished=round(time.time(), 3),
            host=socket.gethostname(),
            pid=os.getpid(),
            counters=counters,
        )
        self._store.write_unit(unit, arrays, receipt)
        return receipt

    def audit(self, unit: Unit) -> str:
        """Solve a unit again with an empty table of its own; the digest of the result."""
        return arrays_digest(self._solve(unit, Solver(table_mb=AUDIT_TABLE_MB)))

    def _solve(self, unit: Unit, solver: Solver) -> dict[str, npt.NDArray[Any]]:
        """Solve in the order of the input, which keeps the table useful; return sorted by key."""
        keys = self._store.read_input(unit)["keys"]
        scores = solver.score_many(keys, outcomes=not self._spec.distances)
        order = np.argsort(keys)
        return {"keys": keys[order], "scores": scores[order]}

    @contextmanager
    def _solver(self) -> Iterator[Solver]:
        solver = self._solvers.get()
        try:
            yield solver
        finally:
            self._solvers.put(solver)
