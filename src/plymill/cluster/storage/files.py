"""Whole files, written atomically, on whatever the store's URL names.

`ArrowFiles` serves local paths, ``s3://`` and ``gs://`` through ``pyarrow.fs``; `MemoryFiles` is
for tests. A file is either there in full or not there: on a local disk it is written under a name
of its own, flushed to the disk and renamed (see `leftovers`); an object store shows an object only
when its upload is complete. A second writer of the same name replaces the first.
"""

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from pyarrow import fs as arrow

from plymill.cluster.errors import StoreAwayError, StoreError, StoreFullError
from plymill.cluster.storage.buckets import (
    EXPECTED_STORE,
    meet_bucket,
    open_bucket,
    reason_of,
    require_bucket_url,
)
from plymill.cluster.storage.claims import create_by_claims
from plymill.cluster.storage.leftovers import UNFINISHED, create_whole, sweep_files, write_whole
from plymill.cluster.storage.retries import Patience, is_transient
from plymill.errors import told

T = TypeVar("T")

#: What the system says when there is no room, or no more for this user.
DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


class Files(Protocol):
    """A folder of files. Paths are relative to it, with forward slashes."""

    @property
    def url(self) -> str:
        """Where the folder is, as a person would name it."""

    def read(self, path: str) -> bytes:
        """The whole file. Raises FileNotFoundError if there is none."""

    def read_part(self, path: str, start: int, count: int) -> bytes:
        """So many bytes of a file, fewer if it has no more. Raises FileNotFoundError likewise."""

    def write(self, path: str, data: bytes) -> None:
        """Publish a file, replacing one that is there."""

    def create(self, path: str, data: bytes) -> bool:
        """Make a file unless it is there; of all who try, one makes it. Whether it was us."""

    def add(self, path: str, data: bytes) -> bool:
        """As `create`, but without waiting: in a bucket two may succeed in the same moment."""

    def list(self, folder: str) -> list[str]:
        """The names in a folder, sorted, unfinished files left out; none if there is no folder."""

    def exists(self, path: str) -> bool:
        """Whether the file is there."""

    def delete(self, path: str) -> None:
        """Remove a file; nothing happens if there is none."""

    def sweep(self) -> None:
        """Remove, here and in all folders below, what writers left unfinished that are gone."""

    def delete_all(self) -> None:
        """Remove the folder with all that is in it; nothing happens if there is none."""

    def sub(self, folder: str) -> Self:
        """The files of a folder inside this one."""

    def place(self, path: str) -> str:
        """Where a file or folder inside this one is, as a person would name it."""

    def patient(self, seconds: float) -> Self:
        """The same files, asked again for so long in all while the store is away."""


