"""The merge against a dictionary, and every fault that it has to find and name."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plymill.books import (
    ArrayBook,
    BookContentError,
    Merge,
    Scope,
    convert_book,
    merge_to_file,
    open_book,
)
from plymill.books.book import Block

Entries = dict[int, int]


def block(*entries: tuple[int, int]) -> Block:
    return (
        np.array([key for key, _ in entries], dtype=np.uint64),
        np.array([value for _, value in entries], dtype=np.int8),
    )


def blocks(entries: Entries, size: int) -> Iterator[Block]:
    pairs = sorted(entries.items())
    for start in range(0, len(pairs), size):
        yield block(*pairs[start : start + size])
        yield block()  # empty blocks must not disturb


def merged(merge: Merge) -> list[tuple[int, int]]:
    return [
        pair for keys, values in merge for pair in zip(keys.tolist(), values.tolist(), strict=True)
    ]


sources = st.lists(
    st.tuples(
        st.dictionaries(st.integers(0, 60), st.integers(-2, 2), max_size=30), st.integers(1, 9)
    ),
    max_size=6,
)


@given(sources)
def test_a_merge_is_the_sorted_union_in_which_the_first_source_counts(
    given_sources: list[tuple[Entries, int]],
) -> None:
    merge = Merge({str(i): blocks(*source) for i, source in enumerate(given_sources)})
    union: Entries = {}
    for entries, _ in reversed(given_sources):
        union |= entries
    assert merged(merge) == sorted(union.items())
    assert merge.report.positions == len(union)


@given(sources)
def test_repeats_and_contradictions_are_counted(
    given_sources: list[tuple[Entries, int]],
) -> None:
    merge = Merge({str(i): blocks(*source) for i, source in enumerate(given_sources)})
    merged(merge)
    said: dict[int, list[int]] = {}
    for entries, _ in given_sources:
        for key, value in entries.items():
            said.setdefault(key, []).append(value)
    clashes = [key for key, values in said.items() if len(set(values)) > 1]
    repeats = sum(len(v) - 1 for key, v in said.items() if key not in clashes)
    assert merge.report.contradictions == len(clashes)
    assert merge.report.duplicates == repeats
    named = [example.key for example in merge.report.contradiction_examples]
    assert named == sorted(clashes)[:10]


@given(sources, st.sets(st.integers(0, 60)), st.integers(1, 9))
def test_gaps_and_surprises_are_found(
    given_sources: list[tuple[Entries, int]], expected: set[int], size: int
) -> None:
    ordered = np.array(sorted(expected), dtype=np.uint64)
    pieces = [ordered[start : start + size] for start in range(0, len(ordered), size)]
    merge = Merge(
        {str(i): blocks(*source) for i, source in enumerate(given_sources)}, expected=pieces
    )
    keys = {key for key, _ in merged(merge)}
    assert merge.report.missing == len(expected - keys)
    assert merge.report.unexpected == len(keys - expected)
    assert merge.report.missing_examples == sorted(expected - keys)[:10]
    assert merge.report.unexpected_examples == sorted(keys - expected)[:10]


def test_overlaps_name_the_sources() -> None:
    merge = Merge(
        {
            "unit 1": [block((1, 0), (2, 0)), block((3, 0))],
            "unit 2": [block((2, 0), (3, 0))],
            "unit 3": [block((7, 1))],
        }
    )
    merged(merge)
    assert merge.report.overlaps == {("unit 1", "unit 2"): 2}
    assert merge.report.ok
    assert "unit 1 and unit 2 share 2 positions" in str(merge.report)


def test_a_source_that_repeats_itself_is_named_also_across_its_blocks() -> None:
    merge = Merge({"unit 1": [block((1, 0), (2, 0), (2, 0)), block((2, 0), (3, 0))]})
    assert merged(merge) == [(1, 0), (2, 0), (3, 0)]
    assert merge.report.overlaps == {("unit 1", "unit 1"): 2}
    assert "unit 1 holds 2 positions more than once" in str(merge.report)


def test_a_contradiction_is_named_with_its_sources_and_drawn(late_book: ArrayBook) -> None:
    keys, values = late_book[:3]
    merge = Merge({"unit 1": [(keys, values)], "unit 2": [(keys[1:2], values[1:2] + np.int8(1))]})
    merged(merge)
    text = str(merge.report)
    assert f"key {keys[1]} has the value {values[1]} in unit 1, {values[1] + 1} in unit 2" in text
    assert "1 2 3 4 5 6 7" in text
    assert json.loads(merge.report.to_json())["contradictions"] == 1
    with pytest.raises(BookContentError, match="1 positions have different values"):
        merge.report.require_ok()


@pytest.mark.parametrize(
    "source",
    [[block((5, 0), (4, 0))], [block((1, 0), (5, 0)), block((4, 0))]],
    ids=["within a block", "between blocks"],
)
def test_an_unsorted_source_is_named(source: list[Block]) -> None:
    merge = Merge({"unit 1": [block((9, 0))], "unit 2": source})
    with pytest.raises(BookContentError, match="unit 2 is not sorted: key 4 comes after 5"):
        merged(merge)


def test_a_source_with_unequal_arrays_is_named() -> None:
    merge = Merge({"unit 1": [(np.array([1, 2], dtype=np.uint64), np.zeros(1, dtype=np.int8))]})
    with pytest.raises(BookContentError, match="unit 1 has 2 keys with 1 values"):
        merged(merge)


def test_no_source_needs_more_than_the_block_at_hand() -> None:
    """Of a source no block is asked for before all of the one before it has been passed on."""
    passed = -1

    def counted() -> Iterator[Block]:
        for number in range(20):
            assert passed >= 10 * number - 11
            yield block(*[(10 * number + i, 0) for i in range(10)])

    for keys, _ in Merge({"one": counted(), "two": counted()}):
        passed = int(keys[-1])
    assert passed == 199


def test_merged_units_are_the_book_byte_for_byte(late_book: ArrayBook, tmp_path: Path) -> None:
    units = np.arange(len(late_book)) % 7
    parts = {
        f"unit {unit}": [(late_book.keys[units == unit], late_book.values[units == unit])]
        for unit in range(7)
    }
    report = merge_to_file(
        tmp_path / "merged.book", late_book.scope, parts, expected=[late_book.keys]
    )
    convert_book(late_book, tmp_path / "whole.book")
    assert report.ok
    assert report.positions == len(late_book)
    assert (tmp_path / "merged.book").read_bytes() == (tmp_path / "whole.book").read_bytes()


def test_no_file_appears_from_units_with_a_gap(late_book: ArrayBook, tmp_path: Path) -> None:
    target = tmp_path / "merged.book"
    parts = {"unit 1": [late_book[:40]], "unit 2": [late_book[41:]]}
    with pytest.raises(BookContentError, match="1 positions are missing, the first keys are"):
        merge_to_file(target, late_book.scope, parts, expected=[late_book.keys])
    assert list(tmp_path.iterdir()) == []
    merge_to_file(target, late_book.scope, parts)
    assert len(open_book(target)) == len(late_book) - 1


def test_nothing_merges_to_nothing(solve: Callable[[Scope], ArrayBook]) -> None:
    assert merged(Merge({})) == []
    assert merged(Merge({"unit 1": []}, expected=[])) == []
