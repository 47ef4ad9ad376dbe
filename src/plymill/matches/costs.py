"""What a match costs, as far as that can be told beforehand."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from plymill.matches.grids import Cell
from plymill.players.spec import PerfectSpec, PlayerSpec, PythonSpec, UctSpec, parse_player

if TYPE_CHECKING:
    from plymill.games.game import Game

#: By the beginning of a game's name: seconds of a UCT iteration, the mean over a match between
#: players of compiled code, and the share of its longest match that is played.
_GAMES = {
    "connect4-suicide": (0.09e-6, 0.86),
    "connect4": (0.10e-6, 0.62),
    "tictactoe": (0.06e-6, 0.95),
    "bidding-tictactoe": (0.22e-6, 0.60),  # most moves are made by both, each after its search
    "boxes": (0.20e-6, 1.00),
    "sheep-and-wolf": (0.31e-6, 0.45),
}
_ANY_GAME = (0.25e-6, 0.75)

#: Seconds a move.
_PLY = 0.5e-6
_REFEREE = 20e-6
_PERFECT = 5e-3
_PYTHON = 50e-3

#: How much longer an iteration takes where matches cannot take turns in compiled code.
_ALONE = 2.5


def match_seconds(game: "Game", cell: Cell) -> float:
    """Estimated seconds of one match; right to a factor of two or so, which is enough to balance.

    Raises:
        PlayerError: a description of a player cannot be read.
    """
    iteration, length = next(
        (costs for name, costs in _GAMES.items() if game.name.startswith(name)), _ANY_GAME
    )
    players = [parse_player(text) for text in (cell.first, cell.second)]
    native = all(player.native for player in players)
    if not native:
        iteration *= _ALONE
    moves = sum(_move_seconds(player, iteration) for player in players)
    return game.max_plies * length * ((_PLY if native else _REFEREE) + moves / 2)


def cell_seconds(game: "Game", cells: Sequence[Cell]) -> dict[int, float]:
    """Estimated seconds of one match of each cell, by the cell's number."""
    seconds = cache(lambda first, second: match_seconds(game, Cell(0, first, second)))
    return {cell.index: seconds(cell.first, cell.second) for cell in cells}


def _move_seconds(player: PlayerSpec, iteration: float) -> float:
    if isinstance(player, UctSpec):
        return player.iterations * iteration
    if isinstance(player, PerfectSpec):
        return _PERFECT
    return _PYTHON if isinstance(player, PythonSpec) else 0.0
