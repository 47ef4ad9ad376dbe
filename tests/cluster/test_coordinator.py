"""Whole runs in one process: interrupted anywhere, damaged anywhere, the artefacts are the same."""

import contextlib
from collections.abc import Callable
from typing import Any

import pytest

from plymill.cluster import (
    Coordinator,
    Executor,
    LocalExecutor,
    MemoryFiles,
    Progress,
    RunFailedError,
    RunInterruptedError,
    RunResult,
    RunStore,
    StoreFullError,
    Unit,
)
from plymill.cluster.errors import RunTakenError
from plymill.cluster.machine import events as e

MakeJob = Callable[..., Any]


def run(job: Any, files: MemoryFiles, executor: Executor | None = None, **more: Any) -> RunResult:
    store = RunStore(files, job.spec.run_id)
    return Coordinator(job, store, executor or LocalExecutor(job, store), **more).run()


def stored(files: MemoryFiles, job: Any, *folders: str) -> dict[str, bytes]:
    """The files of these folders of the run, by path."""
    store = RunStore(files, job.spec.run_id)
    return {
        f"{folder}/{name}": store.files.read(f"{folder}/{name}")
        for folder in folders
        for name in store.files.list(folder)
    }


def artifacts(files: MemoryFiles, job: Any) -> dict[str, bytes]:
    return stored(files, job, "artifacts")


class Killed(BaseException):
    """The process ends here and now."""


class MortalFiles(MemoryFiles):
    """Files whose user is killed at a certain write, before or after it has happened."""

    def __init__(self, *args: Any, deadline: list[int], after: bool) -> None:
        super().__init__(*args)
        self.deadline = deadline
        self.after = after

    def write(self, path: str, data: bytes) -> None:
        self.deadline[0] -= 1
        if self.deadline[0] < 0 and not self.after:
            raise Killed
        super().write(path, data)
        if self.deadline[0] < 0:
            raise Killed

    def sub(self, folder: str) -> "MortalFiles":
        return MortalFiles(
            f"{self.url}/{folder}", self._files, deadline=self.deadline, after=self.after
        )


def test_a_run_solves_every_unit_once_and_makes_its_artefacts(
    make_job: MakeJob, memory: MemoryFiles
) -> None:
    job = make_job(count=95)
    result = run(job, memory)
    assert result.complete
    assert result.stages["sum"] == {"total": sum(i * i for i in range(95))}
    assert sorted(unit for _, unit in job.solved) == [f"{i:05d}" for i in range(10)]
    files = artifacts(memory, job)
    assert set(files) == {
        f"artifacts/{name}" for name in ("SHA256SUMS", "manifest.json", "total.txt", "words.txt")
    }
    assert result.progress.state == "done"
    assert result.progress.unit_map == "d" * 10
    assert result.progress.items_done == 95


@pytest.mark.parametrize("rounds", [0, 2])
@pytest.mark.parametrize("after", [False, True], ids=["before the write", "after the write"])
def test_killed_at_any_write_and_started_again_the_artefacts_are_the_same(
    make_job: MakeJob, rounds: int, *, after: bool
) -> None:
    undisturbed = MemoryFiles()
    shape = {"count": 60, "audit_fraction": 0.3, "rounds": rounds}
    reference = make_job(**shape)
    run(reference, undisturbed)
    deadline = 0
    while True:
        disk: dict[str, bytes] = {}
        mortal = MortalFiles("memory://", disk, deadline=[deadline], after=after)
        job = make_job(**shape)
        try:
            run(job, mortal)
        except Killed:
            deadline += 1
        else:
            break
        survivors = MemoryFiles("memory://", disk)
        finished = {path.rpartition("/")[2] for path in disk if "/units/" in path}
        again = make_job(**shape)
        run(again, survivors)
        assert artifacts(survivors, again) == artifacts(undisturbed, reference)
        assert stored(survivors, again, "input") == stored(undisturbed, reference, "input")
        redone = {f"{unit}.zst" for _, unit in again.solved}
        assert not redone & finished, "what was stored is not solved again"
    assert deadline > 25, "the run was killed at every one of its writes"


