"""What match jobs are asked for: grids of UCT players, duels, and pools of many players."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from plymill.cluster import JobSpec
from plymill.games import open_game
from plymill.matches.grids import MAX_AXIS, Cell, grid_cells, parse_iterations
from plymill.matches.rounds import check_width
from plymill.matches.sprt import Sprt
from plymill.players import PerfectSpec, PlayerError, PlayerSpec, parse_player
from plymill.players.perfect import GAME as PERFECT_GAME

if TYPE_CHECKING:
    from plymill.games import Game


MAX_MATCHES = 10_000_000  # of the first round: they are held in memory, all at once


class MatchJob(JobSpec):
    """What all jobs that play matches have in common.

    Attributes:
        game: the game's name, such as ``connect4-8x6``.
        seed: all random numbers of all matches follow from it.
        audit_fraction: share of the units that are played again by another worker; units with
            players of the user's own are not, as these need not play alike twice.
        unit_seconds: estimated seconds of a unit; half a minute, less in a small job, if left out.
    """

    game: str
    seed: int = Field(default=0, ge=0, lt=2**64)
    audit_fraction: float = Field(default=0.01, ge=0, le=1)
    unit_seconds: float | None = Field(default=None, gt=0, le=3600)

    @field_validator("game")
    @classmethod
    def _canonical_game(cls, name: str) -> str:
        return open_game(name).name

    @model_validator(mode="after")
    def _players_of_this_game(self) -> Self:
        for player in {side for cell in self.cells for side in self.sides(cell)}:
            if isinstance(player, PerfectSpec) and self.game != PERFECT_GAME:
                raise ValueError(f"player '{player}' plays {PERFECT_GAME} only, got {self.game}")
        return self

    @property
    def rules(self) -> "Game":
        """The game itself."""
        return open_game(self.game)

    @property
    @abstractmethod
    def cells(self) -> tuple[Cell, ...]:
        """Who meets whom, by number."""

    @property
    @abstractmethod
    def title(self) -> str:
        """The job in a line."""

    def sides(self, cell: Cell) -> tuple[PlayerSpec, PlayerSpec]:
        """The first and the second player of a cell."""
        return parse_player(cell.first), parse_player(cell.second)


class GridJob(MatchJob):
    """Every number of UCT iterations of the first player against every one of the second.

    Attributes:
        first: iterations of the first player, ascending; as text, ``10..5120`` doubles.
        second: iterations of the second player.
        options: further options of all players, such as ``c=1.0,final=visits``.
        samples: matches in each cell.
        until: go on sampling the cells whose 95% interval of the mean goal, from 0 to 1, is wider
            than this, in rounds.
    """

    kind: Literal["grid"] = "grid"
    first: tuple[int, ...]
    second: tuple[int, ...]
    options: str = ""
    samples: int = Field(default=100, ge=1, le=1_000_000)
    until: float | None = None

    @field_validator("first", "second", mode="before")
    @classmethod
    def _axis(cls, value: Any) -> Any:
        """Text, or a list that has to be as good as text."""
        if isinstance(value, str):
            return parse_iterations(value)
        if isinstance(value, list | tuple) and all(type(count) is int for count in value):
            return parse_iterations(",".join(map(str, value)))
        return value

    @field_validator("options")
    @classmethod
    def _canonical_options(cls, options: str) -> str:
        """Without those at their default, in the order of all descriptions."""
        try:
            text = parse_player(f"uct:1,{options}" if options else "uct:1").text
        except PlayerError as error:  # it names a player whom nobody has asked for
            said = str(error).replace(f"Player 'uct:1,{options}'", f"'{options}'")
            raise ValueError(said) from None
        return text.partition(",")[2]

    @field_validator("until")
    @classmethod
    def _possible_width(cls, until: float | None) -> float | None:
        if until is not None:
            check_width(until)
        return until

    @model_validator(mode="after")
    def _not_too_many(self) -> Self:
        _require_possible(len(self.cells), self.samples)
        return self

    @property
    def cells(self) -> tuple[Cell, ...]:
        """A cell for each pair of numbers, row by row of the first player's."""
        return grid_cells(self.first, self.second, options=self.options)

    @property
    def title(self) -> str:
        """The job in a line."""
        more = f" with {self.options}" if self.options else ""
        return (
            f"grid of {self.game}: UCT{more}, {_range(self.first)} against {_range(self.second)} "
            f"iterations, {self.samples:,} samples"
            + (f" and more until {self.until}" if self.until is not None else "")
        )


