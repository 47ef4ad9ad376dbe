"""Connections that keep nobody else out: what takes too long to arrive is not waited for.

uvicorn has no limit for how long a request's header or body may take, nor for how long an answer
waits to be read, and counts connections that do nothing. Some hundred visitors that send half a
header each, or read half an answer, would be all that it ever serves.
"""

from asyncio import BaseTransport, TimerHandle
from dataclasses import dataclass
from time import monotonic

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


@dataclass(frozen=True)
class Limits:
    """What a connection may take.

    Attributes:
        header: seconds for the header of a request, from its first byte or the connection on.
        body: seconds for the rest of it.
        idle: seconds until the next request.
        unread: seconds in which a visitor reads nothing of an answer that is more than the system's
            buffers hold.
        pipelined: requests that a connection may send before an earlier one is answered.
        connections: how many are kept open at once; for one more the one that has done nothing
            for the longest is closed.
    """

    header: float = 10.0
    body: float = 30.0
    idle: int = 15
    unread: float = 60.0
    pipelined: int = 16
    connections: int = 512


class Connection(HttpToolsProtocol):
    """A connection with limits; see `connection_of`."""

    limits = Limits()
    _timer: TimerHandle | None = None
    _unread: TimerHandle | None = None
    _since = 0.0  # when it last had nothing to do

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: BaseTransport) -> None:
        """Begin to wait for a header; see `asyncio.Protocol`."""
        super().connection_made(transport)  # type: ignore[arg-type]
        self._since = monotonic()
        self._wait_for(self.limits.header)
        if len(self.connections) > self.limits.connections:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self._wait_no_more()
        self._is_read()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take in a piece of a request; the first one begins the time for its header."""
        if self.is_idle and self._timer is None:
            self._wait_for(self.limits.header)
        super().data_received(data)

    def on_message_begin(self) -> None:
        """The parser begins a request; the piece of data that it reads may hold thousands."""
        if len(self.pipeline) >= self.limits.pipelined:
            raise ValueError("too many requests at once")  # the parser makes it a refusal
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The parser has read a header: its body follows."""
        self._wait_for(self.limits.body)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The parser has read a request."""
        self._wait_no_more()
        super().on_message_complete()
        if self.is_idle:  # it was answered before it was sent in full: the next one is waited for
            self._wait_for(self.limits.header)

    def on_response_complete(self) -> None:
        """An answer was sent; uvicorn now waits for the next request."""
        self._since = monotonic()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """As much of an answer waits as may wait: the visitor has some time to read it."""
        self._watch_unread()
        super().pause_writing()

    def resume_writing(self) -> None:
        """The visitor has read most of what waited."""
        self._is_read()
        super().resume_writing()

    def _watch_unread(self, before: int | None = None) -> None:
        """End a connection of whose answer nothing was read since ``before`` bytes waited."""
        waiting = self.transport.get_write_buffer_size()
        if waiting == before:
            self.transport.abort()
        else:
            self._unread = self.loop.call_later(self.limits.unread, self._watch_unread, waiting)

    def _is_read(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _wait_for(self, seconds: float) -> None:
        self._wait_no_more()
        self._timer = self.loop.call_later(seconds, self._give_up)

    def _wait_no_more(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._timer = None
        if self.pipeline:  # it is we who do not read on before an earlier request is answered
            self._wait_for(self.limits.body)
        else:
            self.transport.close()

    def _make_room(self) -> None:
        """Close the connection that has done nothing for the longest, be it this one."""
        idle = [
            other for other in self.connections if isinstance(other, Connection) and other.is_idle
        ]
        if idle:
            oldest = min(idle, key=lambda connection: connection._since)
            self.connections.discard(oldest)  # now: many more may come before it is told
            oldest.transport.close()


def connection_of(limits: Limits) -> type[Connection]:
    """The class of connections with these limits, for uvicorn."""
    return type("LimitedConnection", (Connection,), {"limits": limits})
