"""Ray's job server, spoken to over HTTP: the only door of a cluster that a laptop needs.

Every request carries the token of the environment (see `plymill.cluster.on_ray.session`). A server
that answers without one would let anybody run anything; it is refused unless that is allowed.
"""

import asyncio
import logging
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from plymill.cluster.errors import ClusterError
from plymill.cluster.on_ray.job_server import (
    client,
    require_token,
    strange,
    unreachable,
    with_scheme,
)
from plymill.cluster.sending.submissions import (
    ACTIVE,
    KIND_KEY,
    OWNER_KEY,
    RUN_KEY,
    STORE_KEY,
    WEIGHT_KEY,
    Order,
    Submission,
)
from plymill.cluster.sending.tokens import NO_TOKEN, prepare_client

T = TypeVar("T")

_STOP_SECONDS = "30"  # that a driver has to write down where it is, before it is killed
_SILENT_SECONDS = 300.0  # of a log, until the connection is made again: it may be a dead one
_PAUSE = 0.5
_FAILURES = 20  # in a row, until a job is not followed any more
_LASTING = 10.0  # seconds after which a connection that fails was none of a row
_TALKATIVE = (
    "ray.dashboard.modules.dashboard_sdk",
    "ray.dashboard.modules.job.sdk",
    "ray._private.runtime_env.packaging",
)
#: How the head says, at the end of a traceback, that it cannot ask another node.
_UNANSWERED = re.compile("Cannot connect to host|Client[A-Za-z]*Error|TimeoutError").search
#: What Ray's client raises when an answer is JSON, but not the fields that it looks for.
_MISSHAPEN = (KeyError, TypeError, AttributeError)
_OVERRIDES = ("RAY_API_SERVER_ADDRESS", "RAY_ADDRESS")  # of whatever address Ray is given


