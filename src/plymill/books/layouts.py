"""The three published layouts of Connect Four books: records without any header.

Layout ``8ply``
    3 bytes a record, big-endian, in unsigned order: the key, and in its two low bits the value:
    0 for a draw, 1 if player 1 loses. The positions that he wins are left out.
Layout ``12ply``
    4 bytes a record, the same, but in the order of **signed** 32-bit numbers.
Layout ``12ply-dist``
    4 bytes of key in **signed** order, its low bits 0, then one signed byte: 100 - d where
    player 1 wins after d more plies, -(100 - d) where he loses, 0 for a draw.

The key is the position's Huffman key, whose two low bits are 0. Readers try a position and then
its mirror image, so either image may be stored. The files in circulation follow no rule, and their
8-ply book even holds some pairs twice; plymill writes the image with the smaller key
(``own + mask``), each pair once. A miss means that the side to move wins at once where there are
distances, else that player 1 wins.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from plymill.books.arrays import ArrayBook
from plymill.books.atomic import atomic_file
from plymill.books.book import Book, Keys, Values
from plymill.books.errors import BookContentError, BookFormatError
from plymill.books.huffman import huffman_keys, keys_from_huffman
from plymill.books.scope import Scope
from plymill.books.scores import NO_SCORE, distance_bytes, scores_from_distance_bytes
from plymill.errors import InvalidPositionError
from plymill.games.arrays import canonical_keys
from plymill.games.connect4 import HEIGHT, WIDTH

_VALUE_BITS = 3


@dataclass(frozen=True, kw_only=True)
class PublishedLayout:
    """One of the published layouts.

    Attributes:
        name: what it is called in `open_book` and `write_book`.
        scope: the positions that it holds.
        record: bytes a record.
        published_size: size in bytes of the one file of this layout that everybody has.
    """

    name: str
    scope: Scope
    record: int
    published_size: int


PUBLISHED = {
    layout.name: layout
    for layout in (
        PublishedLayout(
            name="8ply",
            scope=Scope(ply=8, distances=False, first_wins_omitted=True),
            record=3,
            published_size=103_545,
        ),
        PublishedLayout(
            name="12ply",
            scope=Scope(ply=12, distances=False, first_wins_omitted=True),
            record=4,
            published_size=6_943_780,
        ),
        PublishedLayout(
            name="12ply-dist",
            scope=Scope(ply=12, distances=True),
            record=5,
            published_size=21_004_495,
        ),
    )
}


def read_published(path: Path, layout: PublishedLayout) -> ArrayBook:
    """The whole of a published book, mirror pairs joined, as a book of canonical keys.

    Raises:
        BookFormatError: the size is 0 or no multiple of the record's, a record holds no position or
            an impossible value, or both images of a position are there with different values; or
            this plymill plays on another board.
    """
    if reason := _wrong_board(layout):
        raise BookFormatError(f"cannot read {path}: {reason}")
    raw = np.frombuffer(path.read_bytes(), dtype=np.uint8)
    if not len(raw) or len(raw) % layout.record:
        raise BookFormatError(
            f"{path} has {len(raw)} bytes, expected a multiple of {layout.record}, the size of "
            f"a record of the {layout.name} layout: it is empty, cut short, or of another layout"
        )
    keys, values = _decode(raw.reshape(-1, layout.record), layout, path)
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    again = keys[1:] == keys[:-1]
    clash = np.flatnonzero(again & (values[1:] != values[:-1]))
    if len(clash):
        raise BookFormatError(
            f"{path} holds the position with canonical key {keys[clash[0]]} twice with different "
            f"values, {values[clash[0]]} and {values[clash[0] + 1]}"
        )
    once = np.concatenate(([True], ~again)) if len(keys) else np.zeros(0, dtype=np.bool_)
    return ArrayBook(keys[once], values[once], layout.scope, layout=layout.name, source=str(path))


def write_published(path: Path, book: Book, layout: PublishedLayout) -> int:
    """Writes a book in a published layout; returns the number of records written.

    Raises:
        BookContentError: the book has another ply, an opening, no distances, or holds positions
            or values that the layout leaves out.
    """
    _require_fitting(book, layout)
    keys, values = book[:]
    if len(keys):
        book.scope.require_fitting(keys, values, path)
    records = _encode(keys, values, layout)
    with atomic_file(path) as file:
        file.write(records.tobytes())
    return len(records)


def guess_layout(path: Path) -> str | None:
    """The published layout that a file's size and first records fit, or None.

    A guess, to be offered to a person: nothing in such a file says what it is.
    """
    size = path.stat().st_size
    by_size = sorted(PUBLISHED.values(), key=lambda layout: layout.published_size != size)
    with path.open("rb") as file:
        head = file.read(600)  # a multiple of every record's size
    for layout in by_size:
        if size == 0 or size % layout.record or _wrong_board(layout):
            continue
        try:
            _decode(np.frombuffer(head, dtype=np.uint8).reshape(-1, layout.record), layout, path)
        except BookFormatError:
            continue
        return layout.name
    return None


def _wrong_board(layout: PublishedLayout) -> str | None:
    """Why a layout cannot be used here, if so: its records have no room for larger boards."""
    if (WIDTH, HEIGHT) == (7, 6):
        return None
    return f"the {layout.name} layout is for boards of 7x6, this plymill plays {WIDTH}x{HEIGHT}"


def _decode(
    records: npt.NDArray[np.uint8], layout: PublishedLayout, path: Path
) -> tuple[Keys, Values]:
    """Canonical keys and side-to-move values of records, in the order of the file."""
    scope = layout.scope
    width = layout.record - scope.distances
    codes = np.zeros(len(records), dtype=np.uint64)
    for byte in range(width):
        codes = codes << np.uint64(8) | records[:, byte]
    bits = (codes & np.uint64(_VALUE_BITS)).astype(np.int8)
    worst = bits.max(initial=0)
    if worst > (0 if scope.distances else 1):
        raise BookFormatError(
            f"record {int(np.argmax(bits))} of {path} has the value bits {worst}, "
            f"which the {layout.name} layout does not know"
        )
    try:
        keys = keys_from_huffman(codes & ~np.uint64(_VALUE_BITS), scope.ply)
    except InvalidPositionError as error:
        raise BookFormatError(f"{path} is no book of the {layout.name} layout: {error}") from None
    values = -bits
    if scope.distances:
        stored = np.ascontiguousarray(records[:, -1]).view(np.int8)
        values = scores_from_distance_bytes(stored, scope.moves_left)
        wrong = np.flatnonzero(values == NO_SCORE)
        if len(wrong):
            raise BookFormatError(
                f"record {wrong[0]} of {path} has the value {stored[wrong[0]]}, which is no "
                f"distance of a position of {scope.ply} stones"
            )
    return canonical_keys(keys), values


def _encode(keys: Keys, values: Values, layout: PublishedLayout) -> npt.NDArray[np.uint8]:
    """The records of a book, one row of bytes each, in the order of the layout."""
    distances = layout.scope.distances
    if not distances:
        kept = values <= 0
        keys, values = keys[kept], values[kept]
    codes = huffman_keys(keys).astype(np.uint32)
    # The codes of 8 stones have 24 bits: signed or not makes no difference to their order.
    order = np.argsort(codes.view(np.int32))
    codes, values = codes[order], values[order]
    words = codes if distances else codes | (values < 0)
    width = layout.record - distances
    records = words.astype(">u4").view(np.uint8).reshape(-1, 4)[:, 4 - width :]
    if not distances:
        return records
    return np.column_stack(
        (records, distance_bytes(values, layout.scope.moves_left).view(np.uint8))
    )


def _require_fitting(book: Book, layout: PublishedLayout) -> None:
    scope, wanted = book.scope, layout.scope
    if reason := _wrong_board(layout):
        raise BookContentError(f"cannot write {book.source}: {reason}")
    if scope.ply != wanted.ply or scope.opening:
        below = f" below {scope.opening}" if scope.opening else ""
        raise BookContentError(
            f"{book.source} holds positions of ply {scope.ply}{below}; "
            f"the {layout.name} layout is for whole books of ply {wanted.ply}"
        )
    if wanted.distances and not scope.distances:
        raise BookContentError(
            f"{book.source} holds outcomes only, the {layout.name} layout needs distances"
        )
    if scope.decided or scope.immediate_wins or scope.mirrored:
        raise BookContentError(
            f"{book.source} holds decided positions, immediate wins or both mirror images, "
            f"which the {layout.name} layout leaves out"
        )
