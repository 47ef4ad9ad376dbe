"""A disk that is really full: a file system of its own, in memory."""

import errno
import mmap
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FILLER = ".filler-of-the-test"
PAGE = mmap.PAGESIZE  # what the shortest file takes


class SmallDisk:
    """A small file system at a folder. Needs root; `mounted` tells whether there is one.

    Args:
        path: an empty folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    @contextmanager
    def mounted(cls, path: Path, kilobytes: int) -> Iterator["SmallDisk | None"]:
        """A disk of this size while the context lasts; None where mounting is not allowed."""
        path.mkdir(parents=True, exist_ok=True)
        if not _mount(path, f"size={kilobytes}k"):
            yield None
            return
        try:
            yield cls(path)
        finally:
            subprocess.run(["umount", "--lazy", str(path)], check=True)

    @property
    def room(self) -> int:
        """Bytes that are free."""
        found = os.statvfs(self.path)
        return found.f_bavail * found.f_frsize

    def resize(self, kilobytes: int) -> None:
        """Make the disk larger or smaller."""
        assert _mount(self.path, f"remount,size={kilobytes}k"), "a mounted disk can be resized"

    def fill(self, leave: int = 0) -> None:
        """Fill the disk up with one file, but for so many bytes."""
        try:
            with (self.path / _FILLER).open("ab", buffering=0) as stream:
                while self.room > leave:
                    stream.write(bytes(PAGE))
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise

    def free(self) -> None:
        """Remove what `fill` has written."""
        (self.path / _FILLER).unlink(missing_ok=True)

    def leftovers(self) -> list[Path]:
        """Half-written files and scratch folders of plymill's that lie there."""
        names = (".unfinished-", "plymill-")
        return [path for path in self.path.rglob("*") if path.name.startswith(names)]


def _mount(path: Path, options: str) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(path)]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False
