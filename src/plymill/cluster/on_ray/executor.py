"""Workers as Ray actors: one on each node, whose threads share one transposition table.

Ray's reports are turned into events here. What Ray 2.60 raises from ``ray.get``:

* an exception of the unit's own: ``RayTaskError``, with the exception as its cause;
* the process died: ``ActorDiedError``, also for a call to an actor that is dead already, and with
  ``actor_init_failed`` when the constructor raised;
* the memory monitor killed it: ``OutOfMemoryError``;
* the node died: ``ActorDiedError`` while ``ray.nodes()`` shows the node dead (now or a little
  later), ``preempted`` when it was drained, or ``NodeDiedError``;
* no answer, perhaps for a while only: ``ActorUnavailableError``.

Of a process that is there and does nothing more Ray tells nothing: see `ray_pulse`.

An actor that is gone or doubtful is killed for good; the run state decides whether to start
another.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import ray
from ray import exceptions as re
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from plymill.cluster.errors import ClusterError, RunFailedError, StoreAwayError
from plymill.cluster.executor import Report, unit_failed
from plymill.cluster.job import Job
from plymill.cluster.machine import events as e
from plymill.cluster.on_ray.health import Head, require_own_ray
from plymill.cluster.on_ray.probe import RayProbe
from plymill.cluster.on_ray.pulse import GROUP, Pulses
from plymill.cluster.on_ray.shares import RayShares
from plymill.cluster.plan import Unit
from plymill.cluster.storage.store import RunStore
from plymill.errors import PlymillError

_WATCH_NODES_EVERY = 1.0
_LOOK_EVERY = 0.5  # seconds between two looks at Ray's own processes while a task runs
_MB = 2**20
_GIST_LENGTH = 300


@dataclass(frozen=True, slots=True)
class _Call:
    worker: str
    unit: int | None = None
    audit: bool = False


@dataclass(frozen=True, slots=True)
class _Actor:
    node: str
    handle: Any


class RayExecutor:
    """An `Executor` on the Ray cluster that this process is connected to.

    Args:
        job: makes the workers.
        store: the run's files; every node must reach them.
        actor: the class of the actors, see `plymill.workers.actor.UnitActor`.
        threads: solving threads on each node; all of its processors when None.
        shares: what the run may use of a cluster that others use, too; None: all of it.
    """

    def __init__(
        self,
        job: Job,
        store: RunStore,
        actor: type,
        *,
        threads: int | None,
        shares: RayShares | None = None,
    ) -> None:
        self._job = job
        self._store = store
        remote: Any = ray.remote  # whose annotations do not know of concurrency groups
        self._actor = remote(concurrency_groups={GROUP: 1})(actor)
        self._pulses = Pulses()
        self._head = Head()
        self._to_spawn: list[str] = []  # nodes that get their worker once the head is back
        self._threads = threads
        self._shares = shares
        self._needed = 1
        self._draining: set[str] = set()  # nodes that are given back once their units end
        self._held: list[tuple[str, Unit, bool]] = []  # tasks for workers of such nodes
        self._news: list[Report] = []  # not told yet
        self._room: dict[str, int] = {}  # slots of the nodes that can be used
        self._slots: dict[str, int] = {}  # of those that are ours now
        self._refused: set[str] = set()  # nodes that are never used
        self._probe: RayProbe | None = None
        self._too_small: dict[str, str] = {}
        self._met = False  # whether any node was ever large enough
        self._actors: dict[str, _Actor] = {}
        self._calls: dict[Any, _Call] = {}
        self._watched = float("-inf")

    def probe(self) -> None:
        """See `Executor.probe`. Nodes that come later are asked when they come."""
        self._probe = RayProbe(self._store)
        self._probe.require([n for n, offers in _live_nodes().items() if offers.get("CPU", 0) >= 1])

    # --- tasks ------------------------------------------------------------------------------------

    def call(self, function: Callable[..., Any], *args: Any, memory: int | None) -> Any:
        """See `Executor.call`. Ray repeats the task when its node or its process is lost."""
        self._await_head()
        if memory is None:
            needs = {"num_cpus": 0}
        else:
            _require_room(function.__name__, memory)
            needs = {"num_cpus": 1, "memory": memory}
            self._needed = 1
        task = ray.remote(function).options(**needs, max_retries=3)
        try:
            ref = task.remote(*args)
            while not ray.wait([ref], timeout=_LOOK_EVERY)[0]:
                self._require_ray()
                if memory is not None and self._shares is not None and not self._head.gone:
                    live = _live_nodes()
                    self._news = self._survey(live)
                    self._ask(live)
            return ray.get(ref)
        except re.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, PlymillError | OSError | MemoryError):
                raise cause from None
            raise
        except re.RayError as error:
            self._require_ray()
            raise RunFailedError(
                f"The task '{function.__name__}' was lost again and again: {_gist(error)}"
            ) from error

    # --- workers ----------------------------------------------------------------------------------

    def need(self, tasks: int) -> None:
        """See `Executor.need`."""
        self._needed = tasks

    def spawn(self, node: str) -> None:
        """See `Executor.spawn`. While the head is away it waits."""
        if self._head.gone:
            self._to_spawn.append(node)
            return
        name = f"{node[:8]}-{uuid4().hex[:6]}"
        threads = self._slots[node]
        handle = self._actor.options(
            num_cpus=threads,
            memory=self._job.worker_memory(threads),
            max_concurrency=threads,
            max_restarts=0,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
        ).remote(self._job, self._store, name, threads)
        self._actors[name] = _Actor(node, handle)
        self._calls[handle.hello.remote()] = _Call(name)

    def retire(self, worker: str) -> None:
        """See `Executor.retire`."""
        actor = self._actors.pop(worker, None)
        self._calls = {ref: call for ref, call in self._calls.items() if call.worker != worker}
        self._held = [task for task in self._held if task[0] != worker]
        if actor is not None and not self._head.gone:  # without a head nobody could be reached
            with suppress(re.RayError):
                ray.kill(actor.handle)

    def submit(self, worker: str, unit: Unit, *, audit: bool) -> None:
        """See `Executor.submit`. Of a worker whose loss is about to be told, nothing is asked."""
        actor = self._actors.get(worker)
        if actor is None:
            return
        if actor.node in self._draining:
            self._held.append((worker, unit, audit))
            return
        handle = actor.handle
        method = handle.audit if audit else handle.run
        self._calls[method.remote(unit)] = _Call(worker, unit.index, audit)

    def close(self) -> None:
        """See `Executor.close`."""
        for worker in list(self._actors):
            self.retire(worker)
        self._slots.clear()
        self._draining.clear()

    def _require_ray(self, *, at_once: bool = True) -> None:
        """To be called right before anything is asked of the GCS: without it that never ends."""
        require_own_ray()
        self._head.require(at_once=at_once)

    def _await_head(self) -> None:
        self._require_ray()
        while self._head.gone:
            time.sleep(_LOOK_EVERY)
            self._require_ray()

    # --- reports ----------------------------------------------------------------------------------

    def poll(self, timeout: float) -> list[Report]:
        """See `Executor.poll`."""
        reports: list[Report] = []
        due = time.monotonic() - self._watched >= _WATCH_NODES_EVERY
        self._require_ray(at_once=due)
        if due and not self._head.gone:
            self._watched = time.monotonic()
            waiting, self._to_spawn = self._to_spawn, []
            for node in [node for node in waiting if node in self._slots]:
                self.spawn(node)
            reports += self._watch_nodes()
            reports += self._watch_workers()
        if not self._calls:
            if not reports:
                time.sleep(timeout)
            return reports
        refs = list(self._calls)
        ready, _ = ray.wait(refs, num_returns=1, timeout=0 if reports else timeout)
        if ready:
            ready, _ = ray.wait(refs, num_returns=len(refs), timeout=0)
        fetched = [(ref, _fetch(ref)) for ref in ready]
        # Losses last: what a worker finished before it died counts.
        for ref, value in sorted(fetched, key=lambda pair: isinstance(pair[1], re.RayError)):
            call = self._calls.pop(ref, None)
            if call is not None:
                reports.append(self._outcome(call, value))
        return reports

    def _outcome(self, call: _Call, value: Any) -> Report:
        if isinstance(value, re.RayTaskError):
            assert call.unit is not None, "the greeting of a worker cannot raise"
            if isinstance(value.cause, StoreAwayError):  # no fault of the unit: of its node
                return self._give_up(call.worker, str(value.cause))
            return unit_failed(call.worker, call.unit, value.cause or value, audit=call.audit)
        if isinstance(value, re.RayError):
            return self._lost(call.worker, value)
        if call.unit is None:
            host, pid = value
            return e.WorkerJoined(call.worker, self._actors[call.worker].node, host, pid)
        if call.audit:
            return e.AuditDone(call.worker, call.unit, value)
        receipt: Report = value
        return receipt

    def _lost(self, worker: str, error: re.RayError) -> e.WorkerLost:
        node = self._actors[worker].node
        self._require_ray()  # it may have gone with the worker
        cause = e.LossCause.UNREACHABLE
        if not self._head.gone:
            cause = loss_cause(error, node_alive=node in _live_nodes())
        self.retire(worker)
        if cause is e.LossCause.NODE_LOST:
            self._slots.pop(node, None)  # if it lives after all, it joins again
            self._draining.discard(node)
        return e.WorkerLost(worker, node, cause, _gist(error))

    def _watch_workers(self) -> list[Report]:
        starting = {call.worker for call in self._calls.values() if call.unit is None}
        there = {n: actor.handle for n, actor in self._actors.items() if n not in starting}
        return [
            self._give_up(worker, "no sign of life for a minute")
            for worker in self._pulses.silent(there)
        ]

    def _give_up(self, worker: str, why: str) -> e.WorkerLost:
        node = self._actors[worker].node
        self.retire(worker)
        return e.WorkerLost(worker, node, e.LossCause.UNREACHABLE, why)

    # --- nodes ------------------------------------------------------------------------------------

    def _watch_nodes(self) -> list[Report]:
        live = _live_nodes()
        reports: list[Report] = []
        for node in [node for node in self._slots if node not in live]:
            reports.append(self._leave(node, given_back=False))
        reports += self._survey(live)
        if self._too_small and not self._met:
            raise ClusterError(next(iter(self._too_small.values())))
        return reports + self._follow(self._ask(live))

    def _survey(self, live: dict[str, dict[str, float]]) -> list[Report]:
        """Find out which nodes can be used; what is to be said of the others."""
        reports, self._news = self._news, []
        self._room = {node: slots for node, slots in self._room.items() if node in live}
        for node, resources in live.items():
            if node not in self._room and node not in self._too_small:
                reports += self._consider(node, resources)
        return reports

    def _ask(self, live: dict[str, dict[str, float]]) -> dict[str, int]:
        """How many slots of each node are ours."""
        if self._shares is None:
            return self._room
        nodes = {node: int(offers.get("CPU", 0)) for node, offers in live.items()}
        return self._shares.ask(self._needed, nodes, self._room, self._slots)

    def _follow(self, allotted: dict[str, int]) -> list[Report]:
        """Take what is ours, and give back what is another's once its units end."""
        ours = {node for node, slots in self._slots.items() if allotted.get(node, 0) == slots}
        back, self._draining = self._draining & ours, set(self._slots) - ours
        held = [task for task in self._held if self._actors[task[0]].node in back]
        self._held = [task for task in self._held if task not in held]
        for worker, unit, audit in held:
            self.submit(worker, unit, audit=audit)
        reports: list[Report] = []
        busy = {self._actors[c.worker].node for c in self._calls.values() if c.unit is not None}
        for node in self._draining - busy:
            reports.append(self._leave(node, given_back=True))
        for node, slots in allotted.items():
            if slots and node not in self._slots:
                self._slots[node] = slots
                reports.append(e.NodeJoined(node, slots))
        return reports

    def _leave(self, node: str, *, given_back: bool) -> e.NodeLost:
        del self._slots[node]
        self._draining.discard(node)
        for worker in [name for name, actor in self._actors.items() if actor.node == node]:
            self.retire(worker)
        return e.NodeLost(node, given_back)

    def _consider(self, node: str, resources: dict[str, float]) -> list[Report]:
        """Meet a node, once it is known to reach the store."""
        if self._probe is None or node in self._refused or resources.get("CPU", 0) < 1:
            return [] if node in self._refused else self._meet(node, resources)
        reaches = self._probe.reaches(node)
        if reaches is None:
            return []
        if reaches:
            return self._meet(node, resources)
        self._refused.add(node)
        return [e.Warn(self._probe.fault_of(node))]

    def _meet(self, node: str, resources: dict[str, float]) -> list[Report]:
        cpus = int(resources.get("CPU", 0))
        if not cpus:
            return []
        slots = min(cpus, self._threads or cpus)
        memory = self._job.worker_memory(slots)
        if memory > resources.get("memory", 0):
            text = (
                f"Node {node[:8]} offers {int(resources.get('memory', 0)) // _MB} MB of memory, "
                f"but a worker with {slots} threads needs {memory // _MB} MB; ask for a smaller "
                "table (--table-mb, of books) or fewer threads (--threads)."
            )
            self._too_small[node] = text
            return [e.Warn(text)]
        self._room[node] = slots
        self._met = True
        return []


