"""The errors that plymill raises for what a person can mend.

Each carries one sentence that names the thing, the place and what was expected; the command
line prints it and exits with code 2. Anything else that escapes is a fault of plymill's own.
"""


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
