"""One match between any two players."""

import operator
import time
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plymill.matches.moves import BOTH, OVER
from plymill.matches.records import NO_VALUE, MatchRecord, Status, value_code
from plymill.players.errors import PlayerFailure

if TYPE_CHECKING:
    from plymill.games.game import Game, State
    from plymill.games.random import Stream
    from plymill.players.player import Player

_FAULTS = {
    "raised": (Status.FIRST_RAISED, Status.SECOND_RAISED),
    "illegal": (Status.FIRST_ILLEGAL, Status.SECOND_ILLEGAL),
    "hung": (Status.FIRST_HUNG, Status.SECOND_HUNG),
}


@dataclass(frozen=True, slots=True)
class PlayedMatch:
    """A match and what is not part of its record.

    Attributes:
        record: the match.
        seconds: how long it took, wall clock.
        fault: what a player did wrong, in one sentence; empty if none did.
        details: more about it, such as a traceback.
    """

    record: MatchRecord
    seconds: float
    fault: str = ""
    details: str = ""


def play_match(
    game: "Game",
    players: tuple["Player", "Player"],
    stream: "Stream",
    *,
    cell: int = 0,
    match: int = 0,
    opening: bytes = b"",
) -> PlayedMatch:
    """Plays a match to its end, or to the first fault of a player.

    Whatever a player does wrong is written down in the record and ends this match only; the
    players are not closed. Both draw from the match's stream, in the order of play.

    Args:
        game: the rules.
        players: the first player and the second.
        stream: the random numbers of this match.
        cell: goes into the record.
        match: goes into the record.
        opening: codes of legal moves that are played before the players are asked, two a ply where
            both move; the players observe them.

    Raises:
        IllegalMoveError: the opening is not legal; no fault of a player.
    """
    begun = time.perf_counter()
    table = _Table(game, players)
    try:
        table.begin(stream)
        table.play_opening(opening)
        while table.state.status != OVER:
            table.play_ply()
        status, fault, details = Status.PLAYED, "", ""
        goals = table.state.goals
    except _Fault as caught:
        status, fault, details = caught.status, str(caught), caught.details
        goals = (-1, -1)
    record = MatchRecord(
        cell,
        match,
        goals[0],
        goals[1],
        table.plies,
        status,
        bytes(table.moves),
        tuple(table.values),
    )
    return PlayedMatch(record, time.perf_counter() - begun, fault, details)


class _Fault(Exception):  # noqa: N818 - ends the match, caught by the referee
    """A player's fault."""

    def __init__(self, status: Status, message: str, details: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.details = details


class _Table:
    """The match as it goes: the state, and what was played."""

    def __init__(self, game: "Game", players: tuple["Player", "Player"]) -> None:
        self.state: State = game.start()
        self.moves = bytearray()
        self.values: list[int] = []
        self.plies = 0
        self._game = game
        self._players = players

    def begin(self, stream: "Stream") -> None:
        for side, player in enumerate(self._players):
            with _Watch(side):
                player.begin(side, stream)

    def play_opening(self, opening: bytes) -> None:
        rest = list(opening)
        while rest:
            count = 2 if self.state.status == BOTH else 1
            moves, rest = rest[:count], rest[count:]
            self._play(moves, [NO_VALUE] * len(moves))

    def play_ply(self) -> None:
        if self.plies >= self._game.max_plies:
            raise RuntimeError(f"{self._game.name}: more than {self._game.max_plies} plies")
        status = self.state.status
        sides = (0, 1) if status == BOTH else (status,)
        choices = [self._ask(side) for side in sides]
        self._play([move for move, _ in choices], [value for _, value in choices])

    def _ask(self, side: int) -> tuple[int, int]:
        """A legal move of the player, and what it expects of it."""
        with _Watch(side):
            choice = self._players[side].choose(self.state)
            move, estimate = choice.move, choice.value
            sound = estimate is None or 0 <= estimate <= 1
        legal = self.state.moves(side)
        try:  # that True is 1 is not meant
            code = -1 if isinstance(move, bool) else operator.index(move)
        except TypeError:
            code = -1
        if code not in legal:
            expected = f"one of the codes {', '.join(map(str, legal))}"
            raise self._illegal(side, f"played {move!r}", expected)
        if not sound:
            expected = "a number from 0 to 1, or None"
            raise self._illegal(side, f"estimated its goal at {estimate!r}", expected)
        return code, value_code(estimate)

    def _illegal(self, side: int, done: str, expected: str) -> "_Fault":
        return _Fault(
            _FAULTS["illegal"][side],
            f"The {_name(side)} player {done} at ply {self.plies + 1}, expected {expected}.",
        )

    def _play(self, moves: list[int], values: list[int]) -> None:
        self.state = self.state.play(*moves)
        self.moves += bytes(moves)
        self.values += values
        self.plies += 1
        for side, player in enumerate(self._players):
            with _Watch(side):
                player.observe(tuple(moves))


class _Watch:
    """Turns what a player raises inside of the block into its fault.

    Memory that runs out and interrupts are no player's fault and pass.
    """

    def __init__(self, side: int) -> None:
        self._side = side

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, PlayerFailure):
            raise _Fault(_FAULTS[error.kind][self._side], str(error), error.details) from error
        if isinstance(error, Exception) and not isinstance(error, MemoryError):
            details = "".join(traceback.format_exception(error))
            message = f"The {_name(self._side)} player raised {type(error).__name__}: {error}."
            raise _Fault(_FAULTS["raised"][self._side], message, details) from error


def _name(side: int) -> str:
    return ("first", "second")[side]
