"""Whole runs in one process: interrupted anywhere, damaged anywhere, the artefacts are the same."""

import contextlib
from collections.abc import Callable
from typing import Any

import pytest

from plymill.cluster import (
    LocalExecutor,
    MemoryFiles,
    Progress,
    RunFailedError,
    RunInterruptedError,
    RunStore,
    StoreFullError,
    Unit,
)
from tests.cluster.in_memory import MakeJob, artifacts, run, stored


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