class OpeningJob(MatchJob):
    """Jobs whose matches begin with openings, each of them played with both colours.

    Attributes:
        openings: openings as the game writes moves, one each; drawn at random if there are none.
        opening_plies: plies of random openings; 0 to begin at the initial position. If left out, 4
            in a long game in which as many balanced positions are found, else 0.
        opening_count: how many random openings.
        opening_margin: how far from one half a judge's estimate of a random opening may be.
    """

    openings: tuple[str, ...] = ()
    opening_plies: int | None = Field(default=None, ge=0, le=64)
    opening_count: int = Field(default=64, ge=1, le=10_000)
    opening_margin: float = Field(default=0.1, gt=0, le=0.5)

    @model_validator(mode="after")
    def _legal_openings(self) -> Self:
        from plymill.matches.openings import read_openings

        if self.openings and self.opening_plies is not None:
            raise ValueError("opening_plies: of random openings, expected none beside openings.")
        if self.openings:
            read_openings(self.rules, self.openings)
        return self


class DuelJob(OpeningJob):
    """Does A beat B? Pairs of matches, until a sequential test has decided.

    Attributes:
        player_a: the one of whom it is asked, such as ``uct:1000``.
        player_b: his opponent.
        elo0: difference for which the test says H0: A is not so much better; from -1,000 to 1,000,
            or from -200 to 200 of normalized Elo.
        elo1: difference for which it says H1: A is so much better; likewise.
        alpha: risk of H1 where H0 is true.
        beta: risk of H0 where H1 is true.
        model: what Elo the bounds are: ``logistic`` or ``normalized``.
        pentanomial: whether the test counts pairs of matches; else single matches.
        max_pairs: pairs after which the duel ends undecided.
    """

    kind: Literal["duel"] = "duel"
    player_a: str
    player_b: str
    elo0: float = 0.0
    elo1: float = 20.0
    alpha: float = 0.05
    beta: float = 0.05
    model: Literal["logistic", "normalized"] = "logistic"
    pentanomial: bool = True
    max_pairs: int = Field(default=10_000, ge=1, le=10_000_000)

    @field_validator("player_a", "player_b")
    @classmethod
    def _canonical_player(cls, text: str) -> str:
        return parse_player(text).text

    @model_validator(mode="after")
    def _possible_test(self) -> Self:
        _ = self.sprt
        return self

    @property
    def sprt(self) -> Sprt:
        """The test."""
        return Sprt(
            elo0=self.elo0,
            elo1=self.elo1,
            alpha=self.alpha,
            beta=self.beta,
            model=self.model,
            pentanomial=self.pentanomial,
        )

    @property
    def cells(self) -> tuple[Cell, ...]:
        """A moves first in cell 0, B in cell 1; pair number p is match p of both."""
        return (Cell(0, self.player_a, self.player_b), Cell(1, self.player_b, self.player_a))

    @property
    def title(self) -> str:
        """The job in a line."""
        return (
            f"duel of {self.game}: {self.player_a} against {self.player_b}, "
            f"{self.model} Elo {self.elo0:g} or {self.elo1:g}"
        )


class PoolJob(OpeningJob):
    """Everybody against everybody, and ratings from that.

    Attributes:
        players: descriptions of the players, each once.
        samples: matches of each pair with each colour.
    """

    kind: Literal["pool"] = "pool"
    players: tuple[str, ...] = Field(min_length=2, max_length=MAX_AXIS)
    samples: int = Field(default=100, ge=1, le=1_000_000)

    @field_validator("players")
    @classmethod
    def _canonical_players(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        players = tuple(parse_player(text).text for text in texts)
        for place, player in enumerate(players):
            if player in players[:place]:
                raise ValueError(f"expected every player once, got '{player}' twice")
        return players

    @model_validator(mode="after")
    def _not_too_many(self) -> Self:
        _require_possible(len(self.cells), self.samples)
        return self

    @property
    def cells(self) -> tuple[Cell, ...]:
        """A cell for each two players in this order, by the first player's place in the list."""
        pairs = [(a, b) for a in self.players for b in self.players if a != b]
        return tuple(Cell(index, *pair) for index, pair in enumerate(pairs))

    @property
    def title(self) -> str:
        """The job in a line."""
        return f"pool of {self.game}: {len(self.players)} players, {self.samples:,} samples"


def _require_possible(cells: int, samples: int) -> None:
    """Refuses more matches than can be kept.

    Raises:
        ValueError: there are more, for pydantic to tell.
    """
    if cells * samples > MAX_MATCHES:
        raise ValueError(
            f"expected {MAX_MATCHES:,} matches at most, got {samples:,} in each of {cells:,} cells"
        )


def _range(counts: Sequence[int]) -> str:
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
