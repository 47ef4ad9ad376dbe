"""Opening books: Huffman keys, layouts of files, reading, merging, deriving, validating."""

from plymill.books.arrays import ArrayBook
from plymill.books.book import Book
from plymill.books.derive import derive, outcomes
from plymill.books.errors import BookContentError, BookFormatError, NotInBookError
from plymill.books.files import LAYOUTS, convert_book, open_book, write_blocks, write_book
from plymill.books.huffman import huffman_keys, keys_from_huffman
from plymill.books.induction import positions_of
from plymill.books.merge import Contradiction, Merge, MergeReport, merge_to_file
from plymill.books.packed import BookWriter, PackedBook
from plymill.books.report import Check, Example, Fault, Report
from plymill.books.scope import Scope
from plymill.books.scores import describe
from plymill.books.uci import read_uci
from plymill.books.validate import (
    check_against,
    check_against_uci,
    check_itself,
    check_sample,
    validate,
)

__all__ = [
    "LAYOUTS",
    "ArrayBook",
    "Book",
    "BookContentError",
    "BookFormatError",
    "BookWriter",
    "Check",
    "Contradiction",
    "Example",
    "Fault",
    "Merge",
    "MergeReport",
    "NotInBookError",
    "PackedBook",
    "Report",
    "Scope",
    "check_against",
    "check_against_uci",
    "check_itself",
    "check_sample",
    "convert_book",
    "derive",
    "describe",
    "huffman_keys",
    "keys_from_huffman",
    "merge_to_file",
    "open_book",
    "outcomes",
    "positions_of",
    "read_uci",
    "validate",
    "write_blocks",
    "write_book",
]
