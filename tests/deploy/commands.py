"""Commands that documents and manifests name, and whether plymill would take them."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from cyclopts.exceptions import CycloptsError

from plymill.cli.commands import make_app

_BLOCK = re.compile(r"^```(?:console|bash|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_CONTINUED = re.compile(r"\\\n\s*")


def in_document(path: Path) -> Iterator[list[str]]:
    """The words of each command of plymill in the blocks of a Markdown page."""
    for block in _BLOCK.findall(path.read_text(encoding="utf-8")):
        for line in _CONTINUED.sub(" ", block).splitlines():
            yield from in_line(line)


def in_line(line: str) -> Iterator[list[str]]:
    """The words after ``plymill``, if the line is such a command."""
    command = line.strip().removeprefix("$ ").removeprefix(".venv/bin/")
    if re.match(r"plymill\s+[a-z-]", command):
        yield shlex.split(command, comments=True)[1:]


def fault(words: list[str]) -> str:
    """What plymill would say about a command; nothing if it would begin to do it."""
    if words == ["--version"]:
        return ""
    try:
        make_app().parse_args(words, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        return f"plymill {shlex.join(words)}: {error}"
    return ""
