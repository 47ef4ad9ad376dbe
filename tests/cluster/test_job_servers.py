"""Servers at the address of a cluster that are no job server, or a poor one; no Ray is started.

Each is a small server in a thread, and is asked by a process of its own, as a person would.
"""

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plymill.cluster import ClusterError
from plymill.cluster.sending import look
from plymill.cluster.sending.submissions import Order
from tests.cluster.fake_jobs import FakeJobs

TOKEN = "5e" * 32
VERSION = json.dumps({"version": "4", "ray_version": "2.60.0", "ray_commit": "x"})
SHORT = """
import sys
from plymill.cluster.on_ray import job_server
job_server._ANSWER_SECONDS, job_server._WHOLE_SECONDS = 1.0, 2.0
from plymill.cli import main
sys.exit(main())
"""
NO_SERVER = "is no job server of Ray: it"
STRANGE = f"{NO_SERVER} does not answer like one"

Answer = tuple[int, str]
Speak = Callable[[BaseHTTPRequestHandler], Answer | None]


@contextmanager
def server(speak: Speak) -> Iterator[str]:
    """The address of a server that answers so; None: it has done all that it does."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = speak(self)
            if answer is None:
                return
            self.send_response(answer[0])
            if 300 <= answer[0] < 400:
                self.send_header("Location", answer[1])
            self.end_headers()
            self.wfile.write(answer[1].encode())

        def log_message(self, format: str, *args: Any) -> None:
            del format, args

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.daemon_threads = True
    threading.Thread(target=running.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{running.server_address[1]}"
    finally:
        running.shutdown()


def ray_like(inside: Speak) -> Speak:
    """Turns away whoever brings no token, in Ray's words; the others hear what is inside."""

    def speak(request: BaseHTTPRequestHandler) -> Answer | None:
        if "Authorization" not in request.headers:
            return 401, "Unauthorized: Missing authentication token"
        return inside(request)

    return speak


def always(status: int, text: str) -> Speak:
    return lambda request: (status, text)


def with_jobs(status: int, text: str) -> Speak:
    """A sound version, and this as the list of jobs."""
    return lambda request: (200, VERSION) if request.path == "/api/version" else (status, text)


def silent(request: BaseHTTPRequestHandler) -> None:
    del request
    time.sleep(60)


def trickling(request: BaseHTTPRequestHandler) -> None:
    request.wfile.write(b"HTTP/1.0 200 OK\r\n")
    for number in range(200):  # a header each time, so that the line is never quiet for long
        try:
            request.wfile.write(f"X-Header-{number}: x\r\n".encode())
        except OSError:
            return
        time.sleep(0.3)


