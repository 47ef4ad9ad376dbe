"""What every book answers, whatever its layout: look-ups, misses, moves, slices."""

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from plymill.books import (
    ArrayBook,
    Book,
    BookContentError,
    NotInBookError,
    Scope,
    convert_book,
    open_book,
    outcomes,
    positions_of,
)
from plymill.games import Position
from plymill.games.arrays import immediate_wins, mirror_keys
from plymill.games.layers import undecided_layers

Score = Callable[[Position], int]


@pytest.fixture(params=["memory", "packed"])
def book(request: pytest.FixtureRequest, late_book: ArrayBook, tmp_path: Path) -> Book:
    """The late book, once as arrays and once from a file."""
    if request.param == "memory":
        return late_book
    convert_book(late_book, tmp_path / "late.book")
    return open_book(tmp_path / "late.book")


def whole_layer(book: Book) -> list[Position]:
    """All undecided positions of the book's ply below its opening, immediate wins included."""
    root = np.array([Position(book.opening).key], dtype=np.uint64)
    *_, layer = undecided_layers(root, book.ply - Position(book.opening).ply)
    return [Position.from_key(key) for key in layer.tolist()]


def test_every_position_of_the_layer_has_its_exact_score(book: Book, score: Score) -> None:
    layer = whole_layer(book)
    assert len(layer) > len(book) > 100  # some are left out because the mover wins at once
    assert [book.find(position) for position in layer] == [score(position) for position in layer]


def test_mirror_images_have_the_same_value(book: Book) -> None:
    for position in whole_layer(book)[:50]:
        assert book.find(position.mirror()) == book.get(position)
        assert position.mirror() in book


def test_a_batch_answers_as_single_questions_do(book: Book) -> None:
    layer = whole_layer(book)
    keys = np.array([position.key for position in layer], dtype=np.uint64)
    for asked in (keys, mirror_keys(keys), keys[::-1]):
        values, found = book.lookup(asked)
        assert found.all()
        assert values.tolist() == [book.find(Position.from_key(key)) for key in asked.tolist()]


def test_only_what_is_stored_can_be_asked_for(book: Book) -> None:
    keys = np.array([position.key for position in whole_layer(book)], dtype=np.uint64)
    _, found = book.lookup(keys, stored_only=True)
    assert found.tolist() == (~immediate_wins(keys)).tolist()


def test_a_batch_finds_nothing_for_keys_outside_of_the_scope(book: Book, opening: str) -> None:
    strange = [Position(opening).key, Position("4453").key, 2**63, 0]
    values, found = book.lookup(np.array(strange, dtype=np.uint64))
    assert not found.any()
    assert not values.any()


def test_an_empty_batch_is_answered(book: Book) -> None:
    values, found = book.lookup([])
    assert len(values) == len(found) == 0


def test_another_number_of_stones_is_refused(book: Book) -> None:
    with pytest.raises(NotInBookError, match=r"position 4453 has 4 stones, .* positions of 32"):
        book.find(Position("4453"))
    assert book.get(Position("4453")) is None


def test_a_finished_game_is_refused() -> None:
    book = ArrayBook([], [], Scope(ply=7, distances=True))
    with pytest.raises(NotInBookError, match="is over, player 1 has won"):
        book.find(Position("1212121"))


def test_a_position_of_another_opening_is_refused_even_if_the_mover_wins_at_once() -> None:
    book = ArrayBook([], [], Scope(ply=6, distances=True, opening="4"))
    assert book.find(Position("414141")) == 18
    with pytest.raises(NotInBookError, match="does not follow 4"):
        book.find(Position("121212"))


def test_a_missing_position_without_an_immediate_win_is_a_gap_and_not_a_win() -> None:
    book = ArrayBook([], [], Scope(ply=2, distances=True), source="some.book")
    with pytest.raises(NotInBookError, match=r"position 44 is missing in some\.book"):
        book.find(Position("44"))


def test_without_player_1s_wins_a_miss_means_that_he_wins() -> None:
    even = ArrayBook([], [], Scope(ply=2, distances=False, first_wins_omitted=True))
    odd = ArrayBook([], [], Scope(ply=3, distances=False, first_wins_omitted=True))
    assert even.find(Position("44")) == 1
    assert odd.find(Position("444")) == -1


def test_where_player_2_wins_at_once_a_miss_does_not_mean_that_player_1_wins() -> None:
    book = ArrayBook([], [], Scope(ply=7, distances=False, first_wins_omitted=True))
    assert book.find(Position("1212125")) == 1


def test_a_book_of_outcomes_gives_outcomes(late_book: ArrayBook, score: Score) -> None:
    book = outcomes(late_book)
    for position in whole_layer(book):
        assert book.find(position) == np.sign(score(position))


@pytest.mark.parametrize("up", [1, 2, 4])
def test_moves_above_the_book_have_their_exact_values(
    book: Book, opening: str, score: Score, up: int
) -> None:
    root = np.array([Position(opening).key], dtype=np.uint64)
    *_, layer = undecided_layers(root, book.ply - Position(opening).ply - up)
    for key in layer[:30].tolist():
        position = Position.from_key(key)
        legal = position.legal_moves()
        expected = [-score(position.play(c)) if c in legal else None for c in range(1, 8)]
        assert book.moves(position) == expected
        assert book.value(position) == score(position)


