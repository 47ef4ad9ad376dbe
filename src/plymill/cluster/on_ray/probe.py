"""Probing the store from nodes of a Ray cluster; see `probe`."""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import ray
from ray import exceptions as re
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from plymill.cluster.errors import StoreError
from plymill.cluster.machine import events as e
from plymill.cluster.on_ray.outcomes import gist, loss_cause
from plymill.cluster.on_ray.pulse import OwnTime
from plymill.cluster.probe import Answer, StoreProbe, answer, probing
from plymill.cluster.storage.store import RunStore

_ANSWER_SECONDS = 90.0
# A node that comes while the store is away for all is not to be refused for that.
_LATER_PATIENCE = 60.0
_ATTEMPTS = 4
_PAUSE = 1.0  # seconds between two attempts
_LOOK_EVERY = 0.2  # seconds


@dataclass(slots=True)
class _Question:
    probe: StoreProbe
    ref: Any  # None until it is asked again
    alone: bool  # whether the probe is for this node only
    attempts: int = 1
    waited: float = 0.0  # seconds in all
    again: float = 0.0  # when to ask again, by the same measure


class RayProbe:
    """Remembers which nodes reach the store.

    Args:
        store: the run's files.
        live: tells the nodes that are there.
        clock: seconds, from any point in time.
    """

    def __init__(
        self,
        store: RunStore,
        live: Callable[[], Collection[str]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._live = live
        self._time = OwnTime(clock)
        self._fine: set[str] = set()
        self._faults: dict[str, str] = {}
        self._asked: dict[str, _Question] = {}

    @property
    def asking(self) -> bool:
        """Whether a node has not answered yet."""
        return bool(self._asked)

    def require(self, nodes: list[str], look: Callable[[], bool]) -> None:
        """See that these nodes reach the store; our own does, as everything else of ours does.

        Args:
            nodes: those that are there.
            look: is called while they are waited for; whether Ray can be asked something.

        Raises:
            StoreError: one of them does not.
        """
        self._fine.add(ray.get_runtime_context().get_node_id())
        others = [node for node in nodes if node not in self._fine]
        if not others:
            return
        with probing(self._store) as probe:
            for node in others:
                self._asked[node] = _Question(probe, _ask(probe, node), alone=False)
            while self._asked:
                self._hear(look)

    def _hear(self, look: Callable[[], bool]) -> None:
        if look():
            self.follow(self._live())
            for node in list(self._asked):
                if self.reaches(node) is False:
                    self.close()
                    raise StoreError(self._faults[node])
        if self._asked:
            time.sleep(_LOOK_EVERY)

    def follow(self, live: Collection[str]) -> None:
        """Forget the nodes that are gone before they answered, and count the time of the others."""
        passed = self._time.passed()
        for node in [node for node in self._asked if node not in live]:
            self._drop(node)
        for question in self._asked.values():
            question.waited += passed

    def reaches(self, node: str) -> bool | None:
        """Whether a node that came later reaches the store; None as long as that is not known."""
        if node in self._fine:
            return True
        if node in self._faults:
            return False
        if node not in self._asked:
            probe = StoreProbe(self._store, patience=_LATER_PATIENCE)
            probe.begin()
            self._asked[node] = _Question(probe, _ask(probe, node), alone=True)
            return None
        fault = _fault(node, self._asked[node])
        if fault is None:
            return None
        self._drop(node)
        if fault:
            self._faults[node] = fault
        else:
            self._fine.add(node)
        return not fault

    def fault_of(self, node: str) -> str:
        """Why a node does not reach the store."""
        return self._faults[node]

    def close(self) -> None:
        """Wait for nobody any more, and remove what was written for those who have not answered."""
        for node in list(self._asked):
            self._drop(node)

    def _drop(self, node: str) -> None:
        question = self._asked.pop(node)
        if question.alone:
            question.probe.end()


def _ask(probe: StoreProbe, node: str) -> Any:
    place = NodeAffinitySchedulingStrategy(node, soft=False)
    task: Any = ray.remote(num_cpus=0, max_retries=1)(answer)
    return task.options(scheduling_strategy=place).remote(probe.parcel, node)


def _fault(node: str, question: _Question) -> str | None:
    """What is wrong, empty if nothing is; None as long as that is not known.

    Where nodes share a folder for what was sent to them, as on one machine, plymill may be missing
    for a moment, while another node makes it anew there. And a node that has just died may be
    listed for a little while: it is asked again until it is not, and costs no attempt.
    """
    if question.ref is not None and ray.wait([question.ref], timeout=0)[0]:
        try:
            found: Answer = ray.get(question.ref)
        except re.RayTaskError as error:
            reason = next(iter(str(error.cause or error).splitlines()), type(error).__name__)
            question.attempts += 1
        except re.RayError as error:
            reason = gist(error)
            question.attempts += loss_cause(error, node_alive=True) is not e.LossCause.NODE_LOST
        else:
            return question.probe.fault(node, found)
        if question.attempts > _ATTEMPTS:
            return f"Node {node[:8]} cannot run plymill: {reason.rstrip('.')}."
        question.ref, question.again = None, question.waited + _PAUSE
    if question.waited > _ANSWER_SECONDS:
        return f"Node {node[:8]} does not look at the store within {_ANSWER_SECONDS:g} seconds."
    if question.ref is None and question.waited >= question.again:
        question.ref = _ask(question.probe, node)
    return None
