"""The store on S3, served by moto: the same files, the same behaviour."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plymill.cluster import (
    ArrowFiles,
    Coordinator,
    LocalExecutor,
    MemoryFiles,
    RunStore,
    StoreError,
    download,
    list_runs,
    load_run,
)


def test_files_are_written_read_listed_replaced_and_deleted(bucket: str) -> None:
    files = ArrowFiles(f"{bucket}/files")
    assert files.list("") == []
    files.write("a/x", b"one")
    files.write("a/y/z", b"two")
    files.write("a/x", b"three")
    assert files.read("a/x") == b"three"
    parts = [files.read_part("a/x", start, 3) for start in (0, 3, 5)]
    assert parts == [b"thr", b"ee", b""]
    assert files.list("a") == ["x", "y"]
    assert files.sub("a").read("y/z") == b"two"
    files.delete("a/x")
    files.delete("a/x")
    assert not files.exists("a/x")
    with pytest.raises(FileNotFoundError):
        files.read("a/x")
    with pytest.raises(FileNotFoundError):
        files.read_part("a/x", 0, 3)


@pytest.mark.parametrize(
    "use",
    [
        lambda files: files.write("y", b"1"),
        lambda files: files.read("y"),
        lambda files: files.list(""),
        lambda files: files.exists("y"),
        lambda files: list_runs(files.url),
        lambda files: load_run(files.url, "book-1"),
    ],
    ids=["write", "read", "list", "exists", "runs", "run"],
)
def test_a_bucket_that_is_not_there_is_told_whatever_is_asked_of_it(
    bucket: str, use: Callable[[ArrowFiles], object]
) -> None:
    del bucket
    with pytest.raises(StoreError, match=r"^There is no bucket 'nowhere', which s3://nowhere/x"):
        use(ArrowFiles("s3://nowhere/x"))


def test_a_run_on_s3_makes_the_same_artefacts_goes_on_and_is_downloaded(
    bucket: str, make_job: Callable[..., Any], tmp_path: Path
) -> None:
    url = f"{bucket}/runs"
    memory = MemoryFiles()
    job = make_job(count=60, audit_fraction=0.2)
    store = RunStore(memory, job.spec.run_id)
    Coordinator(job, store, LocalExecutor(job, store)).run()

    there = RunStore.open(url, job.spec.run_id)
    assert Coordinator(job, there, LocalExecutor(job, there)).run().quarantined == {}
    there.files.write("units/00003.zst", there.files.read("units/00003.zst")[:-10])
    there.files.delete("artifacts/total.txt")
    again = make_job(count=60, audit_fraction=0.2)
    assert Coordinator(again, there, LocalExecutor(again, there)).run().complete
    assert [unit for _, unit in again.solved] == ["00003"]

    (info,) = list_runs(url)
    assert info.state == "done"
    download(url, job.spec.run_id, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        name: store.files.read(f"artifacts/{name}") for name in store.files.list("artifacts")
    }
