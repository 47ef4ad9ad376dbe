"""Writing for people and for programs: results to standard output, all else to standard error."""

import json
import os
import shutil
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from rich.console import Console


def prepare_streams() -> None:
    """See that standard output and error can be written to, whatever the caller did to them.

    A stream that is closed goes nowhere, so that no file of ours takes its number; a name that is
    not UTF-8 is written with escapes.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115 - lasts like the process
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def error_console() -> Console:
    """The console on standard error, on which progress is shown."""
    return Console(stderr=True, highlight=False)


def program() -> str:
    """How plymill is called from here: by name if the shell finds it, else by its path."""
    called = Path(sys.argv[0])
    if called.name != "plymill" or shutil.which("plymill") is not None:
        return "plymill"
    try:
        return str(called.absolute().relative_to(Path.cwd()))
    except ValueError:
        return str(called)


def say(text: str = "") -> None:
    """Write a line of the result."""
    sys.stdout.write(f"{text}\n")


def note(text: str) -> None:
    """Write a line beside the result."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def confirm(question: str) -> bool:
    """Ask a person; without a terminal the answer is no."""
    if not sys.stdin.isatty():
        return False
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def say_json(value: Any) -> None:
    """Write the result as one JSON object on one line."""
    say(json.dumps(value, sort_keys=False, ensure_ascii=False))


def say_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: str = "") -> None:
    """Write rows in columns, two blanks apart.

    Args:
        head: the columns' names.
        rows: as many words each.
        right: one letter a column: ``r`` aligns it to the right; the rest to the left.
    """
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    sides = right.ljust(len(head))
    for row in (head, *rows):
        cells = [
            cell.rjust(width) if side == "r" else cell.ljust(width)
            for cell, width, side in zip(row, widths, sides, strict=True)
        ]
        say("  ".join(cells).rstrip())
