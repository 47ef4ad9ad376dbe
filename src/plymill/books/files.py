"""Opening and writing book files of every layout."""

import os
from collections.abc import Iterable
from pathlib import Path

import numpy.typing as npt

from plymill.books.arrays import ArrayBook
from plymill.books.book import Block, Book
from plymill.books.errors import BookFormatError
from plymill.books.format import MAGIC
from plymill.books.layouts import PUBLISHED, guess_layout, read_published, write_published
from plymill.books.packed import BookWriter, PackedBook
from plymill.books.scope import Scope
from plymill.errors import told

#: Names of the layouts that books can be read and written in.
LAYOUTS = ("plymill", *PUBLISHED)


def open_book(path: str | os.PathLike[str], layout: str | None = None) -> Book:
    """Opens a book.

    Args:
        path: the file.
        layout: ``8ply``, ``12ply`` or ``12ply-dist`` for the published layouts, whose files do
            not say what they are. plymill's own files do, and it may be left out.

    Raises:
        BookFormatError: the file cannot be read, is damaged, or is no plymill book while no
            layout is stated; the message then offers the layout that fits.
    """
    file = Path(path)
    _require_layout(layout)
    try:
        with file.open("rb") as opened:
            own = opened.read(len(MAGIC)) == MAGIC
        if layout == "plymill" or (own and layout is None):
            return PackedBook(file)
        if layout is not None and not own:
            return read_published(file, PUBLISHED[layout])
        guess = None if own else guess_layout(file)
    except OSError as error:
        raise BookFormatError(f"cannot read {file}: {told(error)}") from error
    if own:
        raise BookFormatError(f"{file} is a plymill book and not of the {layout} layout")
    hint = f"it looks like the layout {guess!r}" if guess else "no published layout fits either"
    raise BookFormatError(
        f"{file} does not begin like a plymill book, and other layouts have to be stated, "
        f"one of {', '.join(PUBLISHED)}: {hint}"
    )


def write_book(
    path: str | os.PathLike[str],
    keys: npt.ArrayLike,
    values: npt.ArrayLike,
    *,
    ply: int,
    distances: bool,
    opening: str = "",
    layout: str = "plymill",
) -> None:
    """Writes arrays as a book of the usual filter: undecided, no immediate win, one image.

    Args:
        path: the file; it appears whole or not at all.
        keys: ascending canonical keys.
        values: scores, or outcomes if not ``distances``, seen from the side to move.
        ply: number of stones of every position.
        distances: whether values are scores.
        opening: the moves that all positions follow.
        layout: one of `LAYOUTS`.

    Raises:
        BookContentError: positions or values that do not belong into such a book.
    """
    scope = Scope(ply=ply, distances=distances, opening=opening)
    convert_book(ArrayBook(keys, values, scope, source="the arrays"), path, layout)


def convert_book(book: Book, path: str | os.PathLike[str], layout: str = "plymill") -> int:
    """Writes any book in any layout that can hold it; returns the number of positions written.

    Raises:
        BookContentError: the layout cannot hold the book.
    """
    _require_layout(layout)
    if layout == "plymill":
        return write_blocks(path, book.blocks(), book.scope)
    return write_published(Path(path), book, PUBLISHED[layout])


def write_blocks(path: str | os.PathLike[str], blocks: Iterable[Block], scope: Scope) -> int:
    """Writes a stream of sorted blocks, such as a merge's, in plymill's own format.

    Memory is bounded by the largest block. Returns the number of positions written.

    Raises:
        BookContentError: keys do not ascend, or positions or values do not fit the scope.
    """
    with BookWriter(path, scope) as writer:
        for keys, values in blocks:
            writer.append(keys, values)
    return writer.count


def _require_layout(layout: str | None) -> None:
    if layout is not None and layout not in LAYOUTS:
        raise BookFormatError(
            f"there is no layout {layout!r}, expected one of {', '.join(LAYOUTS)}"
        )
