"""The same commands with an S3 store, served by moto."""

import json
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from moto.server import ThreadedMotoServer

from tests.cli.helpers import TINY, Plymill


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of a store in a bucket of its own: moto's servers of one process share their data."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    boto3.client("s3").create_bucket(Bucket="command-line")
    yield "s3://command-line/runs"
    server.stop()


@pytest.mark.slow
def test_a_run_is_built_listed_and_fetched_through_s3(
    plymill_: Plymill, bucket: str, tmp_path: Path
) -> None:
    built = plymill_("book", "build", *TINY, "--unit-size", 100, "--store", bucket)
    assert built.code == 0
    fetch = next(line for line in built.out.splitlines() if line.startswith("To fetch them:"))
    (run,) = json.loads(plymill_("run", "list", "--store", bucket, "--json").out)
    assert fetch == f"To fetch them: plymill run download {run['run_id']} --store {bucket}"
    assert plymill_(*fetch.partition("plymill ")[2].split(), "--to", tmp_path).code == 0
    (book,) = tmp_path.glob("*-12ply-*.plymill")
    assert plymill_("book", "verify", book).code == 0


def test_a_bucket_that_is_not_there_is_one_sentence(plymill_: Plymill, bucket: str) -> None:
    missing = bucket.replace("command-line", "nowhere")
    built = plymill_("book", "build", *TINY, "--store", missing)
    assert built.code == 2
    (line,) = built.err.splitlines()
    assert line.startswith(f"plymill: Cannot write {missing}/book-")
