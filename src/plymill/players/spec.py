"""Players by name: ``uct:20480,final=visits`` and what it stands for.

A description is text, so that a job's specification can hold it and a person can type it; its
canonical form, without what is the default, is the same for all ways of writing it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite, sqrt
from typing import TYPE_CHECKING, ClassVar

from plymill.players.errors import PlayerError

if TYPE_CHECKING:
    from plymill.games.game import Game
    from plymill.players.player import Player

#: Sums of goals fit 31 bits up to here, those of a tree that is kept included.
MAX_ITERATIONS = 10_000_000
MAX_PLAYOUT = 10_000
MAX_C = 1e6
#: How long a player of the user's own may think about a move, in seconds.
DEFAULT_LIMIT = 60.0
FINALS = ("average", "visits")
TREATMENTS = ("decoupled", "sequential")


@dataclass(frozen=True)
class PlayerSpec(ABC):
    """A player's description: equal ones play alike.

    Attributes:
        text: the canonical description; ``parse_player(spec.text) == spec``.
        native: whether `play_uct_matches` can play it.
    """

    native: ClassVar[bool] = False

    @property
    @abstractmethod
    def text(self) -> str:
        """The canonical description."""

    @abstractmethod
    def make(self, game: "Game") -> "Player":
        """A player of this game.

        Raises:
            PlayerError: it cannot play this game.
        """

    def try_out(self, game: "Game") -> None:
        """Find out before a job begins what would be at fault with each of its matches.

        Raises:
            PlymillError: a class cannot be imported or made, or a book cannot be read.
        """
        del game  # nothing can be

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class UctSpec(PlayerSpec):
    """Monte Carlo tree search with a fixed number of iterations a move.

    Attributes:
        iterations: iterations a move.
        c: the constant of exploration, on goals from 0 to 1.
        final: which move is played: that with the highest ``average``, or with the most ``visits``.
        reuse: whether the part of the tree that is still of use is kept after a move.
        playout: most plies of a playout, beyond which the game counts as even; 0 for no limit.
        wincheck: whether playouts make a move that wins at once.
        simultaneous: how simultaneous moves are searched.

    Raises:
        PlayerError: a number or a name out of range: the engine, which is C, checks nothing.
    """

    native: ClassVar[bool] = True
    iterations: int
    c: float = sqrt(2)
    final: str = "average"
    reuse: bool = False
    playout: int = 0
    wincheck: bool = False
    simultaneous: str = "decoupled"

    def __post_init__(self) -> None:
        ranges = {"iterations": (1, MAX_ITERATIONS), "c": (0, MAX_C), "playout": (0, MAX_PLAYOUT)}
        for name, (low, high) in ranges.items():
            if not low <= getattr(self, name) <= high:
                raise PlayerError(
                    f"UCT player: {name} is {getattr(self, name)}, expected {low} to {high}"
                )
        for name, known in (("final", FINALS), ("simultaneous", TREATMENTS)):
            _one_of("UCT", name, getattr(self, name), known)

    @property
    def text(self) -> str:
        """The canonical description: options in this order, without those at their default."""
        options = [f"uct:{self.iterations}"]
        for name in ("c", "final", "reuse", "playout", "wincheck", "simultaneous"):
            value = getattr(self, name)
            if value != getattr(UctSpec, name):
                options.append(f"{name}={'yes' if value is True else value}")
        return ",".join(options)

    def make(self, game: "Game") -> "Player":
        """A player of this game."""
        from plymill.players.uct import UctPlayer

        return UctPlayer(game, self)


@dataclass(frozen=True)
class RandomSpec(PlayerSpec):
    """All legal moves with equal chance."""

    native: ClassVar[bool] = True
    text: ClassVar[str] = "random"

    def make(self, game: "Game") -> "Player":
        """A player of this game."""
        from plymill.players.simple import RandomPlayer

        return RandomPlayer(game)


@dataclass(frozen=True)
class FirstLegalSpec(PlayerSpec):
    """Always the legal move with the lowest code."""

    native: ClassVar[bool] = True
    text: ClassVar[str] = "first-legal"

    def make(self, game: "Game") -> "Player":
        """A player of this game."""
        from plymill.players.simple import FirstLegalPlayer

        return FirstLegalPlayer(game)


@dataclass(frozen=True)
class PerfectSpec(PlayerSpec):
    """Connect Four on 7x6 without mistakes.

    Attributes:
        delay: wins as fast as possible and loses as late as possible; otherwise all moves that
            keep the outcome have equal chance.
        book: path of an opening book that is asked before the solver; empty for none.
        layout: the book's layout, if it is not plymill's own: ``12ply-dist``, ...
    """

    delay: bool = False
    book: str = ""
    layout: str = ""

    @property
    def text(self) -> str:
        """The canonical description."""
        named = (("book", self.book), ("layout", self.layout))
        options = ["delay"] * self.delay + [f"{name}={value}" for name, value in named if value]
        return "perfect" + (":" + ",".join(options) if options else "")

    def make(self, game: "Game") -> "Player":
        """A player of this game.

        Raises:
            PlayerError: another game than Connect Four on 7x6, or a book that does not help.
        """
        from plymill.players.perfect import PerfectPlayer

        return PerfectPlayer(game, self)

    def try_out(self, game: "Game") -> None:
        """Opens the book."""
        self.make(game).close()


@dataclass(frozen=True)
class PythonSpec(PlayerSpec):
    """A class of the user's own, in a process of its own.

    Attributes:
        module: the module to import.
        name: the class in it.
        limit: seconds for each move.
        options: further options, given to the class as keyword arguments, sorted by name.
    """

    module: str
    name: str
    limit: float = DEFAULT_LIMIT
    options: tuple[tuple[str, str], ...] = field(default=())

    @property
    def text(self) -> str:
        """The canonical description."""
        parts = [f"python:{self.module}:{self.name}"]
        if self.limit != DEFAULT_LIMIT:
            parts.append(f"limit={self.limit!r}")
        return ",".join(parts + [f"{name}={value}" for name, value in self.options])

    def make(self, game: "Game") -> "Player":
        """A player of this game."""
        from plymill.players.foreign import ForeignPlayer

        return ForeignPlayer(game, self)

    def try_out(self, game: "Game") -> None:
        """Makes an object of the class, in a process of its own."""
        from plymill.players.foreign import try_out

        try_out(game, self)


def parse_player(text: str) -> PlayerSpec:
    """The player that a description names.

    Args:
        text: ``uct:ITERATIONS`` with options, ``random``, ``first-legal``, ``perfect`` or
            ``python:MODULE:CLASS``; see docs/players.md.

    Raises:
        PlayerError: it cannot be read; the sentence says what was expected.
    """
    if not text.isprintable():  # it goes into pictures and onto terminals
        raise PlayerError(
            f"Player {text!r} has characters that cannot be printed, expected words of one line"
        )
    kind, _, rest = text.strip().partition(":")
    if kind not in _READERS:
        raise PlayerError(f"There is no player '{text}', expected one of {', '.join(_FORMS)}")
    return _READERS[kind](text.strip(), rest)


def _uct(text: str, rest: str) -> PlayerSpec:
    count, *parts = rest.split(",")
    iterations = _number(text, "the number of iterations", count, 1, MAX_ITERATIONS)
    options = _options(text, parts)
    readers: dict[str, Callable[[str], object]] = {
        "c": lambda value: _real(text, "c", value, 0, MAX_C),
        "final": lambda value: _one_of(text, "final", value, FINALS),
        "reuse": lambda value: _one_of(text, "reuse", value, ("yes", "no")) == "yes",
        "playout": lambda value: _number(text, "playout", value, 0, MAX_PLAYOUT),
        "wincheck": lambda value: _one_of(text, "wincheck", value, ("yes", "no")) == "yes",
        "simultaneous": lambda value: _one_of(text, "simultaneous", value, TREATMENTS),
    }
    for name in options:
        if name not in readers:
            raise PlayerError(
                f"Player '{text}' has no option '{name}', expected some of {', '.join(readers)}"
            )
    return UctSpec(iterations, **{name: readers[name](value) for name, value in options.items()})  # type: ignore[arg-type]


def _plain(spec: PlayerSpec) -> Callable[[str, str], PlayerSpec]:
    def read(text: str, _rest: str) -> PlayerSpec:
        if text != spec.text:
            raise PlayerError(f"Player '{text}' takes no options, expected '{spec.text}'")
        return spec

    return read


def _perfect(text: str, rest: str) -> PlayerSpec:
    if text == "perfect":
        return PerfectSpec()
    parts = rest.split(",")
    delay = parts[0] == "delay"
    options = _options(text, parts[1:] if delay else parts)
    fits = options.keys() in (set(), {"book"}, {"book", "layout"}) and all(options.values())
    if not fits:
        raise PlayerError(
            f"Player '{text}' cannot be read, expected 'perfect' or 'perfect:delay', each with "
            "'book=FILE' or 'book=FILE,layout=LAYOUT' perhaps"
        )
    return PerfectSpec(delay, **options)


def _python(text: str, rest: str) -> PlayerSpec:
    names, *parts = rest.split(",")
    module, _, name = names.partition(":")
    if not name.isidentifier() or not all(part.isidentifier() for part in module.split(".")):
        raise PlayerError(
            f"Player '{text}' names no class, expected 'python:MODULE:CLASS' with a module that "
            "can be imported"
        )
    options = _options(text, parts)
    limit = _real(text, "limit", options.pop("limit", str(DEFAULT_LIMIT)), 0.01, 1e6)
    return PythonSpec(module, name, limit, tuple(sorted(options.items())))


def _options(text: str, parts: list[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    for part in parts:
        name, mark, value = part.partition("=")
        if not mark or not name.isidentifier() or name in options:
            raise PlayerError(
                f"Player '{text}': '{part}' is no option, expected NAME=VALUE, each name once"
            )
        options[name] = value
    return options


def _number(text: str, name: str, value: str, low: int, high: int) -> int:
    # int() also takes "1_0" and "٣", two more ways to write the same player, and refuses numbers
    # of thousands of digits in words of its own.
    number = int(value) if value.isascii() and value.isdigit() and len(value) < 20 else -1
    if not low <= number <= high:
        raise PlayerError(
            f"Player '{text[:60]}': {name} is '{value[:20]}', expected a whole number "
            f"from {low} to {high}"
        )
    return number


def _real(text: str, name: str, value: str, low: float, high: float) -> float:
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not (isfinite(number) and low <= number <= high):
        raise PlayerError(
            f"Player '{text}': {name} is '{value}', expected a number from {low:g} to {high:g}"
        )
    return number + 0.0  # no negative zero


def _one_of(text: str, name: str, value: str, expected: tuple[str, ...]) -> str:
    if value not in expected:
        raise PlayerError(f"Player '{text}': {name} is '{value}', expected {' or '.join(expected)}")
    return value


_READERS: dict[str, Callable[[str, str], PlayerSpec]] = {
    "uct": _uct,
    "random": _plain(RandomSpec()),
    "first-legal": _plain(FirstLegalSpec()),
    "perfect": _perfect,
    "python": _python,
}
_FORMS = ("uct:ITERATIONS", "random", "first-legal", "perfect", "python:MODULE:CLASS")
