"""plymill's own format: what is written is read, the same bytes every time, damage is found."""

import hashlib
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plymill.books import (
    ArrayBook,
    BookContentError,
    BookFormatError,
    BookWriter,
    PackedBook,
    Scope,
    open_book,
    write_blocks,
)
from plymill.books.book import Block
from plymill.books.format import CHECKSUM, HEADER, HEADER_SIZE, Header

files = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def path(late_book: ArrayBook, tmp_path: Path) -> Path:
    """The late book in 17 blocks."""
    target = tmp_path / "late.book"
    with BookWriter(target, late_book.scope, block_length=64) as writer:
        writer.append(*late_book[:])
    return target


def rewritten_header(path: Path, **fields: int) -> None:
    """Changes numbers of the header and mends its checksum."""
    names = ["magic", "version", "width", "height", "ply", "flags"]
    raw = path.read_bytes()
    values = list(HEADER.unpack_from(raw))
    for name, value in fields.items():
        values[names.index(name)] = value
    header = HEADER.pack(*values)
    path.write_bytes(header + CHECKSUM.pack(zlib.crc32(header)) + raw[HEADER_SIZE:])


def test_what_is_written_is_read(path: Path, late_book: ArrayBook) -> None:
    with PackedBook(path) as book:
        book.verify()
        assert list(book) == list(late_book)
        assert book.scope == late_book.scope
        assert book.layout == "plymill"


@files
@given(
    st.lists(st.integers(0, 1057), unique=True),
    st.integers(1, 300),
    st.lists(st.integers(0, 1058), max_size=5),
)
def test_any_subset_in_any_pieces_comes_back(
    tmp_path: Path, late_book: ArrayBook, chosen: list[int], block_length: int, cuts: list[int]
) -> None:
    places = np.array(sorted(chosen), dtype=np.intp)
    keys, values = late_book.keys[places], late_book.values[places]
    with BookWriter(tmp_path / "some.book", late_book.scope, block_length=block_length) as writer:
        for part in np.split(np.arange(len(places)), sorted(cuts)):
            writer.append(keys[part], values[part])
    book = open_book(tmp_path / "some.book")
    book.verify()
    assert len(book) == writer.count == len(chosen)
    assert book[:][0].tolist() == keys.tolist()
    assert book[:][1].tolist() == values.tolist()


def test_the_bytes_do_not_depend_on_the_pieces(late_book: ArrayBook, tmp_path: Path) -> None:
    keys, values = late_book[:]
    for name, size in (("one", 2000), ("two", 7)):
        pieces = [(keys[i : i + size], values[i : i + size]) for i in range(0, len(keys), size)]
        assert write_blocks(tmp_path / name, pieces, late_book.scope) == len(keys)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_threads_may_share_a_book(path: Path, late_book: ArrayBook) -> None:
    book = PackedBook(path)

    def ask(seed: int) -> bool:
        places = np.random.default_rng(seed).permutation(len(late_book))
        pairs = [(book[int(place)], late_book[int(place)]) for place in places]
        return all(ours == theirs for ours, theirs in pairs)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(16)))


@pytest.mark.parametrize(
    "scope",
    [
        Scope(ply=11, opening="4445", distances=True, decided=True, mirrored=True),
        Scope(ply=11, opening="4445", distances=False, immediate_wins=True),
        Scope(ply=8, distances=False, first_wins_omitted=True),
    ],
)
def test_the_header_keeps_the_whole_scope(scope: Scope, tmp_path: Path) -> None:
    write_blocks(tmp_path / "empty.book", [], scope)
    book = open_book(tmp_path / "empty.book")
    assert book.scope == scope
    assert len(book) == 0
    assert list(book.blocks()) == []


def test_the_digest_is_the_sha256_of_all_that_follows_the_header(path: Path) -> None:
    book = PackedBook(path)
    assert book.digest == hashlib.sha256(path.read_bytes()[HEADER_SIZE:]).hexdigest()


@files
@given(st.floats(0, 1, exclude_max=True))
def test_every_truncation_is_found_on_opening(path: Path, part: float) -> None:
    raw = path.read_bytes()
    path.write_bytes(raw[: int(len(raw) * part)])
    try:
        with pytest.raises(BookFormatError, match=r"cut short|is no plymill book"):
            open_book(path, "plymill")
    finally:
        path.write_bytes(raw)


