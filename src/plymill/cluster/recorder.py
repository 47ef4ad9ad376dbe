"""Writes what happens in a run to its store: ``events.jsonl`` and ``progress.json``."""

from collections.abc import Callable, Sequence
from typing import Any

from plymill.cluster.plan import Unit
from plymill.cluster.progress import Progress
from plymill.cluster.storage.receipts import Receipt
from plymill.cluster.storage.store import RunStore
from plymill.cluster.watch import Watcher

_SHOW_EVERY = 0.5


class Recorder:
    """Collects events and publishes them with the progress, neither too often nor too late.

    Args:
        store: the run's files.
        clock: seconds since 1970.
        write_every: seconds between two writes.
        on_progress: called with the progress, as often as it is written but at least twice a
            second, and at every change of state.
        watchers: are told the same.
    """

    def __init__(
        self,
        store: RunStore,
        clock: Callable[[], float],
        write_every: float,
        on_progress: Callable[[Progress], None] | None,
        watchers: Sequence[Watcher] = (),
    ) -> None:
        self._store = store
        self._clock = clock
        self._write_every = write_every
        self._show_every = min(write_every, _SHOW_EVERY)
        self._on_progress = on_progress
        self._watchers = watchers
        self._events = store.read_events()
        self._written = self._shown = float("-inf")

    def event(self, event: str, **fields: Any) -> None:
        """Note that something happened now."""
        self._events.append({"time": round(self._clock(), 3), "event": event, **fields})
        for watcher in self._watchers:
            watcher.happened(event, fields)

    def finished(self, unit: Unit, receipt: Receipt) -> None:
        """Tell the watchers of a finished unit; the store has it already."""
        for watcher in self._watchers:
            watcher.finished(unit, receipt)

    def report(self, progress: Callable[[], Progress], *, now: bool = False) -> None:
        """Show and write the progress if it is time, or in any case if ``now``."""
        time = self._clock()
        show = now or _is_due(time - self._shown, self._show_every)
        write = now or _is_due(time - self._written, self._write_every)
        if not (show or write):
            return
        current = progress()
        if show:
            self._shown = time
            self._show(current)
        if write:
            self._written = time
            self._store.write_json("progress.json", current.model_dump(mode="json"))
            self._store.write_events(self._events)

    def _show(self, progress: Progress) -> None:
        if self._on_progress is not None:
            self._on_progress(progress)
        for watcher in self._watchers:
            watcher.progressed(progress)


def _is_due(passed: float, every: float) -> bool:
    """Whether it is time again; a clock that was set back must not mean hours of silence."""
    return not 0 <= passed < every
