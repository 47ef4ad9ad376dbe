"""Look-ups in the 12-ply book: plymill's compressed file against bitbully's book in memory."""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import bitbully_databases
import numpy as np
from bitbully import bitbully_core

from _harness import Comparison, parser, seconds, show
from _positions import board_of
from plymill.books import convert_book, open_book
from plymill.games import Position
from plymill.games.arrays import mirror_keys

PUBLISHED = Path(bitbully_databases.__file__).parent / "assets" / "book_12ply_distances.dat"

#: Prints by how many MB a process grows that opens a book and asks it 20,000 random questions.
MEMORY = """
import random, sys
from plymill.books import open_book
from plymill.games import Position

def resident():
    fields = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return int(fields["VmRSS"].split()[0]) / 1000

before = resident()
book = open_book(sys.argv[1])
for _ in range(20_000):
    key, value = book[random.randrange(len(book))]
    assert book.find(Position.from_key(key)) == value
print(resident() - before)
"""


def main() -> None:
    """Converts the published book, and measures look-ups, opening, size and memory."""
    command = parser(__doc__)
    command.add_argument("--positions", type=int, default=20_000, help="single look-ups")
    options = command.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "12ply.book"
        convert_book(open_book(PUBLISHED, "12ply-dist"), path)
        show(measure(path, options), as_json=options.json)


def measure(path: Path, options: argparse.Namespace) -> Comparison:
    """The rate of a whole batch decides; single look-ups and the rest stand beside it."""
    peer = bitbully_core.OpeningBookCore(PUBLISHED, False, True)
    with open_book(path) as book:
        keys = np.random.default_rng(1).permutation(book[:][0])
        asked = np.concatenate((keys[::2], mirror_keys(keys[1::2])))[:1_000_000]
        positions = [Position.from_key(key) for key in asked[: options.positions].tolist()]
        boards = [board_of(position) for position in positions]
        answers, found = book.lookup(asked)
        assert found.all(), "a position of the book was not found"
        theirs = [peer.getBoardValue(one) for one in boards]
        assert theirs == answers[: len(boards)].tolist(), "the peer answers otherwise"
        assert theirs == single(path, positions), "single answers differ from the batch"
        ours = len(asked) / seconds(lambda: book.lookup(asked))
    peer_seconds = seconds(lambda: [peer.getBoardValue(one) for one in boards])
    return Comparison(
        claim="Looking up a batch of a million random positions",
        ours=ours,
        peer=len(boards) / peer_seconds,
        unit="positions/s",
        larger_is_better=True,
        checked=2 * len(boards),
        extra=further_figures(path, positions, peer_seconds / len(boards)),
    )


def further_figures(path: Path, positions: list[Position], peer_single: float) -> dict[str, float]:
    """Single look-ups, opening, size and memory, ours and the peer's."""
    megabytes = subprocess.run(
        [sys.executable, "-c", MEMORY, str(path)], check=True, capture_output=True, text=True
    ).stdout
    return {
        "single_us": round(1e6 * seconds(lambda: single(path, positions), 2) / len(positions), 1),
        "peer_single_us": round(1e6 * peer_single, 1),
        "open_ms": round(1e3 * seconds(lambda: open_book(path).close()), 2),
        "peer_open_ms": round(1e3 * seconds(open_peer, 2), 1),
        "size_bytes": path.stat().st_size,
        "peer_size_bytes": PUBLISHED.stat().st_size,
        "memory_mb": round(float(megabytes), 1),
    }


def single(path: Path, positions: list[Position]) -> list[int]:
    """One look-up after the other, in a book that was just opened: hardly a block is at hand."""
    with open_book(path) as book:
        return [book.find(position) for position in positions]


def open_peer() -> bitbully_core.OpeningBookCore:
    """Opens the published book with the peer."""
    return bitbully_core.OpeningBookCore(PUBLISHED, False, True)


if __name__ == "__main__":
    main()
