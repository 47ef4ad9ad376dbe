"""Openings: moves that are played before the players are asked, so that matches differ."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plymill.errors import PlymillError
from plymill.matches.errors import MatchError
from plymill.matches.moves import BOTH, OVER, after
from plymill.players.spec import parse_player

if TYPE_CHECKING:
    from plymill.games.game import Game, State

#: In the place of a cell's number in the random streams that openings are drawn from.
OPENINGS_CELL = 2**32 - 1
#: Candidates that are drawn for each opening wanted before giving up.
_PATIENCE = 200

#: The judge of what is balanced: its estimate lies so near to one half.
JUDGE = "uct:2000"
MARGIN = 0.1


@dataclass(frozen=True, slots=True)
class Openings:
    """The openings of a job; match number m of every cell begins with number m, and round again.

    Two cells with the colours exchanged so play each opening with both colours.

    Attributes:
        codes: the move codes of each; none at all to begin at the initial position.
    """

    codes: tuple[bytes, ...] = ()

    def of(self, match: int) -> bytes:
        """The move codes that a match begins with."""
        return self.codes[match % len(self.codes)] if self.codes else b""


def read_openings(game: "Game", lines: Iterable[str], *, where: str = "openings") -> Openings:
    """Openings from text, one a line as the game writes moves; ``#`` begins a comment.

    Raises:
        MatchError: a line is not legal, ends the game, or there are none at all; the message names
            the line.
    """
    codes = []
    for number, line in enumerate(lines, start=1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        place = f"{where}, line {number}"
        try:
            opening = bytes(code for ply in game.parse_moves(text) for code in ply)
        except PlymillError as error:
            raise MatchError(f"{place}: {error}") from None
        if after(game, opening).status == OVER:
            raise MatchError(f"{place}: expected an opening, but '{text}' ends the game.")
        codes.append(opening)
    if not codes:
        raise MatchError(f"{where}: expected one opening a line, got none.")
    return Openings(tuple(codes))


def random_openings(
    game: "Game",
    *,
    plies: int,
    count: int,
    seed: int,
    judge: str = JUDGE,
    margin: float = MARGIN,
) -> Openings:
    """Openings of random legal moves that lead to distinct balanced positions.

    Candidate k is drawn from its own random stream. It counts if the game is not over, no earlier
    one led to the same position, and the judge, asked for a move, estimates the goals of both
    sides to lie near to one half.

    Args:
        game: the rules.
        plies: joint moves of each opening.
        count: how many openings.
        seed: what they follow from.
        judge: description of the player who judges.
        margin: how far from one half its estimate may be.

    Raises:
        MatchError: so many openings do not exist, or are too hard to find.
        PlayerError: the judge is no player of this game.
    """
    if plies < 1 or count < 1:
        raise MatchError(
            f"openings: expected at least 1 of at least 1 ply, got {count} of {plies}."
        )
    estimate = _judgement(game, judge, seed)
    found: list[bytes] = []
    seen: set[State] = set()
    for number in range(_PATIENCE * count):
        drawn = _draw(game, plies, seed, number)
        if drawn is None or drawn[1] in seen:
            continue
        seen.add(drawn[1])
        value = estimate(drawn[1], number)
        if value is not None and abs(value - 0.5) <= margin:
            found.append(drawn[0])
            if len(found) == count:
                return Openings(tuple(found))
    raise MatchError(
        f"openings: expected {count} balanced positions of {game.name} after {plies} plies, found "
        f"{len(found)} among {_PATIENCE * count} random ones; ask for fewer, or for other plies."
    )


def _draw(game: "Game", plies: int, seed: int, number: int) -> tuple[bytes, "State"] | None:
    """Random moves and where they lead; None if the game is over by then."""
    from plymill.games.random import Stream

    stream = Stream(seed, OPENINGS_CELL, number)
    state, moves = game.start(), bytearray()
    for _ in range(plies):
        if state.status == OVER:
            return None
        sides = (0, 1) if state.status == BOTH else (state.status,)
        played = []
        for side in sides:
            legal = state.moves(side)
            played.append(legal[stream.below(len(legal))])
        state = state.play(*played)
        moves += bytes(played)
    return None if state.status == OVER else (bytes(moves), state)


def _judgement(game: "Game", judge: str, seed: int) -> Callable[["State", int], float | None]:
    from plymill.games.random import Stream

    player = parse_player(judge).make(game)

    def estimate(state: "State", number: int) -> float | None:
        side = 0 if state.status == BOTH else state.status
        player.begin(side, Stream(seed, OPENINGS_CELL - 1, number))
        return player.choose(state).value

    return estimate
