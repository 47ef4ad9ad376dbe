"""What does harm to processes, files and disks, and sees to it that it was done. Linux only."""

import errno
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from tests.faults import SmallDisk, kill, stop_worker

_CGROUPS = Path("/sys/fs/cgroup")
_LIMITS = ("memory.limit_in_bytes", "memory.max")  # of version 1 and 2
_TICKS = os.sysconf("SC_CLK_TCK")
_PATIENCE = 30.0
_BLOCK = 4096
_CRUMB = "crumb-"


class FaultMissedError(Exception):
    """A fault that did not hit what it was meant for."""


# --- processes ------------------------------------------------------------------------------------


def state_of(pid: int) -> str:
    """The letter of a process's state: ``R``, ``S``, ``T``, ``Z``, ...; empty if it is gone."""
    fields = _stat(pid)
    return fields[0] if fields else ""


def is_gone(pid: int) -> bool:
    """Whether a process has ended; one that merely waits for its parent to notice has."""
    return state_of(pid) in {"", "Z", "X"}


def processor_seconds(pid: int) -> float | None:
    """What all threads of a process have used so far; None if it has ended."""
    fields = _stat(pid)
    if not fields or fields[0] in "ZX":
        return None
    return (int(fields[11]) + int(fields[12])) / _TICKS


def end(pid: int) -> None:
    """Kill a process.

    Raises:
        FaultMissedError: it was gone before, or is there still after half a minute.
    """
    if is_gone(pid):
        raise FaultMissedError(f"process {pid} was gone before it could be killed")
    kill(pid)
    await_end(pid)


def await_end(pid: int) -> None:
    """Wait until a process has ended.

    Raises:
        FaultMissedError: it is there still after half a minute.
    """
    deadline = time.monotonic() + _PATIENCE
    while not is_gone(pid):
        if time.monotonic() > deadline:
            raise FaultMissedError(f"process {pid} is still there")
        time.sleep(0.01)


def stop(pid: int) -> None:
    """Let a process stand still; `tests.faults.resume_worker` lets it go on.

    Raises:
        FaultMissedError: it does not stop.
    """
    stop_worker(pid)
    deadline = time.monotonic() + _PATIENCE
    while state_of(pid) != "T":
        if is_gone(pid) or time.monotonic() > deadline:
            raise FaultMissedError(f"process {pid} does not stop")
        time.sleep(0.01)


def can_limit_memory() -> bool:
    """Whether `run_out_of_memory` can be used here: as root, with a memory controller."""
    try:
        with _memory_group():
            return True
    except OSError:
        return False


def run_out_of_memory(pid: int) -> None:
    """Take the memory from a process, so that the kernel kills it when it asks for more.

    Raises:
        FaultMissedError: the kernel has not killed it.
    """
    with _memory_group() as group:
        (group / "cgroup.procs").write_text(str(pid))
        await_end(pid)
        kills = [
            line.split()
            for name in ("memory.oom_control", "memory.events")
            if (group / name).exists()
            for line in (group / name).read_text().splitlines()
        ]
        if not any(name == "oom_kill" and int(count) for name, count in kills):
            raise FaultMissedError(f"process {pid} has ended, but not for want of memory")


@contextmanager
def _memory_group() -> Iterator[Path]:
    """A control group with room for a megabyte."""
    name = f"chaos-{uuid4().hex[:8]}"
    for parent in (_CGROUPS / "memory", _CGROUPS):
        group = parent / name
        with suppress(OSError):
            group.mkdir()
            limit = next((group / each for each in _LIMITS if (group / each).exists()), None)
            if limit is not None:
                break
            group.rmdir()
    else:
        raise OSError(errno.ENOTSUP, "there is no memory controller that may be used")
    try:
        limit.write_text(str(2**20))
        yield group
    finally:
        _remove_group(group)


def _remove_group(group: Path) -> None:
    """The kernel may need a moment for the last process in it."""
    for _ in range(100):
        with suppress(OSError):
            group.rmdir()
            return
        time.sleep(0.05)


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


