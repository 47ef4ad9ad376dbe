"""How far a run is: the figures of ``progress.json``, and the estimate of what is left."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict

from plymill.cluster.plan import Plan
from plymill.cluster.store import Receipt

HISTORY = 400
RECENT = 60.0


class WorkerFigures(BaseModel):
    """One worker, as a watcher sees it. ``rate`` is items a second and thread."""

    model_config = ConfigDict(frozen=True)

    name: str
    node: str
    host: str = ""
    pid: int = 0
    slots: int
    in_flight: tuple[str, ...] = ()
    units: int = 0
    items: int = 0
    seconds: float = 0.0
    rate: float = 0.0


class Progress(BaseModel):
    """What ``progress.json`` holds. Times are seconds since 1970; ``eta`` is a range in seconds.

    Attributes:
        state: planning, solving, finishing, done, failed or interrupted.
        stage: the finishing stage under way.
        rate: items a second over the last minute.
        unit_map: one letter a unit: ``.`` waiting, ``w`` in flight, ``d`` done, ``q`` quarantined.
        history: samples ``(time, items done)``, thinned out, for a chart.
    """

    model_config = ConfigDict(frozen=True)

    run_id: str
    state: str
    stage: str = ""
    message: str = ""
    started: float
    updated: float
    item: str = "items"
    units_total: int = 0
    units_done: int = 0
    units_in_flight: int = 0
    units_quarantined: int = 0
    items_total: int = 0
    items_done: int = 0
    items_resumed: int = 0
    rate: float = 0.0
    eta: tuple[float, float] | None = None
    workers: tuple[WorkerFigures, ...] = ()
    unit_map: str = ""
    history: tuple[tuple[float, int], ...] = ()


@dataclass
class Meter:
    """Counts finished items over time and estimates the rest.

    Args:
        plan: what there is to do.
    """

    plan: Plan
    done: int = 0
    resumed: int = 0
    _samples: list[tuple[float, int]] = field(default_factory=list)
    _pace: list[float] = field(default_factory=list)
    _counted: set[int] = field(default_factory=set)

    def restore(self, receipts: Sequence[Receipt]) -> None:
        """Take over the units of earlier sessions; their pace counts in the estimate."""
        for receipt in receipts:
            self._count(receipt)
        self.resumed = self.done

    def finished(self, receipt: Receipt, now: float) -> None:
        """A unit is finished."""
        self._count(receipt)
        self._samples.append((now, self.done))
        if len(self._samples) > 2 * HISTORY:
            del self._samples[1 : 2 * (HISTORY // 2) : 2]

    def discarded(self, unit: int) -> None:
        """A unit is to be done again, if it was ever finished."""
        if unit in self._counted:
            self._counted.remove(unit)
            self.done -= self.plan.units[unit].items

    def rate(self, now: float, started: float) -> float:
        """Items a second over the last minute (or since the start, if that is later)."""
        since = max(started, now - RECENT)
        before = max((d for t, d in self._samples if t <= since), default=self.resumed)
        return max(0.0, (self.done - before) / max(now - since, 1e-9))

    def eta(self, threads: int) -> tuple[float, float] | None:
        """Seconds left with ``threads`` threads: a range of two standard errors either way.

        Units differ in difficulty, so the range narrows as more are finished. None until two
        are.
        """
        n = len(self._pace)
        left = self.plan.items - self.done
        if n < 2 or not threads:
            return None
        mean = sum(self._pace) / n
        variance = sum((pace - mean) ** 2 for pace in self._pace) / (n - 1)
        units_left = max(1.0, left * len(self.plan.units) / self.plan.items)
        margin = 2 * math.sqrt(variance * (1 / n + 1 / units_left))
        return (
            left * max(mean - margin, mean / 4) / threads,
            left * (mean + margin) / threads,
        )

    @property
    def history(self) -> tuple[tuple[float, int], ...]:
        """The samples kept for a chart."""
        return tuple(self._samples)

    def _count(self, receipt: Receipt) -> None:
        items = self.plan.units[receipt.unit].items
        self._counted.add(receipt.unit)
        self.done += items
        self._pace.append(receipt.seconds / items)
