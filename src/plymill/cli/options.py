"""Parameters that several commands share, with the words that their help shows."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter, validators

#: How a book's file is laid out; see ``docs/book-format.md``.
Layout = Literal["plymill", "8ply", "12ply", "12ply-dist"]

BookArgument = Annotated[
    str,
    Parameter(
        name="BOOK",
        help="A book file; or published:8ply, published:12ply or published:12ply-dist for a book "
        "of the package bitbully-databases.",
    ),
]
BookLayout = Annotated[
    Layout | None,
    Parameter(
        name="--layout",
        help="How BOOK is laid out. plymill's own files say so themselves; others have to be told.",
    ),
]
Json = Annotated[
    bool,
    Parameter(name="--json", negative="", show_default=False, help="Print one JSON object."),
]
Force = Annotated[
    bool,
    Parameter(
        name="--force", negative="", show_default=False, help="Replace the file if it is there."
    ),
]
Moves = Annotated[
    str,
    Parameter(
        name="MOVES",
        show_default=False,
        help="The moves from the empty board, columns 1 to 7, such as 4453.",
    ),
]
TableMb = Annotated[
    int | None,
    Parameter(
        name="--table-mb",
        validator=validators.Number(gte=1),
        help="Size of the transposition table in MiB; of each node's in a run.",
    ),
]
OutputFile = Annotated[Path, Parameter(name="OUT", help="The file to write.")]
Store = Annotated[
    str,
    Parameter(name="--store", help="Where runs are kept: a folder, s3://... or gs://..."),
]
RunId = Annotated[
    str, Parameter(name="RUN", help="The run, such as book-1f0c2a3b4d5e or grid-1f0c2a3b4d5e.")
]

LogLevel = Literal["debug", "info", "warning"]

DEFAULT_STORE = "./runs"


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Work:
    """Where and with what a run is carried out; none of it changes what comes out."""

    store: Store = DEFAULT_STORE
    address: Annotated[
        str | None,
        Parameter(
            help="A running Ray cluster, such as head:6379 or auto; else Ray is started here."
        ),
    ] = None
    threads: Annotated[
        int | None,
        Parameter(
            validator=validators.Number(gte=1),
            help="Working threads on each node; all of its processors if left out.",
        ),
    ] = None
    log_file: Annotated[
        Path | None,
        Parameter(
            help="Where to log what happens, one JSON object a line; beside Ray's logs if left out."
        ),
    ] = None
    log_level: Annotated[
        LogLevel,
        Parameter(help="How much to log: every unit, what happens, or what a person should know."),
    ] = "info"
    json: Json = False


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TableWork(Work):
    """The same of runs that solve positions."""

    table_mb: TableMb = None
