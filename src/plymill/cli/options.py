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
        help="A book file; bundled for the small one that comes with plymill; or published:8ply, "
        "published:12ply or published:12ply-dist for a book of the package bitbully-databases.",
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
    Parameter(
        name="--store",
        env_var="PLYMILL_STORE",
        help="Where runs are kept: a folder, s3://... or gs://...",
    ),
]
RunId = Annotated[
    str, Parameter(name="RUN", help="The run, such as book-1f0c2a3b4d5e or grid-1f0c2a3b4d5e.")
]

LogLevel = Literal["debug", "info", "warning"]

AllowInsecure = Annotated[
    bool,
    Parameter(
        name="--allow-insecure",
        negative="",
        show_default=False,
        help="Use a cluster that asks for no token, where anybody can run anything.",
    ),
]
JobServer = Annotated[
    str | None,
    Parameter(
        name="--address",
        help="The cluster's job server, such as http://head:8265; PLYMILL_ADDRESS or RAY_ADDRESS "
        "of the environment if left out.",
    ),
]
DEFAULT_STORE = "./runs"


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Work:
    """Where and with what a run is carried out; none of it changes what comes out."""

    store: Store = DEFAULT_STORE
    address: Annotated[
        str | None,
        Parameter(
            help="A running Ray cluster, such as head:6379 or auto; else Ray is started here. With "
            "--submit, its job server, such as http://head:8265."
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
    weight: Annotated[
        float,
        Parameter(
            validator=validators.Number(gt=0, lte=1000),
            help="The run's share of a cluster, compared with other runs there.",
        ),
    ] = 1.0
    allow_insecure: AllowInsecure = False
    json: Json = False


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Which cluster is asked."""

    address: JobServer = None
    allow_insecure: AllowInsecure = False


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Sending:
    """How a run is sent to a cluster."""

    wheel: Annotated[
        Path | None,
        Parameter(help="The wheel of plymill to send; what is installed here if left out."),
    ] = None
    owner: Annotated[
        str | None, Parameter(help="Whose run it is; your name and machine if left out.")
    ] = None
    driver_label: Annotated[
        list[str] | None,
        Parameter(
            negative="",
            help="What a label of the driver's node has to be, such as disk=ssd; may be given "
            "several times. If left out, the head, unless it has no processors.",
        ),
    ] = None
    driver_resource: Annotated[
        list[str] | None,
        Parameter(
            negative="",
            help="What the driver takes of its node, such as drivers=1; may be given several "
            "times.",
        ),
    ] = None
    env: Annotated[
        list[str] | None,
        Parameter(
            negative="",
            help="A variable for driver and workers, NAME=VALUE or NAME for its value here; may be "
            "given several times. Others can read it on the cluster: not for secrets.",
        ),
    ] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class MaybeSending(Sending):
    """The same, for commands that carry a run out themselves otherwise."""

    submit: Annotated[
        bool,
        Parameter(
            negative="",
            show_default=False,
            help="Send the run to the cluster, where it goes on without this terminal.",
        ),
    ] = False


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TableWork(Work):
    """The same of runs that solve positions."""

    table_mb: TableMb = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class HereWork(TableWork):
    """The same, for a run that is always carried out by this very command."""

    address: Annotated[
        str | None,
        Parameter(
            help="A running Ray cluster, such as head:6379 or auto; else Ray is started here."
        ),
    ] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class SentWork(TableWork):
    """The same, for a run that is always sent to a cluster."""

    address: JobServer = None
