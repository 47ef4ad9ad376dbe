"""Who plays: random, UCT, perfect (book and solver), and classes of the user's own."""

from plymill.players.errors import (
    PlayerError,
    PlayerFailure,
    PlayerHung,
    PlayerIllegal,
    PlayerRaised,
)
from plymill.players.player import NO_VALUE, Choice, Player
from plymill.players.spec import (
    FirstLegalSpec,
    PerfectSpec,
    PlayerSpec,
    PythonSpec,
    RandomSpec,
    UctSpec,
    parse_player,
)

__all__ = [
    "NO_VALUE",
    "Choice",
    "FirstLegalSpec",
    "PerfectSpec",
    "Player",
    "PlayerError",
    "PlayerFailure",
    "PlayerHung",
    "PlayerIllegal",
    "PlayerRaised",
    "PlayerSpec",
    "PythonSpec",
    "RandomSpec",
    "UctSpec",
    "parse_player",
]
