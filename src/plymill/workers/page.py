"""What the pages about finished runs share: one HTML file each, which needs nothing else."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any

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
img{max-width:100%;height:auto;background:white}
svg{width:100%;height:auto}
svg text{font:11px system-ui,sans-serif;fill:currentColor}
svg line{stroke:currentColor}
.win{fill:#c9a000}.loss{fill:#c0392b}.draw{fill:#7f8c8d}.rate{fill:#2874a6}
"""

#: How many items a unit holds.
Size = Callable[[Mapping[str, Any]], float]


def document(title: str, sections: Iterable[str]) -> str:
    """A whole page; the sections are HTML, the title is text."""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head><body>{''.join(sections)}</body></html>\n"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table; whole numbers are aligned to the right."""

    def cell(value: Any) -> str:
        if isinstance(value, int):
            return f'<td class="n">{value:,}</td>'
        return f"<td><code>{escape(value)}</code></td>"

    titles = "".join(f"<th>{escape(title)}</th>" for title in head)
    body = "".join(f"<tr>{''.join(cell(value) for value in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def throughput(provenance: Mapping[str, Any], item: str, size: Size) -> str:
    """Items a second over time; a unit's items are spread over the wall time that it took.

    Args:
        provenance: the run's ``provenance.json``.
        item: what an item is called, in the plural.
        size: how many items a unit holds.
    """
    units = provenance["units"]
    begin = min(unit["finished"] - unit["seconds"] for unit in units)
    end = max(unit["finished"] for unit in units)
    width = max((end - begin) / _BINS, 1e-3)
    bins = [0.0] * _BINS
    for unit in units:
        start, stop = unit["finished"] - unit["seconds"] - begin, unit["finished"] - begin
        rate = size(unit) / max(stop - start, 1e-6)
        for place in range(int(start / width), min(_BINS, int(stop / width) + 1)):
            overlap = min(stop, (place + 1) * width) - max(start, place * width)
            bins[place] += rate * max(0.0, overlap) / width
    bars = [
        Bar(f"{place * width:.0f} s", rate, "rate", f"{rate:,.0f} {item} a second")
        for place, rate in enumerate(bins)
    ]
    return bar_chart(bars, caption=f"{item.capitalize()} a second over time", unit="per s")


def workers(provenance: Mapping[str, Any], counter: str) -> str:
    """What each worker did, and what all of it cost.

    Args:
        provenance: the run's ``provenance.json``.
        counter: which of the receipts' counters to show.
    """
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
            sum(unit["counters"].get(counter, 0) for unit in units),
        )
        for worker, units in sorted(by_worker.items())
    ]
    head = ("worker", "host", "process", "units", "wall seconds", "processor seconds", counter)
    total = _processor_seconds(provenance["units"])
    return f"{table(head, rows)}<p>{_ABOUT_SECONDS} All in all: {total} processor seconds.</p>"


def files_and_job(manifest: Mapping[str, Any]) -> list[str]:
    """The sections that end every page."""
    files = sorted(manifest["files"].items())
    return [
        "<h2>Files</h2>",
        table(
            ("file", "bytes", "SHA-256"),
            ((name, entry["bytes"], entry["sha256"]) for name, entry in files),
        ),
        "<h2>Job</h2>",
        table(("field", "value"), ((k, _plain(v)) for k, v in sorted(manifest["spec"].items()))),
    ]


def _processor_seconds(units: Sequence[Mapping[str, Any]]) -> str:
    """What these units cost; receipts of versions that did not count it are named."""
    counted = [s for unit in units if (s := unit.get("processor_seconds")) is not None]
    if not counted:
        return "not counted"
    rest = len(units) - len(counted)
    return f"{sum(counted):,.1f}" + (f" (without {rest:,} of {len(units):,} units)" if rest else "")


def _plain(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value) or "none"
