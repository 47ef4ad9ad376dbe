"""Probing the store from nodes of a Ray cluster; see `probe`."""

import time
from typing import Any

import ray
from ray import exceptions as re
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from plymill.cluster.errors import StoreError
from plymill.cluster.probe import Answer, StoreProbe, answer, probing
from plymill.cluster.storage.store import RunStore

_ANSWER_SECONDS = 90.0
# A node that comes while the store is away for all is not to be refused for that.
_LATER_PATIENCE = 60.0
_IMPORT_ATTEMPTS = 4
_IMPORT_PAUSE = 1.0


class RayProbe:
    """Remembers which nodes reach the store.

    Args:
        store: the run's files.
    """

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._fine: set[str] = set()
        self._faults: dict[str, str] = {}
        self._asked: dict[str, tuple[StoreProbe, Any]] = {}

    def require(self, nodes: list[str]) -> None:
        """See that these nodes reach the store; our own does, as everything else of ours does.

        Raises:
            StoreError: one of them does not.
        """
        self._fine.add(ray.get_runtime_context().get_node_id())
        others = [node for node in nodes if node not in self._fine]
        if not others:
            return
        with probing(self._store) as probe:
            asked = [(node, _ask(probe, node)) for node in others]
            for node, ref in asked:
                fault = _patient_fault(probe, node, ref)
                if fault:
                    raise StoreError(fault)
                self._fine.add(node)

    def reaches(self, node: str) -> bool | None:
        """Whether a node that came later reaches the store; None as long as that is not known."""
        if node in self._fine:
            return True
        if node in self._faults:
            return False
        if node not in self._asked:
            probe = StoreProbe(self._store, patience=_LATER_PATIENCE)
            probe.begin()
            self._asked[node] = (probe, _ask(probe, node))
            return None
        probe, ref = self._asked[node]
        if not ray.wait([ref], timeout=0)[0]:
            return None
        del self._asked[node]
        fault = _patient_fault(probe, node, ref)
        probe.end()
        if fault:
            self._faults[node] = fault
        else:
            self._fine.add(node)
        return not fault

    def fault_of(self, node: str) -> str:
        """Why a node does not reach the store."""
        return self._faults[node]


def _ask(probe: StoreProbe, node: str) -> Any:
    place = NodeAffinitySchedulingStrategy(node, soft=False)
    task: Any = ray.remote(num_cpus=0, max_retries=1)(answer)
    return task.options(scheduling_strategy=place).remote(probe.parcel, node)


def _patient_fault(probe: StoreProbe, node: str, ref: Any) -> str:
    """What is wrong; nothing if the node is gone meanwhile: then it does no harm.

    Where nodes share a folder for what was sent to them, as on one machine, plymill may be missing
    for a moment, while another node makes it anew there.
    """
    for _ in range(_IMPORT_ATTEMPTS):
        try:
            return _fault(probe, node, ref)
        except re.RayTaskError as error:
            reason = next(iter(str(error.cause or error).splitlines()), type(error).__name__)
        time.sleep(_IMPORT_PAUSE)
        ref = _ask(probe, node)
    return f"Node {node[:8]} cannot run plymill: {reason.rstrip('.')}."


def _fault(probe: StoreProbe, node: str, ref: Any) -> str:
    try:
        found: Answer = ray.get(ref, timeout=_ANSWER_SECONDS)
    except re.GetTimeoutError:
        return f"Node {node[:8]} does not look at the store within {_ANSWER_SECONDS:g} seconds."
    except re.RayTaskError:
        raise
    except re.RayError:
        return ""
    return probe.fault(node, found)
