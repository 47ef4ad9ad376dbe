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
        Parameter(
            help="A book to ask first: a file, or published:12ply-dist and the like; bundled, the "
            "one that comes with plymill, if left out.",
            show_default=False,
        ),
    ] = None,
    search: Annotated[
        bool,
        Parameter(negative="", show_default=False, help="Search, and ask no book."),
    ] = False,
    layout: Annotated[
        Layout | None, Parameter(help="How the book is laid out, if it does not say so itself.")
    ] = None,
    table_mb: TableMb = None,
    json: Json = False,
) -> int:
    """Solve a position: the value of each move, exactly.

    A book answers at once for positions with fewer stones than its own: the one that comes with
    plymill for up to 7 stones. The others are searched, which takes a tenth of a second with 8
    stones, and with --search a minute or more for the empty board.
    """
    from contextlib import nullcontext

    from plymill.cli.answer import answer, as_json, show
    from plymill.cli.failures import UsageError
    from plymill.cli.output import say_json
    from plymill.cli.sources import BUNDLED, open_named
    from plymill.games import Position
    from plymill.players.perfect import BUNDLED_PLY

    if search and book is not None:
        raise UsageError("--search asks no book, and --book names one: expected one of the two")
    position = Position(moves)
    if book is None and not search and position.ply < BUNDLED_PLY:
        book = BUNDLED
    with nullcontext() if book is None else open_named(book, layout) as opened:
        found = answer(position, opened, table_mb)
    if json:
        say_json(as_json(found, book))
    else:
        show(found)
    return 0
