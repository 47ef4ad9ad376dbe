"""How the 12-ply book would scale to 1,000 threads: simulated, with measured seconds of units.

Nobody here has 1,000 cores. The real state machine of a run is told by a simulated clock what would
happen (see ``_cluster_model.py``); how long units take, and what a fresh start costs, was measured
(``_unit_costs.py``), and so were the overheads. Efficiency is what one thread would need for
everything, over the seconds of all threads that were there, from the first node to the last unit
settled; planning and finishing come on top. One is the peer, as all of it would be on a cluster
without any loss.
"""

import json
import random
from typing import Any

from _cluster_model import Cluster, Costs, Outcome, Work
from _harness import Comparison, parser, show
from _unit_costs import EXCESS, FADING, FILE, POSITIONS, STRETCH, WARM_CORE_HOURS

NEAR = 2  # stretches on either side that a mean of samples is taken of
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)
SPOT = 1.0  # every node is lost once an hour: worse than any market
CURVES = ((2_000, 8, 0.0), (2_000, 8, SPOT), (2_000, 1, 0.0), (10_000, 8, 0.0))


def make_work(unit_size: int) -> Work:
    """The units of the layer, cut to so many positions each."""
    sampled = json.loads(FILE.read_text(encoding="utf-8"))["difficulty"]
    windows = (sampled[max(0, at - NEAR) : at + NEAR + 1] for at in range(len(sampled)))
    difficulty = [sum(window) / len(window) for window in windows]
    weights = []
    for start in range(0, POSITIONS, unit_size):
        stop = min(start + unit_size, POSITIONS)
        stretch = (start + stop) // 2 // STRETCH
        weights.append(difficulty[stretch] * (stop - start))
    scale = WARM_CORE_HOURS * 3600 / sum(weights)
    return Work([scale * weight for weight in weights], unit_size, EXCESS, FADING)


def simulate(
    work: Work, threads: int, *, each: int, losses: float, audit_fraction: float = 0.01
) -> Outcome:
    """A run with so many threads in all, ``each`` of them on a node."""
    units = len(work.warm)
    audited = tuple(sorted(random.Random(1).sample(range(units), round(units * audit_fraction))))
    costs = Costs(losses=losses)
    nodes, on_each = (threads // each, each) if threads >= each else (1, threads)
    return Cluster(work, nodes=nodes, threads=on_each, costs=costs, audited=audited).run()


def curve(unit_size: int, *, each: int, losses: float) -> list[dict[str, Any]]:
    """Efficiency by number of threads."""
    work = make_work(unit_size)
    alone = simulate(work, 1, each=1, losses=0.0).seconds
    rows = []
    for threads in SIZES:
        used = threads // each * each if threads >= each else threads
        outcome = simulate(work, used, each=each, losses=losses)
        rows.append(
            {
                "unit_size": unit_size,
                "threads": used,
                "each": each,
                "losses": losses,
                "seconds": round(outcome.seconds, 1),
                "efficiency": round(alone / outcome.thread_seconds, 4),
                "nodes_lost": outcome.lost,
                "decision_ms": round(1000 * outcome.decision, 3),
            }
        )
    return rows


def draw(rows: list[dict[str, Any]], path: str) -> None:
    """The efficiency by number of threads, a line for each curve."""
    import altair

    for row in rows:
        loss = ", each lost once an hour" if row["losses"] else ""
        row["curve"] = f"units of {row['unit_size']:,}, nodes of {row['each']}{loss}"
    names = list(dict.fromkeys(row["curve"] for row in rows))
    chart = (
        altair.Chart(altair.InlineData(values=rows), title="Simulated: the 12-ply layer")
        .mark_line(point=True)
        .encode(
            x=altair.X("threads:Q", scale=altair.Scale(type="log", base=2), title="threads"),
            y=altair.Y(
                "efficiency:Q",
                scale=altair.Scale(domain=[0, 1.1]),
                axis=altair.Axis(format="%"),
                title="efficiency",
            ),
            color=altair.Color("curve:N", sort=names, title=None),
        )
        .properties(width=560, height=300)
        .configure(background="white")
        .configure_legend(labelLimit=400, orient="bottom", columns=1)
    )
    chart.save(path)


def main() -> None:
    command = parser(__doc__)
    command.add_argument("--chart", help="draw all curves into this SVG, print them, and no more")
    arguments = command.parse_args()
    if arguments.chart:
        rows = [
            row
            for unit_size, each, losses in CURVES
            for row in curve(unit_size, each=each, losses=losses)
        ]
        for row in rows:
            print(json.dumps(row))
        draw(rows, arguments.chart)
        return
    work = make_work(2_000)
    alone = simulate(work, 1, each=1, losses=0.0)
    many = simulate(work, 128, each=8, losses=SPOT)
    result = Comparison(
        claim="Simulated: efficiency of 128 threads on spot machines of 8",
        ours=alone.seconds / many.thread_seconds,
        peer=1.0,
        unit="of ideal",
        larger_is_better=True,
        checked=len(work.warm),
        extra={
            "minutes": round(many.seconds / 60, 1),
            "nodes_lost": many.lost,
            "decision_ms": round(1000 * many.decision, 3),
        },
    )
    show(result, as_json=arguments.json)


if __name__ == "__main__":
    main()