def ask(address: str, *words: str, home: Path) -> subprocess.CompletedProcess[str]:
    """``plymill jobs`` with little patience."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    return subprocess.run(
        [sys.executable, "-c", SHORT, "jobs", "--address", address, *words],
        env={**kept, "HOME": str(home), "RAY_AUTH_TOKEN": TOKEN},
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )


REFUSAL = "Traceback (most recent call last):\n  in it\nRuntimeError: there is no such job"
POOR: dict[str, tuple[Speak, str]] = {
    # What is no job server is told so, whether it asks for tokens or not.
    "a page for everybody": (always(200, "<html>Welcome</html>"), STRANGE),
    "JSON for everybody": (always(200, '{"hello": "world"}'), STRANGE),
    "sends everybody on": (always(302, "/login"), f"{NO_SERVER} answers with the status 302"),
    "turns everybody away": (always(401, "Log in"), f"{NO_SERVER} answers with the status 401"),
    # What answers with other than Ray's client looks for is no traceback.
    "a list for whoever has a token": (ray_like(always(200, "[1, 2]")), STRANGE),
    "a page for whoever has a token": (ray_like(always(200, "<html>")), STRANGE),
    "no version": (ray_like(always(200, '{"ray_version": "x"}')), STRANGE),
    "a number as version": (ray_like(always(200, '{"ray_version": 3}')), STRANGE),
    "jobs that are none": (ray_like(with_jobs(200, '{"what": [1, 2]}')), STRANGE),
    "jobs without fields": (ray_like(with_jobs(200, '[{"type": "SUBMISSION"}]')), STRANGE),
    "sends us on": (ray_like(always(307, "/x")), f"{NO_SERVER} answers with the status 307"),
    # A head that is there and does not answer is not one that refuses.
    "a head that is away": (ray_like(with_jobs(503, "later")), "does not answer (status 503)"),
    "a head in trouble": (ray_like(with_jobs(500, "Oh")), "does not answer (status 500)"),
    "away for all": (always(502, "Bad Gateway"), "does not answer (status 502)"),
    "a head that refuses": (ray_like(with_jobs(500, REFUSAL)), "refuses that: RuntimeError: there"),
    # Nobody keeps us for ever.
    "silent": (silent, "Cannot reach the cluster at"),
    "trickling": (trickling, "Cannot reach the cluster at"),
    "silent to a token": (ray_like(silent), "Cannot reach the cluster at"),
    "trickling to a token": (ray_like(trickling), "Cannot reach the cluster at"),
    "silent on jobs": (
        ray_like(lambda request: (200, VERSION) if "version" in request.path else silent(request)),
        "Cannot reach the cluster at",
    ),
}


@pytest.mark.slow
def test_poor_servers_are_one_sentence_in_time(tmp_path: Path) -> None:
    def answer(case: tuple[Speak, str]) -> subprocess.CompletedProcess[str]:
        with server(case[0]) as address:
            return ask(address, home=tmp_path)

    with ThreadPoolExecutor(3) as pool:
        for name, done in zip(POOR, pool.map(answer, POOR.values()), strict=True):
            assert done.returncode == 2, (name, done.stderr)
            said = [line for line in done.stderr.splitlines() if line[:6] != "Asking"]
            assert len(said) == 1, (name, done.stderr)
            assert POOR[name][1] in said[0], (name, said)


@pytest.mark.slow
def test_a_token_is_not_taken_elsewhere(tmp_path: Path) -> None:
    """Whoever is sent on by the server of a cluster would show his token to another."""
    heard: list[str] = []

    def elsewhere(request: BaseHTTPRequestHandler) -> Answer:
        heard.append(request.path)
        return 200, VERSION

    with server(elsewhere) as other, server(ray_like(always(307, other))) as address:
        assert NO_SERVER in ask(address, home=tmp_path).stderr
    assert heard == []


@pytest.mark.slow
def test_a_cluster_is_open_if_its_jobs_are_whoever_may_ask_for_the_version(
    tmp_path: Path,
) -> None:
    """A version for all is no harm while the jobs are guarded."""

    def guarded(request: BaseHTTPRequestHandler) -> Answer:
        if request.path == "/api/version":
            return 200, VERSION
        if "Authorization" not in request.headers:
            return 401, "Unauthorized: Missing authentication token"
        return 200, "[]"

    with server(guarded) as safe, server(with_jobs(200, "[]")) as unsafe:
        assert ask(safe, home=tmp_path).returncode == 0
        refused = ask(unsafe, home=tmp_path)
        assert "asks for no token" in refused.stderr
        assert ask(unsafe, "--allow-insecure", home=tmp_path).returncode == 0


# --- following a log ------------------------------------------------------------------------------


def test_a_log_is_followed_though_its_connection_dies_and_the_head_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from aiohttp import ClientPayloadError
    from requests import ConnectionError

    from plymill.cluster.on_ray import jobs

    class Client:
        asked = tails = 0

        def list_jobs(self) -> list[Any]:
            self.asked += 1
            if self.asked == 2:
                raise ConnectionError
            status = "RUNNING" if self.asked < 5 else "SUCCEEDED"
            return [SimpleNamespace(submission_id="run", status=SimpleNamespace(value=status))]

        async def tail_job_logs(self, name: str) -> AsyncIterator[str]:
            del name
            self.tails += 1
            if self.tails == 2:
                raise ClientPayloadError
            yield "a\n"
            await asyncio.sleep(20)  # what is dead says nothing
            raise AssertionError("nobody waits for so long")

        def get_job_logs(self, name: str) -> str:
            del name
            return "a\nb\n"

    monkeypatch.setattr(jobs, "_SILENT_SECONDS", 0.1)
    monkeypatch.setattr(jobs, "_PAUSE", 0.0)
    server = object.__new__(jobs.RayJobs)
    server.address, server._client = "http://head:8265", Client()
    assert "".join(server.follow("run")) == "a\nb\n"
    assert server._client.tails == 3


class Hiccups:
    """A job server on which a job runs; each connection to its log ends in an error."""

    tails = 0

    def __init__(self, hiccups: int) -> None:
        self.hiccups = hiccups

    def list_jobs(self) -> list[Any]:
        status = "RUNNING" if self.tails < self.hiccups else "SUCCEEDED"
        return [SimpleNamespace(submission_id="run", status=SimpleNamespace(value=status))]

    async def tail_job_logs(self, name: str) -> AsyncIterator[str]:
        from aiohttp import ClientPayloadError

        del name
        self.tails += 1
        yield "the same each time\n"
        raise ClientPayloadError

    def get_job_logs(self, name: str) -> str:
        del name
        return "the same each time\n"


@pytest.mark.parametrize(("lasting", "ends"), [(0.0, True), (60.0, False)])
def test_a_log_is_followed_through_any_number_of_hiccups_unless_they_come_in_a_row(
    monkeypatch: pytest.MonkeyPatch, lasting: float, ends: bool
) -> None:
    """A quiet log says nothing new for days, in which a connection may break many times."""
    from plymill.cluster.on_ray import jobs

    monkeypatch.setattr(jobs, "_PAUSE", 0.0)
    monkeypatch.setattr(jobs, "_LASTING", lasting)
    server = object.__new__(jobs.RayJobs)
    server.address, server._client = "http://head:8265", Hiccups(3 * jobs._FAILURES)
    with nullcontext() if ends else pytest.raises(ClusterError, match="Cannot reach the cluster"):
        assert "".join(server.follow("run")) == "the same each time\n"
    assert server._client.tails == (3 * jobs._FAILURES if ends else jobs._FAILURES + 1)


# --- the look -------------------------------------------------------------------------------------


class Interrupted(FakeJobs):
    """A job server; Ctrl-C is pressed while the look waits for its job."""

    state = "RUNNING"
    asked = 0
    folder: Path
    done: list[str]

    def submit(self, order: Order) -> bool:
        assert order.folder is not None
        self.folder, self.done = order.folder, []
        return True

    def status(self, name: str) -> str:
        del name
        self.asked += 1
        if self.asked == 3:
            raise KeyboardInterrupt
        return self.state

    def stop(self, name: str) -> bool:
        del name
        self.done.append("stop")
        self.state = "STOPPED"
        return True

    def delete(self, name: str) -> None:
        del name
        if self.state == "RUNNING":  # as Ray does
            raise ClusterError("The job runs.")
        self.done.append("delete")


def test_a_look_that_is_stopped_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "_PAUSE", 0.0)
    jobs = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        look.look_at(jobs, [])
    assert jobs.done == ["stop", "delete"]
    assert not jobs.folder.exists()


def test_a_look_that_takes_too_long_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "_PATIENCE", -1.0)
    jobs = Interrupted()
    jobs.asked = 3
    with pytest.raises(ClusterError, match="does not start a small job"):
        look.look_at(jobs, [])
    assert jobs.done == ["stop", "delete"]


def test_a_look_keeps_no_folder_while_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever presses Ctrl-C three times ends the process where it stands."""
    monkeypatch.setattr(look, "_PAUSE", 0.0)

    class Watched(Interrupted):
        def status(self, name: str) -> str:
            assert not self.folder.exists()
            return super().status(name)

    with pytest.raises(KeyboardInterrupt):
        look.look_at(Watched(), [])
