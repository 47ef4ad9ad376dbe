"""Processes that are killed, stopped, and gone."""

import os
import signal
import subprocess
import time
from collections.abc import Iterable


def kill(pid: int) -> None:
    """End a process without a chance to say anything."""
    os.kill(pid, signal.SIGKILL)


def kill_worker(pid: int) -> None:
    """Kill the process of a worker; its raylet lives on."""
    kill(pid)


def stop_worker(pid: int) -> None:
    """Let a process stand still, as on a machine that hangs; `resume_worker` lets it go on."""
    os.kill(pid, signal.SIGSTOP)


def resume_worker(pid: int) -> None:
    """Let a stopped process go on; nothing happens if it is gone."""
    try:
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        return


def running(pid: int) -> bool:
    """Whether the process is there and not merely waiting to be reaped."""
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout.strip()
    return bool(state) and not state.startswith("Z")


def wait_until_gone(pids: Iterable[int], seconds: float = 30) -> None:
    """Wait for the end of processes; an AssertionError if some outlive the time."""
    left = list(pids)
    deadline = time.monotonic() + seconds
    while left := [pid for pid in left if running(pid)]:
        assert time.monotonic() < deadline, f"processes {left} are still there"
        time.sleep(0.1)
