"""Files appear whole or not at all; what is damaged or foreign is refused by name."""

import errno
import os
import pickle
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plymill.cluster import (
    ArrowFiles,
    CorruptFileError,
    Files,
    MemoryFiles,
    Receipt,
    RunStore,
    StoreError,
    StoreFullError,
    Unit,
)
from plymill.cluster.errors import ConflictError
from plymill.cluster.storage.receipts import AuditRecord
from plymill.cluster.storage.unitfile import arrays_digest

ARRAYS = {"keys": np.arange(10, dtype=np.uint64)}


@pytest.fixture(params=["memory", "local"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    return MemoryFiles() if request.param == "memory" else ArrowFiles(str(tmp_path / "store"))


@pytest.fixture
def store(files: Files) -> RunStore:
    return RunStore(files, "run-1")


def make_unit(store: RunStore, index: int = 3) -> Unit:
    name = f"{index:05d}"
    digest = store.write_input(name, ARRAYS)
    return Unit(name=name, index=index, start=0, stop=10, input_digest=digest, cost=1)


def receipt(unit: Unit, arrays: Any = ARRAYS) -> Receipt:
    return Receipt(
        unit=unit.index,
        digest=arrays_digest(arrays),
        worker="w",
        seconds=1.5,
        finished=10.0,
        host="h",
        pid=1,
        counters={"nodes": 7},
    )


def test_files_are_written_read_listed_replaced_and_deleted(files: Files) -> None:
    assert files.list("") == files.list("a") == []
    files.write("a/x", b"one")
    files.write("a/y/z", b"two")
    files.write("a/x", b"three")
    assert files.read("a/x") == b"three"
    assert [files.read_part("a/x", start, 3) for start in (0, 3, 5)] == [b"thr", b"ee", b""]
    assert files.list("a") == ["x", "y"]
    assert files.exists("a/x")
    assert not files.exists("a/none")
    files.delete("a/x")
    files.delete("a/x")
    with pytest.raises(FileNotFoundError):
        files.read("a/x")
    assert files.sub("a").read("y/z") == b"two"


def test_local_files_travel_to_another_process_by_their_url(tmp_path: Path) -> None:
    files = ArrowFiles(str(tmp_path))
    files.write("x", b"1")
    assert pickle.loads(pickle.dumps(files.sub(""))).read("x") == b"1"


def test_a_relative_path_means_the_same_after_a_change_of_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = ArrowFiles("runs")
    monkeypatch.chdir("/")
    pickle.loads(pickle.dumps(files)).write("x", b"1")
    assert (tmp_path / "runs/x").read_bytes() == b"1"


def test_a_unit_result_comes_back_with_its_receipt(store: RunStore) -> None:
    unit = make_unit(store)
    store.write_unit(unit, ARRAYS, receipt(unit))
    arrays, back = store.read_unit(unit)
    np.testing.assert_array_equal(arrays["keys"], ARRAYS["keys"])
    assert back == receipt(unit)
    assert store.finished_units() == {unit.name}


def test_a_result_that_is_there_is_never_written_over_and_another_one_is_told(
    store: RunStore,
) -> None:
    unit = make_unit(store)
    store.write_unit(unit, ARRAYS, receipt(unit))
    store.write_unit(unit, ARRAYS, replace(receipt(unit), worker="late"))
    assert store.read_unit(unit)[1].worker == "w"
    other = {"keys": ARRAYS["keys"] + 1}
    with pytest.raises(ConflictError, match=r"00003.zst holds another result of unit 00003 than w"):
        store.write_unit(unit, other, receipt(unit, other))
    assert store.read_unit(unit)[1] == receipt(unit)


def test_of_two_who_write_in_the_same_moment_one_wins_and_the_other_hears_of_it(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have seen that nothing is there before either writes."""
    unit = make_unit(store)
    other = {"keys": ARRAYS["keys"] + 1}
    monkeypatch.setattr(type(store.files), "exists", lambda self, path: False)
    store.write_unit(unit, ARRAYS, receipt(unit))
    with pytest.raises(ConflictError):
        store.write_unit(unit, other, receipt(unit, other))
    assert store.read_unit(unit)[1] == receipt(unit)


def test_a_damaged_result_is_replaced(store: RunStore) -> None:
    unit = make_unit(store)
    store.write_unit(unit, ARRAYS, receipt(unit))
    store.files.write("units/00003.zst", store.files.read("units/00003.zst")[:-3])
    store.write_unit(unit, ARRAYS, replace(receipt(unit), worker="w2"))
    assert store.read_unit(unit)[1].worker == "w2"


def test_a_receipt_of_a_version_that_did_not_count_processor_time_is_read(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit = make_unit(store)

    def older(written: Receipt) -> dict[str, Any]:
        return {k: v for k, v in asdict(written).items() if k != "processor_seconds"}

    with monkeypatch.context() as patch:
        patch.setattr("plymill.cluster.storage.store.asdict", older)
        store.write_unit(unit, ARRAYS, receipt(unit))
    assert b"processor_seconds" not in store.files.read("units/00003.zst")
    assert store.read_unit(unit)[1] == receipt(unit)
    assert receipt(unit).processor_seconds is None


def test_a_unit_of_another_run_is_refused(files: Files) -> None:
    one, other = RunStore(files, "run-1"), RunStore(files, "run-2")
    unit = make_unit(one)
    one.write_unit(unit, ARRAYS, receipt(unit))
    other.files.write("units/00003.zst", one.files.read("units/00003.zst"))
    with pytest.raises(CorruptFileError, match=r"belongs to unit 00003 of run-1, not .* of run-2"):
        other.read_unit(unit)


def test_a_unit_under_another_name_is_refused(store: RunStore) -> None:
    unit, next_unit = make_unit(store, 3), make_unit(store, 4)
    store.write_unit(unit, ARRAYS, receipt(unit))
    store.files.write("units/00004.zst", store.files.read("units/00003.zst"))
    with pytest.raises(CorruptFileError, match="belongs to unit 00003"):
        store.read_unit(next_unit)


def test_a_result_of_another_input_is_refused(store: RunStore) -> None:
    unit = make_unit(store)
    store.write_unit(unit, ARRAYS, receipt(unit))
    changed = unit.model_copy(update={"input_digest": "another"})
    with pytest.raises(CorruptFileError, match="another input"):
        store.read_unit(changed)
    with pytest.raises(CorruptFileError, match="not the input of the plan"):
        store.read_input(changed)


def test_an_input_that_is_lost_or_damaged_is_told_with_what_heals_it(store: RunStore) -> None:
    unit = make_unit(store, 3)
    store.files.write("input/00003.zst", b"")
    with pytest.raises(CorruptFileError, match=r"bytes\); resuming the run writes it anew\.$"):
        store.read_input(unit)
    store.files.delete("input/00003.zst")
    with pytest.raises(CorruptFileError, match=r"is missing; resuming the run writes it anew\.$"):
        store.read_input(unit)


def test_another_spec_under_the_same_run_is_refused(
    files: Files, make_job: Callable[..., Any]
) -> None:
    spec = make_job(count=10).spec
    store = RunStore(files, spec.run_id)
    store.write_spec(spec)
    store.write_spec(spec)
    with pytest.raises(StoreError, match=r"spec\.json is the spec of another job"):
        store.write_spec(make_job(count=20).spec)
    assert store.read_spec()["count"] == 10


@pytest.mark.parametrize("data", [b"", b"\xff", b"{}", b"[]", b'{"count": 11}'])
def test_an_altered_spec_is_refused_and_written_anew_by_who_knows_it(
    files: Files, make_job: Callable[..., Any], data: bytes
) -> None:
    spec = make_job(count=10).spec
    store = RunStore(files, spec.run_id)
    store.files.write("spec.json", data)
    with pytest.raises(CorruptFileError, match=r"spec\.json is altered"):
        store.read_spec()
    store.write_spec(spec)
    assert store.read_spec()["count"] == 10


def test_an_altered_plan_or_audit_is_not_believed(
    files: Files, make_job: Callable[..., Any]
) -> None:
    job = make_job(audit_fraction=0.1)
    store = RunStore(files, job.spec.run_id)
    plan = job.plan(store)
    store.write_plan(plan)
    record = AuditRecord(unit=plan.audited[0], digest="good", worker="w")
    store.write_audit(plan.units[record.unit], record)
    assert store.read_plan() == plan
    assert store.read_audits(plan) == [record]
    for path, old, new in (
        ("plan.json", b"numbers", b"numberz"),
        (f"audits/{plan.units[record.unit].name}.json", b"good", b"gold"),
    ):
        store.files.write(path, store.files.read(path).replace(old, new))
    assert store.read_plan() is None
    assert store.read_audits(plan) == []


def test_an_audit_under_the_name_of_another_unit_is_not_believed(
    files: Files, make_job: Callable[..., Any]
) -> None:
    job = make_job(audit_fraction=0.1)
    store = RunStore(files, job.spec.run_id)
    plan = job.plan(store)
    one, other = plan.audited
    store.write_audit(plan.units[other], AuditRecord(unit=one, digest="d", worker="w"))
    assert store.read_audits(plan) == []


def test_with_a_discarded_unit_goes_what_stages_have_made_of_it(store: RunStore) -> None:
    unit = make_unit(store)
    store.write_unit(unit, ARRAYS, receipt(unit))
    store.write_sealed("stages/merge.json", {"files": {}, "result": {}})
    store.discard_unit(unit)
    assert store.files.list("stages") == []
    assert store.finished_units() == set()


def test_lines_that_are_no_events_are_left_out(store: RunStore) -> None:
    event = {"time": 1.5, "event": "node joined"}
    store.write_events([event])
    good = store.files.read("events.jsonl")
    store.files.write("events.jsonl", b'5\n[]\n\xff\n{"event": "x", "time": "y"}\n{}\n' + good)
    assert store.read_events() == [event]


def test_a_failing_write_leaves_the_old_file_and_no_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = ArrowFiles(str(tmp_path))
    files.write("x", b"old")

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreFullError, match=r"disk of the store is full.*run the same command"):
        files.write("x", b"new")
    assert (tmp_path / "x").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_unfinished_files_of_a_killed_writer_are_not_listed(tmp_path: Path) -> None:
    files = ArrowFiles(str(tmp_path))
    (tmp_path / "units").mkdir()
    (tmp_path / "units" / ".unfinished-abc-00001.zst").write_bytes(b"half")
    assert files.list("units") == []


def test_a_place_in_a_bucket_is_named_before_the_query() -> None:
    files = ArrowFiles("s3://bucket/runs?region=us-east-1&scheme=http").sub("run-1")
    assert files.place("a/x") == "s3://bucket/runs/run-1/a/x?region=us-east-1&scheme=http"


def test_a_name_that_is_not_utf_8_is_none_of_ours(tmp_path: Path) -> None:
    (tmp_path / "odd\udcff").mkdir()
    (tmp_path / "run-1").mkdir()
    assert ArrowFiles(str(tmp_path)).list("") == ["run-1"]


def test_a_folder_may_have_a_name_that_would_mean_something_in_a_url(tmp_path: Path) -> None:
    files = ArrowFiles(str(tmp_path / "runs?a=1#b%20c"))
    files.sub("run-1").write("x", b"1")
    assert (tmp_path / "runs?a=1#b%20c" / "run-1" / "x").read_bytes() == b"1"


@pytest.mark.parametrize(
    "url", ["ftp://there/x", "s3://", "nonsense://x", "~nobody-by-that-name/x", "runs\udcff"]
)
def test_a_url_that_names_no_store_is_explained(url: str) -> None:
    with pytest.raises(StoreError, match=r"Cannot open the store .*expected a folder, s3://"):
        ArrowFiles(url)


def test_a_store_that_cannot_be_written_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match=r"Cannot write .*file/sub/x"):
        ArrowFiles(str(tmp_path / "file")).write("sub/x", b"1")
