"""Reading and writing plymill's own book format."""

import hashlib
import mmap
import os
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt
import zstandard

from plymill.books.atomic import atomic_file
from plymill.books.book import Block, Book, Keys, Values
from plymill.books.errors import BookContentError, BookFormatError
from plymill.books.format import (
    HEADER_SIZE,
    INDEX_ENTRY,
    Header,
    decode_block,
    encode_block,
)
from plymill.books.scope import Scope
from plymill.books.sorted_keys import find_sorted
from plymill.games.arrays import key_array

#: Positions in a block: larger ones are smaller on the disk and slower to look something up in.
BLOCK_LENGTH = 2048
_LEVEL = 19
#: Blocks kept decoded: about 18 KB each.
_CACHED_BLOCKS = 256


class PackedBook(Book):
    """A book in plymill's own format, opened by memory map; blocks are decoded when needed.

    Opening checks the header, the size of the file and the index; the checksum of a block is
    checked when it is read, and :meth:`verify` checks the digest of the whole.
    """

    layout = "plymill"

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.source = str(path)
        with Path(path).open("rb") as file:
            self._header = Header.unpack(file.read(HEADER_SIZE), self.source)
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.scope = self._header.scope
        try:
            self._index = self._read_index()
        except BookFormatError:
            self._map.close()
            raise
        self._first_keys: Keys = self._index["key"].astype(np.uint64)
        self._first_key_list: list[int] = self._first_keys.tolist()
        self._block = lru_cache(maxsize=_CACHED_BLOCKS)(self._decode)

    @property
    def digest(self) -> str:
        """SHA-256 of all that follows the header, as the header states it, in hexadecimal."""
        return self._header.digest.hex()

    def __len__(self) -> int:
        return self._header.count

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.source,)

    def blocks(self) -> Iterator[Block]:
        """All positions as arrays of keys and values, ascending by key from block to block."""
        for number in range(len(self._index)):
            yield self._decode(number)

    def _slice(self, start: int, stop: int) -> Block:
        length = self._header.block_length
        keys, values = [np.empty(0, dtype=np.uint64)], [np.empty(0, dtype=np.int8)]
        for number in range(start // length, -(-stop // length)):
            block_keys, block_values = self._block(number)
            part = slice(max(0, start - number * length), stop - number * length)
            keys.append(block_keys[part])
            values.append(block_values[part])
        return np.concatenate(keys), np.concatenate(values)

    def _stored(self, keys: Keys) -> tuple[Values, npt.NDArray[np.bool_]]:
        order = np.argsort(keys)
        ordered = keys[order]
        values = np.zeros(len(keys), dtype=np.int8)
        found = np.zeros(len(keys), dtype=np.bool_)
        # Keys from cuts[i] to cuts[i + 1] fall into block i.
        cuts = np.append(np.searchsorted(ordered, self._first_keys), len(keys))
        for number in np.flatnonzero(np.diff(cuts)).tolist():
            part = order[cuts[number] : cuts[number + 1]]
            values[part], found[part] = find_sorted(*self._block(number), keys[part])
        return values, found

    def _stored_value(self, key: int) -> int | None:
        number = bisect_right(self._first_key_list, key) - 1
        if number < 0:
            return None
        keys, values = self._block(number)
        place = int(np.searchsorted(keys, np.uint64(key)))
        if place < len(keys) and int(keys[place]) == key:
            return int(values[place])
        return None

    def verify(self) -> None:
        """Reads the whole file and compares it with its digest.

        Raises:
            BookFormatError: some byte after the header is not what was written.
        """
        digest = hashlib.sha256(memoryview(self._map)[HEADER_SIZE:]).digest()
        if digest != self._header.digest:
            raise BookFormatError(
                f"{self.source} is damaged: its content has the SHA-256 digest {digest.hex()}, "
                f"the header states {self.digest}"
            )

    def close(self) -> None:
        """Gives the file back; the book answers no more."""
        self._block.cache_clear()
        self._map.close()

    def _read_index(self) -> npt.NDArray[np.void]:
        header = self._header
        expected = HEADER_SIZE + header.payload_size
        if len(self._map) != expected:
            raise BookFormatError(
                f"{self.source} has {len(self._map)} bytes, expected {expected}: "
                + ("it is cut short" if len(self._map) < expected else "something follows its end")
            )
        raw = self._map[expected - header.index_size :]
        if zlib.crc32(raw) != header.index_checksum:
            raise BookFormatError(
                f"the index of {self.source} is damaged: its checksum does not match"
            )
        return np.frombuffer(raw, dtype=INDEX_ENTRY)

    def _decode(self, number: int) -> Block:
        first_key, offset, size = self._index[number].item()
        header = self._header
        length = min(header.block_length, header.count - number * header.block_length)
        try:
            return decode_block(self._map[offset : offset + size], first_key, length)
        except BookContentError as error:
            raise BookFormatError(
                f"block {number} of {self.source}, at byte {offset}, is damaged: {error}"
            ) from None


class BookWriter:
    """Writes a book in plymill's own format, piece by piece, in memory bounded by a piece.

    Use it as a context manager: the file appears under its name, whole and on the disk, when the
    block ends without an error, and not at all after one. Equal positions and values give equal
    bytes on every machine with the same release of zstd, however they are cut into pieces.

    Args:
        path: the file to write.
        scope: what the book holds; every position and value is checked against it.
        block_length: positions in a compressed block.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        scope: Scope,
        *,
        block_length: int = BLOCK_LENGTH,
    ) -> None:
        self._path = Path(path)
        self._scope = scope
        self._block_length = block_length
        self._compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
        self._digest = hashlib.sha256()
        self._index: list[tuple[int, int, int]] = []
        self._offset = HEADER_SIZE
        self._keys = np.empty(0, dtype=np.uint64)
        self._values = np.empty(0, dtype=np.int8)
        self._last = -1
        self.count = 0

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._file = stack.enter_context(atomic_file(self._path))
            self._file.write(bytes(HEADER_SIZE))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._stack:
            if error is not None:
                raise error
            self._finish()

    def append(self, keys: npt.ArrayLike, values: npt.ArrayLike) -> None:
        """Adds positions that come after all that were added before.

        Raises:
            BookContentError: keys do not ascend, are not canonical or do not belong into the
                book, or a value is out of range; the message names the first such position.
        """
        new_keys = key_array(keys)
        new_values = np.ascontiguousarray(values, dtype=np.int8)
        if not len(new_keys) and not len(new_values):
            return
        if len(new_keys) != len(new_values):
            raise BookContentError(
                f"{len(new_keys)} keys came with {len(new_values)} values for {self._path}, "
                "expected one value for each key"
            )
        self._scope.require_fitting(
            new_keys, new_values, self._path, start=self.count, after=self._last
        )
        self._last = int(new_keys[-1])
        self.count += len(new_keys)
        self._keys = np.concatenate((self._keys, new_keys))
        self._values = np.concatenate((self._values, new_values))
        whole = len(self._keys) - len(self._keys) % self._block_length
        self._write_blocks(whole)

    def _write_blocks(self, stop: int) -> None:
        for start in range(0, stop, self._block_length):
            end = min(stop, start + self._block_length)
            frame = encode_block(self._keys[start:end], self._values[start:end], self._compressor)
            self._index.append((int(self._keys[start]), self._offset, len(frame)))
            self._write(frame)
        self._keys, self._values = self._keys[stop:], self._values[stop:]

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._digest.update(data)
        self._offset += len(data)

    def _finish(self) -> None:
        self._write_blocks(len(self._keys))
        index = np.array(self._index, dtype=INDEX_ENTRY).tobytes()
        self._write(index)
        header = Header(
            scope=self._scope,
            block_length=self._block_length,
            count=self.count,
            blocks=len(self._index),
            payload_size=self._offset - HEADER_SIZE,
            digest=self._digest.digest(),
            index_checksum=zlib.crc32(index),
        )
        self._file.seek(0)
        self._file.write(header.pack())
