"""The store as the page sees it: nothing in it can be changed, and nothing outside of it seen."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NoReturn

from plymill.cluster import ArrowFiles, CorruptFileError, StoreError
from plymill.errors import told

_CHUNK = 1 << 20
_PART = 4 << 20  # of a bucket, with each request


class InsideFiles:
    """The files of a store, or of a folder in it; see `plymill.cluster.Files`.

    A path that would lead out of the store is a file that is not there: be it by ``..``, by a
    slash at its beginning, or by a symbolic link anywhere on the way.

    Args:
        files: the whole store.
        folder: a folder in it; empty for the store itself.
    """

    def __init__(self, files: ArrowFiles, folder: str = "") -> None:
        self._files = files
        self._folder = folder
        self._root = Path(os.path.realpath(files.url)) if files.is_local else None

    @property
    def url(self) -> str:
        """See `Files.url`."""
        return self._files.place(self._folder) if self._folder else self._files.url

    def read(self, path: str) -> bytes:
        """See `Files.read`."""
        return self._files.read(self._file(path))

    def read_part(self, path: str, start: int, count: int) -> bytes:
        """See `Files.read_part`."""
        return self._files.read_part(self._file(path), start, count)

    def size(self, path: str) -> int:
        """How many bytes a file has.

        Raises:
            FileNotFoundError: there is none.
        """
        return self._files.size(self._file(path))

    def chunks(self, path: str, size: int) -> Iterator[bytes]:
        """The first ``size`` bytes of a file piece by piece; it is opened before they are returned.

        The pieces raise an OSError if the rest cannot be read, and a CorruptFileError if there is
        none: the file may change meanwhile.

        Raises:
            FileNotFoundError: there is none.
            StoreError: it cannot be read.
        """
        inside = self._file(path)
        if self._root is None:
            first = self._files.read_part(inside, 0, _PART)
            return self._whole(inside, size, self._fetched(inside, first))
        place = self._files.place(inside)
        try:
            stream = Path(place).open("rb")  # noqa: SIM115 - closed by the iterator
        except FileNotFoundError:
            raise
        except OSError as error:
            raise StoreError(f"Cannot read {place}: {told(error)}.") from error
        return self._whole(inside, size, _read(stream))

    def _whole(self, inside: str, size: int, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """The pieces of a file up to its size."""
        left = size
        for piece in pieces:
            yield piece[:left]
            left -= len(piece)
            if left <= 0:
                return
        if left:
            raise CorruptFileError(
                f"{self._files.place(inside)} has lost its last {left:,} bytes while it was read."
            )

    def _fetched(self, inside: str, first: bytes) -> Iterator[bytes]:
        """A file of a bucket, from its first part on: never more of it in memory than that."""
        piece, read = first, 0
        while piece:
            yield piece
            read += len(piece)
            piece = self._files.read_part(inside, read, _PART)

    def local_path(self, path: str) -> Path | None:
        """Where the file is on a disk of this machine; None for stores that are elsewhere.

        Raises:
            FileNotFoundError: there is none.
        """
        inside = self._file(path)
        return None if self._root is None else Path(self._files.place(inside))

    def list(self, folder: str) -> list[str]:
        """See `Files.list`."""
        self.require_there()
        try:
            return self._files.list(self._inside(folder))
        except FileNotFoundError:
            return []

    def exists(self, path: str) -> bool:
        """See `Files.exists`."""
        try:
            return self._files.exists(self._file(path))
        except FileNotFoundError:
            return False

    def sub(self, folder: str) -> "InsideFiles":
        """See `Files.sub`."""
        return InsideFiles(self._files, self._inside(folder))

    def require_there(self) -> None:
        """Nothing, if the store is there: then what is missing in it is missing.

        Raises:
            StoreError: its folder is gone, or the disk that it was on.
        """
        # `Path.is_dir` raises where a folder on the way is closed to us.
        if self._root is not None and not os.path.isdir(self._root):  # noqa: PTH112
            raise StoreError(f"The store '{self._root.name}' is not there any more.")

    def place(self, path: str) -> str:
        """See `Files.place`."""
        return self._files.place(f"{self._folder}/{path}" if self._folder else path)

    def without_place(self, text: str) -> str:
        """The text with paths within the store only: where it is concerns nobody else."""
        for folder in (self._files.url, *([] if self._root is None else [str(self._root)])):
            text = text.replace(f"{folder.partition('?')[0].rstrip('/')}/", "")
        return text

    def patient(self, seconds: float) -> "InsideFiles":
        """See `Files.patient`; who looks at a page does not wait for a store that is away."""
        del seconds
        return self

    def write(self, path: str, data: bytes) -> NoReturn:
        """Refused."""
        del data
        raise StoreError(f"The page does not write {self.place(path)}: it only reads.")

    def create(self, path: str, data: bytes) -> NoReturn:
        """Refused."""
        self.write(path, data)

    def add(self, path: str, data: bytes) -> NoReturn:
        """Refused."""
        self.write(path, data)

    def delete(self, path: str) -> NoReturn:
        """Refused."""
        raise StoreError(f"The page does not delete {self.place(path)}: it only reads.")

    def delete_all(self) -> NoReturn:
        """Refused."""
        raise StoreError(f"The page does not delete {self.url}: it only reads.")

    def sweep(self) -> None:
        """Nothing: what writers left is theirs."""

    def _inside(self, path: str) -> str:
        """The path from the store's root on."""
        parts = path.split("/") if path else []
        if any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts):
            raise FileNotFoundError(path)
        whole = "/".join([self._folder, *parts] if self._folder else parts)
        if self._root is not None:
            real = Path(os.path.realpath(self._root / whole))
            if not real.is_relative_to(self._root):
                raise FileNotFoundError(path)
        return whole

    def _file(self, path: str) -> str:
        """The same of a file; what is something else, such as a pipe, is not there."""
        inside = self._inside(path)
        # `Path.is_file` raises where a name is too long or a folder is closed to us.
        if self._root is not None and not os.path.isfile(self._root / inside):  # noqa: PTH113
            raise FileNotFoundError(path)
        return inside


def _read(stream: BinaryIO) -> Iterator[bytes]:
    with stream:
        while piece := stream.read(_CHUNK):
            yield piece
