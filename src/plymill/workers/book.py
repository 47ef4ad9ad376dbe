"""The opening-book job: ties its spec to its plan, its workers and its stages."""

from collections.abc import Mapping, Sequence
from typing import Any

from plymill.cluster import Plan, RunOptions, RunStore, Stage
from plymill.workers.book_page import book_page
from plymill.workers.book_plan import make_plan
from plymill.workers.book_spec import BookJob
from plymill.workers.book_stages import book_stages
from plymill.workers.book_worker import AUDIT_TABLE_MB, BookWorker

_MB = 2**20
_PROCESS_MB = 300  # interpreter, libraries, one unit
_THREAD_MB = 16
_TASK_MB = 1024  # enumerating or merging the whole 12-ply layer
LARGE_TABLE_MB = 1024
SMALL_TABLE_MB = 256
_LONG_OPENING = 5  # 18,000 positions or fewer follow it at 12 plies


class BookRun:
    """The job that a `BookJob` describes; see `plymill.cluster.Job`.

    Args:
        spec: what was asked.
        options: how to carry it out.
    """

    def __init__(self, spec: BookJob, options: RunOptions) -> None:
        self.spec = spec
        few = len(spec.opening) >= _LONG_OPENING
        self._table_mb = options.table_mb or (SMALL_TABLE_MB if few else LARGE_TABLE_MB)

    def plan(self, store: RunStore) -> Plan:
        """See `plymill.cluster.Job.plan`."""
        return make_plan(self.spec, store)

    def extend(self, store: RunStore, plan: Plan) -> Plan | None:
        """See `plymill.cluster.Job.extend`; the first plan holds all positions there are."""
        del store, plan
        return None

    def make_worker(self, store: RunStore, name: str, threads: int) -> BookWorker:
        """See `plymill.cluster.Job.make_worker`."""
        return BookWorker(self.spec, store, name, threads=threads, table_mb=self._table_mb)

    def worker_memory(self, threads: int) -> int:
        """See `plymill.cluster.Job.worker_memory`; at worst every thread is auditing."""
        return (_PROCESS_MB + self._table_mb + threads * (_THREAD_MB + AUDIT_TABLE_MB)) * _MB

    @property
    def task_memory(self) -> int:
        """See `plymill.cluster.Job.task_memory`."""
        return _TASK_MB * _MB

    @property
    def stages(self) -> Sequence[Stage]:
        """See `plymill.cluster.Job.stages`."""
        return book_stages(self.spec)

    def provenance_files(self, store: RunStore, plan: Plan) -> Mapping[str, bytes]:
        """See `plymill.cluster.Job.provenance_files`; there are none."""
        del store, plan
        return {}

    def page(
        self, store: RunStore, manifest: Mapping[str, Any], provenance: Mapping[str, Any]
    ) -> str:
        """See `plymill.cluster.Job.page`."""
        del store
        return book_page(self.spec, manifest, provenance)
