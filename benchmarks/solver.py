"""Cold solves of random positions of the 12-ply book, against bitbully on the same positions.

Each position is solved by itself, with empty tables on both sides; emptying them is not counted.
Both are checked against the published book.
"""

import numpy as np

from _cold import compare_cold
from _harness import parser, show
from _positions import published_book


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--count", type=int, default=150, help="positions to solve")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--table-mb", type=int, default=2)
    args = options.parse_args()
    keys, scores = published_book()
    chosen = np.random.default_rng(args.seed).choice(len(keys), args.count, replace=False)
    result = compare_cold(
        "A cold solve of a random 12-ply position", keys[chosen], args.table_mb, scores[chosen]
    )
    show(result, as_json=args.json)


if __name__ == "__main__":
    main()
