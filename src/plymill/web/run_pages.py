"""The pages about runs."""

import logging
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response, StreamingResponse
from starlette.types import Send

from plymill.cluster import CorruptFileError, RunNotFoundError
from plymill.errors import PlymillError
from plymill.web.drawings import Curve, spread, throughput, unit_map
from plymill.web.models import RunDetail
from plymill.web.page import Page, ThePage
from plymill.web.reading import StoreReader, artifact_path
from plymill.web.runs import detail_of, events_of, summaries_of, summary_of, unit_letters

router = APIRouter(include_in_schema=False)

_log = logging.getLogger("plymill")

_EVENTS = 12
_EVENTS_A_PAGE = 200
_PICTURES = {".svg": "image/svg+xml", ".png": "image/png"}
_TYPES = _PICTURES | {".json": "application/json", ".csv": "text/csv; charset=utf-8"}
#: Pages that a run made need styles, and some scripts, in themselves: a box without the rights of
#: this page, and without a network, is around them.
_BOX = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'unsafe-inline'; img-src data: blob:; frame-ancestors 'none'"
)
_PICTURE_BOX = "sandbox; default-src 'none'; style-src 'unsafe-inline'"


@router.get("/runs")
def runs(page: ThePage, request: Request) -> HTMLResponse:
    """All runs."""
    return page.show(request, "runs.html", **_runs(page))


@router.get("/live/runs")
def live_runs(page: ThePage, seen: str = "") -> Response:
    """The same, asked for again and again."""
    return page.live("parts/runs.html", seen, **_runs_part(page))


def _runs(page: Page) -> dict[str, Any]:
    return page.live_part("parts/runs.html", **_runs_part(page))


def _runs_part(page: Page) -> dict[str, Any]:
    return {"runs": summaries_of(page.reader), "url": "/live/runs", "again": True}


@router.get("/runs/{run_id}")
def run(page: ThePage, request: Request, run_id: str) -> HTMLResponse:
    """One run."""
    values = _run_part(page, run_id)
    detail = values["run"]
    live = page.live_part("parts/run.html", **values)
    report = page.reader.store(run_id).files.exists("report.html")
    return page.show(request, "run.html", run=detail, report=report, **live)


@router.get("/live/runs/{run_id}")
def live_run(page: ThePage, run_id: str, seen: str = "") -> Response:
    """The same, asked for again and again."""
    return page.live("parts/run.html", seen, **_run_part(page, run_id))


def _run_part(page: Page, run_id: str) -> dict[str, Any]:
    detail = detail_of(page.reader, run_id)
    plan = page.reader.plan(run_id)
    squares, agreed = None, page.reader.audited(run_id)
    if plan is not None and plan.units:
        places = [unit.index for unit in plan.units if unit.name in agreed]
        squares = unit_map(unit_letters(page.reader, run_id, plan), places)
    return {
        "run": detail,
        "curve": _curve(page.reader, detail),
        "squares": squares,
        "audits": len(plan.audited) if plan is not None else 0,
        "audited": len(agreed),
        "events": events_of(page.reader, run_id, limit=_EVENTS),
        "url": f"/live/runs/{run_id}",
        "again": detail.state in ("planning", "solving", "finishing"),
    }


def _curve(reader: StoreReader, run: RunDetail) -> Curve | None:
    """Of the whole run once it is finished; until then of its last session."""
    receipts, plan = reader.receipts(run.run_id), reader.plan(run.run_id)
    if receipts is None or plan is None:
        return throughput(run.history)
    units = [
        (receipt["finished"], receipt["seconds"], plan.units[receipt["unit"]].items)
        for receipt in receipts
    ]
    return throughput(spread(units))


@router.get("/runs/{run_id}/events")
def events(page: ThePage, request: Request, run_id: str, start: int = 0) -> HTMLResponse:
    """All events."""
    start = max(0, start)
    found = events_of(page.reader, run_id, start=start, limit=_EVENTS_A_PAGE)
    return page.show(
        request,
        "events.html",
        run=summary_of(page.reader, page.reader.run(run_id)),
        events=found,
        start=start,
        step=_EVENTS_A_PAGE,
    )


@router.get("/runs/{run_id}/artifacts/{name}")
def artifact(page: ThePage, run_id: str, name: str, show: bool = False) -> Response:
    """A file that a run made, to keep; pictures and pages are shown in a box if asked for."""
    facts = page.reader.artifact(run_id, name)
    suffix = f".{name.rpartition('.')[2]}"
    headers = {"etag": f'"{facts["sha256"]}"'}
    kind = _TYPES.get(suffix, "application/octet-stream")
    if show and suffix in _PICTURES:
        headers["content-security-policy"] = _PICTURE_BOX
    elif show and suffix == ".html":
        kind = "text/html; charset=utf-8"
        headers["content-security-policy"] = _BOX
    else:
        headers["content-disposition"] = f'attachment; filename="{name}"'
    return _file(page, run_id, artifact_path(name), kind, headers, expected=facts["bytes"])


@router.get("/runs/{run_id}/report")
def report(page: ThePage, run_id: str) -> Response:
    """The page that a finished run made of itself."""
    page.reader.run(run_id)
    headers = {"content-security-policy": _BOX}
    return _file(page, run_id, "report.html", "text/html; charset=utf-8", headers)


def _file(
    page: Page,
    run_id: str,
    path: str,
    kind: str,
    headers: dict[str, str],
    *,
    expected: int | None = None,
) -> Response:
    files = page.reader.files_of(run_id)
    try:
        size = files.size(path)
        if expected is not None and size != expected:
            raise CorruptFileError(
                f"The file {run_id}/{path} has {size:,} bytes, expected the {expected:,} that its "
                "run made."
            )
        pieces = files.chunks(path, size)
    except FileNotFoundError:
        raise RunNotFoundError("This file is not in the store.") from None
    return _Download(pieces, media_type=kind, headers=headers | {"content-length": str(size)})


class _Download(StreamingResponse):
    """An answer that is cut off where the rest of the file cannot be read.

    It is too late to tell the visitor anything else: the server closes an answer's connection if it
    is not complete.
    """

    async def stream_response(self, send: Send) -> None:
        try:
            await super().stream_response(send)
        except (OSError, PlymillError) as error:
            _log.warning("a download was cut off: %s", error)
