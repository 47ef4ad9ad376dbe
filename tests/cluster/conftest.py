"""A job without a game: each unit sums squares. Its workers can be told to misbehave."""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import settings

from plymill.cluster import JobSpec, MemoryFiles, Plan, Receipt, RunStore, Stage, StageContext, Unit
from plymill.cluster.plan import audit_sample
from plymill.cluster.storage.unitfile import arrays_digest

# No example fails because the machine is busy.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")

UNIT_ITEMS = 10


class SquaresSpec(JobSpec):
    kind: Literal["squares"] = "squares"
    count: int = 200
    audit_fraction: float = 0.0
    seed: int = 0
    rounds: int = 0


@dataclass
class SquaresWorker:
    store: RunStore
    name: str
    misbehave: Callable[[str, Unit, bool], None]
    wrong: frozenset[str]
    solved: list[tuple[str, str]]

    def _solve(self, unit: Unit) -> dict[str, Any]:
        keys = self.store.read_input(unit)["keys"]
        values = keys * keys
        if self.name.split("-")[0] in self.wrong:
            values = values + 1
        return {"keys": keys, "values": values}

    def run(self, unit: Unit) -> Receipt:
        self.misbehave(self.name, unit, False)
        arrays = self._solve(unit)
        receipt = Receipt(
            unit=unit.index,
            digest=arrays_digest(arrays),
            worker=self.name,
            seconds=0.5,
            finished=time.time(),
            host="here",
            pid=os.getpid(),
            counters={"squares": len(arrays["keys"])},
        )
        self.store.write_unit(unit, arrays, receipt, details={"by": self.name})
        self.solved.append((self.name, unit.name))
        return receipt

    def audit(self, unit: Unit) -> str:
        self.misbehave(self.name, unit, True)
        return arrays_digest(self._solve(unit))


def _nothing(worker: str, unit: Unit, audit: bool) -> None:
    del worker, unit, audit


@dataclass
class SquaresJob:
    """``wrong``: the nodes whose workers compute wrongly. ``solved``: who solved which unit.

    A spec with rounds goes on with further numbers; how many depends on the sums so far.
    """

    spec: SquaresSpec = field(default_factory=SquaresSpec)
    misbehave: Callable[[str, Unit, bool], None] = _nothing
    wrong: frozenset[str] = frozenset()
    solved: list[tuple[str, str]] = field(default_factory=list)
    task_memory: int = 0

    def plan(self, store: RunStore) -> Plan:
        units = self.units(store, 0, 0, self.spec.count)
        plan = Plan(run_id=self.spec.run_id, item="numbers", units=tuple(units))
        return plan.model_copy(update={"audited": self.audited(units)})

    def extend(self, store: RunStore, plan: Plan) -> Plan | None:
        if len(plan.rounds) >= self.spec.rounds:
            return None
        results = [store.read_unit(unit)[0]["values"] for unit in plan.units]
        more = 20 + int(sum(values.sum() for values in results)) % 7 * UNIT_ITEMS
        units = self.units(store, len(plan.units), plan.items, plan.items + more)
        return plan.extended(units, self.audited(units))

    def units(self, store: RunStore, index: int, first: int, last: int) -> list[Unit]:
        units = []
        for start in range(first, last, UNIT_ITEMS):
            stop = min(start + UNIT_ITEMS, last)
            name = f"{index:05d}"
            digest = store.write_input(name, {"keys": np.arange(start, stop, dtype=np.uint64)})
            units.append(
                Unit(name=name, index=index, start=start, stop=stop, input_digest=digest, cost=1.0)
            )
            index += 1
        return units

    def audited(self, units: list[Unit]) -> tuple[int, ...]:
        return audit_sample(self.spec.run_id, units, self.spec.audit_fraction, self.spec.seed)

    def make_worker(self, store: RunStore, name: str, threads: int) -> SquaresWorker:
        del threads
        return SquaresWorker(store, name, self.misbehave, self.wrong, self.solved)

    def worker_memory(self, threads: int) -> int:
        return threads

    @property
    def stages(self) -> tuple[Stage, ...]:
        return (Stage("sum", _sum), Stage("text", _text))

    def provenance_files(self, store: RunStore, plan: Plan) -> dict[str, bytes]:
        workers = [store.read_unit_and_details(unit)[2]["by"] for unit in plan.units]
        return {"workers.txt": "\n".join(workers).encode()}

    def page(
        self, store: RunStore, manifest: Mapping[str, Any], provenance: Mapping[str, Any]
    ) -> str:
        del store
        return f"<p>{manifest['run_id']} {len(provenance['units'])}</p>"


def _sum(context: StageContext) -> dict[str, Any]:
    total = 0
    for unit in context.plan.units:
        arrays, _ = context.store.read_unit(unit)
        total += int(arrays["values"].sum())
    context.publish("total.txt", f"{total}\n".encode())
    return {"total": total}


def _text(context: StageContext) -> dict[str, Any]:
    context.publish("words.txt", f"the total is {context.earlier['sum']['total']}\n".encode())
    return {}


@pytest.fixture
def make_job() -> Callable[..., SquaresJob]:
    def make(
        count: int = 200, audit_fraction: float = 0.0, rounds: int = 0, **options: Any
    ) -> SquaresJob:
        spec = SquaresSpec(count=count, audit_fraction=audit_fraction, rounds=rounds)
        return SquaresJob(spec=spec, **options)

    return make


@pytest.fixture
def memory() -> MemoryFiles:
    return MemoryFiles()
