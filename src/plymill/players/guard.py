"""The program in which a player of the user's own lives; the other end is in ``foreign.py``.

On Linux it parts in two at once. One half becomes the player (``child.py``); the other, the guard,
adopts whatever the player starts and leaves behind, in whatever session or group, and kills all of
it when the player ends, or when the process that asks it hangs up or is gone. Elsewhere the player
has the process to itself, and only what stays in its process group ends with it.

Nothing of plymill is imported before the two part, so that the guard stays small.
"""

import ctypes
import json
import os
import select
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_KILL_SECONDS = 5.0
_KILL_PAUSE = 0.002


def main(messages: int, lifeline: int) -> None:
    """Becomes the guard and the player, or the player alone.

    Args:
        messages: file descriptor of the socket to the process that asks.
        lifeline: file descriptor of a pipe that ends with that process, or when it hangs up.
    """
    if _control(_PR_SET_CHILD_SUBREAPER, 1):
        woken, waker = os.pipe()
        os.set_blocking(waker, False)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        guard, player = os.getpid(), os.fork()
        if player:
            os.close(messages)  # its end is to be seen when the player's half of it is closed
            _guard(player, lifeline, woken)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for descriptor in (woken, waker, lifeline):
            os.close(descriptor)
        os.setsid()  # what it does to its process group is not to reach the guard
        _control(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != guard:  # it was gone before
            os._exit(1)
    else:
        threading.Thread(target=_end_with_parent, args=(lifeline,), daemon=True).start()
    from plymill.players.child import answer

    answer(messages)


def _control(option: int, value: int) -> bool:
    """Whether there is a prctl() here that does this."""
    if sys.platform != "linux":
        return False
    try:
        return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)
    except (AttributeError, OSError):
        return False


def _end_with_parent(lifeline: int) -> None:
    """Without a guard: kills this process and its group when the process that asks is gone."""
    os.read(lifeline, 1)
    os.killpg(0, signal.SIGKILL)


def _guard(player: int, lifeline: int, woken: int) -> None:
    """Waits for the end of the player or of the lifeline; leaves nothing behind, and ends, too."""
    ending = None
    while ending is None:
        ready, _, _ = select.select([lifeline, woken], [], [])
        if lifeline in ready:
            break
        os.read(woken, 512)
        ending = _reaped(player)
    _kill_descendants()
    _end_like(ending or 0)


def _reaped(player: int) -> int | None:
    """How the player ended, if it has; whatever else has ended is taken note of."""
    ending = None
    with suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            ending = found[1] if found[0] == player else ending
    return ending


def _kill_descendants() -> None:
    """Kills until nobody is left: whom a killed process leaves behind becomes our own child."""
    deadline = time.monotonic() + _KILL_SECONDS  # some may belong to another user
    while time.monotonic() < deadline:
        for pid in _descendants():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(_KILL_PAUSE)


def _descendants() -> list[int]:
    """All processes that come of this one."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - many, and often
        if name.isdecimal():
            with suppress(OSError):  # it has ended meanwhile
                # "17 (any name) S 4 ...": the state and the parent follow the last bracket.
                fields = Path("/proc", name, "stat").read_bytes().rpartition(b")")[2].split()
                children.setdefault(int(fields[1]), []).append(int(name))
    found = children.get(os.getpid(), [])
    for pid in found:  # it grows
        found += children.get(pid, [])
    return found


def _end_like(ending: int) -> None:
    """Ends this process with the exit code or by the signal of another."""
    if os.WIFSIGNALED(ending):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        number = os.WTERMSIG(ending)
        with suppress(OSError):  # not for those that nobody can catch
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(ending) if os.WIFEXITED(ending) else 1)


if __name__ == "__main__":
    sys.path[:] = json.loads(sys.argv[1])
    main(int(sys.argv[2]), int(sys.argv[3]))
