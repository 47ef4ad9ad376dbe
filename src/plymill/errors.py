"""The errors that plymill raises for what a person can mend.

Each carries one sentence that names the thing, the place and what was expected; the command
line prints it and exits with code 2. Anything else that escapes is a fault of plymill's own.
"""

import errno


class PlymillError(Exception):
    """Root of all errors caused by input: a move string, a file, a flag, a spec."""


class IllegalMoveError(PlymillError, ValueError):
    """A move that the rules do not allow.

    Attributes:
        place: which move of the sequence it is, counted from 1.
    """

    def __init__(self, message: str, place: int) -> None:
        super().__init__(message)
        self.place = place


class InvalidPositionError(PlymillError, ValueError):
    """An array, key or Huffman key that describes no position of the game."""


class GameError(PlymillError, ValueError):
    """A game that does not exist, or a question that its position does not answer."""


class SolverError(PlymillError, ValueError):
    """A setting or position that the solver cannot work with."""


class TableMemoryError(PlymillError, MemoryError):
    """Transposition tables or stacks larger than the memory that the system gives."""


_TOLD = {
    errno.ENOENT: "there is no such file or folder",
    errno.EEXIST: "something of this name is there already, expected a name that is free",
    errno.EISDIR: "it is a folder, expected a file",
    errno.ENOTDIR: "a part of this path is a file, expected a folder",
    errno.EACCES: "permission denied, expected a place that this user may read and write",
    errno.EPERM: "not permitted, expected a place that this user may read and write",
    errno.EROFS: "it can only be read, expected a place that can be written to",
    errno.ENOSPC: "no space left on device; make room and run the same command again",
    errno.EDQUOT: "no space left for this user; make room and run the same command again",
    errno.ENAMETOOLONG: "the name is too long, expected a shorter one",
    errno.ELOOP: "its links lead in a circle, expected a file or folder",
}


def told(error: OSError) -> str:
    """What is wrong with a file, and what was expected, of an error of the system."""
    reason = error.strerror or str(error) or type(error).__name__
    lower = reason[:1].lower() + reason[1:] if reason[1:2].islower() else reason  # not AWS
    return _TOLD.get(error.errno or 0, lower)


def not_utf8(error: UnicodeDecodeError) -> str:
    """Why a text file cannot be read, and what to do: to follow "expected CSV"."""
    byte = error.object[error.start]
    return f"in UTF-8, but byte {error.start + 1} is 0x{byte:02x}: save the file as UTF-8"
