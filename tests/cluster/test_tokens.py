"""Tokens: job servers that ask for one, for another, or for none; each command is a process."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from plymill.cluster import ClusterError
from plymill.cluster.sending import tokens

TOKEN = "5e" * 32


class JobServer(BaseHTTPRequestHandler):
    """The little of Ray's job server that a list of jobs needs."""

    token: str | None = TOKEN

    def do_GET(self) -> None:
        given = self.headers.get("Authorization", "")
        if self.token is not None and given != f"Bearer {self.token}":
            fault = "Invalid" if given else "Missing"  # Ray's words
            self._answer(403 if given else 401, f"{fault} authentication token")
        elif self.path == "/api/version":
            fields = {"version": "4", "ray_version": "2.60.0", "ray_commit": "x"}
            self._answer(200, json.dumps({**fields, "session_name": "s"}))
        elif self.path == "/api/jobs/":
            self._answer(200, "[]")
        else:
            self._answer(404, "nothing")

    def _answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: Any) -> None:
        del format, args


class OpenServer(JobServer):
    token = None


class OtherServer(JobServer):
    def do_GET(self) -> None:
        self._answer(404, "nothing")


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, str]]:
    """Addresses of a server that asks for a token, of an open one, and of something else."""
    found = {"safe": JobServer, "open": OpenServer, "other": OtherServer}
    running = {name: ThreadingHTTPServer(("127.0.0.1", 0), kind) for name, kind in found.items()}
    for server in running.values():
        threading.Thread(target=server.serve_forever, daemon=True).start()
    yield {name: f"http://127.0.0.1:{s.server_address[1]}" for name, s in running.items()}
    for server in running.values():
        server.shutdown()


