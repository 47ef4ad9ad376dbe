"""What a player is to those who let it play."""

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from plymill.games.game import State, Stream


class Choice(NamedTuple):
    """A move, and what its player makes of it.

    Attributes:
        move: the code of the move.
        value: the player's own estimate of its goal, from 0 (lost) to 1 (won); None without one.
            Anything else is the player's fault, as is a move that is not legal.
    """

    move: int
    value: float | None = None


class Player(Protocol):
    """One side of a match. A player may play many matches, one after the other.

    All players of a match draw their random numbers from one stream, that of the match, in the
    order in which they are asked: at a simultaneous move the first player before the second.
    """

    def begin(self, side: int, stream: "Stream") -> None:
        """A new match: which side to play, 0 or 1, and the match's random numbers."""

    def choose(self, state: "State") -> Choice:
        """A move for this side, which is to move.

        Raises:
            PlayerFailure: it has none to give.
        """

    def observe(self, moves: tuple[int, ...]) -> None:
        """What was just played, by whomever: one move, or both of a simultaneous one."""

    def close(self) -> None:
        """No more matches: gives back memory and processes. May be called twice."""