def _require_room(task: str, memory: int) -> None:
    """Ray would wait for ever for a node that could run the task."""
    offers = [n.get("memory", 0) for n in _live_nodes().values() if n.get("CPU", 0) >= 1]
    if max(offers, default=0) < memory:
        raise ClusterError(
            f"The task '{task}' needs a node with a processor and {memory // _MB} MB of memory, "
            f"but the largest offers {int(max(offers, default=0)) // _MB} MB."
        )


def _fetch(ref: Any) -> Any:
    """The value of a call that has ended, or what it raised."""
    try:
        return ray.get(ref)
    except re.RayError as error:
        return error


def _live_nodes() -> dict[str, dict[str, float]]:
    nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    return {n["NodeID"]: n["Resources"] for n in nodes if n["Alive"]}


def loss_cause(error: re.RayError, *, node_alive: bool) -> e.LossCause:
    """Why a worker is gone, from what ``ray.get`` raised and whether its node still lives."""
    if isinstance(error, re.OutOfMemoryError):
        return e.LossCause.OUT_OF_MEMORY
    node_died = isinstance(error, re.NodeDiedError | re.LocalRayletDiedError)
    if node_died or not node_alive or getattr(error, "preempted", False):
        return e.LossCause.NODE_LOST
    unscheduled = isinstance(error, re.ActorUnschedulableError)
    if unscheduled or getattr(error, "actor_init_failed", False):
        return e.LossCause.NOT_STARTED
    if isinstance(error, re.ActorUnavailableError):
        return e.LossCause.UNREACHABLE
    return e.LossCause.CRASHED


def _gist(error: re.RayError) -> str:
    """The line of Ray's message that says most: of a dead actor the last, of others the first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    return lines[-1 if isinstance(error, re.RayActorError) else 0][:_GIST_LENGTH]
