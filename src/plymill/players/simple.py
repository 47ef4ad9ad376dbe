"""Players that do not think."""

from typing import TYPE_CHECKING

from plymill.players.player import Choice

if TYPE_CHECKING:
    from plymill.games.game import Game, State, Stream


class RandomPlayer:
    """All legal moves with equal chance; one draw a move, even where there is one move only."""

    def __init__(self, game: "Game") -> None:
        self.game = game

    def begin(self, side: int, stream: "Stream") -> None:
        """A new match."""
        self._side = side
        self._stream = stream

    def choose(self, state: "State") -> Choice:
        """A random move."""
        moves = state.moves(self._side)
        return Choice(moves[self._stream.below(len(moves))])

    def observe(self, moves: tuple[int, ...]) -> None:
        """Takes no notice."""

    def close(self) -> None:
        """Holds nothing."""


class FirstLegalPlayer:
    """Always the legal move with the lowest code."""

    def __init__(self, game: "Game") -> None:
        self.game = game

    def begin(self, side: int, stream: "Stream") -> None:
        """A new match."""
        self._side = side

    def choose(self, state: "State") -> Choice:
        """The first of the legal moves."""
        return Choice(state.moves(self._side)[0])

    def observe(self, moves: tuple[int, ...]) -> None:
        """Takes no notice."""

    def close(self) -> None:
        """Holds nothing."""
