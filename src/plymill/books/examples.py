"""How reports name positions."""

from plymill.errors import InvalidPositionError
from plymill.games.connect4 import Position

#: How many examples of each fault a report names.
EXAMPLES = 10


def drawing(key: int) -> str:
    """The board of a position on the lines after this one; nothing for a key of no position."""
    try:
        return f":\n{Position.from_key(key)}"
    except InvalidPositionError:
        return ""