# --- files ----------------------------------------------------------------------------------------


def flip(path: Path, at: float) -> None:
    """Flip one bit of a file, at this share of its length, without a trace in its size."""
    data = bytearray(path.read_bytes())
    data[int(at * len(data))] ^= 4
    path.write_bytes(bytes(data))


def truncate(path: Path, at: float) -> None:
    """Cut a file off at this share of its length."""
    os.truncate(path, int(at * path.stat().st_size))


# --- disks ----------------------------------------------------------------------------------------


class StoreDisk(SmallDisk):
    """A disk that can be frozen and read-only, too: a real file system in a file.

    Args:
        path: the folder to mount it on; made if need be.
        megabytes: its size.
    """

    def __init__(self, path: Path, megabytes: int = 256) -> None:
        super().__init__(path)
        self._image = path.with_name(f"{path.name}.img")
        path.mkdir(parents=True, exist_ok=True)
        with self._image.open("wb") as image:
            image.truncate(megabytes * 2**20)
        _run("mkfs.ext4", "-q", "-m", "0", str(self._image))
        _run("mount", "-o", "loop", str(self._image), str(path))

    def fill(self, leave: int = 0) -> None:
        """See `SmallDisk.fill`; then take single blocks until there is none for another file.

        Raises:
            FaultMissedError: there is room still.
        """
        super().fill(leave)
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            crumb = self.path / f"{_CRUMB}{uuid4().hex}"
            try:
                with crumb.open("wb", buffering=0) as stream:
                    stream.write(bytes(_BLOCK))
                    os.fsync(stream.fileno())
            except OSError as error:
                if error.errno == errno.ENOSPC:
                    return
                raise
        raise FaultMissedError(f"{self.path} has room still")

    def free(self) -> None:
        """Remove what `fill` has written."""
        for crumb in self.path.glob(f"{_CRUMB}*"):
            crumb.unlink()
        super().free()

    def freeze(self, seconds: float) -> None:
        """Let whoever writes wait for so long; returns when it is over.

        The thaw does not depend on this process, nor on what ends it: the script is in a session of
        its own, where no Ctrl-C arrives, and it heeds no signal that asks it to end.
        """
        script = 'trap "" INT TERM HUP; fsfreeze -f "$0" && { sleep "$1"; fsfreeze -u "$0"; }'
        words = ["sh", "-c", script, str(self.path), str(seconds)]
        with subprocess.Popen(words, start_new_session=True, stderr=subprocess.PIPE) as thawing:
            _, said = thawing.communicate()
        if thawing.returncode:
            raise subprocess.CalledProcessError(thawing.returncode, words, stderr=said)

    def read_only(self, on: bool) -> None:
        """Refuse whoever writes, or let him write again.

        Raises:
            FaultMissedError: the system does not let us.
        """
        deadline = time.monotonic() + _PATIENCE
        while True:  # it refuses as long as a file is open for writing
            try:
                _run("mount", "-o", f"remount,{'ro' if on else 'rw'}", str(self.path))
                return
            except subprocess.CalledProcessError as error:
                if time.monotonic() > deadline:
                    raise FaultMissedError(f"cannot remount {self.path}: {error}") from error

    def close(self) -> None:
        """Unmount it; what it held is gone. One that is frozen would keep whoever writes to it."""
        with suppress(OSError, subprocess.CalledProcessError):  # it is not frozen, or cannot be
            _run("fsfreeze", "--unfreeze", str(self.path))
        _run("umount", "--lazy", str(self.path))
        self._image.unlink()


def store_disk(path: Path) -> StoreDisk | None:
    """A small disk, or None where mounting is not allowed or the tools are missing."""
    try:
        return StoreDisk(path)
    except (OSError, subprocess.CalledProcessError):
        path.with_name(f"{path.name}.img").unlink(missing_ok=True)
        return None


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
