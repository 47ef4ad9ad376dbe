"""Whole runs in one process whose workers die, lag, hang or speak late."""

from collections.abc import Callable
from typing import Any

import pytest

from plymill.cluster import (
    LocalExecutor,
    MemoryFiles,
    RunFailedError,
    RunInterruptedError,
    RunStore,
    Unit,
)
from plymill.cluster.machine import events as e
from tests.cluster.in_memory import MakeJob, artifacts, run


class FlakyExecutor(LocalExecutor):
    """Loses the worker or the node of every seventh unit."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.count = 0

    def carry_out(self, worker: str, unit: Unit, audit: bool) -> Any:
        self.count += 1
        if self.count % 7:
            return super().carry_out(worker, unit, audit)
        node = self._nodes[worker]
        self.retire(worker)
        return e.WorkerLost(worker, node, e.LossCause.CRASHED, "killed")


def test_workers_that_die_cost_their_units_in_flight_and_nothing_else(
    make_job: MakeJob, memory: MemoryFiles
) -> None:
    job = make_job()
    store = RunStore(memory, job.spec.run_id)
    assert run(job, memory, FlakyExecutor(job, store, {"a": 2, "b": 1})).complete
    assert sorted(unit for _, unit in job.solved) == [f"{i:05d}" for i in range(20)]
    right = MemoryFiles()
    run(make_job(), right)
    assert artifacts(memory, job) == artifacts(right, job)


class DeadlyExecutor(LocalExecutor):
    """One node loses the worker of every unit."""

    deadly = "a"

    def carry_out(self, worker: str, unit: Unit, audit: bool) -> Any:
        node = self._nodes[worker]
        if node != self.deadly:
            return super().carry_out(worker, unit, audit)
        self.retire(worker)
        return e.WorkerLost(worker, node, e.LossCause.UNREACHABLE)


def test_a_node_on_which_workers_die_is_barred_and_the_run_ends_only_if_it_was_the_last(
    make_job: MakeJob, memory: MemoryFiles
) -> None:
    job = make_job()
    store = RunStore(memory, job.spec.run_id)
    with pytest.raises(RunFailedError, match=r"Node a is given up: .* No other node is left"):
        run(job, memory, DeadlyExecutor(job, store, {"a": 1}))
    assert run(job, memory, DeadlyExecutor(job, store, {"a": 2, "b": 1})).complete
    assert {worker for worker, _ in job.solved} == {"b-2"}
    barred = [line for line in store.read_events() if line["event"] == "node barred"]
    assert [line["node"] for line in barred] == ["a", "a"]


class SlowExecutor(LocalExecutor):
    """The worker of one node does nothing until nobody else has anything to do any more."""

    def __init__(self, *args: Any, slow: str, patience: int) -> None:
        super().__init__(*args)
        self.slow = slow
        self.patience = patience  # polls without anything to do, before the slow one wakes up
        self.kept: list[tuple[str, Unit, bool]] = []

    def submit(self, worker: str, unit: Unit, *, audit: bool) -> None:
        if self._nodes[worker] == self.slow:
            self.kept.append((worker, unit, audit))
        else:
            super().submit(worker, unit, audit=audit)

    def poll(self, timeout: float) -> list[Any]:
        reports = super().poll(timeout)
        if not reports and self.kept:
            self.patience -= 1
            if self.patience < 0:
                reports.append(self.carry_out(*self.kept.pop(0)))
        return reports


def ticking() -> Callable[[], float]:
    """A timer that goes on by half a second whenever somebody looks at it."""
    now = [1000.0]

    def clock() -> float:
        now[0] += 0.5
        return now[0]

    return clock


@pytest.mark.parametrize("patience", [3, 10_000], ids=["slow", "stopped"])
@pytest.mark.parametrize("audit_fraction", [0.0, 0.5])
def test_what_a_worker_that_hangs_has_in_flight_is_copied_at_the_end_and_nobody_waits_for_it(
    patience: int, audit_fraction: float, make_job: MakeJob, memory: MemoryFiles
) -> None:
    job = make_job(rounds=2, audit_fraction=audit_fraction)
    store = RunStore(memory, job.spec.run_id)
    executor = SlowExecutor(job, store, {"slow": 2, "a": 1, "b": 1}, slow="slow", patience=patience)
    assert run(job, memory, executor, timer=ticking()).complete
    copied = [line for line in store.read_events() if line["event"] == "copied"]
    units = {line["unit"] for line in copied if not line["audit"]}
    assert units
    assert all(line["worker"] != "slow-1" for line in copied)
    if patience > 1000:
        assert len(executor.kept) >= len(units), "nobody waited"
        assert all(worker != "slow-1" for worker, _ in job.solved)
    right = MemoryFiles()
    run(make_job(rounds=2, audit_fraction=audit_fraction), right)
    assert artifacts(memory, job) == artifacts(right, job)


def test_a_worker_that_hangs_with_its_very_first_units_is_helped_out(
    make_job: MakeJob, memory: MemoryFiles
) -> None:
    """Before any unit is finished nobody knows how long one takes."""
    job = make_job(count=20)
    store = RunStore(memory, job.spec.run_id)
    executor = SlowExecutor(job, store, {"slow": 1, "a": 1}, slow="slow", patience=10_000)
    assert run(job, memory, executor, timer=ticking()).complete


class LateWords(LocalExecutor):
    """One worker audits much too late, and wrongly; by then its audit was another's."""

    late: tuple[str, Unit] | None = None
    idle = 0

    def submit(self, worker: str, unit: Unit, *, audit: bool) -> None:
        if audit and self.late is None:
            self.late = (worker, unit)
        elif unit.name != "00005":  # which keeps the run open
            super().submit(worker, unit, audit=audit)

    def poll(self, timeout: float) -> list[Any]:
        reports = super().poll(timeout)
        self.idle += not reports
        if self.idle == 300 and not reports and self.late is not None:
            return [e.AuditDone(self.late[0], self.late[1].index, "a bit flipped")]
        if self.idle > 302:
            raise KeyboardInterrupt
        return reports


def test_a_late_audit_that_does_not_count_is_not_stored_and_condemns_nobody_later(
    make_job: MakeJob, memory: MemoryFiles
) -> None:
    job = make_job(count=60, audit_fraction=0.1)
    store = RunStore(memory, job.spec.run_id)
    executor = LateWords(job, store, {"a": 1, "b": 2, "c": 2})
    with pytest.raises(RunInterruptedError):
        run(job, memory, executor, timer=ticking())
    events = [line["event"] for line in store.read_events()]
    assert "copied" in events
    assert events.count("audited") == 1
    plan = store.read_plan()
    assert plan is not None
    assert [record.digest for record in store.read_audits(plan)] != ["a bit flipped"]
    job = make_job(count=60, audit_fraction=0.1)
    assert run(job, memory, LocalExecutor(job, store, {"d": 1, "e": 1})).complete
    assert [unit for _, unit in job.solved] == ["00005"]


def test_on_a_run_without_trouble_nothing_is_copied(make_job: MakeJob, memory: MemoryFiles) -> None:
    job = make_job(rounds=1)
    store = RunStore(memory, job.spec.run_id)
    assert run(job, memory, LocalExecutor(job, store, {"a": 2, "b": 3}), timer=ticking()).complete
    assert [line for line in store.read_events() if line["event"] == "copied"] == []
