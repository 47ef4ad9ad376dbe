"""How the 12-ply book would scale to 1,000 threads: simulated, with measured seconds of units.

Nobody here has 1,000 cores. The real state machine of a run is told by a simulated clock what would
happen (see ``_cluster_model.py``); how long units take, alone and after a fresh start, was measured
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
from _unit_costs import FILE, STEP, STRETCH

WARM_CORE_HOURS = 3.17  # of the whole layer, see docs/performance.md
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)
SPOT = 1.0  # every node is lost once an hour: worse than any market
CURVES = ((10_000, 8, 0.0), (10_000, 8, SPOT), (2_000, 8, 0.0), (2_000, 8, SPOT), (2_000, 1, 0.0))


def figures() -> dict[str, Any]:
    """What was measured."""
    loaded: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return loaded


def warming(measured: list[float]) -> tuple[float, float]:
    """Excess and fading of a fresh start: the last third is taken for warm, the rest is fitted."""
    import numpy as np

    third = len(measured) // 3
    warm = sum(measured[-third:]) / third
    places = (np.arange(len(measured)) + 0.5) * STEP
    above = np.clip(np.array(measured) / warm - 1, 1e-3, None)[: 2 * third]
    slope, intercept = np.polyfit(places[: 2 * third], np.log(above), 1, w=np.sqrt(above))
    return float(np.exp(intercept)), float(-1 / slope)


def make_work(unit_size: int) -> Work:
    """The units of the layer, cut to so many positions each."""
    measured = figures()
    excess, fading = warming(measured["warming"])
    difficulty = measured["difficulty"]
    total, units = measured["positions"], -(-measured["positions"] // unit_size)
    weights = []
    for unit in range(units):
        start, stop = unit * unit_size, min((unit + 1) * unit_size, total)
        stretch = min((start + stop) // 2 // STRETCH, len(difficulty) - 1)
        weights.append(difficulty[stretch] * (stop - start))
    scale = WARM_CORE_HOURS * 3600 / sum(weights)
    return Work([scale * weight for weight in weights], unit_size, excess, fading)


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
            strokeDash=altair.StrokeDash("curve:N", sort=names, title=None),
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