def test_a_finished_run_started_again_does_nothing_and_changes_nothing(
    make_job: MakeJob, memory: MemoryFiles
) -> None:
    job = make_job()
    run(job, memory)
    before = artifacts(memory, job)
    again = make_job()
    assert run(again, memory).complete
    assert again.solved == []
    assert artifacts(memory, again) == before


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda data: data[: len(data) // 2], "cut short or altered"),
        (lambda data: data[:50] + bytes([data[50] ^ 1]) + data[51:], "cut short or altered"),
        (lambda data: b"something else", "not a unit file"),
        (lambda data: b"", "not a unit file"),
    ],
    ids=["truncated", "flipped bit", "foreign", "empty"],
)
@pytest.mark.parametrize("folder", ["units", "input"])
def test_a_damaged_file_is_reported_and_made_again(
    make_job: MakeJob,
    memory: MemoryFiles,
    folder: str,
    damage: Callable[[bytes], bytes],
    said: str,
) -> None:
    job = make_job()
    run(job, memory)
    before = artifacts(memory, job)
    store = RunStore(memory, job.spec.run_id)
    store.files.delete("units/00002.zst")
    path = f"{folder}/00002.zst"
    good = make_job()
    other: dict[str, bytes] = {}
    run(good, MemoryFiles("memory://", other))
    whole = RunStore(MemoryFiles("memory://", other), job.spec.run_id).files.read(path)
    store.files.write(path, damage(whole))
    again = make_job()
    assert run(again, memory).complete
    assert [unit for _, unit in again.solved] == ["00002"]
    assert artifacts(memory, again) == before
    faults = [line["message"] for line in store.read_events() if line["event"] == "damaged file"]
    assert len(faults) == 1
    assert path in faults[0]
    assert said in faults[0]


@pytest.mark.parametrize(
    "damage", [lambda data: b"", lambda data: data.replace(b"total", b"tutal")]
)
@pytest.mark.parametrize("path", ["spec.json", "plan.json", "stages/sum.json", "stages/text.json"])
def test_whatever_is_damaged_in_a_finished_run_the_artefacts_are_the_same_and_nothing_is_solved(
    make_job: MakeJob, memory: MemoryFiles, path: str, damage: Callable[[bytes], bytes]
) -> None:
    job = make_job(audit_fraction=0.2)
    run(job, memory)
    before = artifacts(memory, job)
    store = RunStore(memory, job.spec.run_id)
    store.files.write(path, damage(store.files.read(path)))
    again = make_job(audit_fraction=0.2)
    assert run(again, memory).complete
    assert again.solved == []
    assert artifacts(memory, again) == before


def test_a_flipped_bit_in_an_audit_condemns_nobody(make_job: MakeJob, memory: MemoryFiles) -> None:
    job = make_job(audit_fraction=0.1)
    run(job, memory)
    store = RunStore(memory, job.spec.run_id)
    name = store.files.list("audits")[0]
    record = store.read_json(f"audits/{name}")
    assert record is not None
    digest = record["digest"].encode()
    altered = store.files.read(f"audits/{name}").replace(digest, b"0" + digest[1:])
    store.files.write(f"audits/{name}", altered)
    again = make_job(audit_fraction=0.1)
    assert run(again, memory).complete
    assert again.solved == []
    assert "discarded" not in {event["event"] for event in store.read_events()}


@pytest.mark.parametrize("lost", [True, False])
def test_a_lost_or_damaged_input_of_a_finished_unit_is_written_anew_and_nothing_solved(
    make_job: MakeJob, memory: MemoryFiles, *, lost: bool
) -> None:
    job = make_job(count=30, rounds=2, audit_fraction=0.1)
    run(job, memory)
    before = artifacts(memory, job)
    store = RunStore(memory, job.spec.run_id)
    inputs = {name: store.files.read(f"input/{name}") for name in store.files.list("input")}
    for name, data in inputs.items():
        store.files.delete(f"input/{name}")
        if not lost:
            store.files.write(f"input/{name}", data[:-1])
    again = make_job(count=30, rounds=2, audit_fraction=0.1)
    assert run(again, memory).complete
    assert again.solved == []
    assert artifacts(memory, again) == before
    assert {n: store.files.read(f"input/{n}") for n in store.files.list("input")} == inputs


