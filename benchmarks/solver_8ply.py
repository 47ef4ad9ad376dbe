"""Cold solves of random positions of the 8-ply layer, against bitbully on the same positions.

Each position is solved by itself, with empty tables on both sides; emptying them is not counted.
Each side is checked against the other, and both against the book derived from the 12-ply book.
"""

import numpy as np

from _cold import compare_cold
from _harness import parser, show
from _positions import published_distances
from plymill.books import derive


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--count", type=int, default=20, help="positions to solve")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--table-mb", type=int, default=64)
    args = options.parse_args()
    with published_distances() as book:
        keys, scores = derive(book, 8)[:]
    chosen = np.random.default_rng(args.seed).choice(len(keys), args.count, replace=False)
    result = compare_cold(
        "A cold solve of a random 8-ply position", keys[chosen], args.table_mb, scores[chosen]
    )
    show(result, as_json=args.json)


if __name__ == "__main__":
    main()
