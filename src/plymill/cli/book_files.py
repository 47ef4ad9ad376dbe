"""``plymill book verify``, ``derive`` and ``convert``: from books to verdicts and other books."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter, validators

from plymill.cli.options import BookArgument, BookLayout, Force, Json, Layout, OutputFile, TableMb

if TYPE_CHECKING:
    from plymill.books import Book
    from plymill.books.validate import SolveKeys

_To = Annotated[Layout, Parameter(name="--to", help="How OUT is to be laid out.")]


def verify(
    book: BookArgument,
    /,
    *,
    layout: BookLayout = None,
    against: Annotated[
        list[str] | None,
        Parameter(negative="", help="Another book of the same ply; may be given several times."),
    ] = None,
    against_layout: Annotated[
        Layout | None, Parameter(help="How the books to compare with are laid out.")
    ] = None,
    uci: Annotated[
        Path | None, Parameter(help="A UCI connect-4 data file, for books of 8 stones.")
    ] = None,
    sample: Annotated[
        int,
        Parameter(
            validator=validators.Number(gte=0),
            help="How many random positions to solve again; 0 for none.",
        ),
    ] = 0,
    seed: Annotated[
        int, Parameter(validator=validators.Number(gte=0), help="Chooses the sample.")
    ] = 0,
    table_mb: TableMb = None,
    json: Json = False,
) -> int:
    """Check a book: against itself, other books, a data file, and by solving a sample again.

    Its own check covers the digest, order, filter, completeness of the ply and possible values.
    Exit code 1 if a check fails.
    """
    from plymill.books import validate
    from plymill.cli.output import say
    from plymill.cli.patience import patience
    from plymill.cli.sources import open_named

    with ExitStack() as stack, patience(f"Checking {book}"):
        opened = stack.enter_context(open_named(book, layout))
        opened.verify()
        others = [stack.enter_context(open_named(o, against_layout)) for o in against or ()]
        report = validate(
            opened,
            against=others,
            uci=uci,
            sample=sample,
            seed=seed,
            solve_keys=_solver_for(opened, table_mb) if sample else None,
        )
    say(report.to_json() if json else str(report))
    return 0 if report.ok else 1


def derive(
    book: BookArgument,
    ply: Annotated[
        int,
        Parameter(
            name="PLY",
            validator=validators.Number(gte=0),
            help="Number of stones of the new book's positions, fewer than BOOK's.",
        ),
    ],
    out: OutputFile,
    /,
    *,
    layout: BookLayout = None,
    to: _To = "plymill",
    force: Force = False,
    json: Json = False,
) -> int:
    """Make the book of a lower ply from one of a higher, by backward induction."""
    from plymill import books
    from plymill.cli.patience import patience
    from plymill.cli.sources import open_named, require_free

    require_free(out, force=force)
    with open_named(book, layout) as opened, patience(f"Deriving ply {ply} of {book}"):
        derived = books.derive(opened, ply)
        count = _write(derived, out, to)
    return _report(out, to, count, as_json=json)


def convert(
    book: BookArgument,
    out: OutputFile,
    /,
    *,
    layout: BookLayout = None,
    to: _To = "plymill",
    force: Force = False,
    json: Json = False,
) -> int:
    """Write a book in another layout.

    The layouts 8ply and 12ply hold outcomes only: distances are dropped on the way there.
    """
    from plymill.cli.patience import patience
    from plymill.cli.sources import open_named, require_free

    require_free(out, force=force)
    with open_named(book, layout) as opened, patience(f"Converting {book}"):
        count = _write(opened, out, to)
    return _report(out, to, count, as_json=json)


def _write(book: "Book", out: Path, layout: Layout) -> int:
    from plymill.books import convert_book, outcomes

    only_outcomes = layout in ("8ply", "12ply")
    return convert_book(outcomes(book) if only_outcomes and book.distances else book, out, layout)


def _report(out: Path, layout: Layout, count: int, *, as_json: bool) -> int:
    from plymill.cli.output import say, say_json
    from plymill.cli.words import plural, size

    written = out.stat().st_size
    if as_json:
        say_json({"path": str(out), "layout": layout, "positions": count, "bytes": written})
    else:
        say(f"{out}: {plural(count, 'position')} in the layout {layout}, {size(written)}.")
    return 0


def _solver_for(book: "Book", table_mb: int | None) -> "SolveKeys":
    from plymill.solver import Solver

    solver = Solver() if table_mb is None else Solver(table_mb=table_mb)
    return lambda keys: solver.score_many(keys, outcomes=not book.distances)
