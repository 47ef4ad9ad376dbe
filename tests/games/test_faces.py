"""Games, states and moves as Python sees them: names, texts, and what is refused."""

import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plymill.errors import GameError, IllegalMoveError, PlymillError
from plymill.games import State, Stream, game_names, open_game
from tests.games.matches import NAMES, ODD_NAMES, matches

START_TEXTS = {
    "connect4-7x6": ("1", "( drop 1 )", 7),
    "connect4-8x6": ("1", "( drop 1 )", 8),
    "connect4-9x6": ("1", "( drop 1 )", 9),
    "connect4-suicide-8x6": ("1", "( drop 1 )", 8),
    "tictactoe": ("11", "( mark 1 1 )", 9),
    "bidding-tictactoe": ("bid0", "( bid 0 no_tiebreaker )", 8),
    "boxes-5x5": ("11-12", "( draw 1 1 1 2 )", 60),
    "boxes-suicide-5x5": ("11-12", "( draw 1 1 1 2 )", 60),
    "sheep-and-wolf": ("d8-c7", "( move c4 c8 c3 c7 )", 2),
}


def test_the_named_games_are_those_of_the_rule_sheets_and_the_usual_boards() -> None:
    assert game_names() == list(START_TEXTS)


@pytest.mark.parametrize("name", NAMES)
def test_a_game_is_what_its_name_says(name: str) -> None:
    game = open_game(name)
    text, gdl, count = START_TEXTS[name]
    assert game.name == name
    assert open_game(name) == game
    assert repr(game) == f"<Game {name}>"
    assert game.zero_sum
    start = game.start()
    player = 0 if start.status == 2 else start.status
    legal = start.moves(player)
    assert len(legal) == count
    assert start.move_text(legal[0], player) == text
    assert start.move_gdl(legal[0], player) == gdl


@pytest.mark.parametrize(
    ("short", "name"),
    [
        ("connect4", "connect4-7x6"),
        ("connect4-suicide", "connect4-suicide-8x6"),
        ("boxes", "boxes-5x5"),
        ("boxes-suicide", "boxes-suicide-5x5"),
    ],
)
def test_a_game_without_a_size_has_the_usual_one(short: str, name: str) -> None:
    assert open_game(short).name == name


@pytest.mark.parametrize("name", ODD_NAMES)
def test_boards_of_other_sizes_can_be_asked_for(name: str) -> None:
    assert open_game(name).name == name


@pytest.mark.parametrize(
    "name", ["chess", "", "connect5", "tictactoe-3x3", "connect4-7", "connect4-07x6", "connect4 "]
)
def test_a_game_that_does_not_exist_is_refused_with_those_that_do(name: str) -> None:
    with pytest.raises(
        GameError, match=f"there is no game '{name}', expected one of connect4-7x6, "
    ):
        open_game(name)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("connect4-3x6", "of 3 columns and 6 rows cannot be played, expected 4 columns or more"),
        ("connect4-9x7", r"columns \* \(rows \+ 1\) at most 64"),
        ("connect4-suicide-16x4", "16 columns and 4 rows cannot be played"),
        ("boxes-6x5", "on 6 by 5 boxes cannot be played, expected 1 to 8 on a side and at most 64"),
        ("boxes-9x1", "on 9 by 1 boxes cannot be played"),
    ],
)
def test_a_board_that_does_not_fit_is_refused(name: str, says: str) -> None:
    with pytest.raises(GameError, match=says):
        open_game(name)


def test_states_are_made_by_games_only() -> None:
    with pytest.raises(TypeError, match=r"made by Game\.start"):
        State()


def test_a_state_cannot_be_changed() -> None:
    state: Any = open_game("tictactoe").start()
    for name in ("status", "game", "words", "goals", "anything"):
        with pytest.raises(AttributeError):
            setattr(state, name, 1)


@settings(deadline=None)
@given(matches())
def test_playing_leaves_the_state_as_it_was(match: list[State]) -> None:
    before = [(state.words, state.status) for state in match]
    for state in match:
        for player in (0, 1):
            if state.status == player:
                for code in state.moves():
                    state.play(code)
    assert before == [(state.words, state.status) for state in match]


@settings(deadline=None)
@given(matches())
def test_pickled_states_and_games_are_equal_to_the_first(match: list[State]) -> None:
    for state in match:
        again = pickle.loads(pickle.dumps(state))
        assert again == state
        assert hash(again) == hash(state)
        assert (again.status, again.words, str(again)) == (state.status, state.words, str(state))
        assert again.game == state.game
        assert hash(again.game) == hash(state.game)
    assert len(set(match)) == len(match)


@settings(deadline=None)
@given(matches(), st.booleans())
def test_a_match_in_words_is_read_back(match: list[State], gdl: bool) -> None:
    game, moves = match[0].game, moves_of(match)
    if gdl:
        words = [
            "/".join(s.move_gdl(c, p) for p, c in zip(movers_of(s), joint, strict=True))
            for s, joint in zip(match, moves, strict=False)
        ]
        text = " ".join(words)
    else:
        text = game.format_moves(moves)
    assert game.parse_moves(text) == moves
    assert game.after(text) == game.after(moves) == match[-1]


