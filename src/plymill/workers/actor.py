"""The Ray actor: a thin shell round a plain worker."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from plymill.cluster import Job, Receipt, RunStore, Unit
from plymill.cluster.logs import log, log_to_stderr
from plymill.cluster.storage.leftovers import sweep_scratch


class UnitActor:
    """Passes calls on to the worker that the job makes; several of them run at a time.

    Args:
        job: makes the worker.
        store: the run's files.
        name: the worker's name.
        threads: how many calls run at a time.
    """

    def __init__(self, job: Job, store: RunStore, name: str, threads: int) -> None:
        sweep_scratch(store.run_id)
        log_to_stderr()  # a file of Ray's
        self._who = {"run": store.run_id, "worker": name}
        self._worker = job.make_worker(store, name, threads)

    def hello(self) -> tuple[str, int]:
        """Host and process of the worker; answers once the worker is ready."""
        return socket.gethostname(), os.getpid()

    def pulse(self) -> None:
        """A sign of life, however busy the worker is."""

    def run(self, unit: Unit) -> Receipt:
        """See `plymill.cluster.Worker.run`."""
        with self._telling("unit failed", unit):
            return self._worker.run(unit)

    def audit(self, unit: Unit) -> str:
        """See `plymill.cluster.Worker.audit`."""
        with self._telling("audit failed", unit):
            return self._worker.audit(unit)

    @contextmanager
    def _telling(self, message: str, unit: Unit) -> Iterator[None]:
        """Log an exception where it was raised, with its traceback; the driver hears the gist."""
        try:
            yield
        except Exception:
            log("error", message, {**self._who, "unit": unit.name})
            raise
