"""The UCT player: a search for every move."""

from typing import TYPE_CHECKING, Any

from plymill.players.dispatch import load_engine
from plymill.players.player import Choice

if TYPE_CHECKING:
    from plymill.games.game import Game, State, Stream
    from plymill.players.spec import UctSpec


def settings_of(spec: "UctSpec") -> tuple[Any, ...]:
    """What the engine takes: goals are numbers up to 100 there, and so is the exploration."""
    return (
        spec.iterations,
        100.0 * spec.c,
        spec.final == "visits",
        spec.reuse,
        spec.playout,
        spec.wincheck,
        spec.simultaneous == "sequential",
    )


class UctPlayer:
    """Monte Carlo tree search with a fixed number of iterations a move.

    Args:
        game: the game.
        spec: iterations and options.
        variant: which compiled variant of the engine to use; the fastest by default.
    """

    def __init__(self, game: "Game", spec: "UctSpec", *, variant: str | None = None) -> None:
        self.game = game
        self.spec = spec
        self._searcher = load_engine(variant).Searcher(game, settings_of(spec))

    def begin(self, side: int, stream: "Stream") -> None:
        """A new match."""
        self._side = side
        self._stream = stream
        self._searcher.forget()
        self._state: State | None = None

    def choose(self, state: "State") -> Choice:
        """The move of a search, with its average.

        Raises:
            MemoryError: the tree does not fit the memory.
        """
        self._state = state
        return Choice(*self._searcher.choose(state, self._side, self._stream))

    def observe(self, moves: tuple[int, ...]) -> None:
        """Follows the moves in the tree, where it is kept."""
        if self.spec.reuse and self._state is not None:
            self._searcher.observe(moves, self._state.status)
            self._state = self._state.play(*moves)

    def statistics(self) -> list[tuple[int, int, int]]:
        """Of the last search: move, visits and sum of goals for each move tried, in that order."""
        return self._searcher.statistics()

    @property
    def memory(self) -> int:
        """Bytes taken for trees."""
        return self._searcher.memory

    def close(self) -> None:
        """Gives the memory back."""
        self._searcher.close()