@settings(deadline=None)
@given(matches())
def test_legal_moves_have_texts_of_their_own(match: list[State]) -> None:
    for state in match[::7]:
        for player in movers_of(state):
            for write in (state.move_text, state.move_gdl):
                texts = [write(code, player) for code in state.moves(player)]
                assert len(set(texts)) == len(texts)
                read = [state.move_code(text.upper(), player) for text in texts]
                assert read == state.moves(player)


def movers_of(state: State) -> list[int]:
    return [player for player in (0, 1) if state.status in (player, 2)]


def moves_of(match: list[State]) -> list[tuple[int, ...]]:
    """The moves between states that follow one another."""
    moves = []
    for state, after in pairwise(match):
        joints = [(c,) for c in state.moves()] if state.status != 2 else both_moves(state)
        moves.append(next(joint for joint in joints if state.play(*joint) == after))
    return moves


def both_moves(state: State) -> list[tuple[int, ...]]:
    return [(mine, his) for mine in state.moves(0) for his in state.moves(1)]


CONNECT4, BIDDING = open_game("connect4"), open_game("bidding-tictactoe")


def test_moves_of_connect_four_are_columns_as_players_write_them() -> None:
    assert CONNECT4.parse_moves("4453") == [(3,), (3,), (4,), (2,)]
    assert CONNECT4.parse_moves(" 44 53\n") == [(3,), (3,), (4,), (2,)]
    assert CONNECT4.parse_moves("( drop 4 ) (drop 4)( DROP 5 )") == [(3,), (3,), (4,)]
    assert CONNECT4.format_moves([(3,), (3,), (4,), (2,)]) == "4453"
    assert CONNECT4.parse_moves("") == []


def test_columns_of_two_figures_are_written_apart() -> None:
    wide = open_game("connect4-12x4")
    assert wide.parse_moves("12 1 2 11") == [(11,), (0,), (1,), (10,)]
    assert wide.format_moves([(11,), (0,), (1,), (10,)]) == "12 1 2 11"


def test_moves_at_once_are_written_with_a_stroke() -> None:
    moves = [(14, 11), (4,), (9, 13)]
    assert BIDDING.parse_moves("bid2+/bid1 22 bid0/bid2") == moves
    assert BIDDING.format_moves(moves) == "bid2+/bid1 22 bid0/bid2"


def test_the_higher_bid_pays_the_other_player() -> None:
    state = BIDDING.after("bid2+/bid1")
    assert state.status == 0
    assert str(state).splitlines()[-1] == "coins: x has 1, o has 5 and the tiebreaker"


@pytest.mark.parametrize(
    ("game", "moves", "place", "says"),
    [
        (
            "connect4",
            "449",
            3,
            "move 3 of '449': '9' is no legal move of red, expected one of 1, 2",
        ),
        ("connect4", "4444444", 7, "'4' is no legal move of red, expected one of 1, 2, 3, 5, 6, 7"),
        (
            "connect4",
            "12121212",
            8,
            "move 8 of '12121212': the game is over, expected no more moves",
        ),
        ("connect4", "4/4", 2, "move 2 of '4/4': black is to move, expected one move instead of 2"),
        ("connect4", "( drop 4 ", 1, "move 1 of '.*' cannot be read, expected moves with spaces"),
        (
            "tictactoe",
            "22 22",
            2,
            "'22' is no legal move of oplayer, expected one of 11, 12, 13, 21",
        ),
        ("tictactoe", "22/11", 1, "xplayer is to move, expected one move instead of 2"),
        (
            "bidding-tictactoe",
            "bid1",
            1,
            "both players move at once, expected two moves instead of 1",
        ),
        (
            "bidding-tictactoe",
            "bid1/bid0+",
            1,
            r"'bid0\+' is no legal move of o, expected one of bid0",
        ),
        ("boxes", "11-12 11-12", 2, r"expected one of 11-21, .*, \.\.\. \(59 in all\)"),
        (
            "sheep-and-wolf",
            "a1-b2",
            1,
            "'a1-b2' is no legal move of wolf, expected one of d8-c7, d8-e7",
        ),
    ],
)
def test_an_illegal_move_is_refused_in_a_sentence(
    game: str, moves: str, place: int, says: str
) -> None:
    with pytest.raises(IllegalMoveError, match=says) as caught:
        open_game(game).parse_moves(moves)
    assert caught.value.place == place
    assert isinstance(caught.value, PlymillError)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("state", "codes", "says"),
    [
        (CONNECT4.start(), (7,), "code 7 is no legal move of red, expected one of 0, 1, 2"),
        (CONNECT4.start(), (-1,), "code -1 is no legal move of red"),
        (CONNECT4.start(), (2**70,), "is no legal move of red"),
        (CONNECT4.start(), (), "red is to move, expected one move instead of 0"),
        (CONNECT4.start(), (1, 2), "red is to move, expected one move instead of 2"),
        (CONNECT4.after("1212121"), (3,), "the game is over, expected no more moves"),
        (CONNECT4.after("1212121"), (), "the game is over, expected no more moves"),
        (BIDDING.start(), (9,), "both players move at once, expected two moves instead of 1"),
        (BIDDING.start(), (9, 10), "code 10 is no legal move of o, expected one of 9, 11, 13, 15"),
    ],
)
def test_playing_what_is_not_legal_is_refused(
    state: State, codes: tuple[int, ...], says: str
) -> None:
    with pytest.raises(IllegalMoveError, match=says):
        state.play(*codes)


