"""Where the page is served, from which store, and to whom. Loads nothing of the page itself."""

from dataclasses import dataclass, field
from ipaddress import ip_address

from plymill.errors import PlymillError

#: Characters of a token: fewer could be guessed.
SHORTEST_TOKEN = 16
TOKEN_VARIABLE = "PLYMILL_PAGE_TOKEN"

_HINT = "python -c 'import secrets; print(secrets.token_urlsafe())' makes one"


class ServeError(PlymillError, ValueError):
    """A page that cannot be served as it was asked for."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How the page is served.

    Attributes:
        store: the store's URL.
        host: the address to listen on.
        port: the port to listen on; 0 for one that is free.
        token: what a visitor has to know; without one only this machine may visit.
    """

    store: str
    host: str = "127.0.0.1"
    port: int = 8300
    token: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Refuse what would be open to everybody.

        Raises:
            ServeError: the token is no good, or there is none where one is needed.
        """
        if self.token is not None:
            _require_good(self.token)
        elif not is_loopback(self.host):
            raise ServeError(
                f"Serving on {self.host} lets other machines in, which needs a token: give --token "
                f"or set {TOKEN_VARIABLE} ({_HINT})"
            )


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _require_good(token: str) -> None:
    if len(token) < SHORTEST_TOKEN:
        raise ServeError(
            f"The token has {len(token)} characters, expected at least {SHORTEST_TOKEN} ({_HINT})"
        )
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ServeError(
            f"The token holds blanks or characters that are not ASCII, expected neither ({_HINT})"
        )
