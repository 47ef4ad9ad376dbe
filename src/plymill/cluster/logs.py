"""Logs for machines: one JSON object a line, in a file; nothing on the terminal.

All goes through the logger ``plymill`` of Python's `logging`, which is silent until somebody adds
a handler. What happens in a run is logged at ``info``, what a person should know at ``warning``,
and each finished unit at ``debug``.
"""

import json
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from plymill.cluster.errors import ClusterError
from plymill.cluster.plan import Unit
from plymill.cluster.progress import Progress
from plymill.cluster.storage.receipts import Receipt
from plymill.errors import told

Level = Literal["debug", "info", "warning"]

LOGGER = logging.getLogger("plymill")
LOGGER.addHandler(logging.NullHandler())
LOGGER.propagate = False

#: Events that a person should know of.
_WARNINGS = frozenset(
    {"damaged file", "discarded", "node lost", "quarantined", "session failed", "warning"}
    | {"worker lost", "worker retired"}
)


class JsonLines(logging.Formatter):
    """``time`` (UTC), ``level``, ``message``, then the fields, then a traceback if there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


@contextmanager
def log_to(path: Path | None, level: Level = "info") -> Iterator[None]:
    """Append to a file while the context lasts; nothing if there is no path.

    Raises:
        ClusterError: the file cannot be written.
    """
    if path is None:
        yield
        return
    try:
        handler = logging.FileHandler(path, encoding="utf-8")
    except OSError as error:
        raise ClusterError(f"Cannot write the log {path}: {told(error)}.") from error
    handler.setFormatter(JsonLines())
    before = LOGGER.level
    LOGGER.addHandler(handler)
    LOGGER.setLevel(level.upper())
    try:
        yield
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(before)
        handler.close()


def log_to_stderr() -> None:
    """For a worker's process, whose standard error Ray keeps in a file of its own."""
    if any(isinstance(handler.formatter, JsonLines) for handler in LOGGER.handlers):
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)


def log(level: Level | Literal["error"], message: str, fields: Mapping[str, Any]) -> None:
    """Log a message with its fields; an exception that is being handled goes with an error."""
    number = logging.getLevelNamesMapping()[level.upper()]
    LOGGER.log(number, message, extra={"fields": dict(fields)}, exc_info=level == "error")


class Logging:
    """A `plymill.cluster.watch.Watcher` that logs what happens in a run."""

    def __init__(self, run_id: str) -> None:
        self._run = {"run": run_id}

    def happened(self, event: str, fields: Mapping[str, Any]) -> None:
        """See `Watcher`. A field called ``message`` tells the event's own words."""
        told = {"text" if name == "message" else name: value for name, value in fields.items()}
        log("warning" if event in _WARNINGS else "info", event, self._run | told)

    def finished(self, unit: Unit, receipt: Receipt) -> None:
        """See `Watcher`."""
        fields = {"unit": unit.name, "worker": receipt.worker, "host": receipt.host}
        more = {"seconds": receipt.seconds, **receipt.counters}
        log("debug", "unit finished", self._run | fields | more)

    def progressed(self, progress: Progress) -> None:
        """See `Watcher`: ``progress.json`` tells it."""
