"""What a match costs, as far as that can be told beforehand."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from plymill.matches.grids import Cell
from plymill.players.spec import PerfectSpec, PlayerSpec, PythonSpec, UctSpec, parse_player

if TYPE_CHECKING:
    from plymill.games.game import Game

#: Seconds of a UCT iteration in the first half of a match, by the first word of a game's name.
_ITERATION = {
    "connect4": 0.6e-6,
    "tictactoe": 0.2e-6,
    "bidding": 0.4e-6,
    "boxes": 1.2e-6,
    "sheep": 1.0e-6,
}
_ANY_ITERATION = 1.0e-6

#: How much of the longest match is played, by the first word of a game's name.
_LENGTH = {"connect4": 0.7, "tictactoe": 0.9, "bidding": 0.8, "boxes": 1.0, "sheep": 0.5}
_ANY_LENGTH = 0.75

#: Seconds a move.
_PLY = 3e-6
_PERFECT = 5e-3
_PYTHON = 50e-3


def match_seconds(game: "Game", cell: Cell) -> float:
    """Estimated seconds of one match; right to a factor of two or so, which is enough to balance.

    Raises:
        PlayerError: a description of a player cannot be read.
    """
    plies = game.max_plies * _by_game(game.name, _LENGTH, _ANY_LENGTH)
    moves = [_move_seconds(game.name, parse_player(text)) for text in (cell.first, cell.second)]
    return plies * (_PLY + sum(moves) / 2)


def cell_seconds(game: "Game", cells: Sequence[Cell]) -> dict[int, float]:
    """Estimated seconds of one match of each cell, by the cell's number."""
    seconds = cache(lambda first, second: match_seconds(game, Cell(0, first, second)))
    return {cell.index: seconds(cell.first, cell.second) for cell in cells}


def _move_seconds(game: str, player: PlayerSpec) -> float:
    """Averaged over a match, towards whose end iterations get cheaper."""
    if isinstance(player, UctSpec):
        return 0.6 * player.iterations * _by_game(game, _ITERATION, _ANY_ITERATION)
    if isinstance(player, PerfectSpec):
        return _PERFECT
    return _PYTHON if isinstance(player, PythonSpec) else 0.0


def _by_game(name: str, table: dict[str, float], otherwise: float) -> float:
    return table.get(name.partition("-")[0], otherwise)
