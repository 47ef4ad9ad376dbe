"""``plymill serve``: the page of a store."""

import socket
from importlib.util import find_spec
from ipaddress import ip_address
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter, validators

from plymill.cli.options import DEFAULT_STORE, Store

if TYPE_CHECKING:
    from plymill.web import Settings

_NEEDED = ("fastapi", "jinja2", "uvicorn")


def serve(
    *,
    store: Store = DEFAULT_STORE,
    host: Annotated[
        str,
        Parameter(help="The address to listen on; any but this machine's own needs a token."),
    ] = "127.0.0.1",
    port: Annotated[
        int,
        Parameter(
            validator=validators.Number(gte=0, lte=65535),
            help="The port to listen on; 0 takes one that is free.",
        ),
    ] = 8300,
    token: Annotated[
        str | None,
        Parameter(
            env_var="PLYMILL_PAGE_TOKEN",
            help="What visitors have to know. On the command line others on this machine can see "
            "it; the variable hides it.",
        ),
    ] = None,
) -> int:
    """Show the runs, books and matches of a store in a browser, and as JSON to programs.

    Reads the store and nothing else, so that it works while no cluster does; changes nothing.
    """
    from plymill.cli.failures import Stopped
    from plymill.cli.sources import require_store

    _require_packages()
    from plymill.web import Settings
    from plymill.web.server import listen, server_of

    require_store(store, there=store != DEFAULT_STORE)
    settings = Settings(store=store, host=host, port=port, token=token)
    server = server_of(settings)
    with listen(settings) as sock:
        _tell(settings, sock.getsockname()[1])
        try:
            server.run(sockets=[sock])
        except KeyboardInterrupt:
            raise Stopped("The page is closed; runs go on.") from None
    return 0


def _require_packages() -> None:
    from plymill.cli.failures import UsageError

    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"The page needs {', '.join(missing)}, which plymill does without otherwise; "
            "\"pip install 'plymill[web]'\" installs all it needs"
        )


def _is_any(host: str) -> bool:
    """Whether a server listens on all addresses of its machine; none can be visited by that."""
    try:
        return ip_address(host).is_unspecified
    except ValueError:
        return not host


def _tell(settings: "Settings", port: int) -> None:
    from plymill.cli.output import note

    host = socket.gethostname() if _is_any(settings.host) else settings.host
    host = f"[{host}]" if ":" in host else host
    guard = "visitors have to know the token" if settings.token else "for this machine only"
    note(f"The page of {settings.store} is at http://{host}:{port}/ ({guard}). Ctrl-C ends it.")
