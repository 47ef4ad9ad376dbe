"""Telling a person that something takes its time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from plymill.cli.output import error_console, note
from plymill.cli.words import size

FileTeller = Callable[[str, int], None]

QUIET = 2.0  # seconds before anything is shown


@contextmanager
def patience(text: str, *, quiet: float = QUIET) -> Iterator[None]:
    """Show ``text`` with a spinner and the time, on standard error, after a while.

    What is inside runs in this thread, so that Ctrl-C reaches it; the spinner has its own.
    """
    console = error_console()
    spinner = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    spinner.add_task(text, total=None)
    start = spinner.start if console.is_terminal else lambda: note(f"{text} ...")
    timer = Timer(quiet, start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # a spinner that is just starting must be there before it is stopped
        if console.is_terminal:
            spinner.stop()


@contextmanager
def fetching(total: int) -> Iterator[tuple[FileTeller, FileTeller]]:
    """Two callbacks with name and size: of files that were fetched, of those there already.

    On a terminal a bar shows how much of ``total`` bytes is there, elsewhere each file that was
    fetched is a line.
    """
    console = error_console()
    if not console.is_terminal:
        yield lambda name, count: note(f"{name}  {size(count)}"), lambda name, count: None
        return
    bar = Progress(TextColumn("{task.description}"), BarColumn(), DownloadColumn(), console=console)
    with bar:
        task = bar.add_task("fetching", total=total or None)

        def advance(name: str, count: int) -> None:
            bar.update(task, advance=count, description=name)

        yield advance, advance
