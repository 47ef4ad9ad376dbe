"""Meeting a bucket: whether it is there, and whether anybody answers at all.

Arrow's clients try for minutes where nobody answers, do not hear Ctrl-C meanwhile, and list a
bucket that does not exist as an empty one. So every process, before it does anything else with a
bucket, asks for it once, in a thread of its own, and waits only as long as a person would.
"""

import re
from collections.abc import Callable
from concurrent.futures import Future
from copy import copy
from threading import Thread
from typing import TypeVar

from pyarrow import fs as arrow

from plymill.cluster.errors import StoreAwayError, StoreError
from plymill.words import printable

T = TypeVar("T")

ANSWER_SECONDS = 20.0
EXPECTED_STORE = "expected a folder, s3://bucket/path or gs://bucket/path"
_SCHEMES = ("s3", "gs", "file")
_LONGEST = 200  # characters of a reason
_DELAYED = "allow_delayed_open=true"
_OURS = re.compile(rf"[?&]{_DELAYED}")
_EXPECTED = "expected a network that leads to it, and somebody there who answers"
_met: set[str] = set()


def require_bucket_url(url: str) -> None:
    """See that a URL is of a kind that we know, and may be shown to others.

    Raises:
        StoreError: it is not.
    """
    scheme, _, rest = url.partition("://")
    user, at, _ = rest.partition("/")[0].rpartition("@")  # gs://anonymous@bucket has no secret
    if at and ":" in user:
        raise StoreError(
            f"The store's URL {scheme}://... holds credentials, which others could read; expected "
            "them in the environment, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        )
    if scheme not in _SCHEMES or not url.isprintable():
        raise StoreError(
            f"Cannot open the store '{printable(url)}': it is of no kind that is known here; "
            f"{EXPECTED_STORE}."
        )


def reason_of(error: Exception) -> str:
    """What Arrow says, in one line and without what we have added to the URL."""
    said = _OURS.sub("", str(error)).split("\n", 1)[0].strip().rstrip(".")
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST]}..."


def open_bucket(url: str) -> tuple[arrow.FileSystem, str]:
    """The filesystem of a URL, and the path on it. Arrow asks S3 for the bucket's region.

    Raises:
        StoreAwayError: nobody answers.
        OSError, ValueError: Arrow cannot open it.
    """
    opened: tuple[arrow.FileSystem, str] = _in_time(
        url, lambda: arrow.FileSystem.from_uri(_one_request_a_file(url))
    )
    return opened


def meet_bucket(filesystem: arrow.FileSystem, root: str, url: str) -> None:
    """Ask for the bucket of a store, unless this process has done so.

    Args:
        filesystem: as opened.
        root: the path on it, which begins with the bucket's name.
        url: the store.

    Raises:
        StoreAwayError: nobody answers.
        StoreError: there is no such bucket.
    """
    bucket = root.partition("/")[0]
    name = f"{url.partition('://')[0]}://{bucket}?{url.partition('?')[2]}"
    if name in _met:
        return
    # A copy of an S3 filesystem gives up after three attempts, where one from a URL tries for more
    # than a minute; and before a request has ended, Arrow does not let the process end.
    hasty = copy(filesystem)
    try:
        found = _in_time(url, lambda: hasty.get_file_info(bucket))
        missing = found.type == arrow.FileType.NotFound
    except StoreError:
        raise
    except OSError as error:
        if "NETWORK_CONNECTION" in str(error):
            raise StoreAwayError(f"Cannot reach the store {url}: {error}; {_EXPECTED}.") from error
        missing = False  # who may use a bucket need not be allowed to ask for it
    if missing and "allow_bucket_creation" not in url:
        raise StoreError(
            f"There is no bucket '{bucket}', which {url} is to be in; make it first, or name one "
            "that is there."
        )
    _met.add(name)


def _in_time(url: str, ask: Callable[[], T]) -> T:
    """What ``ask`` returns or raises; it is left to itself when it takes too long."""
    answer: Future[T] = Future()

    def wait() -> None:
        try:
            answer.set_result(ask())
        except BaseException as error:
            answer.set_exception(error)

    Thread(target=wait, daemon=True).start()
    try:
        return answer.result(timeout=ANSWER_SECONDS)
    except TimeoutError:
        raise StoreAwayError(
            f"Cannot reach the store {url}: no answer for {ANSWER_SECONDS:g} seconds; {_EXPECTED}."
        ) from None


def _one_request_a_file(url: str) -> str:
    """Let Arrow put a small S3 object in one request, which it does not by default."""
    if not url.startswith("s3://") or "allow_delayed_open" in url:
        return url
    return f"{url}{'&' if '?' in url else '?'}{_DELAYED}"
