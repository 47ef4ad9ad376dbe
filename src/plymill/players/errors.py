"""What can go wrong with players: their description, and their conduct in a match."""

from plymill.errors import PlymillError


class PlayerError(PlymillError, ValueError):
    """A description of a player that cannot be read, or that does not fit the game."""


class PlayerFailure(PlymillError, RuntimeError):  # noqa: N818 - the loss of one match, not a fault
    """A player did not give a legal move in time; ends the match, and nothing else.

    Attributes:
        kind: ``raised`` (an error of its own, or the end of its process), ``illegal`` or ``hung``.
        details: more than the one sentence, such as the traceback of the player's own code.
    """

    kind = "raised"

    def __init__(self, message: str, details: str = "") -> None:
        super().__init__(message)
        self.details = details


class PlayerRaised(PlayerFailure):
    """The player's code raised an error, or its process ended."""


class PlayerIllegal(PlayerFailure):
    """The player gave something that is no legal move, or an estimate that is none."""

    kind = "illegal"


class PlayerHung(PlayerFailure):
    """The player gave no move within its limit."""

    kind = "hung"
