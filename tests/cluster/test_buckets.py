"""Meeting a bucket: nobody waits for ever, and nobody is asked twice."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from pyarrow import fs as arrow

from plymill.cluster import ArrowFiles, StoreError
from plymill.cluster.storage import buckets

MUTE = "gs://anonymous@bucket/runs?scheme=http&retry_limit_seconds=1&endpoint_override={host}"


@pytest.fixture
def mute() -> Iterator[socket.socket]:
    """A server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def host(server: socket.socket) -> str:
    name, port = server.getsockname()
    return f"{name}:{port}"


def test_a_store_that_does_not_answer_is_told_after_a_while(
    mute: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buckets, "ANSWER_SECONDS", 0.1)
    files = ArrowFiles(MUTE.format(host=host(mute)))
    with pytest.raises(
        StoreError, match=r"^Cannot reach the store gs://.*: no answer for 0.1 seconds"
    ):
        files.list("")


@pytest.mark.slow
def test_s3_that_does_not_answer_is_told_and_holds_nobody(
    mute: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process with an S3 request on its way ends only when Arrow has given it up."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    url = f"s3://bucket/runs?region=us-east-1&scheme=http&endpoint_override={host(mute)}"
    done = subprocess.run(
        [sys.executable, "-m", "plymill", "run", "list", "--store", url],
        capture_output=True,
        text=True,
        check=False,
        timeout=80,
    )
    assert done.returncode == 2
    patience, line = done.stderr.splitlines()
    assert patience == f"Reading the runs of {url} ..."
    assert line.startswith(f"plymill: Cannot reach the store {url}: ")


def test_ctrl_c_is_heard_while_nobody_answers(mute: socket.socket) -> None:
    command = ["-m", "plymill", "run", "list", "--store", MUTE.format(host=host(mute))]
    with subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        mute.settimeout(60)
        connection, _ = mute.accept()
        with connection:
            assert connection.recv(3) == b"GET"
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert err.splitlines()[-1].startswith("plymill: Stopped;")
    assert "Traceback" not in err


class Bucket:
    """A filesystem that is asked for its bucket, and answers with a type or an error."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def get_file_info(self, path: str) -> arrow.FileInfo:
        self.asked.append(path)
        if isinstance(self.answer, Exception):
            raise self.answer
        return arrow.FileInfo(path, type=self.answer)


def meet(bucket: Bucket, name: str, query: str = "") -> None:
    filesystem: Any = bucket
    buckets.meet_bucket(filesystem, f"{name}/runs", f"s3://{name}/runs{query}")


def new_name() -> str:
    return f"bucket-{uuid4().hex}"


@pytest.mark.parametrize("answer", [arrow.FileType.Directory, OSError("ACCESS_DENIED")])
def test_a_bucket_is_asked_for_once_and_need_not_allow_it(answer: Any) -> None:
    bucket, name = Bucket(answer), new_name()
    meet(bucket, name)
    meet(bucket, name)
    assert bucket.asked == [name]


def test_a_bucket_that_is_missing_is_asked_for_again() -> None:
    bucket, name = Bucket(arrow.FileType.NotFound), new_name()
    with pytest.raises(StoreError, match=f"There is no bucket '{name}'"):
        meet(bucket, name)
    bucket.answer = arrow.FileType.Directory
    meet(bucket, name)
    assert bucket.asked == [name, name]


def test_a_bucket_that_is_to_be_made_may_be_missing() -> None:
    meet(Bucket(arrow.FileType.NotFound), new_name(), "?allow_bucket_creation=true")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (
            "hdfs://x/y",
            r"'hdfs://x/y': it is of no kind that is known here; expected a folder, s3:",
        ),
        ("S3://b/c", "'S3://b/c': it is of no kind"),
        ("http://user:secret@host/x", r"URL http://\.\.\. holds credentials"),
        ("s3://key:secret@bucket/x", r"URL s3://\.\.\. holds credentials"),
        ("s3://b/a\nb", r"'s3://b/a\\nb': it is of no kind"),
        ("s3://a b/c", r"Cannot open the store 's3://a b/c': [^\n]*; expected a folder"),
    ],
)
def test_urls_that_name_no_store_are_refused_in_one_line_that_holds_no_secret(
    url: str, said: str
) -> None:
    with pytest.raises(StoreError, match=said) as caught:
        ArrowFiles(url)
    assert "secret" not in str(caught.value)
    assert "allow_delayed_open" not in str(caught.value)
    assert "\n" not in str(caught.value)
