"""``plymill book info``, ``verify``, ``derive`` and ``convert``."""

import json
from pathlib import Path

import pytest

from plymill.books import open_book, write_book
from tests.cli.helpers import OPENING, Plymill


def test_info_tells_what_a_book_holds(plymill_: Plymill, book: Path) -> None:
    told = plymill_("book", "info", book)
    assert told.code == 0
    assert "279 of 12 stones" in told.out
    assert OPENING in told.out
    facts = json.loads(plymill_("book", "info", book, "--json").out)
    assert facts["positions"] == sum(facts["outcomes"].values()) == sum(facts["values"].values())
    assert facts["bytes"] == book.stat().st_size
    with open_book(book) as opened:
        values = opened[:][1]
    assert facts["outcomes"]["player 1 wins"] == int((values > 0).sum())
    assert facts["outcomes"]["player 2 wins"] == int((values < 0).sum())


def test_verify_passes_a_sound_book_and_says_how_much_was_compared(
    plymill_: Plymill, book: Path
) -> None:
    checked = plymill_("book", "verify", book, "--against", book, "--sample", 10, "--json")
    assert checked.code == 0
    report = json.loads(checked.out)
    assert report["ok"] is True
    assert [check["compared"] for check in report["checks"]] == [279, 279, 10]
    assert "passed" in plymill_("book", "verify", book).out


def test_verify_fails_a_wrong_value_with_exit_code_1_and_shows_it(
    plymill_: Plymill, book: Path, tmp_path: Path
) -> None:
    with open_book(book) as opened:
        keys, values = opened[:]
    changed = values.copy()
    changed[7] = 2 if changed[7] != 2 else 3
    wrong = tmp_path / "wrong.plymill"
    write_book(wrong, keys, changed, ply=12, distances=True, opening=OPENING)
    checked = plymill_("book", "verify", wrong, "--against", book)
    assert checked.code == 1
    assert "1 differing" in checked.out
    assert f"key {keys[7]}" in checked.out


def test_verify_calls_a_damaged_file_damaged(plymill_: Plymill, book: Path, tmp_path: Path) -> None:
    data = bytearray(book.read_bytes())
    data[-20] ^= 1
    damaged = tmp_path / "damaged.plymill"
    damaged.write_bytes(data)
    checked = plymill_("book", "verify", damaged)
    assert checked.code == 2
    assert "is damaged" in checked.err


def test_derive_makes_the_book_of_a_lower_ply(
    plymill_: Plymill, book: Path, tmp_path: Path
) -> None:
    out = tmp_path / "lower.plymill"
    made = plymill_("book", "derive", book, 10, out, "--json")
    assert made.code == 0
    assert json.loads(made.out)["path"] == str(out)
    with open_book(out) as lower:
        assert lower.ply == 10
        assert len(lower) == json.loads(made.out)["positions"] > 0
    assert plymill_("book", "verify", out, "--sample", 5).code == 0


def test_convert_writes_another_layout_that_holds_the_same(
    plymill_: Plymill, tmp_path: Path
) -> None:
    pytest.importorskip("bitbully_databases", reason="the published books come with this package")
    out = tmp_path / "8ply.plymill"
    assert plymill_("book", "convert", "published:8ply", out).code == 0
    assert plymill_("book", "verify", out, "--against", "published:8ply").code == 0
    back = tmp_path / "8ply.dat"
    made = plymill_("book", "convert", out, back, "--to", "8ply")
    assert made.code == 0
    assert "in the layout 8ply" in made.out
    words = ("book", "verify", back, "--layout", "8ply", "--against", out, "--json")
    assert json.loads(plymill_(*words).out)["ok"] is True


def test_a_file_that_is_there_is_replaced_only_by_force(
    plymill_: Plymill, book: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.plymill"
    out.write_text("precious")
    refused = plymill_("book", "convert", book, out)
    assert refused.code == 2
    assert f"{out} is there already; --force replaces it" in refused.err
    assert out.read_text() == "precious"
    assert plymill_("book", "convert", book, out, "--force").code == 0
    assert out.read_bytes() == book.read_bytes()
