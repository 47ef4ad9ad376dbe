"""An S3 server, moto's, that fails, is slow, or is gone for a while."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pytest

App = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

_BODY = (
    b'<?xml version="1.0" encoding="UTF-8"?>'
    b"<Error><Code>%s</Code><Message>made by the test</Message></Error>"
)
_CODES = {
    403: "AccessDenied",
    404: "NoSuchBucket",
    429: "SlowDown",
    500: "InternalError",
    503: "ServiceUnavailable",
}


class FlakyS3:
    """A server on a port of its own with one empty bucket; serves well until told otherwise.

    Use it as a context manager. All troubles can be changed from any thread while it serves.

    Attributes:
        requests: how many were made of it.
        failed: how many it has answered with an error.
    """

    def __init__(self) -> None:
        from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

        self._app: App = DomainDispatcherApplication(create_backend_app)
        self._lock = threading.Lock()
        self._server: Any = None
        self._thread: threading.Thread | None = None
        self._port = 0
        self._every, self._status = 0, 503
        self._seconds = 0.0
        self._slow_left: int | None = None
        self.requests = self.failed = 0
        self.bucket = f"books-{uuid4().hex[:8]}"

    @classmethod
    @contextmanager
    def met_by_all(cls) -> Iterator["FlakyS3"]:
        """A server that all processes which a test starts find in their environment."""
        with cls() as server, pytest.MonkeyPatch.context() as patch:
            for name, value in server.environment.items():
                patch.setenv(name, value)
            yield server

    def __enter__(self) -> "FlakyS3":
        import boto3

        self.back()
        boto3.client("s3", endpoint_url=self.endpoint, **_KEYS).create_bucket(Bucket=self.bucket)
        return self

    def __exit__(self, *exc: object) -> None:
        self.gone()

    @property
    def endpoint(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def url(self) -> str:
        """The bucket, as a store."""
        return f"s3://{self.bucket}"

    @property
    def environment(self) -> dict[str, str]:
        """What every process needs to reach the bucket."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": _KEYS["aws_access_key_id"],
            "AWS_SECRET_ACCESS_KEY": _KEYS["aws_secret_access_key"],
            "AWS_DEFAULT_REGION": _KEYS["region_name"],
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    # --- troubles ---------------------------------------------------------------------------------

    def fail_every(self, count: int, status: int = 503) -> None:
        """Answer every so many-th request with an error of this status; 0: none, 1: each."""
        with self._lock:
            self._every, self._status = count, status

    def slow(self, seconds: float, requests: int | None = None) -> None:
        """Take so long for each request, or for each of the next so many."""
        with self._lock:
            self._seconds, self._slow_left = seconds, requests

    def gone(self) -> None:
        """Let connections be refused; what is stored is kept."""
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()
            assert self._thread is not None
            self._thread.join()

    def back(self) -> None:
        """Serve again, at the same address; nothing happens if it does."""
        if self._server is not None:
            return
        from werkzeug.serving import WSGIRequestHandler, make_server

        class Quiet(WSGIRequestHandler):
            def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
                pass

        self._server = make_server(
            "127.0.0.1", self._port, self._serve, threaded=True, request_handler=Quiet
        )
        self._port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def calm(self) -> None:
        """End all troubles."""
        self.fail_every(0)
        self.slow(0)
        self.back()

    @contextmanager
    def gone_for(self, seconds: float) -> Iterator[threading.Thread]:
        """Gone from now on, and back after a time by itself; leaving the context waits for that."""
        self.gone()

        def return_later() -> None:
            time.sleep(seconds)
            self.back()

        thread = threading.Thread(target=return_later, daemon=True)
        thread.start()
        try:
            yield thread
        finally:
            thread.join()

    # --- serving ----------------------------------------------------------------------------------

    def _serve(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        with self._lock:
            self.requests += 1
            fails = bool(self._every) and self.requests % self._every == 0
            self.failed += fails
            seconds, status = self._seconds if self._slow_left != 0 else 0.0, self._status
            if self._slow_left:
                self._slow_left -= 1
        time.sleep(seconds)
        if not fails:
            return self._app(environ, start_response)
        body = _BODY % _CODES.get(status, "InternalError").encode()
        _read_all(environ)
        head = [("Content-Type", "application/xml"), ("Content-Length", str(len(body)))]
        start_response(f"{status} Trouble", head)
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]


_KEYS = {
    "aws_access_key_id": "test",
    "aws_secret_access_key": "test",
    "region_name": "us-east-1",
}


def _read_all(environ: dict[str, Any]) -> None:
    """Take what the client sends: it does not listen before it is through."""
    environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
