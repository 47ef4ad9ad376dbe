"""The whole 12-ply layer, extrapolated from units spread evenly over it, on two cores.

Every unit is solved as a job with two cores would: two threads, one table, which the positions
before the unit have warmed. bitbully's figure is extrapolated from a cold sample of each unit.
All scores are checked against the published book.
"""

import numpy as np

from _harness import Comparison, parser, show
from _positions import Bitbully, published_book, scores_of
from _stretch import solve_stretch
from plymill.solver import enumerate_ply, locality_order


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--units", type=int, default=10)
    options.add_argument("--warm", type=int, default=10_000, help="positions solved before a unit")
    options.add_argument("--unit", type=int, default=2_000, help="positions measured")
    options.add_argument("--sample", type=int, default=10, help="positions of a unit for bitbully")
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--table-mb", type=int, default=512)
    args = options.parse_args()
    layer = enumerate_ply(12)
    order = layer[locality_order(layer)]
    book = published_book()
    peer = Bitbully()
    hours = len(layer) / 3600  # core-hours for each core-second that a position takes
    ours, theirs = [], []
    # Evenly spread, half a step from either end.
    for middle in (np.arange(args.units) + 0.5) * len(order) / args.units:
        start = min(max(int(middle) - args.warm, 0), len(order) - args.warm - args.unit)
        keys = order[start : start + args.warm + args.unit]
        unit = keys[args.warm :]
        stretch = solve_stretch(keys, args.warm, args.threads, args.table_mb)
        if not np.array_equal(stretch.scores, scores_of(unit, book)):
            raise AssertionError(f"scores of the unit at {start} differ from the published book's")
        sample = unit[:: max(1, len(unit) // args.sample)][: args.sample]
        scores, seconds = peer.solve(sample)
        if not np.array_equal(scores, scores_of(sample, book)):
            raise AssertionError("bitbully's scores differ")
        ours.append(stretch.core_seconds / len(unit))
        theirs.append(seconds / len(sample))
    result = Comparison(
        claim="The whole 12-ply layer with distances",
        ours=float(np.mean(ours)) * hours,
        peer=float(np.mean(theirs)) * hours,
        unit="core-hours",
        larger_is_better=False,
        checked=args.units * args.unit,
        extra={"ms_a_position": [round(1e3 * seconds, 2) for seconds in ours]},
    )
    show(result, as_json=args.json)


if __name__ == "__main__":
    main()
