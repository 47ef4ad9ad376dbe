"""The page about a finished opening-book run: one HTML file that needs nothing else."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from plymill.games import HEIGHT, WIDTH
from plymill.workers.book_spec import BookJob
from plymill.workers.charts import Bar, bar_chart

_BINS = 60

_ABOUT_SECONDS = (
    "Wall seconds are how long a worker's threads were at work on their units by the clock, pauses "
    "for other programs included; the rates are made of them. Processor seconds are what the "
    "threads used of their processors: what the units cost, without planning, audits and the steps "
    "after solving."
)

_STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}
td,th{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid #8885;vertical-align:top}
td.n{text-align:right;font-variant-numeric:tabular-nums}
code{word-break:break-all}
figure{margin:1rem 0}
svg{width:100%;height:auto}
svg text{font:11px system-ui,sans-serif;fill:currentColor}
svg line{stroke:currentColor}
.win{fill:#c9a000}.loss{fill:#c0392b}.draw{fill:#7f8c8d}.rate{fill:#2874a6}
"""


def book_page(spec: BookJob, manifest: Mapping[str, Any], provenance: Mapping[str, Any]) -> str:
    """The page as HTML.

    Args:
        spec: what was asked.
        manifest: the run's ``manifest.json``.
        provenance: the run's ``provenance.json``.
    """
    stages = manifest["stages"]
    title = f"Opening book: {spec.ply} plies" + (f" after {spec.opening}" if spec.opening else "")
    sections = [
        f"<h1>{escape(title)}</h1>",
        f"<p>Run <code>{escape(manifest['run_id'])}</code>, plymill {manifest['plymill']}: "
        f"{manifest['positions']:,} positions in {manifest['units']:,} units.</p>",
        "<h2>Values</h2>",
        *_distributions(spec, stages),
        "<h2>Validation</h2>",
        _validation(stages["validate"]),
        "<h2>Throughput</h2>",
        _throughput(manifest, provenance),
        _workers(provenance),
        "<h2>Files</h2>",
        _table(
            ("file", "bytes", "SHA-256"),
            (
                (name, entry["bytes"], entry["sha256"])
                for name, entry in sorted(manifest["files"].items())
            ),
        ),
        "<h2>Job</h2>",
        _table(("field", "value"), ((k, _plain(v)) for k, v in sorted(manifest["spec"].items()))),
    ]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head><body>{''.join(sections)}</body></html>\n"
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
    return _table(("book", "check", "compared", "faults", "verdict"), rows)


def _throughput(manifest: Mapping[str, Any], provenance: Mapping[str, Any]) -> str:
    """Positions a second over time; a unit's positions are spread over the wall time it took."""
    units = provenance["units"]
    sizes = manifest["positions"] / len(units)
    begin = min(unit["finished"] - unit["seconds"] for unit in units)
    end = max(unit["finished"] for unit in units)
    width = max((end - begin) / _BINS, 1e-3)
    bins = [0.0] * _BINS
    for unit in units:
        start, stop = unit["finished"] - unit["seconds"] - begin, unit["finished"] - begin
        rate = sizes / max(stop - start, 1e-6)
        for place in range(int(start / width), min(_BINS, int(stop / width) + 1)):
            overlap = min(stop, (place + 1) * width) - max(start, place * width)
            bins[place] += rate * max(0.0, overlap) / width
    bars = [
        Bar(f"{place * width:.0f} s", rate, "rate", f"{rate:,.0f} positions a second")
        for place, rate in enumerate(bins)
    ]
    return bar_chart(bars, caption="Positions a second over time", unit="per s")


def _workers(provenance: Mapping[str, Any]) -> str:
    """What each worker did, and what all of it cost."""
    by_worker: dict[str, list[Mapping[str, Any]]] = {}
    for unit in provenance["units"]:
        by_worker.setdefault(unit["worker"], []).append(unit)
    rows = [
        (
            worker,
            units[0]["host"],
            units[0]["pid"],
            len(units),
            f"{sum(unit['seconds'] for unit in units):,.1f}",
            _processor_seconds(units),
            sum(unit["counters"].get("nodes", 0) for unit in units),
        )
        for worker, units in sorted(by_worker.items())
    ]
    head = ("worker", "host", "process", "units", "wall seconds", "processor seconds", "nodes")
    total = _processor_seconds(provenance["units"])
    return f"{_table(head, rows)}<p>{_ABOUT_SECONDS} All in all: {total} processor seconds.</p>"


def _processor_seconds(units: Sequence[Mapping[str, Any]]) -> str:
    """What these units cost; receipts of versions that did not count it are named."""
    counted = [s for unit in units if (s := unit.get("processor_seconds")) is not None]
    if not counted:
        return "not counted"
    rest = len(units) - len(counted)
    return f"{sum(counted):,.1f}" + (f" (without {rest:,} of {len(units):,} units)" if rest else "")


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    def cell(value: Any) -> str:
        if isinstance(value, int):
            return f'<td class="n">{value:,}</td>'
        return f"<td><code>{escape(value)}</code></td>"

    titles = "".join(f"<th>{escape(title)}</th>" for title in head)
    body = "".join(f"<tr>{''.join(cell(value) for value in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def _plain(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value) or "none"
