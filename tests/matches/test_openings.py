"""Openings: from text, and random ones that are legal, distinct, balanced and always the same."""

import pytest

from plymill.games import State, open_game
from plymill.matches import MatchError, Openings, after, plies, random_openings, read_openings
from plymill.players import Choice, PlayerError


class Judge:
    """Thinks that the first player wins exactly in the positions with a given parity."""

    def begin(self, side: int, stream: object) -> None:
        pass

    def choose(self, state: State) -> Choice:
        return Choice(0, 0.5 if sum(state.words) % 2 else 1.0)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Openings are judged without the compiled players."""

    class Spec:
        def make(self, game: object) -> Judge:
            return Judge()

    monkeypatch.setattr("plymill.matches.openings.parse_player", lambda text: Spec())


def test_matches_take_the_openings_in_turn() -> None:
    openings = Openings((b"\x01", b"\x02", b"\x03"))
    assert [openings.of(match) for match in range(4)] == [b"\x01", b"\x02", b"\x03", b"\x01"]
    assert Openings().of(5) == b""


def test_openings_from_text() -> None:
    game = open_game("connect4-7x6")
    lines = ["# in the middle", "", "44", "  4435  # and to the right", "\n"]
    openings = read_openings(game, lines)
    assert openings.codes == (
        bytes(code for ply in game.parse_moves("44") for code in ply),
        bytes(code for ply in game.parse_moves("4435") for code in ply),
    )


def test_openings_with_simultaneous_moves() -> None:
    game = open_game("bidding-tictactoe")
    state = game.start()
    codes = (state.moves(0)[1], state.moves(1)[0])
    openings = read_openings(game, [state.joint_text(*codes)])
    assert openings.codes == (bytes(codes),)


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([], "book.txt: expected one opening a line, got none."),
        (["# nothing"], "book.txt: expected one opening a line, got none."),
        (["44", "49"], "book.txt, line 2: "),
        (["1212121"], "book.txt, line 1: expected an opening, but '1212121' ends the game."),
    ],
)
def test_malformed_openings_are_refused(lines: list[str], sentence: str) -> None:
    with pytest.raises(MatchError) as error:
        read_openings(open_game("connect4-7x6"), lines, where="book.txt")
    assert str(error.value).startswith(sentence)


@pytest.mark.usefixtures("judged")
@pytest.mark.parametrize("name", ["connect4-7x6", "bidding-tictactoe", "boxes-5x5"])
def test_random_openings_are_legal_distinct_balanced_and_reproducible(name: str) -> None:
    game = open_game(name)
    openings = random_openings(game, plies=3, count=20, seed=5)
    ends = [after(game, codes) for codes in openings.codes]
    assert len(set(ends)) == 20
    assert all(end.status != -1 and sum(end.words) % 2 for end in ends)
    assert all(len(list(plies(game, codes))) == 3 for codes in openings.codes)
    assert random_openings(game, plies=3, count=20, seed=5) == openings
    assert random_openings(game, plies=3, count=8, seed=5).codes == openings.codes[:8]
    assert random_openings(game, plies=3, count=20, seed=6) != openings


def test_the_judge_is_a_player() -> None:
    game = open_game("connect4-7x6")
    openings = random_openings(game, plies=6, count=5, seed=2, judge="uct:500")
    assert openings == random_openings(game, plies=6, count=5, seed=2, judge="uct:500")
    assert len({after(game, codes) for codes in openings.codes}) == 5
    with pytest.raises(PlayerError):
        random_openings(game, plies=6, count=5, seed=2, judge="nobody")


@pytest.mark.usefixtures("judged")
def test_more_openings_than_there_are_are_refused() -> None:
    with pytest.raises(MatchError) as error:
        random_openings(open_game("tictactoe"), plies=1, count=10, seed=0)
    assert str(error.value).startswith(
        "openings: expected 10 balanced positions of tictactoe after 1 plies, found "
    )


def test_openings_of_nothing_are_refused() -> None:
    with pytest.raises(MatchError, match="expected at least 1 of at least 1 ply"):
        random_openings(open_game("tictactoe"), plies=0, count=10, seed=0)
