"""How far a run is: the figures of ``progress.json``, and the estimate of what is left."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict

from plymill.cluster.plan import Plan
from plymill.cluster.storage.receipts import Receipt

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
        rounds: how often the plan was made, once and then longer.
        work_total: estimated seconds of one core for all units: items differ in what they cost.
        work_done: of these, for the finished units.
        items_failed: of those done, which came to nothing by their own fault, as matches may.
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
    rounds: int = 1
    units_total: int = 0
    units_done: int = 0
    units_in_flight: int = 0
    units_quarantined: int = 0
    items_total: int = 0
    items_done: int = 0
    items_resumed: int = 0
    items_failed: int = 0
    work_total: float = 0.0
    work_done: float = 0.0
    rate: float = 0.0
    eta: tuple[float, float] | None = None
    workers: tuple[WorkerFigures, ...] = ()
    unit_map: str = ""
    history: tuple[tuple[float, int], ...] = ()

    @property
    def seconds(self) -> float:
        """How long the session has taken, by a clock that may have been set meanwhile."""
        return max(0.0, self.updated - self.started)

    @property
    def share(self) -> float | None:
        """How much of the work is done, from 0 to 1; None before there is a plan."""
        if self.work_total > 0:
            return self.work_done / self.work_total
        return self.items_done / self.items_total if self.items_total else None


@dataclass
class Meter:
    """Counts finished items over time and estimates the rest.

    Args:
        plan: what there is to do.
        timer: seconds that never go back, whatever the clock does; rates are made of them.
    """

    plan: Plan
    timer: Callable[[], float] = time.monotonic
    done: int = 0
    resumed: int = 0
    _samples: list[tuple[float, int]] = field(default_factory=list)  # by the timer
    _began: float = 0.0  # by the timer
    _clock_ahead: float | None = None  # of the timer, when the first unit was finished
    _seconds: dict[int, float] = field(default_factory=dict)
    _failed: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._began = self.timer()

    @property
    def work_done(self) -> float:
        """Estimated cost of the finished units, in seconds of one core."""
        return math.fsum(self.plan.units[unit].cost for unit in self._seconds)

    @property
    def pace(self) -> float | None:
        """Seconds that units took for each second that they were to cost; None before the first."""
        work = self.work_done
        return math.fsum(self._seconds.values()) / work if work > 0 else None

    @property
    def failed(self) -> int:
        """Items of finished units that their receipts count as ``failed``."""
        return sum(self._failed.values())

    def restore(self, receipts: Sequence[Receipt]) -> None:
        """Take over the units of earlier sessions; their pace counts in the estimate."""
        for receipt in receipts:
            self._count(receipt)
            self.resumed += self.plan.units[receipt.unit].items

    def go_on(self, plan: Plan, kept: int, receipts: Sequence[Receipt]) -> None:
        """Take up a plan whose first ``kept`` units stand; ``receipts`` are of the others."""
        for unit in [unit for unit in self._seconds if unit >= kept]:
            self.discarded(unit)
        self.plan = plan
        self.restore(receipts)

    def finished(self, receipt: Receipt, now: float) -> None:
        """A unit is finished."""
        self._count(receipt)
        ticks = self.timer()
        if self._clock_ahead is None:
            self._clock_ahead = now - ticks
        self._samples.append((ticks, self.done))
        if len(self._samples) > 2 * HISTORY:
            del self._samples[1 : 2 * (HISTORY // 2) : 2]

    def discarded(self, unit: int) -> None:
        """A unit is to be done again, if it was ever finished."""
        self._failed.pop(unit, None)
        if self._seconds.pop(unit, None) is not None:
            self.done -= self.plan.units[unit].items

    def rate(self) -> float:
        """Items a second over the last minute (or since the start, if that is later)."""
        now = self.timer()
        since = max(self._began, now - RECENT)
        before = max((d for t, d in self._samples if t <= since), default=self.resumed)
        return max(0.0, (self.done - before) / max(now - since, 1e-9))

    def eta(self, threads: int) -> tuple[float, float] | None:
        """Seconds left with ``threads`` threads: a range of two standard errors either way.

        What is left is estimated by what the finished units took for each second that they were to
        cost: items differ in cost, so that their number says little. Units differ from
        their estimates, so the range narrows as more are finished. None until two are.
        """
        n = len(self._seconds)
        work = self.work_done
        pace = self.pace
        if n < 2 or not threads or pace is None:
            return None
        costs = {unit: self.plan.units[unit].cost for unit in self._seconds}
        misses = ((self._seconds[unit] - pace * cost) ** 2 for unit, cost in costs.items())
        variance = math.fsum(misses) / (n - 1)  # of one unit, in square seconds
        units_left = len(self.plan.units) - n
        left = max(0.0, self.plan.cost - work)
        margin = 2 * math.sqrt(variance * (units_left + n * (left / work) ** 2))
        low, high = max(pace * left - margin, pace * left / 4), pace * left + margin
        return low / threads, high / threads

    @property
    def history(self) -> tuple[tuple[float, int], ...]:
        """The samples kept for a chart, in seconds since 1970; they never go back."""
        ahead = self._clock_ahead or 0.0
        return tuple((ticks + ahead, done) for ticks, done in self._samples)

    def _count(self, receipt: Receipt) -> None:
        self.discarded(receipt.unit)  # no unit counts twice
        self._seconds[receipt.unit] = receipt.seconds
        self._failed[receipt.unit] = receipt.counters.get("failed", 0)
        self.done += self.plan.units[receipt.unit].items
