"""The games by their names. To add one is one line in ``FAMILIES``: see docs/adding-a-game.md."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from plymill.errors import GameError
from plymill.games.game import Game


@dataclass(frozen=True)
class Family:
    """Games of one set of rules, on boards of one or many sizes.

    Attributes:
        home: module and class, ``"plymill.games.drop:ConnectFour"``; loaded when first asked for.
        sizes: the sizes to name, ``"7x6"``, the usual one first; others can be asked for as well.
            Without any, the game has one board, and the class takes no size.
        misere: the class is told that this is the misere form.
    """

    home: str
    sizes: tuple[str, ...] = ()
    misere: bool = False

    def make(self, size: str) -> Game:
        """The game on the board of this size, ``"7x6"``; ``""`` stands for the usual one."""
        module, _, name = self.home.partition(":")
        rules: Callable[..., Game] = getattr(import_module(module), name)
        if not self.sizes:
            return rules()
        width, height = (int(side) for side in (size or self.sizes[0]).split("x"))
        return rules(width, height, self.misere)


FAMILIES = {
    "connect4": Family("plymill.games.drop:ConnectFour", ("7x6", "8x6", "9x6")),
    "connect4-suicide": Family("plymill.games.drop:ConnectFour", ("8x6",), misere=True),
    "tictactoe": Family("plymill.games.tictactoe:TicTacToe"),
    "bidding-tictactoe": Family("plymill.games.bidding:BiddingTicTacToe"),
    "boxes": Family("plymill.games.boxes:Boxes", ("5x5",)),
    "boxes-suicide": Family("plymill.games.boxes:Boxes", ("5x5",), misere=True),
    "sheep-and-wolf": Family("plymill.games.sheep:SheepAndWolf"),
}

_SIZED = re.compile(r"(.+?)-([1-9][0-9]?x[1-9][0-9]?)", re.ASCII)


def game_names() -> list[str]:
    """The names of the games, those of the usual sizes of board only."""
    return [
        f"{family}-{size}" if size else family
        for family, rules in FAMILIES.items()
        for size in rules.sizes or ("",)
    ]


@cache
def open_game(name: str) -> Game:
    """The game of this name: ``"connect4-8x6"``, or ``"connect4"`` on its usual board.

    Raises:
        GameError: no game has this name, or its rules do not fit a board of this size.
    """
    sized = _SIZED.fullmatch(name)
    family, size = (sized[1], sized[2]) if sized else (name, "")
    if family not in FAMILIES or (size and not FAMILIES[family].sizes):
        raise GameError(f"there is no game {name!r}, expected one of {', '.join(game_names())}")
    return FAMILIES[family].make(size)
