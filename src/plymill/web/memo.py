"""What was read a moment ago need not be read again, however many people look."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


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
        self._entries: OrderedDict[Key, _Entry[Value]] = OrderedDict()

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
    ) -> Value:
        """The value of a key.

        Args:
            key: the key.
            make: makes the value; what it raises is raised to all who wait, and not remembered.
            seconds: for how long the value is good.
            version: of what the value is made of; that of another version is good no more.
        """
        with self._lock:
            entry = self._entries.setdefault(key, _Entry())
            self._entries.move_to_end(key)
            while len(self._entries) > self._size:
                self._entries.popitem(last=False)
        with entry.lock:
            if entry.until < self._clock() or entry.version != version:
                entry.value = [make()]
                entry.version = version
                entry.until = self._clock() + seconds(entry.value[0])
            return entry.value[0]


class _Entry(Generic[Value]):
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.until = float("-inf")
        self.version: Hashable = None
        self.value: list[Value] = []
