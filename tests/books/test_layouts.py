"""The published layouts: read, written, converted, and understood by another reader."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from plymill.books import (
    ArrayBook,
    Book,
    BookContentError,
    BookFormatError,
    Scope,
    convert_book,
    huffman_keys,
    keys_from_huffman,
    open_book,
    outcomes,
    positions_of,
    write_book,
)
from plymill.books.layouts import guess_layout
from plymill.games import Position
from plymill.games.arrays import canonical_keys, immediate_wins

Published = Callable[[str], Path]
PublishedBook = Callable[[str], Book]
LAYOUTS = ["8ply", "12ply", "12ply-dist"]
COUNTS = {"8ply": 28_922, "12ply": 1_735_945, "12ply-dist": 4_200_899}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_published_books_have_the_known_numbers_of_positions(
    published_book: PublishedBook, layout: str
) -> None:
    book = published_book(layout)
    assert len(book) == COUNTS[layout]
    assert book.layout == layout
    assert book.scope.first_wins_omitted != book.distances


def test_the_known_values_of_the_published_book(published_book: PublishedBook) -> None:
    _, values = published_book("12ply-dist")[:]
    counts = [int(np.count_nonzero(np.sign(values) == sign)) for sign in (1, 0, -1)]
    assert counts == [2_464_954, 270_947, 1_464_998]


@pytest.mark.parametrize(
    "layout", ["8ply", "12ply", pytest.param("12ply-dist", marks=pytest.mark.slow)]
)
def test_converting_to_plymill_and_back_loses_nothing(
    published_book: PublishedBook, packed: Published, layout: str, tmp_path: Path
) -> None:
    book = published_book(layout)
    own = open_book(packed(layout))
    own.verify()
    assert own.scope == book.scope
    convert_book(own, tmp_path / "back.dat", layout)
    back = open_book(tmp_path / "back.dat", layout)
    keys, values = book[:]
    for converted in (own, back):
        assert np.array_equal(converted[:][0], keys)
        assert np.array_equal(converted[:][1], values)


@pytest.mark.slow
def test_the_book_with_distances_fits_five_megabytes(packed: Published) -> None:
    assert packed("12ply-dist").stat().st_size < 5_000_000


def test_records_are_the_documented_ones(tmp_path: Path) -> None:
    """Two positions of 8 stones, spelled out byte by byte: a lost one and a draw."""
    keys = np.sort(canonical_keys([Position(moves).key for moves in ("44444422", "44444433")]))
    write_book(tmp_path / "two.dat", keys, [-1, 0], ply=8, distances=False, layout="8ply")
    codes = huffman_keys(keys).tolist()
    records = sorted([codes[0] | 1, codes[1]])
    assert (tmp_path / "two.dat").read_bytes() == b"".join(r.to_bytes(3) for r in records)


def test_records_with_distances_are_in_signed_order(tmp_path: Path) -> None:
    book = some_book(distances=True)
    convert_book(book, tmp_path / "some.dat", "12ply-dist")
    records = np.frombuffer(
        (tmp_path / "some.dat").read_bytes(), dtype=[("key", ">i4"), ("value", "i1")]
    )
    signed = records["key"].astype(np.int64)
    assert (np.diff(signed) > 0).all()
    assert signed[0] < 0 < signed[-1]
    keys = keys_from_huffman(signed % 2**32, 12)
    assert np.array_equal(np.sort(keys), book.keys)  # the image with the smaller key is written


def test_player_1s_wins_are_left_out_without_distances(tmp_path: Path) -> None:
    book = some_book(distances=True)
    convert_book(book, tmp_path / "some.dat", "12ply")
    short = open_book(tmp_path / "some.dat", "12ply")
    assert len(short) == np.count_nonzero(book.values <= 0) < len(book)
    values, found = short.lookup(book.keys)
    assert found.all()
    assert np.array_equal(values, np.sign(book.values))


def some_book(*, distances: bool) -> ArrayBook:
    """A thousand positions of ply 12 with values out of the air."""
    keys = positions_of(Scope(ply=12, distances=True, opening="4444"))
    keys = keys[:: len(keys) // 1000]
    dice = np.random.default_rng(3)
    values = dice.integers(-15, 15, len(keys)).astype(np.int8)
    book = ArrayBook(keys, values, Scope(ply=12, distances=True))
    return book if distances else outcomes(book)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_file_cut_short_is_refused(layout: str, published: Published, tmp_path: Path) -> None:
    (tmp_path / "cut.dat").write_bytes(published(layout).read_bytes()[:-1])
    with pytest.raises(BookFormatError, match="expected a multiple of"):
        open_book(tmp_path / "cut.dat", layout)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_empty_file_is_no_book(layout: str, tmp_path: Path) -> None:
    """Without player 1's wins, every position would be one in a book of no records."""
    (tmp_path / "empty.dat").touch()
    with pytest.raises(BookFormatError, match=r"has 0 bytes, expected a multiple of"):
        open_book(tmp_path / "empty.dat", layout)


def test_the_wrong_layout_is_refused_and_not_misread(published: Published) -> None:
    with pytest.raises(BookFormatError, match=r"expected a multiple|no book of the 12ply layout"):
        open_book(published("12ply-dist"), "12ply")
    with pytest.raises(BookFormatError, match=r"which is no distance|no book of|value bits"):
        open_book(published("8ply"), "12ply-dist")


