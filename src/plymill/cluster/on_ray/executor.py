"""Workers as Ray actors: one on each node, whose threads share one transposition table.

An actor that is gone or doubtful is killed for good; the run state decides whether to start
another.
"""

import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import ray
from ray import exceptions as re
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from plymill.cluster.errors import StoreAwayError
from plymill.cluster.executor import Meanwhile, Report, nothing, unit_failed
from plymill.cluster.job import Job
from plymill.cluster.machine import events as e
from plymill.cluster.on_ray.health import Head, require_own_ray
from plymill.cluster.on_ray.nodes import Live, Nodes, live_nodes
from plymill.cluster.on_ray.outcomes import fetch, gist, loss_cause
from plymill.cluster.on_ray.pulse import GROUP, Pulses, Starts
from plymill.cluster.on_ray.shares import RayShares
from plymill.cluster.on_ray.tasks import RayTask
from plymill.cluster.plan import Unit
from plymill.cluster.storage.store import RunStore

_WATCH_NODES_EVERY = 1.0
_HEAD_EVERY = 0.5  # seconds between two looks at a head that is away


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
        self._nodes = Nodes(job, threads)
        self._shares = shares
        self._needed = 1
        self._draining: set[str] = set()  # nodes that are given back once their units end
        self._held: list[tuple[str, Unit, bool]] = []  # tasks for workers of such nodes
        self._news: list[Report] = []  # not told yet
        self._slots: dict[str, int] = {}  # of those that are ours now
        self._barred_last = False  # whether no node was left when one was barred
        self._actors: dict[str, _Actor] = {}
        self._starts = Starts()
        self._starting: set[str] = set()
        self._calls: dict[Any, _Call] = {}
        self._called_off: set[Any] = set()  # calls that nothing is to wait for
        self._watched = float("-inf")

    def probe(self, meanwhile: Meanwhile = nothing) -> None:
        """See `Executor.probe`."""
        self._nodes.probe(self._store, lambda: self._look(meanwhile, ""))

    # --- tasks ------------------------------------------------------------------------------------

    def call(
        self,
        function: Callable[..., Any],
        *args: Any,
        memory: int | None,
        meanwhile: Meanwhile = nothing,
    ) -> Any:
        """See `Executor.call`. What is lost with its node or its process is done again.

        A small task runs on our own node, others on one that is ours and reaches the store.
        """
        self._await_head()
        if memory is None:
            own = ray.get_runtime_context().get_node_id()
            task = RayTask(
                {"num_cpus": 0},
                lambda lost, at: self._keep_claims(own),
                lambda waits_for: self._look(meanwhile, waits_for),
                self._kill,
            )
        else:
            self._needed = 1
            task = RayTask(
                {"num_cpus": 1, "memory": memory},
                lambda lost, at: self._place(function.__name__, memory, lost, at),
                lambda waits_for: self._look(meanwhile, waits_for),
                self._kill,
            )
        return task.carry_out(function, args)

    def _look(self, meanwhile: Meanwhile, waits_for: str) -> bool:
        self._require_ray()
        meanwhile(waits_for)
        return not self._head.gone

    def _keep_claims(self, own: str) -> str:
        """A run of which nothing is heard loses its share; a small task needs none of it."""
        if self._shares is not None:
            live = live_nodes()
            self._news += self._nodes.survey(live)
            self._ask(live, self._nodes.room, self._slots)
        return own

    def _place(
        self, task: str, memory: int, lost: Collection[str], at: str | None = None
    ) -> str | None:
        """One of our nodes for a task: the one where it is, or where it was not lost before.

        So that one large enough can be ours, it is for such nodes only that the run asks.
        """
        live = live_nodes()
        self._news += self._nodes.survey(live)
        fit = self._nodes.fit_for(task, memory, live)
        good = [node for node in fit if node not in lost] or fit
        offers = {node: self._nodes.room[node] for node in fit if node in good or node == at}
        ours = self._ask(live, offers, {at: 1} if at in offers else {})
        mine = [node for node in offers if ours.get(node, 0)]
        return min(mine, key=lambda node: node != at, default=None)

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
        self._starting.add(name)
        self._calls[handle.hello.remote()] = _Call(name)

    def bar(self, node: str) -> None:
        """See `Executor.bar`. Nor is it asked for any more: another is ours in its place."""
        self._slots.pop(node, None)
        self._vacate(node)
        self._nodes.bar(node)
        self._barred_last = not self._nodes.room

    def retire(self, worker: str) -> None:
        """See `Executor.retire`."""
        actor = self._actors.pop(worker, None)
        self._starting.discard(worker)
        self._calls = {ref: call for ref, call in self._calls.items() if call.worker != worker}
        self._called_off &= self._calls.keys()
        self._held = [task for task in self._held if task[0] != worker]
        if actor is not None:
            self._kill(actor.handle)

    def _kill(self, handle: Any) -> None:
        if not self._head.gone:  # without a head nobody could be reached
            with suppress(re.RayError):
                ray.kill(handle)

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

    def call_off(self, worker: str, unit: int, *, audit: bool) -> None:
        """See `Executor.call_off`. What is under way goes on: it may yet tell of a wrong result."""
        for task in self._held:
            if (task[0], task[1].index, task[2]) == (worker, unit, audit):
                self._held.remove(task)
                self._news.append(e.Dropped(worker, unit, audit))
                return
        for ref, call in self._calls.items():
            if call == _Call(worker, unit, audit) and ref not in self._called_off:
                self._called_off.add(ref)
                return

    def close(self) -> None:
        """See `Executor.close`."""
        for worker in list(self._actors):
            self.retire(worker)
        self._slots.clear()
        self._draining.clear()
        self._nodes.close()

    def _require_ray(self, *, at_once: bool = True) -> None:
        """To be called right before anything is asked of the GCS: without it that never ends."""
        require_own_ray()
        self._head.require(at_once=at_once)

    def _await_head(self) -> None:
        self._require_ray()
        while self._head.gone:
            time.sleep(_HEAD_EVERY)
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
        fetched = [(ref, fetch(ref)) for ref in ready]
        # Losses last: what a worker finished before it died counts.
        for ref, value in sorted(fetched, key=lambda pair: isinstance(pair[1], re.RayError)):
            call = self._calls.pop(ref, None)
            self._called_off.discard(ref)
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
            self._starting.discard(call.worker)
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
            cause = loss_cause(error, node_alive=node in live_nodes())
        self.retire(worker)
        if cause is e.LossCause.NODE_LOST:
            self._slots.pop(node, None)  # if it lives after all, it joins again
            self._draining.discard(node)
        return e.WorkerLost(worker, node, cause, gist(error))

    def _watch_workers(self) -> list[Report]:
        handles = {name: actor.handle for name, actor in self._actors.items()}
        starting = {name: handles.pop(name) for name in self._starting}
        late = self._starts.late(starting)
        return [
            *(self._give_up(name, "its process does not come up") for name in late),
            *(self._give_up(n, "no sign of life") for n in self._pulses.silent(handles)),
        ]

    def _give_up(self, worker: str, why: str) -> e.WorkerLost:
        node = self._actors[worker].node
        self.retire(worker)
        return e.WorkerLost(worker, node, e.LossCause.UNREACHABLE, why)

    # --- nodes ------------------------------------------------------------------------------------

    def _watch_nodes(self) -> list[Report]:
        live = live_nodes()
        reports: list[Report] = []
        for node in [node for node in self._slots if node not in live]:
            reports.append(self._leave(node, given_back=False))
        news, self._news = self._news, []
        reports += news + self._nodes.survey(live)
        self._nodes.require_any()
        if self._barred_last and not self._nodes.asking:
            self._barred_last = False
            reports += [] if self._nodes.room else [e.NoNodeLeft()]
        return reports + self._follow(self._ask(live, self._nodes.room, self._slots))

    def _ask(
        self, live: Live, offers: Mapping[str, int], holding: Mapping[str, int]
    ) -> dict[str, int]:
        """How many slots of each node are ours, of those that we could use (``offers``)."""
        if self._shares is None:
            return dict(offers)
        nodes = {node: int(has.get("CPU", 0)) for node, has in live.items()}
        return self._shares.ask(self._needed, nodes, offers, holding)

    def _follow(self, allotted: dict[str, int]) -> list[Report]:
        """Take what is ours, and give back what is another's once its units end."""
        ours = {node for node, slots in self._slots.items() if allotted.get(node, 0) == slots}
        back, self._draining = self._draining & ours, set(self._slots) - ours
        held = [task for task in self._held if self._actors[task[0]].node in back]
        self._held = [task for task in self._held if task not in held]
        for worker, unit, audit in held:
            self.submit(worker, unit, audit=audit)
        reports: list[Report] = []
        waited_for = [call for ref, call in self._calls.items() if ref not in self._called_off]
        busy = {self._actors[c.worker].node for c in waited_for if c.unit is not None}
        for node in self._draining - busy:
            reports.append(self._leave(node, given_back=True))
        for node, slots in allotted.items():
            if slots and node not in self._slots:
                self._slots[node] = slots
                reports.append(e.NodeJoined(node, slots))
        return reports

    def _leave(self, node: str, *, given_back: bool) -> e.NodeLost:
        del self._slots[node]
        self._vacate(node)
        return e.NodeLost(node, given_back)

    def _vacate(self, node: str) -> None:
        self._draining.discard(node)
        for worker in [name for name, actor in self._actors.items() if actor.node == node]:
            self.retire(worker)
