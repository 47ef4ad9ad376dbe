"""The slow implementation of every game, by the game's name."""

from collections.abc import Callable

from tests.games.reference.boxes import SlowBoxes
from tests.games.reference.drop import SlowDrop
from tests.games.reference.sheep import SlowSheep
from tests.games.reference.slow import SlowState
from tests.games.reference.tictactoe import SlowBidding, SlowTicTacToe

SLOW: dict[str, Callable[[], SlowState]] = {
    "connect4-7x6": lambda: SlowDrop.start(7, 6),
    "connect4-8x6": lambda: SlowDrop.start(8, 6),
    "connect4-9x6": lambda: SlowDrop.start(9, 6),
    "connect4-suicide-8x6": lambda: SlowDrop.start(8, 6, misere=True),
    "tictactoe": SlowTicTacToe.start,
    "bidding-tictactoe": SlowBidding.start,
    "boxes-5x5": lambda: SlowBoxes.start(5, 5),
    "boxes-suicide-5x5": lambda: SlowBoxes.start(5, 5, misere=True),
    "sheep-and-wolf": SlowSheep.start,
}

#: Boards on which few games are played: small ones, narrow ones, those that fill the 64 bits.
ODD_BOARDS: dict[str, Callable[[], SlowState]] = {
    "connect4-4x4": lambda: SlowDrop.start(4, 4),
    "connect4-4x15": lambda: SlowDrop.start(4, 15),
    "connect4-8x7": lambda: SlowDrop.start(8, 7),
    "connect4-32x1": lambda: SlowDrop.start(32, 1),
    "connect4-21x2": lambda: SlowDrop.start(21, 2),
    "connect4-suicide-5x4": lambda: SlowDrop.start(5, 4, misere=True),
    "boxes-1x1": lambda: SlowBoxes.start(1, 1),
    "boxes-2x2": lambda: SlowBoxes.start(2, 2),
    "boxes-suicide-2x2": lambda: SlowBoxes.start(2, 2, misere=True),
    "boxes-1x8": lambda: SlowBoxes.start(1, 8),
    "boxes-6x4": lambda: SlowBoxes.start(6, 4),
}
