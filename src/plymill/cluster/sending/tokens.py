"""Tokens: who may use a cluster.

Whoever reaches an open Ray cluster can run anything there. So every cluster that plymill starts
asks for a token, and every one that it joins has to; ``--allow-insecure`` is the way round. Ray
finds the token in ``RAY_AUTH_TOKEN``, in the file that ``RAY_AUTH_TOKEN_PATH`` names, or in
``~/.ray/auth_token``, and looks at ``RAY_AUTH_MODE`` when it is imported.
"""

import os
import secrets
import sys
from pathlib import Path

from plymill.cluster.errors import ClusterError

_HINT = "set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN_PATH before 'ray start' on all nodes"

OPEN_CLUSTER = (
    "The cluster at {address} asks for no token, so that anybody who reaches it can run anything "
    f"there; {_HINT} ('ray get-auth-token --generate' makes a token), or say --allow-insecure."
)
NO_TOKEN = (
    "The cluster at {address} does not accept our token; put the cluster's into RAY_AUTH_TOKEN, "
    "into a file that RAY_AUTH_TOKEN_PATH names, or into ~/.ray/auth_token "
    "('ray get-auth-token' shows it on the head)."
)


def protect_own_cluster() -> None:
    """Set the environment for a cluster of our own, whose processes inherit it.

    The token is a fresh one each time. What is set already is kept. If Ray is imported already, its
    default for local clusters decides, which is the token as well (since 2.59).
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if "RAY_AUTH_TOKEN_PATH" not in os.environ:
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    _set_mode("token")


def prepare_client(*, allow_insecure: bool, with_token: bool = True) -> None:
    """Set the environment for joining a cluster: with the token that there is.

    Without one, only a cluster that asks for none can be joined, if that is allowed.

    Args:
        allow_insecure: whether that is allowed.
        with_token: whether to bring a token that is there.

    Raises:
        ClusterError: the file that is to hold the token cannot be read: Ray would end the process;
            or the token cannot be sent, which Ray would call a cluster out of reach.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    _check_file()
    _check_characters()
    bring = has_token() and with_token
    _set_mode("token" if bring or not allow_insecure else "disabled")


def has_token() -> bool:
    """Whether Ray would find a token."""
    named = os.environ.get("RAY_AUTH_TOKEN") or os.environ.get("RAY_AUTH_TOKEN_PATH")
    try:
        return bool(named) or (Path.home() / ".ray" / "auth_token").is_file()
    except RuntimeError:  # there is no home
        return False


def _check_file() -> None:
    path = os.environ.get("RAY_AUTH_TOKEN_PATH")
    if not path or os.environ.get("RAY_AUTH_TOKEN"):
        return
    try:
        fault = "" if Path(path).read_text(encoding="utf-8").strip() else "it is empty"
    except (OSError, UnicodeDecodeError) as error:
        fault = getattr(error, "strerror", None) or "it is no text"
    if fault:
        raise ClusterError(
            f"{path}, which RAY_AUTH_TOKEN_PATH names, holds no token ({fault.lower()}); expected "
            "a file with the cluster's token."
        )


def _check_characters() -> None:
    place, token = _found()
    if not (token.isascii() and token.isprintable()):
        raise ClusterError(
            f"The token in {place} cannot be sent: it holds a character that no header of a "
            "request may hold; expected a line of ASCII letters and digits."
        )


def _found() -> tuple[str, str]:
    """Where Ray finds the token, and what it takes for the token there."""
    if token := os.environ.get("RAY_AUTH_TOKEN"):
        return "RAY_AUTH_TOKEN", token.strip()
    if path := os.environ.get("RAY_AUTH_TOKEN_PATH"):
        return f"{path}, which RAY_AUTH_TOKEN_PATH names,", _first_line(Path(path))
    try:
        return "~/.ray/auth_token", _first_line(Path.home() / ".ray" / "auth_token")
    except (OSError, RuntimeError):  # no such file, or no home
        return "", ""


def _first_line(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace").partition("\n")[0].strip()


def _set_mode(mode: str) -> None:
    if "ray" not in sys.modules:
        os.environ.setdefault("RAY_AUTH_MODE", mode)
