"""The store on S3, served by moto: the same files, the same behaviour."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from plymill.cluster import (
    ArrowFiles,
    Coordinator,
    LocalExecutor,
    MemoryFiles,
    RunStore,
    StoreError,
    download,
    list_runs,
)


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """The URL of an empty bucket; endpoint and credentials come from the usual environment."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        boto3.client("s3").create_bucket(Bucket="books")
        yield "s3://books"
    server.stop()


def test_files_are_written_read_listed_replaced_and_deleted(bucket: str) -> None:
    files = ArrowFiles(f"{bucket}/files")
    assert files.list("") == []
    files.write("a/x", b"one")
    files.write("a/y/z", b"two")
    files.write("a/x", b"three")
    assert files.read("a/x") == b"three"
    assert files.list("a") == ["x", "y"]
    assert files.sub("a").read("y/z") == b"two"
    files.delete("a/x")
    files.delete("a/x")
    assert not files.exists("a/x")
    with pytest.raises(FileNotFoundError):
        files.read("a/x")


def test_a_bucket_that_is_not_there_is_explained(bucket: str) -> None:
    del bucket
    with pytest.raises(StoreError, match=r"Cannot write s3://nowhere/x/y"):
        ArrowFiles("s3://nowhere/x").write("y", b"1")


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
