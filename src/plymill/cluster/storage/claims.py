"""Making a file that only one may make, in a bucket, where the second writer replaces the first.

Arrow offers no conditional write. What buckets do offer is that a file that was written is seen by
whoever lists or reads afterwards. That is enough: whoever wants to make ``F`` first writes a claim
of his own beside it, and then looks at the other claims.

* There are none: he makes ``F``. Whoever claims later sees his claim.
* There is one with a smaller name: he withdraws, as that one is about to make ``F``, and waits.
* There are only greater ones: he waits for them to withdraw, or for ``F``. One of them may have
  looked before he claimed.

A claim that stands for ``PATIENCE`` seconds is a dead man's, and is removed. A man who is not dead
but slow finds his claim gone before he makes ``F``.
"""

import time
from collections.abc import Callable
from typing import Protocol
from uuid import uuid4

PATIENCE = 20.0
_PAUSE = 0.2


class Registers(Protocol):
    """The part of `Files` that is needed."""

    def write(self, path: str, data: bytes) -> None:
        """See `Files.write`."""

    def list(self, folder: str) -> list[str]:
        """See `Files.list`."""

    def exists(self, path: str) -> bool:
        """See `Files.exists`."""

    def delete(self, path: str) -> None:
        """See `Files.delete`."""


def create_by_claims(
    files: Registers,
    path: str,
    data: bytes,
    *,
    name: str | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> bool:
    """Make a file unless it is there; whether it was made.

    Args:
        files: where.
        path: the file.
        data: what is in it.
        name: of the claim; unlike all others.
        clock: seconds, of this process only.
        sleep: waits.
    """
    folder, name = f"{path}.claims", name or uuid4().hex
    claim = f"{folder}/{name}"
    if files.exists(path):
        return False
    files.write(claim, b"")
    since = clock()
    try:
        while not files.exists(path):
            others = [other for other in files.list(folder) if other != name]
            if any(other < name for other in others):
                break
            if not others:
                if files.exists(path) or not files.exists(claim):
                    return False
                files.write(path, data)
                return True
            if clock() - since >= PATIENCE:
                _remove(files, folder, others)
            sleep(_PAUSE)
    finally:
        files.delete(claim)
    while not files.exists(path):  # another is about to make it, unless he is dead
        others = files.list(folder)
        if not others:
            break
        if clock() - since >= PATIENCE:
            _remove(files, folder, others)
        sleep(_PAUSE)
    return False


def _remove(files: Registers, folder: str, claims: list[str]) -> None:
    for claim in claims:
        files.delete(f"{folder}/{claim}")