def test_a_damaged_input_of_a_finished_unit_is_made_again_if_its_audit_is_still_due(
    make_job: MakeJob, memory: MemoryFiles
) -> None:
    job = make_job(audit_fraction=0.1)
    run(job, memory)
    store = RunStore(memory, job.spec.run_id)
    name = store.files.list("audits")[0]
    store.files.delete(f"audits/{name}")
    store.files.write(f"input/{name.removesuffix('.json')}.zst", b"")
    again = make_job(audit_fraction=0.1)
    assert run(again, memory).complete
    assert again.solved == []
    assert name in store.files.list("audits")


def test_units_of_an_altered_plan_are_looked_at_again_with_the_right_one(
    make_job: MakeJob, memory: MemoryFiles
) -> None:
    job = make_job()
    run(job, memory)
    store = RunStore(memory, job.spec.run_id)
    plan = store.read_plan()
    assert plan is not None
    wrong = plan.units[4].model_copy(update={"input_digest": "0" * 64})
    units = (*plan.units[:4], wrong, *plan.units[5:])
    store.write_plan(plan.model_copy(update={"units": units}))
    again = make_job()
    assert run(again, memory).complete
    assert again.solved == []
    assert store.read_plan() == plan


def test_a_plan_goes_on_in_rounds_each_made_of_the_results_before(
    make_job: MakeJob, memory: MemoryFiles
) -> None:
    job = make_job(count=30, rounds=2, audit_fraction=0.1)
    seen: list[Progress] = []
    result = run(job, memory, on_progress=seen.append)
    plan = RunStore(memory, job.spec.run_id).read_plan()
    assert plan is not None
    assert [longer.units for longer in plan.rounds] == [
        3,
        3 + 2 + sum(n * n for n in range(30)) % 7,
    ]
    assert result.stages["sum"] == {"total": sum(i * i for i in range(plan.items))}
    assert len(plan.audited) == 3
    assert [unit for _, unit in job.solved] == [unit.name for unit in plan.units]
    assert result.progress.items_done == result.progress.items_total == plan.items
    assert result.progress.rounds == 3
    assert {progress.rounds for progress in seen if progress.units_total} == {1, 2, 3}
    events = [event["event"] for event in RunStore(memory, job.spec.run_id).read_events()]
    assert events.count("plan extended") == 2


@pytest.mark.parametrize("lost", ["plan.json", "input/00004.zst"])
def test_rounds_whose_plan_or_input_is_lost_are_thought_out_again_and_not_solved_again(
    make_job: MakeJob, memory: MemoryFiles, lost: str
) -> None:
    job = make_job(count=30, rounds=2, audit_fraction=0.1)
    run(job, memory)
    before = artifacts(memory, job)
    store = RunStore(memory, job.spec.run_id)
    plan = store.read_plan()
    store.files.delete(lost)
    unsolved = [] if lost == "plan.json" else ["00004"]
    for unit in unsolved:
        store.files.delete(f"units/{unit}.zst")
    again = make_job(count=30, rounds=2, audit_fraction=0.1)
    assert run(again, memory).complete
    assert [unit for _, unit in again.solved] == unsolved
    assert artifacts(memory, again) == before
    assert store.read_plan() == plan


@pytest.mark.parametrize("after", [None, *range(40)])
def test_rounds_made_from_what_a_wrong_worker_said_are_replaced(
    make_job: MakeJob, memory: MemoryFiles, after: int | None
) -> None:
    """Its first units are believed and a round is made of them; then an audit finds it out.

    In the meantime the process may be killed at any write.
    """
    right = make_job(count=30, rounds=1)
    undisturbed = MemoryFiles()
    run(right, undisturbed)

    disk: dict[str, bytes] = {}
    wrong = make_job(count=30, rounds=1, wrong=frozenset({"b"}))
    store = RunStore(MemoryFiles("memory://", disk), wrong.spec.run_id)
    run(wrong, MemoryFiles("memory://", disk), LocalExecutor(wrong, store, {"a": 1, "b": 1}))
    assert artifacts(MemoryFiles("memory://", disk), wrong) != artifacts(undisturbed, right)
    plan = store.read_plan()
    assert plan is not None
    for unit in plan.units[:3]:  # what the audit finds out
        _, receipt = store.read_unit(unit)
        if receipt.worker.startswith("b"):
            store.discard_unit(unit)

    if after is not None:
        mortal = MortalFiles("memory://", disk, deadline=[after], after=False)
        with contextlib.suppress(Killed):
            run(make_job(count=30, rounds=1), mortal)
    again = make_job(count=30, rounds=1)
    assert run(again, MemoryFiles("memory://", disk)).complete
    assert artifacts(MemoryFiles("memory://", disk), again) == artifacts(undisturbed, right)
    assert store.read_plan() == RunStore(undisturbed, right.spec.run_id).read_plan()


