"""The server: one process, one socket."""

import gc
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from plymill.web.app import make_app
from plymill.web.connections import Limits, connection_of
from plymill.web.settings import ServeError, Settings

_BACKLOG = 256
_COLLECT = (10_000, 20, 50)  # thresholds of the garbage collector's generations
_GRACE = 3  # seconds for what is under way when the server ends


@contextmanager
def listen(settings: Settings) -> Iterator[socket.socket]:
    """The socket to serve on.

    Raises:
        ServeError: the address is not this machine's, or is taken.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        sock = socket.socket(family, kind, protocol)
        with sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(address)
            sock.listen(_BACKLOG)
            yield sock
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ServeError(f"Cannot listen on {settings.host}:{settings.port}: {reason}") from None


def server_of(settings: Settings, limits: Limits | None = None) -> uvicorn.Server:
    """The server; its ``run(sockets=[...])`` serves until Ctrl-C or SIGTERM.

    Args:
        settings: what is served, and to whom.
        limits: what a connection may take.

    Raises:
        StoreError: the store cannot be opened.
    """
    limits = limits or Limits()
    config = uvicorn.Config(
        make_app(settings),
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=True,
        http=connection_of(limits),
        limit_concurrency=limits.connections + 1,  # reached if none of them is idle
        timeout_keep_alive=limits.idle,
        timeout_graceful_shutdown=_GRACE,
        lifespan="off",
        ws="none",
    )
    _collect_seldom()
    return uvicorn.Server(config)


def _collect_seldom() -> None:
    """Let the garbage collector leave alone what stays, and look at all the rest less often.

    While it looks at everything nobody is answered; that took up to 0.8 s.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT)
