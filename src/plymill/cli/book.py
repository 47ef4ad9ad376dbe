"""``plymill book``: making books and asking them."""

from cyclopts import App

from plymill.cli.book_build import build
from plymill.cli.book_files import convert, derive, verify
from plymill.cli.book_query import info, query
from plymill.cli.checks import ARGUMENTS, PARAMETERS

app = App(
    name="book",
    group_arguments=ARGUMENTS,
    group_parameters=PARAMETERS,
    help="Build opening books, check them and ask them.",
    help_epilogue="Example: plymill book query published:12ply-dist 4453",
)

for command, example in (
    (build, "plymill book build --opening 444444"),
    (query, "plymill book query published:12ply-dist 4453"),
    (info, "plymill book info published:8ply"),
    (verify, "plymill book verify MINE.plymill --against published:12ply-dist --sample 100"),
    (derive, "plymill book derive published:12ply-dist 8 8ply.plymill"),
    (convert, "plymill book convert published:12ply-dist 12ply.plymill"),
):
    app.command(command, help_epilogue=f"Example: {example}")
