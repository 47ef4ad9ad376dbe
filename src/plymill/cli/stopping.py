"""Ctrl-C and SIGTERM: one stop in good order, whenever they come.

Loads nothing of ours and nothing slow, so that it is in force before anything else is imported.
"""

import _thread
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Any, Self

INTERRUPTED = 130
SENTENCE = "Stopped; nothing half-written is left behind."
_AT_ONCE = "Stopped at once, as asked for again and again; what is finished is kept."
_ENOUGH = 3
_PAUSE = 0.02
_SHOW_CURSOR = "\x1b[?25h"


class Stopping:
    """Turns the first of these signals into a `KeyboardInterrupt`, for as long as it is entered.

    What stops in good order takes its time, such as Ray; another signal meanwhile changes nothing,
    so that a double press cannot break that order. The third ends the process where it stands.

    A signal that whoever called us has chosen to ignore stays ignored, as with ``nohup``.

    Args:
        for_good: the process ends afterwards: then a signal does not wait for the interpreter.
    """

    def __init__(self, *, for_good: bool) -> None:
        self.heard = 0
        self._last: int = signal.SIGINT
        self._losing = False
        self._for_good = for_good
        self._before: dict[signal.Signals, Any] = {}
        self._hook = sys.unraisablehook

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():  # Python hears signals there only
            for number in (signal.SIGINT, signal.SIGTERM):
                if (before := signal.getsignal(number)) != signal.SIG_IGN:
                    self._before[number] = before
                    signal.signal(number, self._hear)
            self._hook, sys.unraisablehook = sys.unraisablehook, self._not_raised
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._before:
            return
        sys.unraisablehook = self._hook
        for number, before in self._before.items():
            signal.signal(number, _end if self._for_good else before or signal.SIG_DFL)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self._losing:
            return
        self.heard += 1
        self._last = number
        if self.heard == 1:
            raise KeyboardInterrupt
        if self.heard >= _ENOUGH:
            cursor = _SHOW_CURSOR if os.isatty(2) else ""
            with suppress(OSError):
                os.write(2, f"{cursor}\nplymill: {_AT_ONCE}\n".encode())
            _end(number, frame)

    def _not_raised(self, lost: "sys.UnraisableHookArgs") -> None:
        """A stop that came where Python passes no error on, as in ``__del__``, comes once more."""
        if lost.exc_type is not KeyboardInterrupt:
            self._hook(lost)
            return
        self._losing, self.heard = True, 0
        with suppress(RuntimeError):  # no new threads: the interpreter is ending anyway
            _thread.start_new_thread(self._come_again, ())
        self._losing = False  # what comes from here on is not lost in this very function

    def _come_again(self) -> None:
        main = threading.main_thread().ident
        while main is not None and not self.heard:
            signal.pthread_kill(main, self._last)
            time.sleep(_PAUSE)


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)
