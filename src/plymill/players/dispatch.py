"""Picks the variant of the UCT engine that was compiled for this processor.

As for the solver's search, one source is compiled for several levels of instruction sets; all give
the same moves and values. ``PLYMILL_VARIANT`` in the environment forces one.
"""

import os
from importlib import import_module, util
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from plymill.players.errors import PlayerError

if TYPE_CHECKING:
    from plymill.games.game import Game, State, Stream

Array = npt.NDArray[Any]


class Searcher(Protocol):
    """The search of one player; see ``engine.pyx``."""

    memory: int
    used: int

    def choose(self, state: "State", side: int, stream: "Stream") -> tuple[int, float]:
        """The move of a search, and its average, 0 to 1."""

    def observe(self, moves: tuple[int, ...], status: int) -> None:
        """Follows moves that were played in a position of this status."""

    def statistics(self) -> list[tuple[int, int, int]]:
        """Move, visits and sum of goals for each move tried by the last search."""

    def forget(self) -> None:
        """Drops the tree that was kept."""

    def close(self) -> None:
        """Gives the memory back."""


class Engine(Protocol):
    """One compiled variant of the engine."""

    MAX_LANES: int

    def best_lanes(self, game: "Game") -> int:
        """How many matches should take turns."""

    def numbers(self, n: int) -> tuple[float, float]:
        """The square root of ln n, and the inverse of that of n."""

    def Searcher(self, game: "Game", settings: tuple[Any, ...]) -> Searcher:  # noqa: N802
        """A search."""

    def play_matches(
        self,
        game: "Game",
        players: list[tuple[int, tuple[Any, ...]]],
        matches: tuple[npt.NDArray[np.uint64], npt.NDArray[np.int32], list[bytes]],
        lanes: int,
    ) -> tuple[Array, Array, Array, Array, Array, Array, float]:
        """Plays matches."""


def variants() -> list[str]:
    """The variants that are built and that this processor runs, fastest first."""
    from plymill.solver.cpu import supported_levels
    from plymill.solver.dispatch import BASELINES

    return [
        name
        for name in (*supported_levels(), *BASELINES)
        if util.find_spec(f"plymill.players._engine_{name}") is not None
    ]


def load_engine(variant: str | None = None) -> Engine:
    """The engine of the best variant, if none is named.

    Raises:
        PlayerError: the named variant is not built or does not run on this processor.
    """
    usable = variants()
    wanted = variant or os.environ.get("PLYMILL_VARIANT") or usable[0]
    if wanted not in usable:
        origin = "" if variant else " (from PLYMILL_VARIANT)"
        raise PlayerError(
            f"engine variant {wanted!r}{origin} does not run here, "
            f"expected one of {', '.join(usable)}"
        )
    return cast(Engine, import_module(f"plymill.players._engine_{wanted}"))
