"""Books of lower plies from a book of a higher one."""

from dataclasses import replace

import numpy as np

from plymill.books.arrays import ArrayBook
from plymill.books.book import Book
from plymill.books.errors import BookContentError
from plymill.books.induction import induce
from plymill.books.scope import Scope
from plymill.games.connect4 import Position
from plymill.games.layers import undecided_layers


def derive(book: Book, ply: int) -> ArrayBook:
    """The book of a lower ply, by backward induction from a complete book of a higher one.

    Distances are kept, and so is the opening. The result has the usual filter: nobody has won,
    no immediate win, one position of each mirror pair. Positions that the higher book leaves out
    because the side to move wins at once are valued on the spot.

    Args:
        book: every position of its ply that follows its opening, whatever its layout.
        ply: from the length of the opening up to the book's ply less one.

    Raises:
        BookContentError: no such ply lies between the opening and the book.
        NotInBookError: the book has a gap; the message names the position.
    """
    root = Position(book.opening)
    if not root.ply <= ply < book.ply:
        raise BookContentError(
            f"cannot derive ply {ply} from {book.source}: "
            f"expected a ply from {root.ply} to {book.ply - 1}"
        )
    layers = undecided_layers(np.array([root.key], dtype=np.uint64), book.ply - 1 - root.ply)
    wanted = [layer for depth, layer in enumerate(layers) if root.ply + depth >= ply]
    layer = induce(wanted, book)
    scope = Scope(ply=ply, distances=book.distances, opening=book.opening)
    return ArrayBook(
        layer.keys, layer.values, scope, source=f"the book of ply {ply} derived from {book.source}"
    )


def outcomes(book: Book) -> ArrayBook:
    """A copy of a book in memory that holds outcomes, -1, 0 and 1, in the place of scores."""
    keys, values = book[:]
    return ArrayBook(
        keys,
        np.sign(values),
        replace(book.scope, distances=False),
        source=f"the outcomes of {book.source}",
    )
