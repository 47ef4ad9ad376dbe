"""Move codes of a whole match, from bytes to plies and to text."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plymill.games.game import Game, State

#: The status of a position in which nobody moves, as the match is over, and of one in which both
#: players do; otherwise it is the side to move.
OVER, BOTH = -1, 2


def plies(game: "Game", codes: Sequence[int]) -> Iterator[tuple["State", tuple[int, ...]]]:
    """Each position of a match with the move that was played there, or both moves.

    Raises:
        IllegalMoveError: a move is not legal.
    """
    state, place = game.start(), 0
    while place < len(codes):
        count = 2 if state.status == BOTH else 1
        moves = tuple(codes[place : place + count])
        yield state, moves
        state = state.play(*moves)
        place += count


def after(game: "Game", codes: Sequence[int]) -> "State":
    """The position that moves lead to.

    Raises:
        IllegalMoveError: a move is not legal.
    """
    state = game.start()
    for before, moves in plies(game, codes):
        state = before.play(*moves)
    return state


def moves_text(game: "Game", codes: Sequence[int]) -> str:
    """The moves as the game writes them.

    Raises:
        IllegalMoveError: a move is not legal.
    """
    words = [state.joint_text(*moves) for state, moves in plies(game, codes)]
    return ("" if game.one_character else " ").join(words)


def first_move_text(game: "Game", code: int, *, gdl: bool = False) -> str:
    """A first player's first move as the game writes it, or as its published rules do."""
    start = game.start()
    return start.move_gdl(code, 0) if gdl else start.move_text(code, 0)