def test_the_moves_of_a_position_of_the_books_own_ply_are_refused(book: Book) -> None:
    position = Position.from_key(book[0][0])
    assert book.value(position) == book.find(position)
    with pytest.raises(NotInBookError, match="positions of 32 stones, so it tells the moves of"):
        book.moves(position)


def test_the_moves_of_a_finished_game_are_refused(book: Book) -> None:
    with pytest.raises(NotInBookError, match="position 1212121 is over, player 1 has won"):
        book.moves(Position("1212121"))


def test_moves_above_the_opening_are_refused(book: Book, opening: str) -> None:
    with pytest.raises(NotInBookError, match="position 5267 does not follow 526764"):
        book.moves(Position(opening[:4]))


def test_moves_across_a_gap_name_what_is_unknown(late_book: ArrayBook, opening: str) -> None:
    gap = ArrayBook(late_book.keys[::2], late_book.values[::2], late_book.scope)
    with pytest.raises(NotInBookError, match="no value is known after a stone in column"):
        gap.moves(Position(opening))


def test_a_position_is_described_in_words(book: Book, opening: str, score: Score) -> None:
    position = Position(opening)
    assert score(position) == 6
    assert book.describe(position) == "player 2 wins in 5 plies"


def test_slices_places_and_iteration_agree(book: Book, late_book: ArrayBook) -> None:
    pairs = list(zip(late_book.keys.tolist(), late_book.values.tolist(), strict=True))
    assert list(book) == pairs
    assert [book[0], book[-1], book[7]] == [pairs[0], pairs[-1], pairs[7]]
    for cut in (slice(None), slice(3, 90), slice(90, 3), slice(-5, None), slice(80, 2, -7)):
        keys, values = book[cut]
        assert list(zip(keys.tolist(), values.tolist(), strict=True)) == pairs[cut]
    with pytest.raises(IndexError):
        book[len(pairs)]


def test_blocks_together_are_the_book(book: Book, late_book: ArrayBook) -> None:
    blocks = list(book.blocks())
    assert np.concatenate([keys for keys, _ in blocks]).tolist() == late_book.keys.tolist()
    assert np.concatenate([values for _, values in blocks]).tolist() == late_book.values.tolist()


def test_a_book_with_both_mirror_images_answers_for_each_by_itself(
    solve: Callable[[Scope], ArrayBook], opening: str, late_book: ArrayBook
) -> None:
    both = solve(Scope(ply=32, distances=True, opening=opening, mirrored=True))
    assert len(both) > len(late_book)
    for position in whole_layer(late_book)[:40]:
        assert both.find(position) == both.find(position.mirror()) == late_book.find(position)


def test_a_book_may_hold_decided_positions_and_immediate_wins(
    solve: Callable[[Scope], ArrayBook], opening: str, score: Score, tmp_path: Path
) -> None:
    scope = Scope(ply=31, distances=True, opening=opening, decided=True, immediate_wins=True)
    convert_book(solve(scope), tmp_path / "all.book")
    book = open_book(tmp_path / "all.book")
    positions = [Position.from_key(key) for key, _ in book]
    assert any(position.winner() for position in positions)
    assert [book.find(p) for p in positions] == [score(p) for p in positions]


def test_keys_of_a_book_in_memory_must_ascend() -> None:
    with pytest.raises(BookContentError, match=r"key 1 at place 1 of the book .* ascending"):
        ArrayBook([2, 1], [0, 0], Scope(ply=1, distances=True))
    with pytest.raises(BookContentError, match="2 keys and 1 values"):
        ArrayBook([1, 2], [0], Scope(ply=1, distances=True))


def test_a_scope_refuses_what_cannot_be() -> None:
    with pytest.raises(BookContentError, match="expected a ply from 2 to 42"):
        Scope(ply=1, distances=True, opening="44")
    with pytest.raises(BookContentError, match="cannot leave out the wins"):
        Scope(ply=8, distances=True, first_wins_omitted=True)
    with pytest.raises(BookContentError, match=r"below the opening '44' .* expected a whole book"):
        Scope(ply=8, distances=False, opening="44", first_wins_omitted=True)


@pytest.mark.parametrize(
    ("ply", "count"),
    [(0, 1), (1, 4), (2, 25), (3, 121), (4, 568), (5, 2144), (6, 7638), (7, 25718), (8, 77715)],
)
def test_complete_layers_have_the_known_numbers_of_positions(ply: int, count: int) -> None:
    assert len(positions_of(Scope(ply=ply, distances=True))) == count


def test_a_layer_with_everything_counts_as_the_literature_does() -> None:
    scope = Scope(ply=8, distances=True, decided=True, immediate_wins=True, mirrored=True)
    assert len(positions_of(scope)) == 184275


def test_a_book_says_what_it_is(book: Book) -> None:
    assert (
        repr(book)
        == f"<{book.layout} book of {len(book)} positions of ply 32 below {book.opening}>"
    )


def test_a_book_can_be_sent_to_another_process(book: Book) -> None:
    again = pickle.loads(pickle.dumps(book))
    assert list(again) == list(book)
