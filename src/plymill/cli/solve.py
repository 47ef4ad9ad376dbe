"""``plymill solve``: the exact value of a position and of each of its moves."""

from typing import Annotated

from cyclopts import Parameter

from plymill.cli.options import Json, Layout, Moves, TableMb


def solve(
    moves: Moves = "",
    /,
    *,
    book: Annotated[
        str | None,
        Parameter(help="A book to ask first: a file, or published:12ply-dist and the like."),
    ] = None,
    layout: Annotated[
        Layout | None, Parameter(help="How the book is laid out, if it does not say so itself.")
    ] = None,
    table_mb: TableMb = None,
    json: Json = False,
) -> int:
    """Solve a position: the value of each move, exactly.

    A book answers at once for positions of its ply or above; the others are searched, which takes
    milliseconds from 12 stones on and minutes for the empty board.
    """
    from contextlib import nullcontext

    from plymill.cli.answer import answer, as_json, show
    from plymill.cli.output import say_json
    from plymill.cli.sources import open_named
    from plymill.games import Position

    position = Position(moves)
    with nullcontext() if book is None else open_named(book, layout) as opened:
        found = answer(position, opened, table_mb)
    if json:
        say_json(as_json(found, book))
    else:
        show(found)
    return 0
