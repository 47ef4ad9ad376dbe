"""Scores, distances and outcomes: one value of a position in the notations that books use.

The score is the solver's, seen from the side to move: 0 is a draw, a win is 1 plus the number of
the winner's own stones that are left after his winning one, a loss the negative. With ``m`` empty
squares and the end after ``d`` more plies the absolute score is ``(m - d) // 2 + 1``, where d is
odd for a win of the side to move and even for a loss.
"""

import numpy as np
import numpy.typing as npt

from plymill.games.connect4 import SQUARES

Scores = npt.NDArray[np.int8]

#: The published distance of a win after d plies is this less d, so that quicker wins count more.
DISTANCE_BASE = 100
#: What :func:`scores_from_distance_bytes` gives for bytes that are no distance.
NO_SCORE = -128

_MOST = SQUARES // 2


def win_score(moves_left: int) -> int:
    """The score of a win with the very next stone: the best there is with so many squares left."""
    return (moves_left + 1) // 2


def plies_to_end(score: int, moves_left: int) -> int:
    """After how many more plies a game ends that is won or lost with this score, not drawn."""
    # Both parities of d give the same score: a win ends with a stone of the side to move.
    longest = moves_left - 2 * (abs(score) - 1)
    return longest - (longest % 2 != (score > 0))


def describe(value: int, moves_left: int, to_move: int, *, distances: bool = True) -> str:
    """The value of a position in words, such as ``player 1 wins in 29 plies`` or ``draw``.

    Args:
        value: score (or outcome, if not ``distances``) seen from the side to move.
        moves_left: empty squares of the position.
        to_move: the player, 1 or 2, whose turn it is.
        distances: whether the value is a score, that tells when the game ends.
    """
    if value == 0:
        return "draw"
    winner = to_move if value > 0 else 3 - to_move
    if not distances:
        return f"player {winner} wins"
    plies = plies_to_end(value, moves_left)
    if plies == 0:
        return f"player {winner} has won"
    return f"player {winner} wins in {plies} {'ply' if plies == 1 else 'plies'}"


def distance_bytes(scores: Scores, moves_left: int) -> Scores:
    """The signed bytes of the published layout with distances, seen from player 1.

    100 - d where player 1 wins after d more plies, -(100 - d) where he loses, 0 for a draw.
    """
    return _byte_table(moves_left)[scores.astype(np.intp) + _MOST]


def scores_from_distance_bytes(values: Scores, moves_left: int) -> Scores:
    """The inverse of :func:`distance_bytes`; `NO_SCORE` where a byte is no distance."""
    table = np.full(256, NO_SCORE, dtype=np.int8)
    for score in range(-((moves_left + 2) // 2), win_score(moves_left) + 1):
        table[_distance_byte(score, moves_left) & 255] = score
    return table[values.view(np.uint8)]


def _byte_table(moves_left: int) -> Scores:
    scores = range(-_MOST, _MOST + 1)
    return np.array([_distance_byte(score, moves_left) for score in scores], dtype=np.int8)


def _distance_byte(score: int, moves_left: int) -> int:
    if score == 0:
        return 0
    size = DISTANCE_BASE - plies_to_end(score, moves_left)
    player_1_to_move = (SQUARES - moves_left) % 2 == 0
    return size if (score > 0) == player_1_to_move else -size
