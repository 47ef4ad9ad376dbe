"""The perfect player: never a mistake, from a book where there is one."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from plymill.books import (
    ArrayBook,
    BookFormatError,
    Scope,
    convert_book,
    derive,
    open_book,
    outcomes,
    positions_of,
)
from plymill.games import Position, open_game
from plymill.games.random import Stream
from plymill.matches.referee import play_match
from plymill.players import PlayerError, parse_player, perfect
from plymill.solver import Solver

OPENING = "526764154731135223326647735"  # 27 moves


@pytest.fixture(scope="module")
def solver() -> Solver:
    return Solver(4)


@pytest.fixture
def book(tmp_path: Path, solver: Solver) -> Path:
    """All positions of ply 32 that follow the opening, with distances."""
    scope = Scope(ply=32, distances=True, opening=OPENING)
    keys = positions_of(scope)
    path = tmp_path / "late.book"
    convert_book(ArrayBook(keys, solver.score_many(keys), scope), path)
    return path


def positions() -> Iterator[Position]:
    """Random positions of 20 to 34 stones that are not over."""
    stream = Stream(1)
    for _ in range(60):
        position, plies = Position(), 20 + stream.below(15)
        while position.ply < plies and not position.is_over():
            moves = position.legal_moves()
            position = position.play(moves[stream.below(len(moves))])
        if not position.is_over():
            yield position


@pytest.mark.parametrize("delay", [False, True])
def test_only_best_moves_are_played_and_all_of_them(delay: bool, solver: Solver) -> None:
    game = open_game("connect4-7x6")
    player = parse_player("perfect:delay" if delay else "perfect").make(game)
    for position in positions():
        scores = solver.scores(position)
        values = [
            None if score is None else score if delay else (score > 0) - (score < 0)
            for score in scores
        ]
        best = max(value for value in values if value is not None)
        state = game.after(position.moves or "")
        player.begin(state.status, Stream(position.key))
        choices = [player.choose(state) for _ in range(60)]
        assert {choice.move for choice in choices} == {
            column for column, value in enumerate(values) if value == best
        }
        assert choices[0].value == (1 if best > 0 else 0.5 if best == 0 else 0)


def test_every_move_takes_one_random_number() -> None:
    game = open_game("connect4-7x6")
    player, stream = parse_player("perfect").make(game), Stream(1)
    player.begin(0, stream)
    player.choose(game.after("112233"))  # one move wins at once
    other = Stream(1)
    other.next64()
    assert stream == other


def test_it_does_not_lose_what_is_won() -> None:
    game = open_game("connect4-7x6")
    opening = bytes(int(column) - 1 for column in "4545423732633")  # second to move
    state = game.after([(code,) for code in opening])
    score = Solver(4).outcome(Position("4545423732633"))
    players = parse_player("random").make(game), parse_player("perfect").make(game)
    for match in range(20):
        record = play_match(game, players, Stream(4, 0, match), opening=opening).record
        assert record.second_goal >= 50 * (1 + score)
    assert state.status == 1


@pytest.mark.parametrize("text", ["perfect", "perfect:delay"])
def test_a_book_is_asked_before_the_solver(
    text: str, book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = open_game("connect4-7x6")
    mark = "," if "delay" in text else ":"
    with_book = parse_player(f"{text}{mark}book={book}").make(game)
    without = parse_player(text).make(game)
    states = [game.after(OPENING + more) for more in ("", "2", "21", "212")]
    expected = []
    for state in states:
        without.begin(state.status, Stream(9))
        expected.append(without.choose(state))
    monkeypatch.setattr(perfect, "_solver", lambda: pytest.fail("the solver was asked"))
    for state, choice in zip(states, expected, strict=True):
        with_book.begin(state.status, Stream(9))
        assert with_book.choose(state) == choice


def test_positions_that_the_book_does_not_know_are_solved(book: Path) -> None:
    game = open_game("connect4-7x6")
    player = parse_player(f"perfect:book={book}").make(game)
    for moves in ("454256743714", "6241133525567441"):
        state = game.after(moves)
        player.begin(state.status, Stream(1))
        assert player.choose(state).move in state.moves()


def test_what_does_not_fit_is_refused_in_a_sentence(book: Path, tmp_path: Path) -> None:
    game = open_game("connect4-7x6")
    with pytest.raises(PlayerError, match="plays connect4-7x6 only, not connect4-8x6"):
        parse_player("perfect").make(open_game("connect4-8x6"))
    with pytest.raises(BookFormatError, match="cannot read"):
        parse_player(f"perfect:book={tmp_path}/none").make(game)
    flat = tmp_path / "flat.book"
    convert_book(outcomes(open_book(book)), flat)
    with pytest.raises(PlayerError, match="holds outcomes only, expected a book with distances"):
        parse_player(f"perfect:delay,book={flat}").make(game)


def test_the_first_plies_come_from_the_book_that_is_part_of_the_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(perfect, "_solver", None)  # nothing is solved
    perfect._values.cache_clear()
    game = open_game("connect4-7x6")
    for text, best in (("perfect", {3}), ("perfect:delay", {3})):
        player = parse_player(text).make(game)
        player.begin(0, Stream(1))
        assert {player.choose(game.start()).move for _ in range(20)} == best
        state, stream = game.start(), Stream(2)
        for _ in range(7):
            player.begin(state.status, stream)
            assert player.choose(state).value in (0, 0.5, 1)
            moves = state.moves(state.status)
            state = state.play(moves[stream.below(len(moves))])
    perfect._values.cache_clear()


def test_the_bundled_book_is_whole_and_a_sample_of_it_is_what_the_solver_finds() -> None:
    book = open_book(perfect.BUNDLED)
    keys = positions_of(Scope(ply=8, distances=True))
    held, values = book[:]
    np.testing.assert_array_equal(np.sort(held), np.sort(keys))
    chosen = np.random.default_rng(1).choice(len(held), 6, replace=False)
    np.testing.assert_array_equal(Solver(16).score_many(held[chosen]), values[chosen])


@pytest.mark.slow
def test_the_bundled_book_is_the_published_one_taken_back(tmp_path: Path) -> None:
    assets = pytest.importorskip(
        "bitbully_databases", reason="the published books come with the bitbully-databases package"
    )
    path = Path(assets.__file__).parent / "assets" / "book_12ply_distances.dat"
    with open_book(path, "12ply-dist") as whole:
        convert_book(derive(whole, 8), tmp_path / "derived.plymill")
    assert (tmp_path / "derived.plymill").read_bytes() == perfect.BUNDLED.read_bytes()
