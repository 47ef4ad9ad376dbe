"""From what went wrong to one sentence on standard error and an exit code."""

import os
import sys
from collections.abc import Callable

from cyclopts import CycloptsError, UnusedCliTokensError

from plymill.cli.stopping import INTERRUPTED, SENTENCE
from plymill.errors import PlymillError, told
from plymill.words import printable

FAILED = 1
AT_FAULT = 2
PIPE_CLOSED = 141


class UsageError(PlymillError, ValueError):
    """A command that is well formed, but asks for what cannot be."""


class Stopped(KeyboardInterrupt):
    """A stop of a command that knows better than we what it leaves behind."""


def exit_code_of(command: Callable[[], int | None]) -> int:
    """Run a command and return its exit code; says in one sentence what was wrong, if anything.

    Only what nobody can mend but us escapes, with its traceback.
    """
    try:
        code = command() or 0
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        _forget_output()
        return PIPE_CLOSED
    except (KeyboardInterrupt, CycloptsError, PlymillError, MemoryError, OSError) as error:
        sentence, code = explain(error)
        sys.stderr.write(f"plymill: {sentence}\n")
        return code


def explain(error: BaseException) -> tuple[str, int]:
    """One sentence for a person, and the exit code, of an error that `exit_code_of` catches."""
    match error:
        case Stopped():
            return str(error), INTERRUPTED
        case KeyboardInterrupt():
            return SENTENCE, INTERRUPTED
        case CycloptsError():
            return f"{printable(_usage_fault(error))} See '{_command_of(error)} --help'.", AT_FAULT
        case PlymillError():
            return _sentence(str(error)), _code_of(error)
        case MemoryError():
            reason = str(error) or "there is not enough memory"
            return _sentence(f"{reason}; a smaller table (--table-mb) needs less"), AT_FAULT
        case OSError():
            return _sentence(_file_fault(error)), AT_FAULT
        case _:
            raise error


def _sentence(text: str) -> str:
    """The text on one line, closed, with nothing in it that a terminal would obey."""
    text = printable(" ".join(text.split()))
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _code_of(error: PlymillError) -> int:
    from plymill.cluster.errors import RunFailedError, RunInterruptedError

    if isinstance(error, RunInterruptedError):
        return INTERRUPTED
    return FAILED if isinstance(error, RunFailedError) else AT_FAULT


def _usage_fault(error: CycloptsError) -> str:
    if isinstance(error, UnusedCliTokensError):
        words = " ".join(error.unused_tokens or ())
        return f"There is no place for '{words}' after '{_command_of(error)}'."
    return _sentence(str(error))


def _command_of(error: CycloptsError) -> str:
    chain = [word for word in error.command_chain or () if word != "plymill"]
    return " ".join(["plymill", *chain])


def _file_fault(error: OSError) -> str:
    """One sentence of an error of the system: which file, and what is wrong with it."""
    names = [os.fspath(name) for name in (error.filename, error.filename2) if name is not None]
    where = " -> ".join(name if isinstance(name, str) else os.fsdecode(name) for name in names)
    return f"{where}: {told(error)}" if where else f"The system reports: {told(error)}"


def _forget_output() -> None:
    """Whoever reads our output is gone: let Python's last flush go nowhere instead of failing."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
