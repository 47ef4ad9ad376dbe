"""The records of plymill's own book format. `docs/book-format.md` describes the whole.

A file is a header, then the blocks, each a zstd frame with a checksum, then the index of the
blocks. All numbers are little-endian.
"""

import struct
import zlib
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
import zstandard

from plymill.books.errors import BookContentError, BookFormatError
from plymill.books.scope import Scope
from plymill.games.connect4 import HEIGHT, WIDTH

MAGIC = b"PLYMBOOK"
VERSION = 1

#: Magic, version; columns, rows, ply, flags; positions in a full block; positions, blocks, bytes
#: after the header; opening; SHA-256 of all after the header; CRC-32 of the index.
HEADER = struct.Struct("<8sH4BIQIQ64s32sI")
#: CRC-32 of the header before it.
CHECKSUM = struct.Struct("<I")
#: One block: its first key, where it begins in the file, its length in bytes.
INDEX_ENTRY = np.dtype([("key", "<u8"), ("offset", "<u8"), ("size", "<u4")])

HEADER_SIZE = HEADER.size + CHECKSUM.size

_FLAGS = ("distances", "decided", "immediate_wins", "mirrored", "first_wins_omitted")


@dataclass(frozen=True, kw_only=True)
class Header:
    """What the first bytes of a book tell."""

    scope: Scope
    block_length: int
    count: int
    blocks: int
    payload_size: int
    digest: bytes
    index_checksum: int

    @property
    def index_size(self) -> int:
        """Length of the index, which ends the file, in bytes."""
        return self.blocks * INDEX_ENTRY.itemsize

    def pack(self) -> bytes:
        """The header as it stands in the file."""
        flags = sum(getattr(self.scope, name) << bit for bit, name in enumerate(_FLAGS))
        raw = HEADER.pack(
            MAGIC,
            VERSION,
            WIDTH,
            HEIGHT,
            self.scope.ply,
            flags,
            self.block_length,
            self.count,
            self.blocks,
            self.payload_size,
            self.scope.opening.encode("ascii"),
            self.digest,
            self.index_checksum,
        )
        return raw + CHECKSUM.pack(zlib.crc32(raw))

    @classmethod
    def unpack(cls, raw: bytes, name: str) -> Self:
        """Reads a header; ``name`` is the file's, for messages.

        Raises:
            BookFormatError: not a book, one of a newer version or another board, or damaged.
        """
        if raw[: len(MAGIC)] != MAGIC:
            raise BookFormatError(
                f"{name} is no plymill book: expected it to begin with {MAGIC!r}, "
                f"found {raw[: len(MAGIC)]!r}"
            )
        if len(raw) < HEADER_SIZE:
            raise BookFormatError(
                f"{name} is cut short: {len(raw)} bytes, a header alone has {HEADER_SIZE}"
            )
        _, version, width, height, ply, flags, *rest = HEADER.unpack_from(raw)
        if version > VERSION:
            raise BookFormatError(
                f"{name} has version {version} of the format, this plymill reads up to {VERSION}: "
                "a newer plymill is needed"
            )
        if CHECKSUM.unpack_from(raw, HEADER.size)[0] != zlib.crc32(raw[: HEADER.size]):
            raise BookFormatError(f"the header of {name} is damaged: its checksum does not match")
        if (width, height) != (WIDTH, HEIGHT):
            raise BookFormatError(
                f"{name} is for a board of {width}x{height}, this plymill plays {WIDTH}x{HEIGHT}"
            )
        block_length, count, blocks, payload_size, opening, digest, index_checksum = rest
        named = {flag: bool(flags >> bit & 1) for bit, flag in enumerate(_FLAGS)}
        return cls(
            scope=Scope(ply=ply, opening=opening.rstrip(b"\0").decode("ascii"), **named),
            block_length=block_length,
            count=count,
            blocks=blocks,
            payload_size=payload_size,
            digest=digest,
            index_checksum=index_checksum,
        )


def encode_block(
    keys: npt.NDArray[np.uint64],
    values: npt.NDArray[np.int8],
    compressor: zstandard.ZstdCompressor,
) -> bytes:
    """One block: the gaps between its keys as planes of bytes, then the values, compressed.

    The first plane holds the low byte of every gap, the next the second byte, and so on, as many
    planes as the widest gap needs. The first key is in the index, its gap is 0. Of bytes of one
    weight in a row zstd makes 8 bits a position, of plain keys twice as many.
    """
    gaps = np.zeros(len(keys), dtype="<u8")
    np.subtract(keys[1:], keys[:-1], out=gaps[1:])
    width = (int(gaps.max()).bit_length() + 7) // 8
    planes = gaps.view(np.uint8).reshape(-1, 8)[:, :width].T
    return compressor.compress(planes.tobytes() + values.tobytes())


def decode_block(
    frame: bytes | memoryview, first_key: int, length: int
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int8]]:
    """Keys and values of a block of ``length`` positions.

    Raises:
        BookContentError: the frame is damaged or does not hold that many positions.
    """
    try:
        # Asked first, for a damaged frame may claim any size.
        width, rest = divmod(zstandard.frame_content_size(frame) - length, length)
        if rest or not 0 <= width <= 8:
            raise BookContentError(f"it does not hold {length} positions")
        # A decompressor must not be shared by threads, and a new one costs next to nothing.
        raw = np.frombuffer(zstandard.ZstdDecompressor().decompress(frame), dtype=np.uint8)
    except zstandard.ZstdError as error:
        raise BookContentError(str(error)) from None
    gaps = np.zeros((length, 8), dtype=np.uint8)
    gaps[:, :width] = raw[: width * length].reshape(width, length).T
    keys = gaps.view("<u8").ravel()
    keys[0] = first_key
    return np.cumsum(keys, out=keys), raw[width * length :].view(np.int8)
