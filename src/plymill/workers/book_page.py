"""The page about a finished opening-book run: one HTML file that needs nothing else."""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from plymill.games import HEIGHT, WIDTH
from plymill.workers.book_spec import BookJob
from plymill.workers.charts import Bar, bar_chart
from plymill.workers.page import document, files_and_job, table, throughput, workers


def book_page(spec: BookJob, manifest: Mapping[str, Any], provenance: Mapping[str, Any]) -> str:
    """The page as HTML.

    Args:
        spec: what was asked.
        manifest: the run's ``manifest.json``.
        provenance: the run's ``provenance.json``.
    """
    stages = manifest["stages"]
    title = f"Opening book: {spec.ply} plies" + (f" after {spec.opening}" if spec.opening else "")
    return document(
        title,
        [
            f"<h1>{escape(title)}</h1>",
            f"<p>Run <code>{escape(manifest['run_id'])}</code>, plymill {manifest['plymill']}: "
            f"{manifest['positions']:,} positions in {manifest['units']:,} units.</p>",
            "<h2>Values</h2>",
            *_distributions(spec, stages),
            "<h2>Validation</h2>",
            _validation(stages["validate"]),
            "<h2>Throughput</h2>",
            throughput(
                provenance, "positions", lambda _: manifest["positions"] / manifest["units"]
            ),
            workers(provenance, "nodes"),
            *files_and_job(manifest),
        ],
    )


def _distributions(spec: BookJob, stages: Mapping[str, Any]) -> Iterable[str]:
    books = {spec.ply: stages["merge"]["values"]}
    books |= {int(ply): result["values"] for ply, result in stages["derive"].items()}
    for ply, values in books.items():
        first_moves = ply % 2 == 0
        # Every player's view is the negative of the other's; the charts take player 1's.
        view = {(int(v) if first_moves else -int(v)): n for v, n in values.items()}
        yield _outcome_chart(ply, view)
        if spec.distances:
            yield _distance_chart(ply, view, first_moves=first_moves)


def _outcome_chart(ply: int, view: Mapping[int, int]) -> str:
    kinds = (
        ("player 1 wins", "win", sum(n for v, n in view.items() if v > 0)),
        ("draw", "draw", view.get(0, 0)),
        ("player 2 wins", "loss", sum(n for v, n in view.items() if v < 0)),
    )
    total = sum(count for _, _, count in kinds) or 1
    bars = [
        Bar(f"{label}: {n:,} ({n / total:.1%})", n, kind, f"{label}: {n:,}")
        for label, kind, n in kinds
    ]
    return bar_chart(bars, caption=f"Outcomes of the {ply}-ply positions", unit="positions")


def _distance_chart(ply: int, view: Mapping[int, int], *, first_moves: bool) -> str:
    """How many plies the game lasts, from quick wins of player 1 over draws to his losses."""
    left = WIDTH * HEIGHT - ply
    bars = []
    for value in sorted(view, key=lambda v: (v <= 0, v == 0, -v)):
        count = view[value]
        if value == 0:
            continue
        mover_wins = (value > 0) == first_moves
        plies = left - 2 * (abs(value) - 1) - (left + mover_wins) % 2
        winner, kind = (1, "win") if value > 0 else (2, "loss")
        title = f"player {winner} wins in {plies} plies: {count:,} positions"
        bars.append(Bar(str(plies), count, kind, title))
    caption = (
        f"Plies to the end of the {ply}-ply positions: player 1's wins from the quickest to the "
        "slowest, then player 2's from the slowest to the quickest"
    )
    return bar_chart(bars, caption=caption, unit="positions")


def _validation(results: Mapping[str, Any]) -> str:
    rows = [
        (
            f"{ply} plies",
            check["name"],
            check["compared"],
            ", ".join(f"{fault['count']:,} {fault['kind']}" for fault in check["faults"]),
            check["verdict"],
        )
        for ply, report in results.items()
        for check in report["checks"]
    ]
    return table(("book", "check", "compared", "faults", "verdict"), rows)
