"""The pages about matches: the chart of a run, the matches of a cell, and a match on the board."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from plymill.matches.charts.theme import Subject
from plymill.web.boards import board_of
from plymill.web.drawings import estimates
from plymill.web.models import CellPage, CellView, MatchDetail
from plymill.web.page import Page, ThePage
from plymill.web.reading import UNDER_WAY
from plymill.web.runs import detail_of, summaries_of
from plymill.workers.match_look import parse_match_id

router = APIRouter(include_in_schema=False)

MATCH_KINDS = ("grid", "duel", "pool")
_STEP = 100
_SHADES = 20  # of the colours of mean goals, from the second player's to the first's


@router.get("/matches")
def matches(page: ThePage, request: Request) -> HTMLResponse:
    """All runs of matches."""
    runs = summaries_of(page.reader)
    return page.show(request, "matches.html", runs=[run for run in runs if run.kind in MATCH_KINDS])


@router.get("/matches/{run_id}")
def chart(page: ThePage, request: Request, run_id: str) -> HTMLResponse:
    """Who wins."""
    values = _chart_part(page, run_id)
    run = detail_of(page.reader, run_id)
    live = page.live_part("parts/chart.html", **values)
    return page.show(request, "chart.html", run=run, title=values["title"], **live)


@router.get("/live/matches/{run_id}")
def live_chart(page: ThePage, run_id: str, seen: str = "") -> Response:
    """The same, asked for again and again."""
    return page.live("parts/chart.html", seen, **_chart_part(page, run_id))


def _chart_part(page: Page, run_id: str) -> dict[str, Any]:
    cells = page.played.of(run_id).page()
    subject = Subject(cells.game, cells.players)
    return {
        "run_id": run_id,
        "page": cells,
        "title": subject.title,
        "subject": subject,
        "grid": grid_of(cells),
        "url": f"/live/matches/{run_id}",
        "again": page.reader.run(run_id).state in UNDER_WAY,
    }


def grid_of(page: CellPage) -> dict[str, Any] | None:
    """Rows of cells by iterations of both players, more of the first player's above; or None."""
    by_axes = {
        (cell.first_iterations, cell.second_iterations): {"cell": cell, "shade": shade(cell)}
        for cell in page.cells
        if cell.first_iterations and cell.second_iterations
    }
    if not by_axes:
        return None
    rows = sorted({first for first, _ in by_axes if first}, reverse=True)
    columns = sorted({second for _, second in by_axes if second})
    return {
        "columns": columns,
        "rows": [(row, [by_axes.get((row, column)) for column in columns]) for row in rows],
    }


def shade(cell: CellView) -> str:
    """The class of the colour of a cell."""
    if cell.mean_goal is None:
        return "none"
    return str(round(cell.mean_goal / 100 * _SHADES))


@router.get("/matches/{run_id}/cells/{cell}")
def cell(page: ThePage, request: Request, run_id: str, cell: int, start: int = 0) -> HTMLResponse:
    """The matches of a cell."""
    played = page.played.of(run_id)
    start = max(0, start)
    found = played.cell(cell, start=start, limit=_STEP)
    return page.show(
        request,
        "cell.html",
        run_id=run_id,
        subject=Subject(played.game.name, played.game.players),
        players=played.game.players,
        result=played.results[cell],
        matches=found,
        start=start,
        step=_STEP,
    )


@router.get("/matches/{run_id}/{match_id}")
def match(
    page: ThePage, request: Request, run_id: str, match_id: str, ply: int | None = None
) -> HTMLResponse:
    """A match on the board."""
    played = page.played.of(run_id)
    cell_number, number = parse_match_id(match_id)
    detail = played.match(cell_number, number)
    states = played.states(cell_number, number)
    last = len(states) - 1
    shown = last if ply is None else max(0, min(last, ply))
    return page.show(
        request,
        "match.html",
        run_id=run_id,
        match=detail,
        subject=Subject(detail.game, detail.players),
        board=board_of(states[shown], states[shown - 1] if shown else None),
        ply=shown,
        last=last,
        curves=[_curve(detail, side, last) for side in (0, 1)],
        now=[_estimate(detail, side, shown) for side in (0, 1)],
    )


def _curve(match: MatchDetail, side: int, last: int) -> dict[str, Any]:
    values = [
        (ply.ply, move.value)
        for ply in match.plies_played
        for move in ply.moves
        if move.side == side and move.value is not None
    ]
    path, points = estimates(values, last)
    return {"path": path, "points": points}


def _estimate(match: MatchDetail, side: int, ply: int) -> float | None:
    """What a player expected last, at a ply of the match."""
    values = [
        move.value
        for played in match.plies_played[:ply]
        for move in played.moves
        if move.side == side and move.value is not None
    ]
    return values[-1] if values else None
