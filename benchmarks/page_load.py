"""Look-ups through the page: how long they take while 200 come in every second.

Requests are sent when they are due, whether or not earlier ones are answered (an open loop), over
connections that stay open; the time of each counts from when it was due, so that waiting for a slow
one before it is part of it. Every answer is compared with the book, asked directly.

The peer is bitbully's opening book in memory behind a bare FastAPI application, which answers the
value of every move with one look-up each; both get the same positions of 11 stones. Beside it
stands our p99 for positions of any number of stones up to 11, which are a few plies above one of
the run's two books (of 8 and 12 stones), and for those from the empty board on with one book only.
"""

import argparse
import asyncio
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import bitbully_databases
import numpy as np

from _harness import Comparison, parser, show
from plymill.books import Book, derive, open_book, write_blocks
from plymill.games import Position
from plymill.workers import BookJob

PUBLISHED = Path(bitbully_databases.__file__).parent / "assets" / "book_12ply_distances.dat"
LIMIT_MS = 50
CONNECTIONS = 16

PEER = """
import sys
import uvicorn
from bitbully import bitbully_core
from fastapi import FastAPI

book = bitbully_core.OpeningBookCore(sys.argv[1], False, True)
app = FastAPI()

@app.get("/position")
def position(moves: str) -> dict[str, int | None]:
    values = {}
    for column in range(7):
        board = bitbully_core.BoardCore()
        played = all(board.play(int(move) - 1) for move in moves) and board.play(column)
        values[str(column + 1)] = book.getBoardValue(board) if played else None
    return values

uvicorn.run(app, port=int(sys.argv[2]), log_level="warning", access_log=False)
"""


def main() -> None:
    """Measures both servers one after the other."""
    command = parser(__doc__)
    command.add_argument("--rate", type=int, default=200, help="requests a second")
    command.add_argument("--seconds", type=float, default=15, help="of each measurement")
    command.add_argument("--port", type=int, default=8390, help="and the one after it")
    options = command.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        show(measure(Path(folder), options), as_json=options.json)


def measure(folder: Path, options: argparse.Namespace) -> Comparison:
    """The 99th percentile of the time to an answer, ours and the peer's."""
    count = int(options.rate * options.seconds)
    run_id, books = make_store(folder)
    near, mixed = random_games(count, (11,)), random_games(count, range(12))
    alone_id, _ = make_store(folder, seed=1, derived=False)
    prefix = f"/api/v1/books/{run_id}/position?moves="
    alone = f"/api/v1/books/{alone_id}/position?moves="
    with ours(folder, options.port):
        warm = random_games(400, range(12), seed=2)
        ask(options.port, [prefix + moves for moves in warm], options.rate)
        near_ms, near_said = ask(options.port, [prefix + moves for moves in near], options.rate)
        mixed_ms, mixed_said = ask(options.port, [prefix + moves for moves in mixed], options.rate)
        ask(options.port, [alone + moves for moves in warm], options.rate)
        alone_ms, alone_said = ask(options.port, [alone + moves for moves in mixed], options.rate)
    checked = sum(
        check(games, said, books)
        for games, said in ((near, near_said), (mixed, mixed_said), (mixed, alone_said))
    )
    with peer(options.port + 1):
        ask(options.port + 1, [f"/position?moves={moves}" for moves in warm], options.rate)
        peer_ms, peer_said = ask(
            options.port + 1, [f"/position?moves={moves}" for moves in near], options.rate
        )
    assert all(len(json.loads(said)) == 7 for said in peer_said), "the peer does not answer"
    for book in books.values():
        book.close()
    return Comparison(
        claim=f"The 99th percentile of a look-up through the page, at {options.rate} a second",
        ours=percentile(near_ms, 99),
        peer=percentile(peer_ms, 99),
        unit="ms",
        larger_is_better=False,
        checked=checked,
        extra={
            "mixed_p99_ms": percentile(mixed_ms, 99),
            "mixed_p50_ms": percentile(mixed_ms, 50),
            "one_book_p99_ms": percentile(alone_ms, 99),
            "one_book_p50_ms": percentile(alone_ms, 50),
            "near_p50_ms": percentile(near_ms, 50),
            "peer_p50_ms": percentile(peer_ms, 50),
            "limit_ms": LIMIT_MS,
            "within_limit": max(percentile(t, 99) for t in (near_ms, mixed_ms, alone_ms))
            < LIMIT_MS,
        },
    )


