"""Visitors who send little, or nothing, keep nobody else out: of a real server."""

import shutil
import socket
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from plymill.web import Settings
from plymill.web.connections import Limits
from tests.web.conftest import Made, served

HEAD = b"GET /runs HTTP/1.1\r\nHost: localhost\r\n"
WHOLE = HEAD + b"\r\n"
POST = b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"
#: Long enough for a busy machine to answer in between, and short enough for a test.
HASTY = Limits(header=0.5, body=0.5, idle=30)


@contextmanager
def connected(url: str) -> Iterator[socket.socket]:
    port = int(url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=8) as sock:
        yield sock


@pytest.fixture(scope="module")
def hasty(made: Made) -> Iterator[str]:
    """A page that waits for nothing longer than half a second."""
    with served(Settings(store=made.url, port=0), HASTY) as url:
        yield url


def seconds_until_closed(sock: socket.socket, *, piece: bytes = b"") -> float:
    """How long the server stays while a piece is sent each tenth of a second."""
    began = time.monotonic()
    sock.settimeout(0.1)
    while time.monotonic() - began < 6:
        try:
            if not sock.recv(1 << 16):
                break
        except TimeoutError:
            pass
        except OSError:
            break
        else:
            continue
        try:
            sock.sendall(piece)
        except OSError:
            break
    return time.monotonic() - began


@pytest.mark.parametrize(
    ("begun", "piece"),
    [
        (b"", b""),
        (b"GET", b""),
        (HEAD, b"x-a: b\r\n"),
        (b"", b"\r\n"),
        (POST, b""),
        (POST, b"x"),
        (WHOLE, b"\r\n"),
        (WHOLE + HEAD, b"x-a: b\r\n"),
    ],
    ids=[
        "nothing",
        "half a line",
        "a header without end",
        "empty lines",
        "no body",
        "a body that trickles",
        "empty lines after an answer",
        "a second header without end",
    ],
)
def test_what_takes_too_long_to_arrive_is_not_waited_for(
    hasty: str, begun: bytes, piece: bytes
) -> None:
    with connected(hasty) as sock:
        sock.sendall(begun)
        assert 0.3 < seconds_until_closed(sock, piece=piece) < 5


def test_a_body_that_was_refused_is_not_waited_for_either(made: Made) -> None:
    """It is answered before it has arrived; then nothing of the next request comes."""
    settings = Settings(store=made.url, port=0, token="correct-horse-battery")
    with served(settings, HASTY) as url, connected(url) as sock:
        sock.sendall(b"GET /runs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        assert seconds_until_closed(sock, piece=b"1\r\nx\r\n") < 5


def test_who_asks_again_in_time_is_answered_however_long_the_connection_lasts(hasty: str) -> None:
    with connected(hasty) as sock:
        for _ in range(4):
            sock.sendall(HEAD)
            time.sleep(0.25)
            sock.sendall(b"\r\n")
            assert sock.recv(1 << 20).startswith(b"HTTP/1.1 200 ")
            sock.settimeout(0.2)
            while not _is_over(sock):
                pass
            sock.settimeout(8)


def _is_over(sock: socket.socket) -> bool:
    try:
        return not sock.recv(1 << 20)
    except TimeoutError:
        return True


def test_connections_that_do_nothing_do_not_count(made: Made) -> None:
    """The one that has done nothing for the longest makes room."""
    limits = Limits(connections=4)
    with served(Settings(store=made.url, port=0), limits) as url, ExitStack() as stack:
        idle = [stack.enter_context(connected(url)) for _ in range(12)]
        for sock in idle:
            sock.sendall(HEAD)
        for _ in range(3):
            with urllib.request.urlopen(f"{url}/runs", timeout=8) as answer:
                assert answer.status == 200
        assert seconds_until_closed(idle[0]) < 5


LARGE = 48 << 20  # more than the buffers of both ends hold


@pytest.fixture
def large(made: Made, folder: Path) -> bytes:
    """A request for a file of that many bytes, which is in ``folder``."""
    shutil.copytree(Path(made.url) / made.book, folder / made.book)
    (folder / made.book / "report.html").write_bytes(bytes(LARGE))
    return f"GET /runs/{made.book}/report HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def test_an_answer_that_nobody_reads_is_not_kept_for_ever(large: bytes, folder: Path) -> None:
    hasty = Limits(unread=0.5)
    with served(Settings(store=str(folder), port=0), hasty) as url, connected(url) as sock:
        sock.sendall(large)
        time.sleep(2)  # in which nothing is read
        assert 0 < _read_to_the_end(sock) < LARGE


def test_an_answer_that_is_read_slowly_but_steadily_arrives_whole(
    large: bytes, folder: Path
) -> None:
    hasty = Limits(unread=0.5)
    with served(Settings(store=str(folder), port=0), hasty) as url, connected(url) as sock:
        sock.sendall(large.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        assert _read_to_the_end(sock, pause=0.002) > LARGE


def _read_to_the_end(sock: socket.socket, pause: float = 0.0) -> int:
    """How many bytes come until the server ends it, in whatever way."""
    read = 0
    try:
        while piece := sock.recv(1 << 16):
            read += len(piece)
            time.sleep(pause)
    except ConnectionError:
        pass
    return read


def test_who_reads_nothing_of_what_he_asked_for_keeps_nobody_out(
    large: bytes, folder: Path
) -> None:
    limits = Limits(unread=0.5, connections=2)
    with served(Settings(store=str(folder), port=0), limits) as url, ExitStack() as stack:
        greedy = [stack.enter_context(connected(url)) for _ in range(2)]
        for sock in greedy:
            sock.sendall(large)
        time.sleep(2)
        with urllib.request.urlopen(f"{url}/runs", timeout=8) as answer:
            assert answer.status == 200


def test_thousands_of_requests_in_one_piece_are_refused(made: Made) -> None:
    with served(Settings(store=made.url, port=0)) as url, connected(url) as sock:
        sock.sendall(WHOLE * 2000)
        answers = b""
        while piece := _received(sock):
            answers += piece
        assert answers.count(b"HTTP/1.1 200 ") <= Limits().pipelined + 1
        assert b"HTTP/1.1 400 " in answers


def _received(sock: socket.socket) -> bytes:
    try:
        return sock.recv(1 << 16)
    except ConnectionError:
        return b""


def test_a_refused_request_closes_its_connection(hasty: str) -> None:
    too_large = b"Content-Length: 9999999\r\n\r\n"
    for request in (
        b"GET /runs HTTP/1.1\r\n\r\n",
        b"POST /login HTTP/1.1\r\nHost: localhost\r\n" + too_large,
        b"GET /runs?" + b"x" * 5000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ):
        with connected(hasty) as sock:
            sock.sendall(request)
            answer = b""
            while piece := sock.recv(1 << 16):
                answer += piece
            assert answer.startswith(b"HTTP/1.1 4")
            assert b"connection: close" in answer
