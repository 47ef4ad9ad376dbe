"""Whole files, written atomically, on whatever the store's URL names.

`ArrowFiles` serves local paths, ``s3://`` and ``gs://`` through ``pyarrow.fs``; `MemoryFiles` is
for tests. A file is either there in full or not there: on a local disk it is written under a name
of its own, flushed to the disk and renamed (see `leftovers`); an object store shows an object only
when its upload is complete. A second writer of the same name replaces the first.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol, Self

from pyarrow import fs as arrow

from plymill.cluster.buckets import meet_bucket, open_bucket
from plymill.cluster.claims import create_by_claims
from plymill.cluster.errors import StoreError, StoreFullError
from plymill.cluster.leftovers import UNFINISHED, create_whole, sweep_files, write_whole

_FULL = (errno.ENOSPC, errno.EDQUOT)


class Files(Protocol):
    """A folder of files. Paths are relative to it, with forward slashes."""

    @property
    def url(self) -> str:
        """Where the folder is, as a person would name it."""

    def read(self, path: str) -> bytes:
        """The whole file. Raises FileNotFoundError if there is none."""

    def write(self, path: str, data: bytes) -> None:
        """Publish a file, replacing one that is there."""

    def create(self, path: str, data: bytes) -> bool:
        """Make a file unless it is there; of all who try, one makes it. Whether it was us."""

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


class ArrowFiles:
    """Files on a ``pyarrow.fs`` filesystem. Can be pickled: the copy opens the URL anew."""

    def __init__(self, url: str) -> None:
        self._fs, self._root = _open(url)
        # A folder is named in full: the copy in another process may start from elsewhere.
        self.url = self._root if self.is_local else url.rstrip("/")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.url,)

    @property
    def is_local(self) -> bool:
        """Whether the files are on a disk of this machine (or one mounted here)."""
        return isinstance(self._fs, arrow.LocalFileSystem)

    def read(self, path: str) -> bytes:
        """See `Files.read`."""
        with self._explain("read", path), self._fs.open_input_file(self._at(path)) as stream:
            return bytes(stream.read())

    def write(self, path: str, data: bytes) -> None:
        """See `Files.write`."""
        with self._explain("write", path):
            if self.is_local:
                write_whole(Path(self._at(path)), data)
            else:
                # One write and a close: Arrow would complete the upload of a part as well. By
                # default it also compresses what has a name that ends in .zst.
                stream = self._fs.open_output_stream(self._at(path), compression=None)
                stream.write(data)
                stream.close()

    def create(self, path: str, data: bytes) -> bool:
        """See `Files.create`."""
        if not self.is_local:
            return create_by_claims(self, path, data)
        with self._explain("write", path):
            return create_whole(Path(self._at(path)), data)

    def list(self, folder: str) -> list[str]:
        """See `Files.list`."""
        with self._explain("list", folder):
            selector = arrow.FileSelector(self._at(folder), allow_not_found=True)
            names = [_name(info) for info in self._fs.get_file_info(selector)]
        return sorted(name for name in names if name and not name.startswith(UNFINISHED))

    def exists(self, path: str) -> bool:
        """See `Files.exists`."""
        with self._explain("look up", path):
            return bool(self._fs.get_file_info(self._at(path)).type == arrow.FileType.File)

    def delete(self, path: str) -> None:
        """See `Files.delete`."""
        with self._explain("delete", path), suppress(FileNotFoundError):
            self._fs.delete_file(self._at(path))

    def sweep(self) -> None:
        """See `Files.sweep`; in a bucket nothing can be seen before it is finished."""
        if self.is_local:
            for folder, _, _ in os.walk(self._root):
                sweep_files(Path(folder))

    def delete_all(self) -> None:
        """See `Files.delete_all`."""
        with self._explain("delete", ""), suppress(FileNotFoundError):
            self._fs.delete_dir(self._root)

    def sub(self, folder: str) -> "ArrowFiles":
        """See `Files.sub`."""
        return ArrowFiles(self.place(folder))

    def place(self, path: str) -> str:
        """See `Files.place`; the query of a URL (region, endpoint) stays behind the path."""
        if self.is_local:
            return f"{self.url}/{path}"
        head, mark, query = self.url.partition("?")
        return f"{head.rstrip('/')}/{path}{mark}{query}"

    def _at(self, path: str) -> str:
        return f"{self._root}/{path}" if path else self._root

    @contextmanager
    def _explain(self, what: str, path: str) -> Iterator[None]:
        """Turn an error of the system into one sentence; a missing file stays what it is."""
        if not self.is_local:
            meet_bucket(self._fs, self._root, self.url)
        try:
            yield
        except FileNotFoundError:
            raise
        except OSError as error:
            where = self.place(path)
            if error.errno in _FULL:
                raise StoreFullError(
                    f"The disk of the store is full: cannot {what} {where}; make room and run the "
                    "same command again, finished units are kept."
                ) from error
            reason = error.strerror or str(error)
            raise StoreError(f"Cannot {what} {where}: {reason}.") from error


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

    def write(self, path: str, data: bytes) -> None:
        """See `Files.write`."""
        self._files[self._at(path)] = bytes(data)

    def create(self, path: str, data: bytes) -> bool:
        """See `Files.create`."""
        mine = bytes(bytearray(data))  # an object of its own
        return self._files.setdefault(self._at(path), mine) is mine

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

    def _at(self, path: str) -> str:
        return f"{self.url}/{path}"


def _open(url: str) -> tuple[arrow.FileSystem, str]:
    try:
        if "://" not in url:
            return arrow.LocalFileSystem(), _local_root(url)
        filesystem, root = open_bucket(url)
        if not root.strip("/"):
            raise ValueError("it names no bucket")
    except StoreError:
        raise
    except (OSError, RuntimeError, ValueError) as error:
        raise StoreError(
            f"Cannot open the store '{url}': {error}; expected a folder, s3://bucket/path or "
            "gs://bucket/path."
        ) from error
    return filesystem, root.rstrip("/")


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
