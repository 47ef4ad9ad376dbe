"""The referee: what a match records, and that no player's fault goes beyond it."""

from collections.abc import Callable

import pytest

from plymill.errors import IllegalMoveError
from plymill.games import Game, State, Stream, open_game
from plymill.matches import NO_VALUE, Matches, Status, after, moves_text, play_match, plies
from plymill.players import Choice, PlayerHung, parse_player

GAMES = ["connect4-7x6", "tictactoe", "bidding-tictactoe", "boxes-3x3", "sheep-and-wolf"]


class Scripted:
    """Plays the first legal move, unless told otherwise for a turn of its own."""

    def __init__(self, at: int = -1, act: Callable[[], object] | None = None) -> None:
        self.at, self.act = at, act
        self.turn = 0
        self.side = -1
        self.observed: list[tuple[int, ...]] = []

    def begin(self, side: int, stream: Stream) -> None:
        self.side, self.turn, self.observed = side, 0, []

    def choose(self, state: State) -> Choice:
        self.turn += 1
        if self.turn - 1 == self.at and self.act is not None:
            found = self.act()
            return found if isinstance(found, Choice) else Choice(found, 0.25)  # type: ignore[arg-type]
        return Choice(state.moves(self.side)[0], 0.75)

    def observe(self, moves: tuple[int, ...]) -> None:
        self.observed.append(moves)

    def close(self) -> None:
        raise AssertionError("the referee closes nobody")


def failing(error: BaseException) -> Callable[[], object]:
    def act() -> object:
        raise error

    return act


@pytest.mark.parametrize("name", GAMES)
def test_a_record_replays_to_its_goals(name: str) -> None:
    game = open_game(name)
    for match in range(5):
        players = (parse_player("random").make(game), parse_player("random").make(game))
        played = play_match(game, players, Stream(1, 2, match), cell=2, match=match)
        record = played.record
        assert (record.status, played.fault, record.id) == (Status.PLAYED, "", f"2:{match}")
        end = after(game, record.moves)
        assert end.status == -1
        assert end.goals == (record.first_goal, record.second_goal)
        assert record.plies == sum(1 for _ in plies(game, record.moves))
        assert record.values == (NO_VALUE,) * len(record.moves)
        assert game.parse_moves(moves_text(game, record.moves)) == [
            moves for _, moves in plies(game, record.moves)
        ]
        assert Matches.of([record]).played.all()


def test_the_same_stream_gives_the_same_match() -> None:
    game = open_game("connect4-7x6")

    def play(match: int) -> bytes:
        players = (parse_player("random").make(game), parse_player("random").make(game))
        return play_match(game, players, Stream(7, 0, match)).record.moves

    assert play(3) == play(3)
    assert play(3) != play(4)


def test_both_players_observe_every_ply_of_the_opening_and_the_match() -> None:
    game = open_game("tictactoe")
    players = (Scripted(), Scripted())
    opening = bytes(code for ply in game.parse_moves("22 11") for code in ply)
    record = play_match(game, players, Stream(0), opening=opening).record
    assert record.moves[: len(opening)] == opening
    assert record.values[:2] == (NO_VALUE, NO_VALUE)
    assert set(record.values[2:]) == {7500}
    assert players[0].observed == players[1].observed == [(code,) for code in record.moves]


def test_an_illegal_opening_is_nobodys_fault() -> None:
    game = open_game("connect4-7x6")
    with pytest.raises(IllegalMoveError):
        play_match(game, (Scripted(), Scripted()), Stream(0), opening=b"\x63")


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(
    ("act", "kind", "words"),
    [
        (
            failing(ZeroDivisionError("by nothing")),
            "raised",
            "raised ZeroDivisionError: by nothing",
        ),
        (failing(PlayerHung("no move within 1 s")), "hung", "no move within 1 s"),
        (lambda: 63, "illegal", "played 63 at ply"),
        (lambda: -1, "illegal", "played -1 at ply"),
        (lambda: "4", "illegal", "played '4' at ply"),
        (lambda: None, "illegal", "played None at ply"),
        (lambda: 1.0, "illegal", "played 1.0 at ply"),
        (lambda: True, "illegal", "played True at ply"),
        (lambda: Choice(0, 17.0), "illegal", "estimated its goal at 17.0 at ply"),
        (lambda: Choice(0, float("nan")), "illegal", "estimated its goal at nan at ply"),
        (lambda: Choice(0, -0.5), "illegal", "expected a number from 0 to 1, or None."),
    ],
)
def test_a_fault_ends_the_match_and_nothing_else(
    side: int, act: Callable[[], object], kind: str, words: str
) -> None:
    game = open_game("connect4-7x6")
    players = [Scripted(), Scripted()]
    players[side] = Scripted(at=2, act=act)
    played = play_match(game, (players[0], players[1]), Stream(0), cell=1, match=2)
    record = played.record
    name = ("FIRST", "SECOND")[side]
    assert record.status is Status[f"{name}_{kind.upper()}"]
    assert (record.first_goal, record.second_goal) == (-1, -1)
    assert record.plies == len(record.moves) == len(record.values) == 4 + side
    assert words in played.fault
    assert Matches.of([record]).arrays["status"].tolist() == [record.status]


def test_a_fault_at_a_simultaneous_move_is_the_right_players() -> None:
    game = open_game("bidding-tictactoe")
    second = Scripted(at=0, act=failing(ValueError("no bid")))
    played = play_match(game, (Scripted(), second), Stream(0))
    assert played.record.status is Status.SECOND_RAISED
    assert played.record.moves == b""
    assert "The second player raised ValueError: no bid." in played.fault
    assert "Traceback" in played.details


def test_a_player_that_cannot_begin_or_observe_is_at_fault() -> None:
    game = open_game("tictactoe")

    class NoBegin(Scripted):
        def begin(self, side: int, stream: Stream) -> None:
            raise RuntimeError("not ready")

    class NoObserve(Scripted):
        def observe(self, moves: tuple[int, ...]) -> None:
            raise RuntimeError("blind")

    begun = play_match(game, (Scripted(), NoBegin()), Stream(0)).record
    assert begun.status is Status.SECOND_RAISED
    assert begun.plies == 0
    seen = play_match(game, (NoObserve(), Scripted()), Stream(0)).record
    assert seen.status is Status.FIRST_RAISED
    assert seen.plies == 1


@pytest.mark.parametrize("error", [MemoryError(), KeyboardInterrupt()])
def test_what_is_no_players_fault_passes(error: BaseException) -> None:
    game = open_game("tictactoe")
    with pytest.raises(type(error)):
        play_match(game, (Scripted(at=0, act=failing(error)), Scripted()), Stream(0))


def test_a_match_without_an_end_is_the_games_fault() -> None:
    game = open_game("tictactoe")

    class Endless:
        name, max_plies = "endless", 3

        def start(self) -> "Endless":
            return self

        status = 0

        def moves(self, player: int) -> list[int]:
            return [0]

        def play(self, move: int) -> "Endless":
            return self

    endless: Game = Endless()  # type: ignore[assignment]
    with pytest.raises(RuntimeError, match="endless: more than 3 plies"):
        play_match(endless, (Scripted(), Scripted()), Stream(0))
    assert game.max_plies == 9
