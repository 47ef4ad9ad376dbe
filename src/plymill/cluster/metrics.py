"""What a run tells a monitoring system: the list of its metrics, and how they follow from the run.

No Ray here: where the numbers go is a `Sink`, see `plymill.cluster.on_ray.metrics`.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from plymill.cluster.machine.units import UnitStatus
from plymill.cluster.plan import Unit
from plymill.cluster.progress import Progress
from plymill.cluster.storage.receipts import Receipt


class Kind(StrEnum):
    """A counter only grows; a gauge is the value of now; a histogram counts by size."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. Every one has the tag ``run`` beside its own.

    Attributes:
        name: without the prefix ``ray_`` that Ray puts before it, and without a counter's
            ``_total`` behind it.
        kind: how it is counted.
        description: what it is, in a few words.
        tags: what it is told apart by, beside the run.
    """

    name: str
    kind: Kind
    description: str
    tags: tuple[str, ...] = ()

    @property
    def exported(self) -> str:
        """The name in a query; a histogram's goes on with ``_bucket``, ``_sum`` or ``_count``."""
        return f"ray_{self.name}" + ("_total" if self.kind is Kind.COUNTER else "")


ITEMS = Metric("plymill_items", Kind.COUNTER, "Positions solved or matches played", ("item",))
COUNTED = Metric(
    "plymill_counted",
    Kind.COUNTER,
    "What the workers count: nodes, table_hits, iterations, ...",
    ("counter",),
)
UNIT_SECONDS = Metric(
    "plymill_unit_seconds", Kind.HISTOGRAM, "Seconds that a finished unit took", ("host",)
)
UNITS = Metric("plymill_units", Kind.GAUGE, "Units by state", ("state",))
RETRIES = Metric("plymill_retries", Kind.COUNTER, "Units that had to wait again")
LOSSES = Metric("plymill_workers_lost", Kind.COUNTER, "Workers that were lost", ("cause",))
AUDITS = Metric("plymill_audits", Kind.COUNTER, "Units solved twice", ("result",))
DISCARDED = Metric("plymill_discarded", Kind.COUNTER, "Results that were not to be trusted")
QUEUE_AGE = Metric(
    "plymill_queue_age_seconds", Kind.GAUGE, "How long the unit that waits longest has waited"
)
FLIGHT_AGE = Metric(
    "plymill_in_flight_age_seconds", Kind.GAUGE, "How long the oldest unit in flight is there"
)
WORKERS = Metric("plymill_workers", Kind.GAUGE, "Workers that there are")
THREADS = Metric("plymill_threads", Kind.GAUGE, "Solving threads of all workers")
SHARE = Metric("plymill_work_share", Kind.GAUGE, "How much of the work is done, from 0 to 1")
TIME_LEFT = Metric("plymill_time_left_seconds", Kind.GAUGE, "Estimate of the rest", ("bound",))

METRICS = (
    ITEMS,
    COUNTED,
    UNIT_SECONDS,
    UNITS,
    RETRIES,
    LOSSES,
    AUDITS,
    DISCARDED,
    QUEUE_AGE,
    FLIGHT_AGE,
    WORKERS,
    THREADS,
    SHARE,
    TIME_LEFT,
)

Sink = Callable[[Metric, float, Mapping[str, str]], None]
"""Takes a growth of a counter, the value of a gauge, or an observation of a histogram."""

_STATES = {
    UnitStatus.WAITING: "waiting",
    UnitStatus.IN_FLIGHT: "in_flight",
    UnitStatus.DONE: "done",
    UnitStatus.QUARANTINED: "quarantined",
}


class _Ages:
    """Since when each unit is in its state, seen from the map of units."""

    def __init__(self) -> None:
        self._map = ""
        self._since: list[float] = []

    def seen(self, unit_map: str, now: float) -> None:
        """Take the map of now; a plan may have become longer."""
        before = self._map.ljust(len(unit_map))
        since = self._since + [now] * (len(unit_map) - len(self._since))
        self._since = [
            then if old == new else now
            for old, new, then in zip(before, unit_map, since, strict=False)
        ]
        self._map = unit_map

    def oldest(self, status: UnitStatus, now: float) -> float:
        """Seconds that the unit longest in this state is in it; 0 if there is none."""
        there = (s for s, m in zip(self._since, self._map, strict=True) if m == status.value)
        return now - min(there, default=now)


class Metering:
    """A `Watcher` that turns what happens in a run into metrics.

    Args:
        run_id: the run.
        sink: where the numbers go.
        timer: seconds from any point in time; unlike the clock it is never set.
    """

    def __init__(
        self, run_id: str, sink: Sink, timer: Callable[[], float] = time.monotonic
    ) -> None:
        self._timer = timer
        self._run = {"run": run_id}
        self._sink = sink
        self._item = "items"
        self._ages = _Ages()

    def happened(self, event: str, fields: Mapping[str, Any]) -> None:
        """See `Watcher`: what is counted by event."""
        match event:
            case "requeued":
                self._tell(RETRIES, 1)
            case "discarded":
                self._tell(DISCARDED, 1)
            case "worker lost":
                self._tell(LOSSES, 1, cause=str(fields["cause"]))
            case "audited":
                self._tell(AUDITS, 1, result="agreed" if fields["agrees"] else "disagreed")
            case _:
                pass

    def finished(self, unit: Unit, receipt: Receipt) -> None:
        """See `Watcher`: items and what the worker counted."""
        self._tell(ITEMS, unit.items, item=self._item)
        self._tell(UNIT_SECONDS, receipt.seconds, host=receipt.host)
        for counter, value in receipt.counters.items():
            self._tell(COUNTED, value, counter=counter)

    def progressed(self, progress: Progress) -> None:
        """See `Watcher`: what is a value of now."""
        now = self._timer()
        self._item = progress.item
        self._ages.seen(progress.unit_map, now)
        for status, state in _STATES.items():
            self._tell(UNITS, progress.unit_map.count(status.value), state=state)
        self._tell(QUEUE_AGE, self._ages.oldest(UnitStatus.WAITING, now))
        self._tell(FLIGHT_AGE, self._ages.oldest(UnitStatus.IN_FLIGHT, now))
        self._tell(WORKERS, len(progress.workers))
        self._tell(THREADS, sum(worker.slots for worker in progress.workers))
        self._tell(SHARE, progress.share or 0.0)
        if progress.eta is not None:
            for bound, seconds in zip(("low", "high"), progress.eta, strict=True):
                self._tell(TIME_LEFT, seconds, bound=bound)

    def _tell(self, metric: Metric, value: float, **tags: str) -> None:
        if metric.kind is not Kind.COUNTER or value > 0:
            self._sink(metric, value, self._run | tags)
