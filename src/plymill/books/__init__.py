"""Opening books: Huffman keys, layouts of files, reading, merging, deriving, validating."""

from plymill.books.arrays import ArrayBook
from plymill.books.book import Book
from plymill.books.errors import BookContentError, BookFormatError, NotInBookError
from plymill.books.files import LAYOUTS, convert_book, open_book, write_blocks, write_book
from plymill.books.huffman import huffman_keys, keys_from_huffman
from plymill.books.packed import BookWriter, PackedBook
from plymill.books.scope import Scope
from plymill.books.scores import describe

__all__ = [
    "LAYOUTS",
    "ArrayBook",
    "Book",
    "BookContentError",
    "BookFormatError",
    "BookWriter",
    "NotInBookError",
    "PackedBook",
    "Scope",
    "convert_book",
    "describe",
    "huffman_keys",
    "keys_from_huffman",
    "open_book",
    "write_blocks",
    "write_book",
]