def test_what_the_job_tells_of_each_item_lies_beside_the_provenance(
    make_job: MakeJob, memory: MemoryFiles
) -> None:
    job = make_job(count=30)
    run(job, memory)
    store = RunStore(memory, job.spec.run_id)
    assert store.files.read("provenance/workers.txt") == b"local-1\nlocal-1\nlocal-1"
    units = (store.read_json("provenance.json") or {})["units"]
    assert all("by" not in unit and "details" not in unit for unit in units)


def test_a_damaged_artefact_is_made_again(make_job: MakeJob, memory: MemoryFiles) -> None:
    job = make_job()
    run(job, memory)
    before = artifacts(memory, job)
    RunStore(memory, job.spec.run_id).files.write("artifacts/total.txt", b"wrong")
    run(make_job(), memory)
    assert artifacts(memory, job) == before


def test_a_unit_that_always_raises_is_named_and_the_rest_is_kept(
    make_job: MakeJob, memory: MemoryFiles
) -> None:
    def misbehave(worker: str, unit: Unit, audit: bool) -> None:
        if unit.index == 4:
            raise ValueError("no good")

    job = make_job(misbehave=misbehave)
    result = run(job, memory)
    assert not result.complete
    assert list(result.quarantined) == ["00004"]
    assert "3 times" in result.quarantined["00004"]
    assert "ValueError: no good" in result.quarantined["00004"]
    assert result.progress.unit_map == "ddddqddddddddddddddd"
    assert artifacts(memory, job) == {}

    mended = make_job()
    assert run(mended, memory).complete
    assert [unit for _, unit in mended.solved] == ["00004"]


def test_a_unit_that_raises_once_is_tried_again(make_job: MakeJob, memory: MemoryFiles) -> None:
    raised: list[str] = []

    def misbehave(worker: str, unit: Unit, audit: bool) -> None:
        if unit.index == 4 and not raised:
            raised.append(worker)
            raise ValueError("once")

    job = make_job(misbehave=misbehave)
    store = RunStore(memory, job.spec.run_id)
    result = run(job, memory, LocalExecutor(job, store, {"a": 1, "b": 1}))
    assert result.complete
    solver = next(worker for worker, unit in job.solved if unit == "00004")
    assert solver != raised[0]


def test_a_full_disk_ends_the_run_with_a_sentence_and_it_can_go_on(
    make_job: MakeJob, memory: MemoryFiles
) -> None:
    def misbehave(worker: str, unit: Unit, audit: bool) -> None:
        if unit.index == 4:
            raise StoreFullError("The disk of the store is full.")

    with pytest.raises(RunFailedError, match="disk of the store is full"):
        run(make_job(misbehave=misbehave), memory)
    assert run(make_job(), memory).complete


def test_ctrl_c_stops_cleanly_says_how_to_go_on_and_the_run_goes_on(
    make_job: MakeJob, memory: MemoryFiles
) -> None:
    def misbehave(worker: str, unit: Unit, audit: bool) -> None:
        if unit.index == 4:
            raise KeyboardInterrupt

    job = make_job(misbehave=misbehave)
    seen: list[Progress] = []
    with pytest.raises(RunInterruptedError, match="run the same command again"):
        run(job, memory, on_progress=seen.append)
    assert seen[-1].state == "interrupted"
    done = {unit for _, unit in job.solved}
    again = make_job()
    assert run(again, memory).complete
    assert not done & {unit for _, unit in again.solved}


