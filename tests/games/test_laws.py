"""Laws of the rules: what holds in every match of a game."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plymill.games import Position, State, Stream, open_game
from tests.games.matches import NAMES, ODD_NAMES, matches

SEEDS = st.integers(0, 2**64 - 1)


@settings(deadline=None)
@given(matches(), SEEDS)
def test_a_games_own_playout_is_the_generic_one(match: list[State], seed: int) -> None:
    for state in match:
        own, generic = Stream(seed), Stream(seed)
        end = state.playout(own)
        assert end == state.playout(generic, generic=True)
        assert end.status == -1
        assert own == generic


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NAMES, *ODD_NAMES])
def test_many_playouts_are_the_generic_ones(name: str) -> None:
    start = open_game(name).start()
    for match in range(20_000):
        own, generic = Stream(1, 2, match), Stream(1, 2, match)
        assert start.playout(own) == start.playout(generic, generic=True)
        assert own == generic


@settings(deadline=None)
@given(matches(), SEEDS)
def test_goals_are_100_together(match: list[State], seed: int) -> None:
    end = match[-1].playout(Stream(seed))
    first, second = end.goals
    assert first + second == 100
    assert first in (0, 50, 100)


@settings(deadline=None)
@given(matches(), SEEDS)
def test_a_playout_takes_one_number_a_move(match: list[State], seed: int) -> None:
    """Played move by move with the same numbers, a match ends in the same state."""
    ends, draws = Stream(seed), Stream(seed)
    state = match[-1]
    end = state.playout(ends)
    while state.status != -1:
        movers = [player for player in (0, 1) if state.status in (player, 2)]
        legal = [state.moves(player) for player in movers]
        state = state.play(*(codes[draws.below(len(codes))] for codes in legal))
    assert state == end
    assert draws == ends


DROPS = tuple(name for name in (*NAMES, *ODD_NAMES) if name.startswith("connect4"))
BOXES = tuple(name for name in (*NAMES, *ODD_NAMES) if name.startswith("boxes"))


@settings(deadline=None)
@given(matches(DROPS))
def test_the_mirror_image_of_a_drop_match_is_the_match_of_mirrored_moves(
    match: list[State],
) -> None:
    width = len(match[0].moves())
    mirrored = [match[0]]
    for state, after in pairwise(match):
        (code,) = (c for c in state.moves() if state.play(c) == after)
        mirrored.append(mirrored[-1].play(width - 1 - code))
    for state, image in zip(match, mirrored, strict=True):
        assert state.status == image.status
        assert image.moves() == sorted(width - 1 - code for code in state.moves())
        board, other = (str(s).splitlines()[:-1] for s in (state, image))
        assert [row.split()[::-1] for row in board] == [row.split() for row in other]
        if state.status == -1:
            assert state.goals == image.goals


@settings(deadline=None)
@given(matches(BOXES), st.booleans())
def test_the_mirror_image_of_a_boxes_match_is_the_match_of_mirrored_lines(
    match: list[State], upside_down: bool
) -> None:
    width, height = (int(side) for side in match[0].game.name.rpartition("-")[2].split("x"))

    def image_of(text: str) -> str:
        dots = [(int(dot[0]), int(dot[1])) for dot in text.split("-")]
        if upside_down:
            dots = [(x, height + 2 - y) for x, y in dots]
        else:
            dots = [(width + 2 - x, y) for x, y in dots]
        return "-".join(f"{x}{y}" for x, y in sorted(dots))

    image = match[0]
    for state, after in pairwise(match):
        (code,) = (c for c in state.moves() if state.play(c) == after)
        image = image.play(image.move_code(image_of(state.move_text(code))))
        assert image.status == after.status
        texts = sorted(image_of(after.move_text(code)) for code in after.moves())
        assert sorted(image.move_text(code) for code in image.moves()) == texts
        assert str(image).splitlines()[-1] == str(after).splitlines()[-1]
    if image.status == -1:
        assert image.goals == match[-1].goals


@settings(deadline=None)
@given(matches(BOXES))
def test_who_completes_a_box_moves_again_and_nobody_else(match: list[State]) -> None:
    for state, after in pairwise(match):
        completed = sum(after.words[1:3]) - sum(state.words[1:3])
        assert completed in (0, 1, 2)
        if after.status != -1:
            assert (after.status == state.status) == (completed > 0)


@settings(deadline=None)
@given(matches(("bidding-tictactoe",)))
def test_coins_change_hands_and_are_never_lost(match: list[State]) -> None:
    for state in match:
        words = str(state).splitlines()[-1].replace(",", "").split()
        assert sum(int(word) for word in words if word.isdigit()) == 6
        assert words.count("tiebreaker") == 1


@given(st.lists(st.integers(0, 6), max_size=60))
def test_connect_four_on_7x6_is_the_board_of_the_solver(columns: list[int]) -> None:
    state, position = open_game("connect4").start(), Position()
    for column in columns:
        assert (state.status == -1) == position.is_over()
        assert [code + 1 for code in state.moves()] == position.legal_moves()
        assert state.words[:2] == (position.own, position.mask)
        assert str(state) == str(position)
        if state.status == -1:
            winner = position.winner()
            assert state.goals == {0: (50, 50), 1: (100, 0), 2: (0, 100)}[winner]
            break
        assert state.status == position.to_move - 1
        if column in state.moves():
            state, position = state.play(column), position.play(column + 1)
    assert state == open_game("connect4").after(position.moves or "")


@settings(deadline=None)
@given(matches(("connect4-8x6",)))
def test_the_misere_form_has_the_same_matches_with_goals_exchanged(match: list[State]) -> None:
    misere = open_game("connect4-suicide-8x6").start()
    for state, after in pairwise(match):
        (code,) = (c for c in state.moves() if state.play(c) == after)
        misere = misere.play(code)
        assert (misere.words, misere.status) == (after.words, after.status)
    if misere.status == -1:
        assert misere.goals == match[-1].goals[::-1]
