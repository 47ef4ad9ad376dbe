"""Who may watch a run from inside its driver, beside what goes to the store: metrics and logs."""

from collections.abc import Mapping
from typing import Any, Protocol

from plymill.cluster.plan import Unit
from plymill.cluster.progress import Progress
from plymill.cluster.storage.receipts import Receipt


class Watcher(Protocol):
    """Is told what happens in a run. Called by the coordinator: must be quick and never raise."""

    def happened(self, event: str, fields: Mapping[str, Any]) -> None:
        """An event, as it goes to ``events.jsonl``."""

    def finished(self, unit: Unit, receipt: Receipt) -> None:
        """A unit has a result that counts."""

    def progressed(self, progress: Progress) -> None:
        """The figures of now; twice a second at most, and at every change of state."""
