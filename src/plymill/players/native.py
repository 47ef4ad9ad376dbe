"""Whole matches between native players, in compiled code, several of them interleaved."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plymill.players.dispatch import Array, load_engine
from plymill.players.errors import PlayerError
from plymill.players.spec import FirstLegalSpec, PlayerSpec, RandomSpec, UctSpec
from plymill.players.uct import settings_of

if TYPE_CHECKING:
    from plymill.games.game import Game

_KINDS: dict[type[PlayerSpec], int] = {UctSpec: 0, RandomSpec: 1, FirstLegalSpec: 2}


#: The most matches that it is ever worth to let take turns.
LANES = 8


@dataclass(frozen=True, slots=True)
class MatchTask:
    """A match to be played.

    Attributes:
        cell: chooses the match's random numbers, together with the seed and the next one.
        match: number of the match within its cell.
        first: the first player.
        second: the second player.
        opening: codes of legal moves that come first, two a ply where both move.
    """

    cell: int
    match: int
    first: PlayerSpec
    second: PlayerSpec
    opening: bytes = b""


@dataclass(frozen=True, slots=True)
class NativeMatches:
    """Matches that were played, in the order of their tasks.

    Attributes:
        goals: int16 array of two goals for each match.
        plies: uint16 array; two moves at once are one ply, and the opening counts.
        lengths: uint16 array: how many entries of ``moves`` belong to each match.
        moves: uint8 array of the move codes of all matches, those of the openings included.
        values: uint16 array beside it: the mover's estimate of his goal in ten-thousandths, 65535
            without an estimate.
        seconds: float64 array: the time of all, shared out by the iterations of each match.
        iterations: uint64 array: iterations of all searches of each match.
    """

    goals: Array
    plies: Array
    lengths: Array
    moves: Array
    values: Array
    seconds: Array
    iterations: Array


def play_uct_matches(
    game: "Game",
    tasks: Sequence[MatchTask],
    seed: int,
    *,
    lanes: int | None = None,
    variant: str | None = None,
) -> NativeMatches:
    """Plays matches between native players (``spec.native``) without the GIL.

    Each match is, bit for bit, what it is when played alone or by a referee that asks the players
    move by move, whatever ``lanes`` and ``variant`` are.

    Args:
        game: the game.
        tasks: the matches; similar lengths side by side keep all lanes busy.
        seed: the job's seed, 0 to 2**64 - 1.
        lanes: how many matches take turns in this thread; as many as is fastest by default.
        variant: which compiled variant of the engine to use; the fastest by default.

    Raises:
        PlayerError: a player is not native.
        IllegalMoveError: an opening is not legal.
        MemoryError: the trees do not fit the memory.
    """
    specs = list(dict.fromkeys(spec for task in tasks for spec in (task.first, task.second)))
    place = {spec: i for i, spec in enumerate(specs)}
    for opening in {task.opening for task in tasks}:
        _check_opening(game, opening)
    seeds = np.zeros((len(tasks), 3), dtype=np.uint64)
    pairs = np.zeros((len(tasks), 2), dtype=np.int32)
    for i, task in enumerate(tasks):
        for column, number in enumerate((seed, task.cell, task.match)):
            seeds[i, column] = number  # whole numbers of 64 bits, never through a float
        pairs[i] = place[task.first], place[task.second]
    engine = load_engine(variant)
    goals, plies, lengths, moves, values, iterations, seconds = engine.play_matches(
        game,
        [_native(spec) for spec in specs],
        (seeds, pairs, [task.opening for task in tasks]),
        engine.best_lanes(game) if lanes is None else lanes,
    )
    # A match without any search takes about as long as one iteration for each of its moves.
    shares = iterations + lengths
    shared = seconds * shares / max(float(shares.sum()), 1.0)
    return NativeMatches(goals, plies, lengths, moves, values, shared, iterations)


def best_lanes(game: "Game", variant: str | None = None) -> int:
    """How many matches should take turns: it depends on the engine, and is ``LANES`` at most."""
    return load_engine(variant).best_lanes(game)


def _native(spec: PlayerSpec) -> tuple[int, tuple[Any, ...]]:
    if type(spec) not in _KINDS:
        raise PlayerError(
            f"Player '{spec}' cannot play in compiled code, expected uct, random or first-legal"
        )
    return _KINDS[type(spec)], settings_of(spec) if isinstance(spec, UctSpec) else ()


def _check_opening(game: "Game", opening: bytes) -> None:
    state, rest = game.start(), list(opening)
    while rest:
        count = 2 if state.status == 2 else 1
        state = state.play(*rest[:count])
        rest = rest[count:]
