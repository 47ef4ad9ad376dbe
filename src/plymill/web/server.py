"""The server: one process, one socket."""

import gc
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from plymill.web.app import make_app
from plymill.web.settings import ServeError, Settings

_MOST_AT_ONCE = 512
_BACKLOG = 256
_IDLE = 15  # seconds that a connection may wait for its next request
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


def server_of(settings: Settings) -> uvicorn.Server:
    """The server; its ``run(sockets=[...])`` serves until Ctrl-C or SIGTERM.

    Raises:
        StoreError: the store cannot be opened.
    """
    config = uvicorn.Config(
        make_app(settings),
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=True,
        limit_concurrency=_MOST_AT_ONCE,
        timeout_keep_alive=_IDLE,
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