def test_a_wrong_worker_is_caught_by_the_audit_and_the_artefacts_are_right(
    make_job: MakeJob, memory: MemoryFiles
) -> None:
    job = make_job(audit_fraction=0.2, wrong=frozenset({"b"}))
    store = RunStore(memory, job.spec.run_id)
    executor = LocalExecutor(job, store, {"a": 1, "b": 1, "c": 1})
    assert run(job, memory, executor).complete
    right = MemoryFiles()
    run(make_job(audit_fraction=0.2), right)
    assert artifacts(memory, job) == artifacts(right, job)
    said = [line["message"] for line in store.read_events() if line["event"] == "warning"]
    assert any("b-2 gave a wrong result" in message for message in said)


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


def test_the_first_figures_of_a_resumed_run_count_its_units_and_items_alike(
    make_job: MakeJob, memory: MemoryFiles
) -> None:
    job = make_job()
    run(job, memory)
    seen: list[Progress] = []
    run(make_job(), memory, on_progress=seen.append)
    first = next(progress for progress in seen if progress.units_total)
    assert (first.units_done, first.items_done, first.items_resumed) == (20, 200, 200)
    assert first.unit_map == "d" * 20


def test_progress_is_written_and_tells_rate_and_a_range_of_time_left(
    make_job: MakeJob, memory: MemoryFiles
) -> None:
    now = [1000.0]

    def clock() -> float:
        now[0] += 0.25
        return now[0]

    seen: list[Progress] = []
    job = make_job()
    run(job, memory, clock=clock, on_progress=seen.append)
    half = next(p for p in seen if 8 <= p.units_done <= 12)
    assert half.eta is not None
    low, high = half.eta
    assert 0 < low <= high
    # Every unit of ten says half a second: what is left takes that long with one thread.
    assert low == pytest.approx((20 - half.units_done) * 0.5)
    assert half.rate > 0
    assert half.workers[0].units == half.units_done
    written = RunStore(memory, job.spec.run_id).read_json("progress.json")
    assert Progress.model_validate(written).state == "done"


class PatientExecutor(LocalExecutor):
    """Each task waits for a node for ten minutes, and then takes as long; it looks twice a second.

    Args:
        clock: what these minutes pass on.
        look: what happens at each look.
    """

    def __init__(self, *args: Any, clock: list[float], look: Callable[[], None]) -> None:
        super().__init__(*args)
        self._clock = clock
        self._look = look

    def call(
        self, function: Callable[..., Any], *args: Any, memory: int | None, meanwhile: Any = None
    ) -> Any:
        for waits_for in ("waiting for a node", ""):
            for _ in range(1200):
                self._clock[0] += 0.5
                meanwhile(waits_for)
                self._look()
        return super().call(function, *args, memory=memory)


def test_a_run_is_heard_of_while_its_tasks_wait_and_run(
    make_job: MakeJob, memory: MemoryFiles
) -> None:
    now = [1000.0]
    job = make_job(count=30, rounds=1)
    store = RunStore(memory, job.spec.run_id)
    silences: list[float] = []
    seen: set[tuple[str, str, str]] = set()

    def look() -> None:
        written = Progress.model_validate(store.read_json("progress.json"))
        silences.append(now[0] - written.updated)
        if not silences[-1]:
            seen.add((written.state, written.stage, written.message))

    executor = PatientExecutor(job, store, clock=now, look=look)
    result = run(job, memory, executor, clock=lambda: now[0])
    assert result.complete
    assert max(silences) < 10
    stages = [("planning", ""), ("solving", ""), *(("finishing", s) for s in ("sum", "text", ""))]
    assert seen == {(*at, said) for at in stages for said in ("waiting for a node", "")}
    assert result.progress.message == ""


def test_a_driver_whose_run_is_taken_while_a_task_runs_ends_it_and_writes_nothing_more(
    make_job: MakeJob, memory: MemoryFiles
) -> None:
    now, left = [1000.0], [700]
    job = make_job()
    store = RunStore(memory, job.spec.run_id)

    def look() -> None:
        left[0] -= 1
        if not left[0]:
            store.write_json("progress.json", {"written": "by another"})

    executor = PatientExecutor(job, store, clock=now, look=look)
    with pytest.raises(RunTakenError):
        run(job, memory, executor, clock=lambda: now[0], mine=lambda: left[0] > 0)
    assert left == [0]
    assert store.read_json("progress.json") == {"written": "by another"}
    assert job.solved == []
