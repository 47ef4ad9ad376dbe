"""The page about a finished match job: one HTML file that needs nothing else."""

import base64
import csv
import io
import json
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from plymill.cluster import RunStore
from plymill.cluster.storage.store import ARTIFACTS, PROVENANCE
from plymill.workers.match_failures import FAILURES
from plymill.workers.match_provenance import CELLS
from plymill.workers.match_spec import MatchJob
from plymill.workers.match_stages import PAGE
from plymill.workers.page import document, files_and_job, table, throughput, workers

_MOST_FAILURES = 50


def match_page(
    spec: MatchJob, store: RunStore, manifest: Mapping[str, Any], provenance: Mapping[str, Any]
) -> str:
    """The page as HTML.

    Args:
        spec: what was asked.
        store: the run's files, with artefacts and provenance.
        manifest: the run's ``manifest.json``.
        provenance: the run's ``provenance.json``.
    """
    stages = manifest["stages"]
    summary = stages["summary"]
    title = spec.title[:1].upper() + spec.title[1:]
    return document(
        title,
        [
            f"<h1>{escape(title)}</h1>",
            f"<p>Run <code>{escape(manifest['run_id'])}</code>, plymill {manifest['plymill']}: "
            f"{stages['matches']['matches']:,} matches in {manifest['units']:,} units.</p>",
            *([] if "pool" in stages else (f"<p>{escape(line)}</p>" for line in summary["lines"])),
            *_charts(store, stages),
            *_ratings(stages),
            *_failures(store, summary["note"]),
            "<h2>Cells</h2>",
            _cells(store),
            "<h2>Throughput</h2>",
            throughput(provenance, "matches", lambda unit: unit["counters"]["matches"]),
            workers(provenance, "iterations"),
            *files_and_job(manifest),
        ],
    )


def _charts(store: RunStore, stages: Mapping[str, Any]) -> Iterable[str]:
    names = stages["charts"]["charts"]
    if names:
        yield f"<h2>Charts</h2><p>As an interactive page: <code>{ARTIFACTS}/{PAGE}</code>.</p>"
    for name in names:
        data = base64.b64encode(store.files.read(f"{ARTIFACTS}/{name}.svg")).decode()
        yield f'<figure><img alt="{name}" src="data:image/svg+xml;base64,{data}"></figure>'


def _ratings(stages: Mapping[str, Any]) -> Iterable[str]:
    if "pool" not in stages:
        return
    yield "<h2>Ratings</h2>"
    rows = [
        (rating["player"], *_elo(rating["elo"], rating["points"]), rating["matches"])
        for rating in stages["pool"]["ratings"]
    ]
    yield table(("player", "Elo", "95% interval", "points", "matches"), rows)


def _elo(elo: Mapping[str, float] | None, points: float | None) -> tuple[str, str, str]:
    if elo is None:
        return "", "no match counted", ""
    return f"{elo['mean']:+.0f}", f"{elo['low']:+.0f} to {elo['high']:+.0f}", f"{points:g}"


def _failures(store: RunStore, note: str) -> Iterable[str]:
    failures = json.loads(store.files.read(f"{PROVENANCE}/{FAILURES}"))
    if not failures:
        return
    yield "<h2>Failures</h2>"
    yield f"<p>{escape(note)} Each attempt that failed:</p>"
    shown = failures[:_MOST_FAILURES]
    rows = [(failure["match"], failure["worker"], failure["fault"]) for failure in shown]
    yield table(("match", "worker", "fault"), rows)
    if len(failures) > len(shown):
        yield f"<p>And {len(failures) - len(shown):,} more in {PROVENANCE}/{FAILURES}.</p>"


def _cells(store: RunStore) -> str:
    """All attempts that counted, surplus matches of a duel included: it shows what was played."""
    text = store.files.read(f"{PROVENANCE}/{CELLS}").decode()
    rows = [
        (
            cell["first"],
            cell["second"],
            int(cell["matches"]),
            int(cell["wins"]),
            int(cell["draws"]),
            int(cell["losses"]),
            f"{float(cell['mean_goal']):.1f}" if cell["mean_goal"] else "",
            f"{float(cell['low']):.1f} to {float(cell['high']):.1f}",
            f"{float(cell['mean_plies']):.1f}" if cell["mean_plies"] else "",
            f"{float(cell['mean_seconds']):.4f}" if cell["mean_seconds"] else "",
        )
        for cell in csv.DictReader(io.StringIO(text))
    ]
    head = ("first", "second", "matches", "wins", "draws", "losses", "mean goal", "95% interval",
            "plies", "seconds")  # fmt: skip
    return table(head, rows)
