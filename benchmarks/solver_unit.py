"""A unit of the 12-ply layer with a warm table, against bitbully cold on positions of the unit.

The unit lies in the middle of a stretch, as in a job: what comes before it in the order of the
layer has been solved with the same table, and is not counted. All scores are checked against the
published book; bitbully solves a sample of the unit, each position with an empty table.
"""

import numpy as np

from _harness import Comparison, parser, show
from _positions import Bitbully, published_book, scores_of
from _stretch import solve_stretch
from plymill.solver import enumerate_ply, locality_order


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--start", type=int, default=2_000_000, help="place in the layer")
    options.add_argument("--warm", type=int, default=20_000, help="positions solved before")
    options.add_argument("--unit", type=int, default=10_000, help="positions measured")
    options.add_argument("--sample", type=int, default=60, help="positions for bitbully")
    options.add_argument("--table-mb", type=int, default=512)
    args = options.parse_args()
    layer = enumerate_ply(12)
    keys = layer[locality_order(layer)][args.start : args.start + args.warm + args.unit]
    unit = keys[args.warm :]
    stretch = solve_stretch(keys, args.warm, threads=1, table_mb=args.table_mb)
    expected = scores_of(unit, published_book())
    if not np.array_equal(stretch.scores, expected):
        raise AssertionError("scores differ from the published book's")
    sample = np.random.default_rng(1).choice(len(unit), args.sample, replace=False)
    scores, seconds = Bitbully().solve(unit[sample])
    if not np.array_equal(scores, expected[sample]):
        raise AssertionError("bitbully's scores differ")
    result = Comparison(
        claim="A position of a warm unit",
        ours=1e3 * stretch.core_seconds / len(unit),
        peer=1e3 * seconds / args.sample,
        unit="ms a position",
        larger_is_better=False,
        checked=len(unit),
        extra={"nodes_a_position": round(stretch.nodes / len(unit))},
    )
    show(result, as_json=args.json)


if __name__ == "__main__":
    main()
