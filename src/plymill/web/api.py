"""The JSON API: what the pages show, for programs."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response

from plymill.errors import IllegalMoveError, PlymillError
from plymill.web.models import (
    Artifact,
    BookEntry,
    CellPage,
    EventPage,
    Fault,
    MatchDetail,
    MatchPage,
    PositionAnswer,
    PositionFault,
    PositionsAnswered,
    PositionsAsked,
    RunDetail,
    RunSummary,
    UnitPage,
)
from plymill.web.page import ThePage, sentence
from plymill.web.runs import artifacts_of, detail_of, events_of, summaries_of, units_of
from plymill.words import printable
from plymill.workers.match_look import parse_match_id

router = APIRouter(
    prefix="/api/v1",
    responses={404: {"model": Fault}, 422: {"model": Fault}, 401: {"model": Fault}},
)

_MOST_SOLVED = 50

RunId = Annotated[str, Path(description="The run, such as book-1f0c2a3b4d5e.")]
Start = Annotated[int, Query(ge=0, description="How many to leave out.")]
Limit = Annotated[int, Query(ge=1, le=10_000, description="How many to tell at most.")]
Moves = Annotated[str, Query(max_length=42, description="The moves, columns 1 to 7.")]


class TooMuchError(PlymillError, ValueError):
    """A request for more than one request may ask for."""


@router.get("/runs", tags=["runs"])
def list_runs(page: ThePage) -> list[RunSummary]:
    """All runs of the store, the one that was heard of last first."""
    return summaries_of(page.reader)


@router.get("/runs/{run_id}", tags=["runs"])
def get_run(page: ThePage, run_id: RunId) -> RunDetail:
    """All about a run but its units and events."""
    return detail_of(page.reader, run_id)


@router.get("/runs/{run_id}/units", tags=["runs"])
def get_units(page: ThePage, run_id: RunId, start: Start = 0, limit: Limit = 1000) -> UnitPage:
    """The units of a run, in the order of its plan."""
    return units_of(page.reader, run_id, start=start, limit=limit)


@router.get("/runs/{run_id}/events", tags=["runs"])
def get_events(page: ThePage, run_id: RunId, start: Start = 0, limit: Limit = 100) -> EventPage:
    """What happened in a run, the last first."""
    return events_of(page.reader, run_id, start=start, limit=limit)


@router.get("/runs/{run_id}/artifacts", tags=["runs"])
def get_artifacts(page: ThePage, run_id: RunId) -> list[Artifact]:
    """The files that a run made, each with the address to download it from."""
    return artifacts_of(page.reader.run(run_id))


@router.get("/books", tags=["books"])
def list_books(page: ThePage) -> list[BookEntry]:
    """The runs that made books, with these."""
    return page.library.entries()


@router.get("/books/{run_id}/position", tags=["books"], response_model=PositionAnswer)
def get_position(page: ThePage, run_id: RunId, moves: Moves = "") -> Response:
    """A position and the value of each of its moves, from the books of a run.

    From 10 stones on, what they do not tell is solved.
    """
    # It is asked for by the hundred a second, and is of its model already.
    found = page.library.shelf(run_id).ask(moves).model_dump_json()
    return Response(found, media_type="application/json")


@router.post("/books/{run_id}/positions", tags=["books"])
def get_positions(page: ThePage, run_id: RunId, asked: PositionsAsked) -> PositionsAnswered:
    """Many positions at once; a move string that is none is told in its place."""
    if asked.solve and len(asked.positions) > _MOST_SOLVED:
        raise TooMuchError(
            f"{len(asked.positions)} positions are to be solved, expected at most {_MOST_SOLVED} "
            "in a request."
        )
    shelf = page.library.shelf(run_id)

    def answer(moves: str) -> PositionAnswer | PositionFault:
        try:
            return shelf.ask(moves, solve=asked.solve)
        except IllegalMoveError as error:
            return PositionFault(moves=printable(moves), error=sentence(error))

    return PositionsAnswered(answers=[answer(moves) for moves in asked.positions])


@router.get("/matches/{run_id}", tags=["matches"])
def get_cells(page: ThePage, run_id: RunId) -> CellPage:
    """What a run has played so far, cell by cell."""
    return page.played.of(run_id).page()


@router.get("/matches/{run_id}/cells/{cell}", tags=["matches"])
def get_matches(
    page: ThePage, run_id: RunId, cell: int, start: Start = 0, limit: Limit = 100
) -> MatchPage:
    """The matches of a cell, by number."""
    return page.played.of(run_id).cell(cell, start=start, limit=limit)


@router.get("/matches/{run_id}/{match_id}", tags=["matches"])
def get_match(
    page: ThePage,
    run_id: RunId,
    match_id: Annotated[str, Path(description="CELL:MATCH, such as 17:3.")],
) -> MatchDetail:
    """A match move by move, with what its players expected."""
    return page.played.of(run_id).match(*parse_match_id(match_id))