@files
@given(st.floats(0, 1, exclude_max=True), st.integers(0, 7))
def test_every_flipped_bit_is_found(path: Path, part: float, bit: int) -> None:
    raw = path.read_bytes()
    place = int(len(raw) * part)
    path.write_bytes(raw[:place] + bytes([raw[place] ^ 1 << bit]) + raw[place + 1 :])
    try:
        with pytest.raises(BookFormatError):
            open_book(path, "plymill").verify()
    finally:
        path.write_bytes(raw)


@files
@given(st.data())
def test_a_flipped_bit_in_a_block_gives_no_wrong_answer(
    path: Path, late_book: ArrayBook, data: st.DataObject
) -> None:
    raw = path.read_bytes()
    index = open_book(path)._header.index_size  # type: ignore[attr-defined]
    place = data.draw(st.integers(HEADER_SIZE, len(raw) - index - 1))
    bit = data.draw(st.integers(0, 7))
    path.write_bytes(raw[:place] + bytes([raw[place] ^ 1 << bit]) + raw[place + 1 :])
    try:
        # zstd leaves some bits of a frame's header unused.
        assert list(open_book(path)) == list(late_book)
    except BookFormatError:
        with pytest.raises(BookFormatError, match=r"block \d+ of .* is damaged"):
            list(open_book(path))
    finally:
        path.write_bytes(raw)


def test_a_damaged_block_is_named_when_it_is_needed_and_others_still_answer(
    path: Path, late_book: ArrayBook
) -> None:
    book = PackedBook(path)
    _, offset, size = book._index[5].item()
    raw = bytearray(path.read_bytes())
    raw[offset + size // 2] ^= 1
    path.write_bytes(raw)
    book = PackedBook(path)
    assert book[0] == late_book[0]
    with pytest.raises(
        BookFormatError, match=f"block 5 of .*late.book, at byte {offset}, is damaged"
    ):
        book[5 * 64]


def test_bytes_after_the_end_are_found(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(BookFormatError, match="something follows its end"):
        PackedBook(path)


def test_a_newer_version_is_refused(path: Path) -> None:
    rewritten_header(path, version=2)
    with pytest.raises(
        BookFormatError, match=r"version 2 .* reads up to 1: a newer plymill is needed"
    ):
        PackedBook(path)


def test_another_board_is_refused(path: Path) -> None:
    rewritten_header(path, width=8)
    with pytest.raises(BookFormatError, match="board of 8x6, this plymill plays 7x6"):
        PackedBook(path)


def test_a_wrong_digest_is_found_by_verify(path: Path) -> None:
    raw = path.read_bytes()
    header = replace(Header.unpack(raw, "late"), digest=bytes(32))
    path.write_bytes(header.pack() + raw[HEADER_SIZE:])
    with pytest.raises(BookFormatError, match=r"is damaged: its content has the SHA-256 digest"):
        PackedBook(path).verify()


def test_a_foreign_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "foreign").write_bytes(b"something else entirely")
    with pytest.raises(BookFormatError, match=r"is no plymill book: expected it to begin with"):
        PackedBook(tmp_path / "foreign")


def test_a_writer_refuses_what_does_not_belong(late_book: ArrayBook, tmp_path: Path) -> None:
    keys, values = late_book[:20]
    mirrored = late_book.scope
    cases = [
        (keys[[0, 2, 1]], values[:3], "position 2 .* ascending keys"),
        (keys[[0, 0]], values[:2], "position 1 .* ascending keys"),
        (np.array([2**62], dtype=np.uint64), values[:1], "position 0 .* does not belong"),
        (keys[:2], np.array([0, 6], dtype=np.int8), "position 1 .* a value outside of -5 to 4"),
        (keys[:2], values[:1], "2 keys came with 1 values"),
    ]
    for bad_keys, bad_values, message in cases:
        with (
            pytest.raises(BookContentError, match=message),
            BookWriter(tmp_path / "bad.book", mirrored) as writer,
        ):
            writer.append(bad_keys, bad_values)
    assert list(tmp_path.iterdir()) == []


def test_a_writer_counts_places_over_all_pieces(late_book: ArrayBook, tmp_path: Path) -> None:
    pieces = [late_book[:10], late_book[9:]]
    with pytest.raises(BookContentError, match=r"position 10 .* ascending keys"):
        write_blocks(tmp_path / "bad.book", pieces, late_book.scope)


def test_a_failure_leaves_the_older_book_and_no_other_file(
    path: Path, late_book: ArrayBook
) -> None:
    def failing() -> Iterator[Block]:
        yield late_book[:500]
        raise RuntimeError("the power goes")

    before = path.read_bytes()
    with pytest.raises(RuntimeError, match="the power goes"):
        write_blocks(path, failing(), late_book.scope)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]
