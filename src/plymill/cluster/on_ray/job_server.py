"""A job server of Ray over HTTP: answers in time, from a server that is one and asks for a token.

Ray's own client waits for an answer for ever, follows a redirection with the token in hand, and
takes what any web server says for an answer.
"""

import json
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from plymill.cluster.errors import ClusterError
from plymill.cluster.sending.tokens import OPEN_CLUSTER

T = TypeVar("T")

_ANSWER_SECONDS = 20.0  # for a connection, and from one piece of the answer to the next
_CHANGE_SECONDS = 60.0  # the same where something is changed: Ray starts what that needs first
_WHOLE_SECONDS = 60.0  # for an answer as a whole
_FREIGHT_SECONDS = 900.0  # the same for what may be large: a package, a log
_PORT = 8265
_WANTS_TOKEN = "authentication token"  # as Ray says, and no other server


def client(address: str) -> Any:
    """Ray's own client, with an end to every wait.

    What it raises is Ray's, of the network, or `ClusterError` for an answer that is none.
    """
    from ray.job_submission import JobSubmissionClient

    class Client(JobSubmissionClient):
        def _do_request(self, method: str, endpoint: str, **words: Any) -> Any:
            ask = super()._do_request
            pause = _ANSWER_SECONDS if method == "GET" else _CHANGE_SECONDS
            # Whoever is sent on elsewhere would take our token there.
            limits: dict[str, Any] = {"timeout": (_ANSWER_SECONDS, pause), "allow_redirects": False}
            large = words.get("data") is not None or endpoint.endswith("/logs")
            answer = _within(
                _FREIGHT_SECONDS if large else _WHOLE_SECONDS,
                lambda: ask(method, endpoint, **limits, **words),
            )
            _require_sound(address, answer)
            return answer

    return Client(address)


def _within(seconds: float, ask: Callable[[], T]) -> T:
    """An answer that has to be complete in time, however slowly its bytes come.

    The thread of one that is not is left behind; it keeps no process from ending.
    """
    answer: Future[T] = Future()

    def work() -> None:
        try:
            answer.set_result(ask())
        except BaseException as error:  # goes to whoever waits
            answer.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return answer.result(seconds)


def require_token(address: str, *, allow_insecure: bool) -> None:
    """See that it is a job server of Ray, and that whoever brings no token is turned away.

    Raises:
        ClusterError: it is not, cannot be reached, or lets anybody in and that is not allowed.
    """
    if _turns_away(address, "/api/version"):
        return
    if not allow_insecure and not _turns_away(address, "/api/jobs/"):
        raise ClusterError(OPEN_CLUSTER.format(address=address))


def _turns_away(address: str, path: str) -> bool:
    """Whether the job server asks for a token there; anything but a job server is refused."""
    import requests

    def ask() -> requests.Response:
        return requests.get(f"{address}{path}", timeout=_ANSWER_SECONDS, allow_redirects=False)

    try:
        answer = _within(_WHOLE_SECONDS, ask)
    except (requests.RequestException, TimeoutError, ValueError) as error:
        raise ClusterError(unreachable(address, error)) from error
    _require_sound(address, answer)
    if answer.status_code in (401, 403) and _WANTS_TOKEN in answer.text.lower():
        return True
    if not answer.ok:
        raise ClusterError(strange(address, f"answers with the status {answer.status_code}"))
    if path == "/api/version" and not _tells_version(answer.text):
        raise ClusterError(strange(address, "does not answer like one"))
    return False


def _tells_version(text: str) -> bool:
    try:
        fields = json.loads(text)
    except ValueError:
        return False
    return isinstance(fields, dict) and isinstance(fields.get("ray_version"), str)


def _require_sound(address: str, answer: Any) -> None:
    """Refuse an answer that is none of a job server's own.

    What Ray refuses comes with the status 500 and the traceback of the refusal.
    """
    status = answer.status_code
    if 300 <= status < 400:
        raise ClusterError(strange(address, f"answers with the status {status}"))
    if status >= 500 and "Traceback" not in answer.text:
        raise ClusterError(
            f"The head of the cluster at {address} does not answer (status {status}); ask again in "
            "a minute."
        )


def strange(address: str, what: str) -> str:
    """The sentence about a server that is no job server, from what it does."""
    return (
        f"{address} is no job server of Ray: it {what}; expected the address of the dashboard, "
        f"such as http://head:{_PORT}."
    )


def unreachable(address: str, error: Exception) -> str:
    """The sentence about a server from which no answer came."""
    return (
        f"Cannot reach the cluster at {address} ({type(error).__name__}); expected the address of "
        f"Ray's dashboard, such as http://head:{_PORT}."
    )


def with_scheme(address: str) -> str:
    """The address as a URL.

    Raises:
        ClusterError: it is no address of a web server.
    """
    if address.startswith(("http://", "https://")):
        return address.rstrip("/")
    if "://" in address or ":" not in address:
        raise ClusterError(
            f"'{address}' is no address of a job server: expected that of Ray's dashboard, such as "
            f"http://head:{_PORT}."
        )
    return f"http://{address}"