class RayJobs:
    """The job server of a Ray cluster.

    Args:
        address: ``http://host:8265``, ``https://...`` or ``host:8265``.
        allow_insecure: go on if the server asks for no token.

    Raises:
        ClusterError: it cannot be reached, wants another token, or wants none.
    """

    def __init__(self, address: str, *, allow_insecure: bool = False) -> None:
        self.address = with_scheme(address)
        require_token(self.address, allow_insecure=allow_insecure)
        prepare_client(allow_insecure=allow_insecure)
        for name in _TALKATIVE:
            logging.getLogger(name).setLevel(logging.WARNING)
        with self._explained(), _without(*_OVERRIDES):
            self._client = client(self.address)
        self.version = str(self._client._server_ray_version)

    def submissions(self) -> list[Submission]:
        """See `Jobs.submissions`."""
        found = [s for job in self._ask(self._client.list_jobs) if (s := _submission(job))]
        return sorted(found, key=lambda s: (s.started or 0.0, s.name))

    def submit(self, order: Order) -> bool:
        """See `Jobs.submit`."""
        environment: dict[str, Any] = {
            "env_vars": {"RAY_JOB_STOP_WAIT_TIME_S": _STOP_SECONDS, **order.environment}
        }
        if order.modules:
            environment["py_modules"] = [str(path) for path in order.modules]
        if order.packages:
            environment["pip"] = {"packages": list(order.packages), "pip_check": False}
        if order.folder is not None:
            environment["working_dir"] = str(order.folder)
        try:
            with self._explained():
                self._client.submit_job(
                    entrypoint=order.entrypoint,
                    submission_id=order.name,
                    runtime_env=environment,
                    metadata=dict(order.metadata),
                    entrypoint_resources=dict(order.resources) or None,
                    entrypoint_label_selector=dict(order.labels) or None,
                )
        except ClusterError:
            if self.status(order.name):
                return False
            raise
        return True

    def status(self, name: str) -> str:
        """See `Jobs.status`."""
        jobs = self._ask(self._client.list_jobs)
        return next((str(job.status.value) for job in jobs if job.submission_id == name), "")

    def stop(self, name: str) -> bool:
        """See `Jobs.stop`."""
        return bool(self._ask(lambda: self._client.stop_job(name)))

    def delete(self, name: str) -> None:
        """See `Jobs.delete`."""
        self._ask(lambda: self._client.delete_job(name))

    def logs(self, name: str) -> str:
        """See `Jobs.logs`."""
        try:
            return str(self._ask(lambda: self._client.get_job_logs(name)))
        except ClusterError as error:
            # The head has to pass the question on to the node that runs the driver.
            if not _is_unanswered(error.__cause__):
                raise
            attempt = next((s for s in self.submissions() if s.name == name), None)
            if attempt is None:
                raise
            raise ClusterError(_log_is_gone(attempt)) from error

    def follow(self, name: str) -> Iterator[str]:
        """See `Jobs.follow`. A connection that ends before the job does is made again."""
        told = failures = 0
        while True:
            seen, before, began = 0, told, time.monotonic()
            try:
                if self.status(name) not in ACTIVE:
                    break
                for piece in self._tail(name):  # from the beginning, each time
                    seen += len(piece)
                    if seen > told:
                        yield piece[told - seen :]
                        told = seen
                failures = 0
            except ClusterError:
                lasted = time.monotonic() - began >= _LASTING
                failures = 1 if lasted or told > before else failures + 1
                if failures > _FAILURES:
                    raise
            time.sleep(_PAUSE)
        rest = self.logs(name)[told:]
        if rest:
            yield rest

    def _tail(self, name: str) -> Iterator[str]:
        pieces = self._client.tail_job_logs(name)
        with asyncio.Runner() as runner:
            while True:
                with self._explained():
                    try:
                        piece = runner.run(asyncio.wait_for(anext(pieces), _SILENT_SECONDS))
                    except (StopAsyncIteration, TimeoutError):
                        return
                yield str(piece)

    def _ask(self, request: Callable[[], T]) -> T:
        with self._explained():
            return request()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what Ray and the network raise into one sentence."""
        from aiohttp import ClientError
        from packaging.version import InvalidVersion
        from pydantic import ValidationError
        from ray.exceptions import AuthenticationError
        from requests import JSONDecodeError, RequestException

        try:
            yield
        except ClusterError:
            raise
        except AuthenticationError as error:
            raise ClusterError(NO_TOKEN.format(address=self.address)) from error
        except (JSONDecodeError, ValidationError, InvalidVersion, *_MISSHAPEN) as error:
            raise ClusterError(strange(self.address, "does not answer like one")) from error
        except (RequestException, ClientError, ConnectionError, TimeoutError) as error:
            raise ClusterError(unreachable(self.address, error)) from error
        except (RuntimeError, ValueError) as error:
            raise ClusterError(
                f"The cluster at {self.address} refuses that: {_last_line(error)}"
            ) from error


def _submission(job: Any) -> Submission | None:
    metadata = job.metadata or {}
    if not job.submission_id or RUN_KEY not in metadata:
        return None
    return Submission(
        name=job.submission_id,
        run_id=metadata[RUN_KEY],
        kind=metadata.get(KIND_KEY, ""),
        owner=metadata.get(OWNER_KEY, ""),
        store=metadata.get(STORE_KEY, ""),
        weight=_number(metadata.get(WEIGHT_KEY, "")),
        status=str(job.status.value),
        message=" ".join((job.message or "").split()),
        started=None if job.start_time is None else job.start_time / 1000,
        ended=None if not job.end_time else job.end_time / 1000,
    )


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0


def _last_line(error: Exception) -> str:
    """What a traceback from the server ends with, but for a full stop alone on its line."""
    lines = [line.strip() for line in str(error).splitlines() if any(map(str.isalpha, line))]
    return lines[-1].rstrip(".") + "." if lines else f"{type(error).__name__}."


def _is_unanswered(error: BaseException | None) -> bool:
    """Whether the node of a driver does not answer the head; or not in time, and so neither we."""
    from requests import ReadTimeout

    if isinstance(error, RuntimeError):
        return _UNANSWERED(_last_line(error)) is not None
    return isinstance(error, (ReadTimeout, TimeoutError))


def _log_is_gone(attempt: Submission) -> str:
    run = attempt.run_id
    if attempt.active:
        return f"The node that runs the driver of {run} does not answer; ask again in a minute."
    more = "" if attempt.status == "SUCCEEDED" else f"; 'plymill resume {run}' goes on"
    return f"The node that ran the driver is gone, and its log with it{more}."


@contextmanager
def _without(*names: str) -> Iterator[None]:
    """Variables of the environment set aside for a moment."""
    kept = {name: os.environ.pop(name) for name in names if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(kept)
