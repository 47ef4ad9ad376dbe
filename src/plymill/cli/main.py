"""The entry point: hears Ctrl-C and SIGTERM from the first moment, then loads the command line."""

from collections.abc import Sequence
from contextlib import suppress

from plymill.cli.stopping import INTERRUPTED, SENTENCE, Stopping


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the entry point of ``plymill``.

    Args:
        arguments: the words after ``plymill``; those of the process if None.

    Returns:
        The exit code: see ``plymill --help``.
    """
    with Stopping(for_good=arguments is None) as stopping:
        try:
            from plymill.cli.commands import run

            return run(arguments)
        except BaseException:
            if not stopping.heard:
                raise
            # A stop in the middle of an import can come out as any error.
            _say(SENTENCE)
            return INTERRUPTED


def _say(sentence: str) -> None:
    import sys

    with suppress(AttributeError, OSError, ValueError):  # there may be nowhere to say it
        sys.stderr.write(f"plymill: {sentence}\n")
