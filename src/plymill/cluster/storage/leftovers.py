"""What a killed process leaves on a disk: half-written files and scratch folders.

Each is locked (``flock``) by whoever makes it, and the system lets go of the lock when that process
ends, however it ends. So a later session may remove what is not locked, and never touches what
another process is still working on, on this machine or on one that mounts the same disk. Where a
filesystem knows no locks, nothing is removed.

A sweep may come between making and locking; the maker then finds that what he has locked is there
no more, and begins again.
"""

import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

UNFINISHED = ".unfinished-"

# What filesystems say that know one name for a file only.
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}


def write_whole(target: Path, data: bytes) -> None:
    """Publish a file: written under a name of its own, brought to the disk, and renamed."""
    _write(target, data, Path.rename)


def create_whole(target: Path, data: bytes) -> bool:
    """Publish a file as `write_whole` does, unless one is there; whether it was published.

    The system decides who does, on NFS too. Where files have one name only, who reads it at once
    may find it empty still, and who is killed may leave half of it.
    """
    if target.exists():
        return False
    try:
        _write(target, data, _give_name)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        return _write_in_place(target, data)
    return True


def _give_name(unfinished: Path, target: Path) -> None:
    target.hardlink_to(unfinished)  # fails if somebody else was quicker
    unfinished.unlink()


def _write_in_place(target: Path, data: bytes) -> bool:
    try:
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except FileExistsError:
        return False
    try:
        with open(handle, "wb") as stream:  # noqa: PTH123 - a handle, no path
            stream.write(data)
            stream.flush()
            os.fsync(handle)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    _flush_folder(target.parent)
    return True


def sweep_files(folder: Path) -> list[Path]:
    """Remove the unfinished files in a folder whose writers are gone; returns them."""
    flags = os.O_RDWR  # NFS gives an exclusive lock only to whoever may write
    return [path for path in _named(folder, UNFINISHED) if _removed(path, flags, Path.unlink)]


@contextmanager
def scratch_folder(run_id: str) -> Iterator[Path]:
    """An empty folder on this machine for one step of a run, removed afterwards."""
    path, handle = _locked(lambda: _new_folder(run_id))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(handle)


def sweep_scratch(run_id: str) -> list[Path]:
    """Remove the scratch folders of a run on this machine whose makers are gone; returns them."""
    folders = _named(Path(tempfile.gettempdir()), _scratch(run_id))
    flags = os.O_RDONLY | os.O_DIRECTORY
    return [path for path in folders if _removed(path, flags, shutil.rmtree)]


def _write(target: Path, data: bytes, publish: Callable[[Path, Path], object]) -> None:
    try:
        _write_once(target, data, publish)
    except FileNotFoundError:  # swept from a machine that does not see our locks
        _write_once(target, data, publish)


def _write_once(target: Path, data: bytes, publish: Callable[[Path, Path], object]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished, handle = _locked(lambda: _new_file(target))
    try:
        with open(handle, "wb") as stream:  # noqa: PTH123 - a handle, no path
            stream.write(data)
            stream.flush()
            os.fsync(handle)
            publish(unfinished, target)  # while the lock is held
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise
    _flush_folder(target.parent)


def _new_file(target: Path) -> tuple[Path, int]:
    path = target.with_name(f"{UNFINISHED}{uuid4().hex}-{target.name}")
    return path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)


def _new_folder(run_id: str) -> tuple[Path, int]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=_scratch(run_id)))
        with suppress(FileNotFoundError):  # swept already: another
            return path, os.open(path, os.O_RDONLY | os.O_CLOEXEC)


def _scratch(run_id: str) -> str:
    return f"plymill-{run_id}-"


def _named(folder: Path, prefix: str) -> Iterable[Path]:
    if not folder.is_dir():
        return []
    return [path for path in folder.iterdir() if path.name.startswith(prefix)]


def _locked(make: Callable[[], tuple[Path, int]]) -> tuple[Path, int]:
    """Something new, and a handle that keeps it locked until it is closed."""
    while True:
        path, handle = make()
        with suppress(OSError):  # a filesystem without locks: nobody sweeps there either
            fcntl.flock(handle, fcntl.LOCK_EX)
        if _names(path, handle):
            return path, handle
        os.close(handle)


def _removed(path: Path, flags: int, remove: Callable[[Path], None]) -> bool:
    """Remove something if nobody has locked it; whether that was so."""
    try:
        handle = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not _names(path, handle):
            return False
        remove(path)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _names(path: Path, handle: int) -> bool:
    """Whether the path still leads to what the handle was opened on."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(handle))
    except OSError:
        return False


def _flush_folder(folder: Path) -> None:
    """Make a rename survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
