"""Huffman keys: plymill's codec of whole arrays against bitbully's, one board at a time."""

import argparse

import numpy as np

from _harness import Comparison, parser, seconds, show
from _positions import board_of
from plymill.books import Scope, huffman_keys, keys_from_huffman, positions_of
from plymill.games import Position


def main() -> None:
    """Encodes and decodes positions of ply 12, and checks each code against bitbully's."""
    command = parser(__doc__)
    command.add_argument("--positions", type=int, default=1_000_000, help="positions to encode")
    command.add_argument(
        "--peer-positions", type=int, default=20_000, help="of those the peer does"
    )
    options = command.parse_args()
    show(measure(options), as_json=options.json)


def measure(options: argparse.Namespace) -> Comparison:
    """Rates in keys a second; every code that the peer gives is compared with ours."""
    layer = positions_of(Scope(ply=12, distances=True))
    keys = np.random.default_rng(1).permutation(layer)[: options.positions]
    codes = huffman_keys(keys)
    assert np.array_equal(keys_from_huffman(codes, 12), keys), "decoding does not invert encoding"
    boards = [board_of(Position.from_key(key)) for key in keys[: options.peer_positions].tolist()]
    theirs = [one.toHuffman() for one in boards]
    assert theirs == codes[: len(boards)].astype(np.uint32).view(np.int32).tolist(), "codes differ"

    encode = len(keys) / seconds(lambda: huffman_keys(keys))
    decode = len(keys) / seconds(lambda: keys_from_huffman(codes, 12))
    peer = len(boards) / seconds(lambda: [one.toHuffman() for one in boards])
    return Comparison(
        claim="Encoding positions as Huffman keys, decoding in the worse case as fast",
        ours=min(encode, decode),
        peer=peer,
        unit="keys/s",
        larger_is_better=True,
        checked=len(boards) + len(keys),
        extra={"encoded_per_s": round(encode), "decoded_per_s": round(decode)},
    )


if __name__ == "__main__":
    main()