@pytest.mark.parametrize(
    ("record", "layout", "message"),
    [
        (b"\0\0\x03", "8ply", "record 0 of .* value bits 3, which the 8ply layout does not know"),
        (b"\0\0\0", "8ply", "no book of the 8ply layout: Huffman key 0x0 at index 0"),
        (b"\0\0\0\x01\0", "12ply-dist", "value bits 1"),
    ],
)
def test_a_record_that_is_none_is_named(
    record: bytes, layout: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "bad.dat").write_bytes(record)
    with pytest.raises(BookFormatError, match=message):
        open_book(tmp_path / "bad.dat", layout)


def test_an_impossible_distance_is_named(tmp_path: Path) -> None:
    code = Position("444444222666").huffman_key
    (tmp_path / "bad.dat").write_bytes(code.to_bytes(4) + b"\x05")
    with pytest.raises(
        BookFormatError, match=r"record 0 of .* has the value 5, which is no distance"
    ):
        open_book(tmp_path / "bad.dat", "12ply-dist")


def test_a_pair_with_two_values_is_named(tmp_path: Path) -> None:
    position = Position("44444422")
    codes = sorted([position.huffman_key, position.mirror().huffman_key | 1])
    (tmp_path / "bad.dat").write_bytes(b"".join(code.to_bytes(3) for code in codes))
    with pytest.raises(BookFormatError, match="twice with different values"):
        open_book(tmp_path / "bad.dat", "8ply")


def test_a_layout_refuses_a_book_that_it_cannot_hold(late_book: ArrayBook, tmp_path: Path) -> None:
    target = tmp_path / "no.dat"
    with pytest.raises(BookContentError, match="is for whole books of ply 12"):
        convert_book(late_book, target, "12ply-dist")
    with pytest.raises(BookContentError, match="needs distances"):
        convert_book(some_book(distances=False), target, "12ply-dist")
    everything = ArrayBook([], [], Scope(ply=12, distances=True, immediate_wins=True))
    with pytest.raises(BookContentError, match="which the 12ply layout leaves out"):
        convert_book(everything, target, "12ply")
    assert not target.exists()


@pytest.mark.parametrize("layout", ["plymill", "12ply-dist"])
@pytest.mark.parametrize(
    ("moves", "value", "says"),
    [
        ("44", 0, "does not belong into the book"),  # 2 stones
        ("121212333444", 0, "does not belong into the book"),  # the mover wins at once
        ("444444222666", 16, "value outside of -15 to 14"),
        ("444444222666", -25, "value outside of -15 to 14"),
        ("777444444555", 0, "is not the smaller of its mirror pair"),
    ],
)
def test_no_layout_takes_what_does_not_belong(
    moves: str, value: int, says: str, layout: str, tmp_path: Path
) -> None:
    """Written as it is it would be another position's record, or a wrong distance."""
    target = tmp_path / "no.book"
    with pytest.raises(BookContentError, match=f"position 0 for .*no.book, key .* {says}"):
        write_book(target, [Position(moves).key], [value], ply=12, distances=True, layout=layout)
    assert not target.exists()


def test_published_layouts_are_for_the_standard_board(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """On 8x6 the key of 12 stones has 33 bits, and would lose one."""
    monkeypatch.setattr("plymill.books.layouts.WIDTH", 8)
    told = r"^cannot (read|write) .*: the 12ply-dist layout is for boards of 7x6, .* plays 8x6$"
    with pytest.raises(BookContentError, match=told):
        convert_book(some_book(distances=True), tmp_path / "no.dat", "12ply-dist")
    (tmp_path / "there.dat").write_bytes(bytes(500))
    with pytest.raises(BookFormatError, match=told):
        open_book(tmp_path / "there.dat", "12ply-dist")
    assert guess_layout(tmp_path / "there.dat") is None


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_layout_of_a_published_file_is_guessed_but_only_offered(
    published: Published, layout: str
) -> None:
    assert guess_layout(published(layout)) == layout
    with pytest.raises(
        BookFormatError, match=f"have to be stated, .* looks like the layout '{layout}'"
    ):
        open_book(published(layout))


def test_no_layout_is_offered_for_a_file_that_fits_none(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("sixty bytes that are no book at all, whatever one may try..")
    with pytest.raises(BookFormatError, match="no published layout fits either"):
        open_book(tmp_path / "text")


def test_a_missing_file_and_an_unknown_layout_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BookFormatError, match=r"cannot read .*none\.book: there is no such file"):
        open_book(tmp_path / "none.book")
    with pytest.raises(BookFormatError, match="there is no layout '9ply', expected one of"):
        open_book(tmp_path / "none.book", "9ply")


def test_a_plymill_book_is_not_read_as_a_published_one(tmp_path: Path) -> None:
    convert_book(some_book(distances=True), tmp_path / "own.book")
    with pytest.raises(BookFormatError, match="is a plymill book and not of the 12ply layout"):
        open_book(tmp_path / "own.book", "12ply")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_bitbully_reads_what_we_write(
    published_book: PublishedBook, layout: str, tmp_path: Path
) -> None:
    """Its look-up gives our values, for both mirror images and for what the book leaves out."""
    core = pytest.importorskip("bitbully.bitbully_core", reason="bitbully reads our books")
    book = published_book(layout)
    convert_book(book, tmp_path / "ours.dat", layout)
    theirs = core.OpeningBookCore(tmp_path / "ours.dat", layout == "8ply", book.distances)
    assert theirs.getBookSize() == len(book)

    layer = positions_of(Scope(ply=book.ply, distances=True, opening="4", immediate_wins=True))
    keys = np.random.default_rng(7).choice(layer, 1000, replace=False)
    assert immediate_wins(keys).any()
    for key in keys.tolist():
        for position in (Position.from_key(key), Position.from_key(key).mirror()):
            board = core.BoardCore()
            assert board.setBoard(position.to_array().tolist())
            assert theirs.getBoardValue(board) == book.find(position)