class ArrowFiles:
    """Files on a ``pyarrow.fs`` filesystem. Can be pickled: the copy opens the URL anew.

    Args:
        url: a folder, ``s3://bucket/path`` or ``gs://bucket/path``.

    Raises:
        StoreError: the URL names no store, or nobody answers there.
    """

    def __init__(self, url: str) -> None:
        self._fs, self._root = _open(url)
        # A folder is named in full: the copy in another process may start from elsewhere.
        self.url = self._root if self.is_local else url.rstrip("/")
        self._patience = Patience()
        self._reached = False  # by whoever sent us here

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.url, self._patience.seconds)

    @property
    def is_local(self) -> bool:
        """Whether the files are on a disk of this machine (or one mounted here)."""
        return isinstance(self._fs, arrow.LocalFileSystem)

    def read(self, path: str) -> bytes:
        """See `Files.read`."""

        def read() -> bytes:
            with self._fs.open_input_file(self._at(path)) as stream:
                return bytes(stream.read())

        return self._ask("read", path, read)

    def read_part(self, path: str, start: int, count: int) -> bytes:
        """See `Files.read_part`."""

        def read() -> bytes:
            with self._fs.open_input_file(self._at(path)) as stream:
                return bytes(stream.read_at(count, start))

        return self._ask("read", path, read)

    def size(self, path: str) -> int:
        """How many bytes a file has. Raises FileNotFoundError if there is none."""
        found = self._ask("look up", path, lambda: self._fs.get_file_info(self._at(path)))
        if found.type != arrow.FileType.File:
            raise FileNotFoundError(self._at(path))
        return int(found.size)

    def write(self, path: str, data: bytes) -> None:
        """See `Files.write`."""

        def write() -> None:
            if self.is_local:
                write_whole(Path(self._at(path)), data)
                return
            # One write and a close: Arrow would complete the upload of a part as well. By default
            # it also compresses what has a name that ends in .zst.
            stream = self._fs.open_output_stream(self._at(path), compression=None)
            stream.write(data)
            stream.close()

        self._ask("write", path, write)

    def create(self, path: str, data: bytes) -> bool:
        """See `Files.create`."""
        if not self.is_local:
            return create_by_claims(self, path, data)
        return self._ask("write", path, lambda: create_whole(Path(self._at(path)), data))

    def add(self, path: str, data: bytes) -> bool:
        """See `Files.add`."""
        if self.is_local:
            return self.create(path, data)
        if self.exists(path):
            return False
        self.write(path, data)
        return True

    def list(self, folder: str) -> list[str]:
        """See `Files.list`."""
        selector = arrow.FileSelector(self._at(folder), allow_not_found=True)
        found = self._ask("list", folder, lambda: self._fs.get_file_info(selector))
        names = [_name(info) for info in found]
        return sorted(name for name in names if name and not name.startswith(UNFINISHED))

    def exists(self, path: str) -> bool:
        """See `Files.exists`."""
        found = self._ask("look up", path, lambda: self._fs.get_file_info(self._at(path)))
        return bool(found.type == arrow.FileType.File)

    def delete(self, path: str) -> None:
        """See `Files.delete`."""
        with suppress(FileNotFoundError):
            self._ask("delete", path, lambda: self._fs.delete_file(self._at(path)))

    def sweep(self) -> None:
        """See `Files.sweep`; in a bucket nothing can be seen before it is finished."""
        if self.is_local:
            for folder, _, _ in os.walk(self._root):
                sweep_files(Path(folder))

    def delete_all(self) -> None:
        """See `Files.delete_all`."""
        with suppress(FileNotFoundError):
            self._ask("delete", "", lambda: self._fs.delete_dir(self._root))

    def sub(self, folder: str) -> "ArrowFiles":
        """See `Files.sub`."""
        inside = self._twin()
        inside._root, inside.url = self._at(folder), self.place(folder)
        return inside

    def place(self, path: str) -> str:
        """See `Files.place`; the query of a URL (region, endpoint) stays behind the path."""
        if self.is_local:
            return f"{self.url}/{path}"
        head, mark, query = self.url.partition("?")
        return f"{head.rstrip('/')}/{path}{mark}{query}"

    def patient(self, seconds: float) -> "ArrowFiles":
        """See `Files.patient`. It begins once the store has been reached.

        A copy in another process has it from the beginning: the store was reached from here.
        """
        other = self._twin()
        other._patience = Patience(seconds)
        return other

    def _twin(self) -> "ArrowFiles":
        """The same, with the same connection; `copy` would pickle, and open the URL anew."""
        twin = object.__new__(ArrowFiles)
        twin.__dict__.update(self.__dict__)
        return twin

    def _at(self, path: str) -> str:
        return f"{self._root}/{path}" if path else self._root

    def _ask(self, what: str, path: str, request: Callable[[], T]) -> T:
        """Make a request, repeated while the store is away; a missing file stays what it is.

        Raises:
            FileNotFoundError: the file is not there.
            StoreError: one sentence about any other error of the system.
        """
        self._meet()
        try:
            return self._patience.ask(request)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise _explained(error, what, self.place(path)) from error

    def _meet(self) -> None:
        if self.is_local:
            return

        def meet() -> None:
            meet_bucket(self._fs, self._root, self.url)

        if self._reached:
            self._patience.ask(meet)
        else:  # the address may be wrong: a person waits for the answer
            meet()


