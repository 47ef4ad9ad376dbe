"""A cluster that is not there: the real `RunState` told what happens by a simulated clock.

What is real: the state machine, all of its decisions, and the time that each of them takes here.
What is simulated: nodes, workers, the seconds of units, and losses of nodes.
"""

import heapq
import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from random import Random

from plymill.cluster.machine import events as e
from plymill.cluster.machine.state import RunState


@dataclass(frozen=True, kw_only=True)
class Costs:
    """Seconds of everything but solving.

    Attributes:
        start: from a node's joining to its worker's first unit.
        unit: of a thread for a unit, beside solving: reading, writing, the way there and back.
        report: of the coordinator for each report, beside its decision.
        noticed: until the loss of a node is noticed.
        replaced: from then until another node joins.
        losses: of a node, an hour; 0.05 is one in twenty.
    """

    start: float = 6.0
    unit: float = 0.05
    report: float = 0.002
    noticed: float = 20.0
    replaced: float = 180.0
    losses: float = 0.0


@dataclass(frozen=True)
class Work:
    """Seconds of units.

    Attributes:
        warm: seconds of each unit with a table that has seen its neighbours.
        positions: of a unit.
        excess: how many times as long the positions take that follow the first ``x`` since a fresh
            start, beyond 1: ``excess * exp(-x / fading)``.
        fading: see there.
    """

    warm: list[float]
    positions: int
    excess: float
    fading: float

    def seconds(self, unit: int, seen: int) -> float:
        """Seconds of a unit for a worker that has solved ``seen`` positions just before it."""
        scale, size = self.fading / self.positions, self.positions / self.fading
        mean = self.excess * scale * math.exp(-seen / self.fading) * (1 - math.exp(-size))
        return self.warm[unit] * (1 + mean)


@dataclass
class _Worker:
    node: str
    free: list[float]
    queue: deque[tuple[int, bool]] = field(default_factory=deque)
    last: set[int] = field(default_factory=set)
    seen: int = 0


@dataclass(frozen=True)
class Outcome:
    """How a simulated run went.

    Attributes:
        seconds: from the first node to the last unit settled.
        thread_seconds: of all threads that were there, busy or not.
        busy: seconds of them that went into units.
        lost: nodes lost.
        decision: mean seconds of the state machine for one event; real ones.
    """

    seconds: float
    thread_seconds: float
    busy: float
    lost: int
    decision: float


class Cluster:
    """Carries out one run.

    Args:
        work: the units.
        nodes: how many nodes there are.
        threads: of each node; they share a table.
        costs: of everything else.
        audited: the units to be solved twice.
        seed: of the losses.
    """

    def __init__(
        self,
        work: Work,
        *,
        nodes: int,
        threads: int = 1,
        costs: Costs | None = None,
        audited: tuple[int, ...] = (),
        seed: int = 0,
    ) -> None:
        self._work = work
        self._threads = threads
        self._costs = costs or Costs()
        self._state = RunState(len(work.warm), audited)
        self._random = Random(seed)
        self._names = count()
        self._order = count()
        self._due: list[tuple[float, int, Callable[[], e.Event | None]]] = []
        self._workers: dict[str, _Worker] = {}
        self._joined: dict[str, float] = {}
        self._gone: set[str] = set()
        self._free_at = 0.0  # the coordinator
        self._busy = self._there = self._decided = 0.0
        self._events = self._lost = 0
        for _ in range(nodes):
            self._node_comes(0.0)

    def run(self) -> Outcome:
        """Until every unit has its result."""
        now = 0.0
        for instruction in self._state.restore(()):
            self._obey(instruction, now)
        while not self._state.ended:
            at, _, happen = heapq.heappop(self._due)
            event = happen()
            if event is None:
                continue
            now = max(at, self._free_at)
            self._tell(event, now)
        end = self._free_at
        self._there += sum(end - since for since in self._joined.values())
        return Outcome(
            seconds=end,
            thread_seconds=self._there * self._threads,
            busy=self._busy,
            lost=self._lost,
            decision=self._decided / self._events,
        )

    def _tell(self, event: e.Event, now: float) -> None:
        begun = time.perf_counter()
        instructions = self._state.handle(event)
        decision = time.perf_counter() - begun
        self._events += 1
        self._decided += decision
        self._free_at = now + self._costs.report + decision
        for instruction in instructions:
            self._obey(instruction, self._free_at)

    def _obey(self, instruction: e.Instruction, now: float) -> None:
        match instruction:
            case e.Spawn(node):
                name = f"{node}-w"
                self._workers[name] = _Worker(node, [now + self._costs.start] * self._threads)
                self._at(now + self._costs.start, lambda: self._arrived(name, node))
            case e.Assign(worker, unit):
                self._take(worker, unit, False, now)
            case e.Audit(worker, unit):
                self._take(worker, unit, True, now)
            case e.Extend():
                self._tell(e.PlanComplete(), now)
            case _:
                pass

    def _arrived(self, worker: str, node: str) -> e.Event | None:
        return None if node in self._gone else e.WorkerJoined(worker, node)

    def _take(self, name: str, unit: int, audit: bool, now: float) -> None:
        """Give a unit to the thread of a worker that is free first."""
        worker = self._workers[name]
        if audit:
            seconds = self._work.seconds(unit, 0)
        else:
            if unit - 1 not in worker.last:
                worker.seen = 0
            seconds = self._work.seconds(unit, worker.seen)
            worker.seen += self._work.positions
            worker.last = {*sorted(worker.last)[-self._threads :], unit}
        seconds += self._costs.unit
        worker.free.sort()
        begins = max(worker.free[0], now)
        worker.free[0] = begins + seconds
        self._at(begins + seconds, lambda: self._done(name, unit, audit, seconds))

    def _done(self, name: str, unit: int, audit: bool, seconds: float) -> e.Event | None:
        worker = self._workers.get(name)
        if worker is None or worker.node in self._gone:
            return None
        self._busy += seconds
        return e.AuditDone(name, unit, "") if audit else e.UnitDone(name, unit, "")

    # --- nodes ------------------------------------------------------------------------------------

    def _node_comes(self, now: float) -> None:
        node = f"n{next(self._names)}"
        self._joined[node] = now
        self._at(now, lambda: e.NodeJoined(node, self._threads))
        if self._costs.losses:
            leaves = now + self._random.expovariate(self._costs.losses / 3600)
            self._at(leaves, lambda: self._dies(node, leaves))

    def _dies(self, node: str, now: float) -> None:
        self._gone.add(node)
        self._lost += 1
        self._there += now - self._joined.pop(node)
        noticed = now + self._costs.noticed
        self._at(noticed, lambda: e.NodeLost(node))
        self._at(noticed + self._costs.replaced, lambda: self._replace(noticed))

    def _replace(self, noticed: float) -> None:
        self._node_comes(noticed + self._costs.replaced)

    def _at(self, when: float, happen: Callable[[], e.Event | None]) -> None:
        heapq.heappush(self._due, (when, next(self._order), happen))
