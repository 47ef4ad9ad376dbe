"""Who may see the page, and what a browser may do with it: one layer round the whole application.

Written against ASGI itself, so that it sees every request and answer, those of errors included.
"""

import hashlib
import hmac
import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from plymill.web.settings import Settings, is_loopback

COOKIE = "plymill_session"
INSIDE = "plymill.inside"  # in the scope of a request: whether the visitor has been let in
SESSION_SECONDS = 30 * 24 * 3600

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cache-control": "private, no-cache",
}

_MOST_URL = 4096
_MOST_BODY = 1 << 20
_OPEN = ("/login", "/static/")  # what may be seen without a token
_CLOSE = (b"connection", b"close")  # what the visitor still sends is not waited for
_LOCAL = ("localhost", "127.0.0.1", "[::1]")

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]


class Gate:
    """Lets through who may come in, and puts the headers on every answer.

    Args:
        app: the application.
        settings: the token, and the address listened on.
    """

    def __init__(self, app: App, settings: Settings) -> None:
        self._app = app
        self._token = settings.token
        name = f"[{settings.host}]" if ":" in settings.host else settings.host
        self._hosts = (*_LOCAL, name) if is_loopback(settings.host) else ()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {
            key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]
        }
        send = _with_headers(send)
        fault = self._fault(scope, headers)
        if fault is not None:
            await _refuse(scope, send, *fault, _CLOSE)
            return
        scope[INSIDE] = self._token is None or self._knows_token(headers)
        if not scope[INSIDE] and not scope["path"].startswith(_OPEN):
            await _ask_for_token(scope, headers, send)
            return
        with suppress(ClientDisconnect):  # who went away in the middle of his request
            await self._app(scope, _bounded(receive), send)

    def _fault(self, scope: Message, headers: dict[str, str]) -> tuple[int, str] | None:
        """Status and sentence for requests that are answered by nobody."""
        if len(scope["raw_path"] or b"") + len(scope["query_string"]) > _MOST_URL:
            return 414, f"The address is too long, expected at most {_MOST_URL:,} bytes."
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 20 or int(length) > _MOST_BODY:
            return 413, _TOO_LARGE
        if self._token is None and not self._is_own_host(headers.get("host", "")):
            # A page elsewhere whose name was pointed at this machine must not read ours.
            return 421, "This page answers to the name that it is served under, and to no other."
        return None

    def _is_own_host(self, host: str) -> bool:
        name, _, port = host.rpartition(":")
        return (name if name and port.isdecimal() else host).lower() in self._hosts

    def _knows_token(self, headers: dict[str, str]) -> bool:
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return same(bearer.strip(), self._token or "")
        return is_session(_cookie(headers.get("cookie", "")), self._token or "", time.time())


_TOO_LARGE = f"The request is too large, expected at most {_MOST_BODY:,} bytes."


def same(given: str, token: str) -> bool:
    """Whether two texts are equal, in a time that tells nothing about where they differ."""
    return hmac.compare_digest(given.encode(errors="surrogatepass"), token.encode())


def new_session(token: str, now: float) -> str:
    """What the cookie of a visitor holds who knows the token: when he came, signed with it."""
    since = str(int(now))
    return f"{since}.{_signature(since, token)}"


def is_session(cookie: str, token: str, now: float) -> bool:
    """Whether a cookie is one of ours, and not too old."""
    since, _, signature = cookie.partition(".")
    good = same(signature, _signature(since, token))
    return good and since.isdecimal() and 0 <= now - int(since) < SESSION_SECONDS


def _signature(since: str, token: str) -> str:
    text = f"plymill page session {since}".encode(errors="surrogatepass")
    return hmac.new(token.encode(), text, hashlib.sha256).hexdigest()


def _cookie(header: str) -> str:
    try:
        found = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found is not None else ""


def _with_headers(send: Send) -> Send:
    async def dressed(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name.lower() for name, _ in message.get("headers", ())}
            more = [
                (name.encode(), value.encode())
                for name, value in _HEADERS.items()
                if name.encode() not in own
            ]
            message["headers"] = [*message.get("headers", ()), *more]
        await send(message)

    return dressed


def _bounded(receive: Receive) -> Receive:
    taken = 0

    async def bounded() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > _MOST_BODY:
            raise HTTPException(413, _TOO_LARGE, {"connection": "close"})
        return message

    return bounded


async def _refuse(
    scope: Message, send: Send, status: int, sentence: str, *more: tuple[bytes, bytes]
) -> None:
    import json

    if scope["path"].startswith("/api/"):
        kind, body = b"application/json", json.dumps({"error": sentence}).encode()
    else:
        kind, body = b"text/plain; charset=utf-8", f"{sentence}\n".encode()
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode()), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _ask_for_token(scope: Message, headers: dict[str, str], send: Send) -> None:
    """Programs are told; people are shown where to say it."""
    close = [_CLOSE] if "transfer-encoding" in headers or "content-length" in headers else []
    if scope["path"].startswith("/api/") or "authorization" in headers:
        sentence = "The token is missing or wrong, expected 'Authorization: Bearer TOKEN'."
        await _refuse(scope, send, 401, sentence, (b"www-authenticate", b"Bearer"), *close)
        return
    query = scope["query_string"].decode("latin-1")
    here = quote(scope["path"]) + (f"?{query}" if query else "")
    login = f"/login?next={quote(here, safe='')}".encode()
    if "hx-request" in headers:
        await _refuse(scope, send, 401, "Log in again.", (b"hx-redirect", login), *close)
    else:
        await _refuse(scope, send, 303, "Log in first.", (b"location", login), *close)
