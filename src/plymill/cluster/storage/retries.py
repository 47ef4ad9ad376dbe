"""Asking a store again that fails for a while.

Arrow asks S3 again by itself, five times a second for six seconds, where nobody answers or the
answer is an error that it understands. It does not when the error is longer than the file that was
asked for, nor when the server is away for longer. So it is asked again from here, for as long as
somebody has patience; Ctrl-C is heard between two attempts.

What no waiting mends (no permission, no such bucket, a full disk) is never asked for again.
"""

import logging
import random
import re
import time
from collections.abc import Callable
from typing import TypeVar

from plymill.cluster.errors import StoreAwayError

T = TypeVar("T")

#: How long a run waits for its store, in seconds: longer than a server takes to start anew.
PATIENCE = 180.0

#: How long anybody else waits: no longer than Arrow where nobody answers.
SHORT = 5.0

_FIRST, _LONGEST = 0.5, 10.0  # seconds between two attempts

# How Arrow words S3's errors: "AWS Error SLOW_DOWN during ...", or "UNKNOWN (HTTP status 503)".
_TRANSIENT = re.compile(
    r"AWS Error (NETWORK_CONNECTION|INTERNAL_FAILURE|SERVICE_UNAVAILABLE|SLOW_DOWN|THROTTLING"
    r"|REQUEST_TIMEOUT)\b|HTTP status (429|5\d\d)\b"
)

_log = logging.getLogger("plymill")


def is_transient(error: BaseException) -> bool:
    """Whether the same request may succeed a little later."""
    if isinstance(error, StoreAwayError):
        return True
    return isinstance(error, OSError) and _TRANSIENT.search(str(error)) is not None


class Patience:
    """How long a store is asked again that fails for a while.

    Who has waited in vain waits no more until something has succeeded: what follows (the word that
    the run has failed, a lease to give back) would wait as long again, one after the other.

    Args:
        seconds: from the begin of a request after which no further attempt is made.
        clock: seconds that never go back.
        sleep: waits.
    """

    def __init__(
        self,
        seconds: float = SHORT,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.seconds = seconds
        self._clock = clock
        self._sleep = sleep
        self._lost = False

    def ask(self, request: Callable[[], T]) -> T:
        """What a request returns, be it at the first or a later attempt.

        Args:
            request: may be made any number of times.

        Raises:
            OSError: what the last attempt raised, with a note of how long it was tried if that was
                more than once.
        """
        since = self._clock()
        attempts = 0
        pause = _FIRST
        while True:
            try:
                answer = request()
            except OSError as error:
                if not is_transient(error):
                    raise
                attempts += 1
                if attempts == 1:
                    fields = {"error": str(error)}
                    _log.warning("the store fails, and is asked again", extra={"fields": fields})
                spent = self._clock() - since
                if self._lost or spent >= self.seconds:
                    self._lost = True
                    if attempts > 1:
                        error.add_note(f"asked {attempts} times in {spent:.0f} seconds")
                    raise
            else:
                self._lost = False
                return answer
            # Many workers are not to come back in the same moment.
            self._sleep(min(pause * random.uniform(0.5, 1.0), self.seconds))
            pause = min(2 * pause, _LONGEST)
