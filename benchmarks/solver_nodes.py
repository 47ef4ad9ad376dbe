"""Nodes a second of the search in Cython, against the same algorithm written in C.

The C program (``peer_c/search.c``) is compiled for this processor and searches the same positions
in the same order, one at a time, with tables of the same size. Scores and numbers of nodes must be
equal, so the ratio is one of time alone.
"""

import ctypes
import tempfile
import time

import numpy as np

from _harness import Comparison, parser, show
from _peer_c import compile_peer
from _positions import Keys, Scores, published_book
from plymill.solver import Table, variants
from plymill.solver.dispatch import make_kernel


def load_peer(folder: str, variant: str) -> ctypes.CDLL:
    """The C search."""
    peer = compile_peer("search.c", folder, variant)
    peer.solve.restype = ctypes.c_uint64
    peer.solve.argtypes = [ctypes.c_void_p, ctypes.c_long, ctypes.c_void_p, ctypes.c_int]
    return peer


def run_peer(peer: ctypes.CDLL, keys: Keys, index_bits: int) -> tuple[Scores, int, float]:
    scores = np.empty(len(keys), dtype=np.int8)
    start = time.thread_time()
    nodes = peer.solve(keys.ctypes.data, len(keys), scores.ctypes.data, index_bits)
    return scores, nodes, time.thread_time() - start


def run_ours(keys: Keys, table_mb: int, variant: str) -> tuple[Scores, int, float, int]:
    start = time.thread_time()
    table = Table(table_mb)
    kernel = make_kernel(table, lanes=1, variant=variant)
    scores = kernel.solve(keys, False)
    return scores, kernel.nodes, time.thread_time() - start, table.index_bits


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--count", type=int, default=100, help="positions to solve")
    options.add_argument("--rounds", type=int, default=5, help="how often each side runs")
    options.add_argument("--table-mb", type=int, default=16)
    args = options.parse_args()
    variant = variants()[0]
    keys, expected = published_book()
    chosen = np.random.default_rng(1).choice(len(keys), args.count, replace=False)
    keys, expected = keys[chosen], expected[chosen]
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        peer = load_peer(folder, variant)
        for _ in range(args.rounds):
            scores, nodes, seconds, index_bits = run_ours(keys, args.table_mb, variant)
            ours.append(nodes / seconds / 1e6)
            their_scores, their_nodes, seconds = run_peer(peer, keys, index_bits)
            theirs.append(their_nodes / seconds / 1e6)
            if nodes != their_nodes:
                raise AssertionError(f"{nodes} nodes, in C {their_nodes}")
            if not np.array_equal(scores, expected) or not np.array_equal(their_scores, expected):
                raise AssertionError("scores differ from the published book's")
    result = Comparison(
        claim=f"Nodes of the search, variant {variant}",
        ours=float(np.median(ours)),
        peer=float(np.median(theirs)),
        unit="million nodes a second",
        larger_is_better=True,
        checked=args.count,
        extra={"nodes_a_position": round(nodes / args.count)},
    )
    show(result, as_json=args.json)


if __name__ == "__main__":
    main()
