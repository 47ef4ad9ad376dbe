"""Requests that no browser makes: each is answered, and none leaves a traceback in the log."""

import json
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from plymill.web import Settings
from tests.web.conftest import TOKEN, Made, logged, served

MANY = "9" * 3500  # digits: Python refuses to read, or to write, more than 4,300

PATHS = [
    "/%00",
    "/%ed%a0%80",
    "/%ff%fe",
    "/\xff\xfe",
    "//evil.example/x",
    "http://evil.example/runs",
    "*",
    "/runs/%00",
    "/runs/%ed%a0%80",
    "/runs/{book}%00",
    "/runs/{book}/artifacts/%ff",
    "/runs/{book}/artifacts/x?show=%ff",
    f"/runs/{{book}}/events?start={MANY}",
    f"/runs/{{book}}/events?start=-{MANY}",
    "/runs/{book}/events?start=1e400",
    "/runs/{book}/events?start=%d9%a3",
    "/live/runs/{live}?seen=%00%ff",
    "/static/%00",
    "/static/%ed%a0%80",
    "/static/" + "x" * 3000,
    "/static/page.css/x",
    "/books/{book}?moves=%ed%a0%80",
    "/books/{book}?moves=%00%e2%80%ae4",
    "/books/{book}?moves=" + "4" * 3500,
    "/books/{book}/line?moves=%ff",
    "/books/{book}/line?moves=" + "4" * 3500,
    f"/matches/{{grid}}/cells/{MANY}",
    f"/matches/{{grid}}/cells/-{MANY}",
    f"/matches/{{grid}}/cells/0?start={MANY}",
    f"/matches/{{grid}}/0:0?ply={MANY}",
    f"/matches/{{grid}}/0:0?ply=-{MANY}",
    f"/matches/{{grid}}/{MANY}:{MANY}",
    "/matches/{grid}/%ef%bc%90:0",
    f"/api/v1/runs/{{book}}/units?start={MANY}",
    f"/api/v1/runs/{{book}}/events?start={MANY}&limit=10000",
    "/api/v1/books/{book}/position?moves=%ed%a0%80",
    f"/api/v1/matches/{{grid}}/cells/{MANY}",
    f"/api/v1/matches/{{grid}}/cells/0?start={MANY}",
    f"/api/v1/matches/{{grid}}/{MANY}:0",
    "/login?next=%ed%a0%80",
    "/login?" + "&".join(["next=x"] * 500),
]

HEADERS = [
    f"Range: bytes={MANY}-",
    f"Range: bytes=-{MANY}",
    "Range: bytes=" + "0-0," * 500,
    "Range: \xff",
    "If-None-Match: \xff",
    "If-Modified-Since: Mon, 99 Foo 99999 99:99:99 GMT",
    "If-Modified-Since: Thu, 01 Jan 0000 00:00:00 +9999999999",
    "If-Range: \xff",
    f"Cookie: \xff=\xfe; plymill_session={MANY}.x",
    "Authorization: Bearer \xff",
    "Content-Length: +1",
    "Content-Length: 1_0",
    "Accept-Encoding: \xff;q=x",
    "HX-Request: \xff",
    "X-Forwarded-For: \xff",
    "Expect: \xff",
    "Upgrade: websocket\r\nConnection: Upgrade",
]

BODIES = [
    b"",
    b"null",
    b"token=x" + b"&a=b" * 8,
    b"[" * 100_000,
    b'{"positions": ' + b"[" * 100_000,
    b'{"positions": [' + b"9" * 5000 + b"]}",
    b'{"positions": ["4"], "solve": ' + b"9" * 5000 + b"}",
    b'{"positions": [NaN, Infinity, 1e999]}',
    b'{"positions": ["\\ud800"], "\\udfff": 1}',
    b'{"positions": ["\xed\xa0\x80"]}',
    b"\xff\xfe\x00",
    json.dumps({"positions": ["4"]}).encode("utf-16"),
    b'{"positions": {"\\ud800": []}}',
]
KINDS = ["application/json", "application/json; charset=\xff", "text/plain", "\xff", "a/b;=;;", ""]


@pytest.fixture(scope="module", params=[None, TOKEN], ids=["open", "guarded"])
def url(made: Made, request: pytest.FixtureRequest) -> Iterator[str]:
    """A page that was served for real, with a token and without."""
    with served(Settings(store=made.url, port=0, token=request.param)) as found:
        yield found


def status_of(url: str, request: str, body: bytes = b"") -> int:
    """The status that raw bytes are answered with."""
    port = urlsplit(url).port
    assert port is not None
    with logged() as said, socket.create_connection(("127.0.0.1", port), timeout=20) as sock:
        sock.sendall(request.encode("latin-1") + b"\r\n\r\n" + body)
        answer = b""
        while piece := sock.recv(1 << 16):
            answer += piece
    assert [record.exc_info for record in said] == [None] * len(said), said[0].getMessage()
    return int(answer.split(b" ", 2)[1])


def fill(path: str, made: Made) -> str:
    return path.format(book=made.book, grid=made.grid, live=made.live)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: ascii(path[:50]))
def test_odd_addresses_are_answered(url: str, made: Made, path: str) -> None:
    for method in ("GET", "HEAD", "POST", "OPTIONS"):
        request = f"{method} {fill(path, made)} HTTP/1.1\r\nHost: localhost\r\nConnection: close"
        assert 200 <= status_of(url, request) < 500


@pytest.mark.parametrize("header", HEADERS, ids=lambda header: ascii(header[:40]))
def test_odd_headers_are_answered(url: str, made: Made, header: str) -> None:
    for path in ("/runs", "/static/page.css", "/login", fill("/runs/{book}/report", made)):
        request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{header}"
        assert 200 <= status_of(url, request) < 500


@pytest.mark.parametrize("kind", KINDS, ids=ascii)
@pytest.mark.parametrize("body", BODIES, ids=lambda body: ascii(body[:40]))
def test_odd_bodies_are_answered(url: str, made: Made, body: bytes, kind: str) -> None:
    for path in (fill("/api/v1/books/{book}/positions", made), "/login"):
        request = (
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            f"Authorization: Bearer {TOKEN}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}"
        )
        assert 200 <= status_of(url, request, body) < 500