def jobs(
    address: str, *words: str, home: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    return subprocess.run(
        [sys.executable, "-m", "plymill", "jobs", "--address", address, *words],
        env={**kept, "HOME": str(home), **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_job_servers_of_all_kinds(servers: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    none, home = tmp_path / "none", tmp_path / "home"
    none.mkdir()
    (home / ".ray").mkdir(parents=True)
    (home / ".ray" / "auth_token").write_text(TOKEN)
    safe = servers["safe"]
    refused = "does not accept our token; put the cluster's into RAY_AUTH_TOKEN"
    cases: list[tuple[str, list[str], Path, dict[str, str], int, str]] = [
        (safe, [], none, {"RAY_AUTH_TOKEN": TOKEN}, 0, "No runs were sent"),
        (safe, [], none, {"RAY_AUTH_TOKEN_PATH": str(file)}, 0, "No runs were sent"),
        (safe, [], home, {}, 0, "No runs were sent"),
        (safe, [], home, {"RAY_ADDRESS": "http://elsewhere:1"}, 0, f"at {safe}."),
        (safe, [], none, {}, 2, refused),
        (safe, [], none, {"RAY_AUTH_TOKEN": "00" * 32}, 2, refused),
        (safe, [], none, {"RAY_AUTH_TOKEN_PATH": "/nothing"}, 2, "holds no token (no such file"),
        (safe, [], none, {"RAY_AUTH_TOKEN": f"{TOKEN}\n{TOKEN}"}, 2, "cannot be sent: it holds"),
        (servers["open"], [], home, {}, 2, "asks for no token, so that anybody who reaches it"),
        (servers["open"], [], home, {}, 2, "RAY_AUTH_TOKEN_PATH before 'ray start'"),
        (servers["open"], ["--allow-insecure"], none, {}, 0, "No runs were sent"),
        (servers["open"], ["--allow-insecure"], home, {}, 0, "No runs were sent"),
        (servers["other"], [], home, {}, 2, "is no job server of Ray: it answers with the status"),
        ("head", [], home, {}, 2, "'head' is no address of a job server"),
        ("ray://head:10001", [], home, {}, 2, "is no address of a job server"),
        ("127.0.0.1:1", [], home, {}, 2, "Cannot reach the cluster at http://127.0.0.1:1"),
    ]

    def ask(case: tuple[str, list[str], Path, dict[str, str], int, str]) -> Any:
        address, words, folder, variables, _, _ = case
        return jobs(address, *words, home=folder, **variables)

    with ThreadPoolExecutor(4) as pool:
        for case, done in zip(cases, pool.map(ask, cases), strict=True):
            assert done.returncode == case[4], (case, done.stderr)
            assert case[5] in done.stdout + done.stderr, (case, done.stdout, done.stderr)
            assert "Traceback" not in done.stderr
            if done.returncode:
                # On a slow machine the word before it tells that the cluster is asked.
                said = [line for line in done.stderr.splitlines() if line[:6] != "Asking"]
                assert len(said) == 1, done.stderr


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """No token anywhere, and Ray not imported yet."""
    for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_AUTH_MODE"):
        monkeypatch.setenv(name, "")  # restored afterwards, whatever is set in between
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delitem(sys.modules, "ray", raising=False)
    return monkeypatch


def test_a_cluster_of_our_own_has_a_fresh_token(bare: pytest.MonkeyPatch) -> None:
    tokens.protect_own_cluster()
    first = os.environ["RAY_AUTH_TOKEN"]
    assert (len(first), os.environ["RAY_AUTH_MODE"]) == (64, "token")
    bare.delenv("RAY_AUTH_TOKEN")
    tokens.protect_own_cluster()
    assert os.environ["RAY_AUTH_TOKEN"] != first


def test_what_a_person_has_set_is_kept(bare: pytest.MonkeyPatch) -> None:
    bare.setenv("RAY_AUTH_MODE", "disabled")
    bare.setenv("RAY_AUTH_TOKEN_PATH", "/somewhere")
    tokens.protect_own_cluster()
    assert os.environ["RAY_AUTH_MODE"] == "disabled"
    assert "RAY_AUTH_TOKEN" not in os.environ


@pytest.mark.parametrize("allowed", [True, False])
def test_joining_without_a_token(bare: pytest.MonkeyPatch, allowed: bool) -> None:
    del bare
    tokens.prepare_client(allow_insecure=allowed)
    assert os.environ["RAY_AUTH_MODE"] == ("disabled" if allowed else "token")


def test_an_empty_token_file_is_told(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("\n")
    bare.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "token"))
    with pytest.raises(ClusterError, match=r"holds no token \(it is empty\)"):
        tokens.prepare_client(allow_insecure=False)


@pytest.mark.parametrize("token", ["5e\n5e", "schl\u00fcssel", "5e\x7f", "\udce95e", "5e\t5e"])
def test_a_token_that_cannot_be_sent_is_told_by_its_place(
    bare: pytest.MonkeyPatch, tmp_path: Path, token: str
) -> None:
    bare.setenv("RAY_AUTH_TOKEN", token)
    with pytest.raises(ClusterError, match=r"^The token in RAY_AUTH_TOKEN cannot be sent") as told:
        tokens.prepare_client(allow_insecure=True)
    assert token not in str(told.value)
    bare.delenv("RAY_AUTH_TOKEN")
    if "\n" in token:  # of a file, Ray reads the first line
        return
    file = tmp_path / ".ray" / "auth_token"
    file.parent.mkdir()
    file.write_bytes(token.encode(errors="surrogateescape"))
    with pytest.raises(ClusterError, match=r"^The token in ~/\.ray/auth_token cannot be sent"):
        tokens.prepare_client(allow_insecure=False)
    file.write_text("schl\u00fcssel", encoding="utf-8")
    bare.setenv("RAY_AUTH_TOKEN_PATH", str(file))
    with pytest.raises(ClusterError, match="auth_token, which RAY_AUTH_TOKEN_PATH names, cannot"):
        tokens.prepare_client(allow_insecure=False)


def test_tokens_that_ray_sends_are_let_pass(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Ray cuts off the space around a token, and reads one line of a file."""
    bare.setenv("RAY_AUTH_TOKEN", f" {TOKEN}\r\n")
    tokens.prepare_client(allow_insecure=False)
    bare.delenv("RAY_AUTH_TOKEN")
    (tmp_path / "token").write_text(f"{TOKEN}\n\u00fc\n", encoding="utf-8")
    bare.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "token"))
    tokens.prepare_client(allow_insecure=False)


@pytest.mark.parametrize("asks", [True, False])
def test_a_gcs_is_asked_whether_it_wants_a_token(asks: bool) -> None:
    from plymill.cluster.on_ray.session import _is_open

    with gcs(TOKEN if asks else None) as (address, asked):
        assert _is_open(address) is not asks
    assert asked == ["/ray.rpc.NodeInfoGcsService/CheckAlive"]


@pytest.mark.slow
@pytest.mark.parametrize("variables", [{"RAY_AUTH_TOKEN": "00" * 32}, {}], ids=["wrong", "none"])
def test_a_cluster_that_wants_another_token_is_not_tried_for_long(
    tmp_path: Path, variables: dict[str, str]
) -> None:
    """Ray would try for twenty seconds, warn, and say that the cluster cannot be reached."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    with gcs(TOKEN) as (address, asked):
        done = subprocess.run(
            [sys.executable, "-c", JOIN, address],
            env={**kept, "HOME": str(tmp_path), **variables},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.stdout.startswith(f"The cluster at {address} does not accept our token; put")
    assert done.stderr == ""
    assert len(asked) <= 1


JOIN = """
import sys
from plymill.cluster import ClusterError
from plymill.cluster.on_ray.session import ray_session
try:
    with ray_session(sys.argv[1]):
        print("joined")
except ClusterError as error:
    print(error)
"""


@contextmanager
def gcs(token: str | None) -> Iterator[tuple[str, list[str]]]:
    """Address of what answers like the head's process for all others, and what it was asked."""
    import grpc

    asked: list[str] = []

    class Gcs(grpc.GenericRpcHandler):  # type: ignore[misc]
        def service(self, details: Any) -> Any:
            asked.append(details.method)
            return grpc.unary_unary_rpc_method_handler(self.answer)

        def answer(self, request: bytes, context: Any) -> bytes:
            given = dict(context.invocation_metadata()).get("authorization")
            if token is not None and given != f"Bearer {token}":
                context.abort(grpc.StatusCode.UNAUTHENTICATED, "no token")
            return request

    server = grpc.server(ThreadPoolExecutor(1), handlers=[Gcs()])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}", asked
    finally:
        server.stop(None)
