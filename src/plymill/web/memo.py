"""What was read a moment ago need not be read again, however many people look."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, nullcontext
from traceback import clear_frames
from types import TracebackType
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

_FAILED = 1.0  # seconds for which what went wrong is not tried again
_MOMENT = 0.02  # seconds that anybody may wait


class Memo(Generic[Key, Value]):
    """Remembers values for some seconds; many who ask for one at once wait for the first.

    Args:
        size: how many values to remember, the last ones asked for.
        clock: seconds.
    """

    def __init__(self, size: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = size
        self._clock = clock
        self._lock = threading.Lock()
        self._attempts: OrderedDict[Key, _Attempt[Value]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._attempts)

    def hold(self, size: int) -> None:
        """Remember at least so many from now on.

        Who asks for all of a list in turn, and for one more than are remembered, finds none again.
        """
        with self._lock:
            self._size = max(self._size, size)

    def get(
        self,
        key: Key,
        make: Callable[[], Value],
        seconds: Callable[[Value], float],
        version: Hashable = None,
        wait: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> Value:
        """The value of a key.

        Args:
            key: the key.
            make: makes the value; what it raises is raised to all who wait for it, and to those who
                come within a second. A store that is away is asked once, not by one after the
                other of them.
            seconds: for how long the value is good.
            version: of what the value is made of; that of another version is good no more.
            wait: is held by each who waits for more than a moment, and may refuse to let him.
        """
        with self._lock:
            attempt = self._attempts.get(key)
            begin = attempt is None or attempt.version != version or attempt.until < self._clock()
            if attempt is None or begin:
                attempt = self._attempts[key] = _Attempt(version)
            self._attempts.move_to_end(key)
            while len(self._attempts) > self._size:
                self._attempts.popitem(last=False)
        if begin:
            return attempt.carry_out(make, seconds, self._clock)
        if not attempt.over.wait(_MOMENT):
            with wait():
                attempt.over.wait()
        return attempt.came_out()


class _Attempt(Generic[Value]):
    """A value that is being made, or has been, or could not be."""

    def __init__(self, version: Hashable) -> None:
        self.version = version
        self.until = float("inf")  # while it is under way
        self.over = threading.Event()
        self._value: list[Value] = []
        self._error: BaseException | None = None
        self._trace: TracebackType | None = None

    def carry_out(
        self,
        make: Callable[[], Value],
        seconds: Callable[[Value], float],
        clock: Callable[[], float],
    ) -> Value:
        try:
            self._value = [make()]
            self.until = clock() + seconds(self._value[0])
        except BaseException as error:  # goes to whoever waits as well
            _let_go(error)
            self._error, self._trace = error, error.__traceback__
            self.until = clock() + _FAILED
            raise
        finally:
            self.over.set()
        return self._value[0]

    def came_out(self) -> Value:
        if self._error is not None:
            # It would grow with each who raises it.
            raise self._error.with_traceback(self._trace)
        return self._value[0]


def _let_go(error: BaseException | None) -> None:
    """Keep nothing of what was in hand when it went wrong, such as the half of a book."""
    while error is not None:
        clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__