def test_a_move_that_is_no_whole_number_is_not_rounded() -> None:
    number: Any = 1.0
    with pytest.raises(TypeError):
        CONNECT4.start().play(number)


def test_who_is_not_to_move_has_no_moves() -> None:
    state = CONNECT4.start()
    assert state.moves(1) == []
    with pytest.raises(IllegalMoveError, match="code 1 cannot be played, as black is not to move"):
        state.move_text(1, 1)
    with pytest.raises(IllegalMoveError, match="'1' cannot be played, as black is not to move"):
        state.move_code("1", 1)
    over = CONNECT4.after("1212121")
    assert over.moves() == over.moves(0) == over.moves(1) == []
    with pytest.raises(IllegalMoveError, match="'1' comes after the end of the game"):
        over.move_code("1")


def test_where_both_move_the_player_has_to_be_named() -> None:
    state = BIDDING.start()
    for ask in (state.moves, lambda: state.move_text(9), lambda: state.move_code("bid0")):
        with pytest.raises(
            GameError, match="both players are to move here, expected player 0 or 1"
        ):
            ask()
    with pytest.raises(GameError, match="there is no player 2, expected 0 or 1"):
        state.moves(2)


def test_goals_before_the_end_are_refused() -> None:
    with pytest.raises(GameError, match="this match of connect4-7x6 is not over"):
        _ = CONNECT4.start().goals
    assert CONNECT4.after("1212121").goals == (100, 0)
    assert open_game("connect4-suicide-7x6").after("1212121").goals == (0, 100)


def test_states_of_different_games_differ() -> None:
    assert CONNECT4.start() != open_game("connect4-8x6").start()
    other: Any = "connect4-7x6"
    assert other not in (CONNECT4, CONNECT4.start())
    assert repr(CONNECT4.start()) == "<State of connect4-7x6: (0, 0, 0, 0)>"


DRAWINGS = {
    ("connect4-5x4", "33154"): """
. . . . .
. . . . .
. . O . .
X . X X O
1 2 3 4 5""",
    ("tictactoe", "22 11 13"): """
O . X
. X .
. . .""",
    ("bidding-tictactoe", "bid2+/bid1 22"): """
. . .
. X .
. . .
coins: x has 1, o has 5 and the tiebreaker""",
    ("boxes-2x2", "11-12 11-21 21-22 12-22 32-33"): """
+--+  +
|  |
+--+  +
      |
+  +  +
boxes: xplayer 0, oplayer 1""",
    ("sheep-and-wolf", "d8-c7 c1-b2"): """
8 . . . . . . . .
7 . . W . . . . .
6 . . . . . . . .
5 . . . . . . . .
4 . . . . . . . .
3 . . . . . . . .
2 . S . . . . . .
1 S . . . S . S .
  a b c d e f g h""",
}


@pytest.mark.parametrize(("name", "moves"), DRAWINGS)
def test_a_position_is_drawn_as_one_sees_it(name: str, moves: str) -> None:
    drawing = str(open_game(name).after(moves))
    assert drawing == DRAWINGS[name, moves].strip("\n")


def test_games_of_other_names_are_refused_by_playouts() -> None:
    stream: Any = 1
    with pytest.raises(TypeError):
        CONNECT4.start().playout(stream)
    assert CONNECT4.after("1212121").playout(Stream(0)) == CONNECT4.after("1212121")


PAGE = Path(__file__).parents[2] / "docs" / "games.md"
ROWS = [
    [cell.strip().strip("`") for cell in line.strip("|").split("|")]
    for line in PAGE.read_text().splitlines()
    if line.startswith("| `")
]


def test_the_page_lists_every_named_game() -> None:
    assert [name for name, *_ in ROWS] == game_names()


@pytest.mark.parametrize(("name", "players", "moves", "gdl"), ROWS)
def test_the_page_tells_players_and_moves(name: str, players: str, moves: str, gdl: str) -> None:
    game, start = open_game(name), open_game(name).start()
    assert ", ".join(game.players) == players
    first, *_ = game.parse_moves(moves)
    player = 0 if start.status == 2 else start.status
    assert start.move_gdl(first[0], player) == gdl
    assert game.format_moves(game.parse_moves(moves)) == moves
