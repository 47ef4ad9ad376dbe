"""Who plays: random, UCT, perfect (book and solver), and classes of the user's own."""

from plymill.players.errors import (
    PlayerError,
    PlayerFailure,
    PlayerHung,
    PlayerIllegal,
    PlayerRaised,
)
from plymill.players.native import MatchTask, NativeMatches, play_uct_matches
from plymill.players.player import Choice, Player
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
    "Choice",
    "FirstLegalSpec",
    "MatchTask",
    "NativeMatches",
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
    "play_uct_matches",
]