def make_store(folder: Path, *, seed: int = 0, derived: bool = True) -> tuple[str, dict[int, Book]]:
    """Put a finished run into a store: the published book, and what follows for 8 stones."""
    spec = BookJob(seed=seed)
    run = folder / spec.run_id
    artifacts = run / "artifacts"
    artifacts.mkdir(parents=True)
    with open_book(PUBLISHED, "12ply-dist") as published:
        paths = {12: artifacts / "12.plymill"}
        write_blocks(paths[12], published.blocks(), published.scope)
        if derived:
            paths[8] = artifacts / "8.plymill"
            eight = derive(published, 8)
            write_blocks(paths[8], eight.blocks(), eight.scope)
    files = {
        path.name: {"bytes": path.stat().st_size, "sha256": digest(path)} for path in paths.values()
    }
    (run / "spec.json").write_text(spec.canonical_json)
    manifest = artifacts / "manifest.json"
    manifest.write_text(json.dumps({"run_id": spec.run_id, "files": files, "stages": {}}))
    sums = [f"{digest(path)}  {path.name}\n" for path in (*paths.values(), manifest)]
    (artifacts / "SHA256SUMS").write_text("".join(sums))
    return spec.run_id, {ply: open_book(path) for ply, path in paths.items()}


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def random_games(count: int, plies: Sequence[int], seed: int = 1) -> list[str]:
    """Distinct games of so many plies that go on, played at random."""
    chance = np.random.default_rng(seed)
    games: dict[str, None] = {}
    while len(games) < count:
        position, moves = Position(), ""
        for _ in range(int(chance.choice(plies))):
            legal = [c for c in position.legal_moves() if not position.can_win(c)]
            column = int(chance.choice(legal))
            position, moves = position.play(column), f"{moves}{column}"
        games[moves] = None
    return list(games)


def check(games: Sequence[str], said: Sequence[bytes], books: dict[int, Book]) -> int:
    """Compare every answer with the book; how many there were."""
    for moves, text in zip(games, said, strict=True):
        answer = json.loads(text)
        book = books[8 if len(moves) < 8 else 12]
        expected = book.moves(Position(moves))
        found = [value and value["score"] for value in answer["columns"].values()]
        assert found == expected, f"{moves}: expected {expected}, got {found}"
    return len(games)


@contextmanager
def ours(store: Path, port: int) -> Iterator[None]:
    """The page of a store, as ``plymill serve`` starts it."""
    words = ["serve", "--store", str(store), "--port", str(port)]
    with running([sys.executable, "-m", "plymill", *words], port):
        yield


@contextmanager
def peer(port: int) -> Iterator[None]:
    """The other server."""
    with running([sys.executable, "-c", PEER, str(PUBLISHED), str(port)], port):
        yield


@contextmanager
def running(command: list[str], port: int) -> Iterator[None]:
    """A server, from when it accepts connections on."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        asyncio.run(reachable(process, port))
        yield
    finally:
        process.terminate()
        process.wait()


async def reachable(process: "subprocess.Popen[bytes]", port: int) -> None:
    for _ in range(600):
        assert process.poll() is None, f"the server on port {port} ended"
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.1)
        else:
            writer.close()
            return
    raise AssertionError(f"nothing listens on port {port}")


def ask(port: int, targets: Sequence[str], rate: int) -> tuple[list[float], list[bytes]]:
    """Send one request after the other, so many a second; milliseconds and answers."""
    return asyncio.run(_ask(port, targets, rate))


async def _ask(port: int, targets: Sequence[str], rate: int) -> tuple[list[float], list[bytes]]:
    times, answers = [0.0] * len(targets), [b""] * len(targets)
    start = time.perf_counter() + 0.1
    due: asyncio.Queue[int | None] = asyncio.Queue()

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (place := await due.get()) is not None:
            answers[place] = await _get(reader, writer, port, targets[place])
            times[place] = 1000 * (time.perf_counter() - start - place / rate)
        writer.close()

    clients = [asyncio.create_task(client()) for _ in range(CONNECTIONS)]
    for place in range(len(targets)):
        await asyncio.sleep(max(0.0, start + place / rate - time.perf_counter()))
        due.put_nowait(place)
    for _ in clients:
        due.put_nowait(None)
    await asyncio.gather(*clients)
    return times, answers


async def _get(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int, target: str
) -> bytes:
    writer.write(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    assert head.startswith(b"http/1.1 200"), head
    length = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length:"))
    return await reader.readexactly(int(length.partition(b":")[2]))


def percentile(times: Sequence[float], share: float) -> float:
    return round(float(np.percentile(times, share)), 2)


if __name__ == "__main__":
    main()
