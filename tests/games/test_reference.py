"""The rules against slow implementations of each game, and against the published rule sheets."""

import random
from collections.abc import Callable

import pytest

from plymill.games import State, open_game
from tests.games.reference.gdl import SHEETS, Sheet
from tests.games.reference.slow import Moves, SlowState
from tests.games.reference.table import ODD_BOARDS, SLOW

SHEET_OF = {
    "bidding-tictactoe": "biddingTicTacToe",
    "boxes-5x5": "dotsAndBoxes",
    "boxes-suicide-5x5": "dotsAndBoxesSuicide",
    "connect4-8x6": "connectFour",
    "connect4-suicide-8x6": "connectFourSuicide",
    "sheep-and-wolf": "sheepAndWolf",
    "tictactoe": "ticTacToe",
}


def movers_of(state: State) -> list[int]:
    return {-1: [], 0: [0], 1: [1], 2: [0, 1]}[state.status]


def check(state: State, slow: SlowState) -> None:
    """Status, legal moves, and goals at the end are the same."""
    assert (state.status == -1) == slow.over(), state
    if state.status == -1:
        assert state.goals == slow.goals(), state
        assert state.moves(0) == state.moves(1) == []
        return
    for player in (0, 1):
        legal = state.moves(player)
        assert legal == sorted(set(legal))
        written = [state.move_gdl(code, player) for code in legal]
        assert sorted(written) == sorted(slow.legal(player)), state
        assert bool(legal) == (player in movers_of(state))


def play_and_compare(name: str, slow: SlowState, seed: int) -> State:
    """A random match, compared at every move; its end."""
    choose, state = random.Random(seed), open_game(name).start()
    plies = 0
    check(state, slow)
    while state.status != -1:
        codes = {player: choose.choice(state.moves(player)) for player in movers_of(state)}
        moves: list[str | None] = [None, None]
        for player, code in codes.items():
            moves[player] = state.move_gdl(code, player)
        joint: Moves = (moves[0], moves[1])
        state, slow = state.play(*codes.values()), slow.after(joint)
        plies += 1
        check(state, slow)
    assert plies <= open_game(name).max_plies
    return state


@pytest.mark.parametrize("name", [*SLOW, *ODD_BOARDS])
def test_random_matches_agree_move_by_move(name: str) -> None:
    start = {**SLOW, **ODD_BOARDS}[name]
    for seed in range(10):
        play_and_compare(name, start(), seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SLOW, *ODD_BOARDS])
def test_many_random_matches_agree_move_by_move(name: str) -> None:
    start = {**SLOW, **ODD_BOARDS}[name]
    ends = {play_and_compare(name, start(), seed).goals for seed in range(10, 310)}
    if name in SLOW:
        assert {(100, 0), (0, 100)} <= ends


def sheet_of(name: str) -> Callable[[], SlowState]:
    path = SHEETS / f"{SHEET_OF[name]}.kif"
    if not path.exists():
        pytest.skip(f"the rule sheet {path.name} is not here: it lies beside the repository")
    return Sheet(path.read_text()).start


@pytest.mark.parametrize("name", SHEET_OF)
def test_a_match_agrees_with_the_published_rule_sheet(name: str) -> None:
    play_and_compare(name, sheet_of(name)(), seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHEET_OF)
def test_random_matches_agree_with_the_published_rule_sheet(name: str) -> None:
    start = sheet_of(name)
    for seed in range(1, 13):
        play_and_compare(name, start(), seed)


@pytest.mark.parametrize("name", SHEET_OF)
def test_the_players_are_named_as_on_the_rule_sheet(name: str) -> None:
    start = sheet_of(name)()
    assert open_game(name).players == start.sheet.roles  # type: ignore[attr-defined]
