"""The explorer of books."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from plymill.errors import IllegalMoveError
from plymill.web.models import PositionAnswer, Value
from plymill.web.page import ThePage, sentence, wants_part
from plymill.web.shelves import Shelf
from plymill.words import printable

router = APIRouter(include_in_schema=False)

_LINE = 42


@router.get("/books")
def books(page: ThePage, request: Request) -> HTMLResponse:
    """All books."""
    return page.show(request, "books.html", shelves=page.library.entries())


@router.get("/books/{run_id}")
def book(page: ThePage, request: Request, run_id: str, moves: str | None = None) -> HTMLResponse:
    """A position."""
    shelf = page.library.shelf(run_id)
    asked = "".join((shelf.opening if moves is None else moves).split())
    fault, status = "", 200
    try:
        answer = shelf.ask(asked)
    except IllegalMoveError as error:
        fault, status = sentence(error), 422
        answer = shelf.ask(shelf.opening)
    if fault and wants_part(request):
        status = 200  # htmx shows nothing of an answer that is an error
    values = explorer(shelf, answer)
    return page.show(
        request,
        "book.html",
        status=status,
        asked=printable(asked),
        fault=fault,
        shelf=shelf.entry,
        **values,
    )


@router.get("/books/{run_id}/line")
def line(page: ThePage, request: Request, run_id: str, moves: str = "") -> HTMLResponse:
    """A line of best moves."""
    shelf = page.library.shelf(run_id)
    steps = [
        {"column": column, "answer": answer} for column, answer in shelf.best_line(moves, _LINE)
    ]
    return page.show(request, "line.html", shelf=shelf.entry, moves=moves, steps=steps)


def explorer(shelf: Shelf, answer: PositionAnswer) -> dict[str, Any]:
    """What the template shows of a position."""
    moves = answer.moves
    before = shelf.ask(moves[:-1], solve=False).board if moves else answer.board
    columns = []
    for column in range(1, 8):
        cells = [
            {
                "player": row[column - 1],
                "last": row[column - 1] != before[place][column - 1],
            }
            for place, row in enumerate(answer.board)
        ]
        value = answer.columns[str(column)]
        full = answer.board[0][column - 1] != 0
        columns.append(
            {
                "number": column,
                "cells": cells,
                "value": value,
                "open": not full and answer.to_move is not None,
                "best": column in answer.best,
                "chip": chip(value, answer.to_move),
                "moves": f"{moves}{column}",
            }
        )
    return {"answer": answer, "columns": columns, "moves": moves}


def chip(value: Value | None, to_move: int | None) -> str:
    """A value in few characters: ``+29`` for a win in 29 plies, ``=`` for a draw."""
    if value is None:
        return ""
    if value.winner is None:
        return "="
    sign = "+" if value.winner == to_move else "\N{MINUS SIGN}"
    return f"{sign}{value.plies}" if value.plies is not None else sign
