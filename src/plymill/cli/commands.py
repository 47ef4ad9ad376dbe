"""The composition root: assembles the commands and runs one.

Nothing here or at the top of the other modules loads Ray, a compiled part or the job system, so
that ``plymill --help`` answers at once; each command imports what it needs when it runs.
"""

from collections.abc import Sequence

from cyclopts import App

from plymill._version import __version__
from plymill.cli.book import app as book_app
from plymill.cli.checks import ARGUMENTS, PARAMETERS
from plymill.cli.failures import exit_code_of
from plymill.cli.jobs import cancel, delete, download, jobs, logs, resume, status, stop, submit
from plymill.cli.match import app as match_app
from plymill.cli.output import prepare_streams
from plymill.cli.run import app as run_app
from plymill.cli.serve import serve
from plymill.cli.solve import solve

_HELP = (
    "Solve Connect Four openings exactly, and measure players of games, on this machine or on a "
    "Ray cluster."
)
_EPILOGUE = (
    "Example: plymill book build --opening 444444\n\n"
    "Results go to standard output, progress to standard error. Exit codes: 0, all is well; 1, a "
    "run could not be completed, a book is not sound, or a match is not the same when played "
    "again; 2, what was asked for is at fault; 130, stopped from the keyboard or by SIGTERM."
)


def make_app() -> App:
    """The whole command line."""
    app = App(
        name="plymill",
        group_arguments=ARGUMENTS,
        group_parameters=PARAMETERS,
        help=_HELP,
        help_epilogue=_EPILOGUE,
        help_format="plaintext",
        version=__version__,
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    app.command(book_app)
    app.command(match_app)
    app.command(run_app)
    for command, words in (
        (submit, "job.toml --address http://head:8265 --store s3://bucket/runs"),
        (jobs, ""),
        (status, "book-1f0c2a3b4d5e"),
        (logs, "book-1f0c2a3b4d5e --follow"),
        (stop, "book-1f0c2a3b4d5e"),
        (resume, "book-1f0c2a3b4d5e"),
        (download, "book-1f0c2a3b4d5e books"),
        (cancel, "book-1f0c2a3b4d5e"),
        (delete, "book-1f0c2a3b4d5e"),
    ):
        example = f"plymill {command.__name__} {words}".rstrip()
        app.command(command, help_epilogue=f"Example: {example}")
    app.command(serve, help_epilogue="Example: plymill serve --store s3://bucket/runs --port 8300")
    app.command(solve, help_epilogue="Example: plymill solve 4453")
    return app


def run(arguments: Sequence[str] | None) -> int:
    """Run one command and turn its end into an exit code; see `plymill.cli.main`."""
    prepare_streams()
    app = make_app()
    return exit_code_of(
        lambda: app(arguments, exit_on_error=False, print_error=False, help_on_error=False)
    )