class MemoryFiles:
    """Files in memory, for tests."""

    def __init__(self, url: str = "memory://", files: dict[str, bytes] | None = None) -> None:
        self.url = url
        self._files: dict[str, bytes] = {} if files is None else files

    def read(self, path: str) -> bytes:
        """See `Files.read`."""
        try:
            return self._files[self._at(path)]
        except KeyError:
            raise FileNotFoundError(self._at(path)) from None

    def read_part(self, path: str, start: int, count: int) -> bytes:
        """See `Files.read_part`."""
        return self.read(path)[start : start + count]

    def write(self, path: str, data: bytes) -> None:
        """See `Files.write`."""
        self._files[self._at(path)] = bytes(data)

    def create(self, path: str, data: bytes) -> bool:
        """See `Files.create`."""
        mine = bytes(bytearray(data))  # an object of its own
        return self._files.setdefault(self._at(path), mine) is mine

    def add(self, path: str, data: bytes) -> bool:
        """See `Files.add`."""
        return self.create(path, data)

    def list(self, folder: str) -> list[str]:
        """See `Files.list`."""
        start = f"{self._at(folder)}/" if folder else f"{self.url}/"
        below = (path[len(start) :] for path in self._files if path.startswith(start))
        return sorted({path.partition("/")[0] for path in below})

    def exists(self, path: str) -> bool:
        """See `Files.exists`."""
        return self._at(path) in self._files

    def delete(self, path: str) -> None:
        """See `Files.delete`."""
        self._files.pop(self._at(path), None)

    def sweep(self) -> None:
        """See `Files.sweep`: writing takes no time."""

    def delete_all(self) -> None:
        """See `Files.delete_all`."""
        for path in [path for path in self._files if path.startswith(f"{self.url}/")]:
            del self._files[path]

    def sub(self, folder: str) -> "MemoryFiles":
        """See `Files.sub`."""
        return MemoryFiles(f"{self.url}/{folder}", self._files)

    def place(self, path: str) -> str:
        """See `Files.place`."""
        return self._at(path)

    def patient(self, seconds: float) -> "MemoryFiles":
        """See `Files.patient`: memory is never away."""
        del seconds
        return self

    def _at(self, path: str) -> str:
        return f"{self.url}/{path}"


def _open(url: str) -> tuple[arrow.FileSystem, str]:
    try:
        if "://" not in url:
            return arrow.LocalFileSystem(), _local_root(url)
        require_bucket_url(url)
        filesystem, root = open_bucket(url)
        if not root.strip("/"):
            raise ValueError("it names no bucket")
    except StoreError:
        raise
    except (OSError, RuntimeError, ValueError) as error:
        kind = StoreAwayError if is_transient(error) else StoreError
        reason = reason_of(error)
        raise kind(f"Cannot open the store '{url}': {reason}; {EXPECTED_STORE}.") from error
    return filesystem, root.rstrip("/")


def _reopen(url: str, patience: float) -> ArrowFiles:
    """Files that were reached where they come from."""
    files = Patience(patience).ask(lambda: ArrowFiles(url)).patient(patience)
    files._reached = True
    return files


def _explained(error: OSError, what: str, where: str) -> StoreError:
    """One sentence about an error of the system."""
    if error.errno in DISK_FULL:
        return StoreFullError(
            f"The disk of the store is full: cannot {what} {where}; make room and run the "
            "same command again, finished units are kept."
        )
    reason = "; ".join([told(error), *getattr(error, "__notes__", ())])
    kind = StoreAwayError if is_transient(error) else StoreError
    return kind(f"Cannot {what} {where}: {reason}.")


def _name(info: arrow.FileInfo) -> str | None:
    """The last part of a path, or None if it is not UTF-8: then it is none of ours."""
    try:
        return str(info.base_name)
    except UnicodeDecodeError:
        return None


def _local_root(path: str) -> str:
    root = str(Path(path).expanduser().resolve())
    try:
        root.encode()
    except UnicodeEncodeError:
        raise ValueError("its name is not UTF-8") from None
    return root
