"""The rules on whole trees: small boards to the end of every match, large ones to some depth."""

from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from plymill.games import State, open_game
from tests.games.reference.slow import layers
from tests.games.reference.table import ODD_BOARDS, SLOW

DATA = Path(__file__).parents[1] / "data"
START = {**SLOW, **ODD_BOARDS}
LEVELS = [
    (name, int(depth), int(ways))
    for name, depth, ways in (
        line.split(",")
        for line in (DATA / "perft.csv").read_text().splitlines()
        if not line.startswith("#")
    )
]
#: So many ways are counted in a tenth of a second.
QUICK = 5_000_000


def test_every_named_game_is_in_the_table() -> None:
    assert set(SLOW) <= {name for name, _, _ in LEVELS}


@pytest.mark.parametrize(
    ("name", "depth", "ways"),
    [
        pytest.param(*level, marks=[pytest.mark.slow] if level[2] > QUICK else [])
        for level in LEVELS
    ],
)
def test_the_ways_to_play_are_as_many_as_in_the_table(name: str, depth: int, ways: int) -> None:
    assert open_game(name).start().perft(depth) == ways


def played(start: State) -> Iterator[dict[State, int]]:
    """The positions after 0, 1, 2, ... plies, each with the number of ways to play to it."""
    layer = {start: 1}
    while layer:
        yield layer
        following: Counter[State] = Counter()
        for state, ways in layer.items():
            movers = [player for player in (0, 1) if state.status in (player, 2)]
            if movers:
                for moves in product(*(state.moves(player) for player in movers)):
                    following[state.play(*moves)] += ways
        layer = following


def tallies(name: str) -> list[Counter[tuple[int, int]]]:
    """How many matches end after 0, 1, 2, ... plies, by goals."""
    result = []
    for layer in played(open_game(name).start()):
        over: Counter[tuple[int, int]] = Counter()
        for state, ways in layer.items():
            if state.status == -1:
                over[state.goals] += ways
        result.append(over)
    return result


def compare(name: str, most: int) -> None:
    """Positions, ways and goals are the same at each ply, until that takes about so many moves."""
    start = open_game(name).start()
    moves = max(len(start.moves(0)), 7)  # the wolf has two at the start, the sheep seven
    both = zip(played(start), layers(START[name]()), strict=True)
    for ours, slow in both:
        ends: Counter[tuple[int, int]] = Counter()
        slow_ends: Counter[tuple[int, int]] = Counter()
        for state, ways in ours.items():
            if state.status == -1:
                ends[state.goals] += ways
        for slow_state, ways in slow:
            if slow_state.over():
                slow_ends[slow_state.goals()] += ways
        assert len(ours) == len(slow)
        assert sorted(ours.values()) == sorted(ways for _, ways in slow)
        assert ends == slow_ends
        if len(ours) * moves > most:
            break


@pytest.mark.parametrize("name", START)
def test_small_trees_are_those_of_the_slow_rules(name: str) -> None:
    compare(name, most=3_000)


@pytest.mark.slow
@pytest.mark.parametrize("name", START)
def test_trees_are_those_of_the_slow_rules(name: str) -> None:
    compare(name, most=110_000)


def test_tic_tac_toe_has_255168_matches() -> None:
    ends: Counter[tuple[int, int]] = sum(tallies("tictactoe"), Counter())
    assert ends == {(100, 0): 131_184, (0, 100): 77_904, (50, 50): 46_080}


def test_four_columns_of_three_rows_have_356232_matches() -> None:
    """The number is the OEIS's, A342329."""
    assert sum(sum(tallies("connect4-4x3"), Counter[tuple[int, int]]()).values()) == 356_232


def test_the_square_board_of_four_has_161029_positions() -> None:
    """The number is J. Tromp's, from his page on Connect Four."""
    assert sum(len(layer) for layer in played(open_game("connect4-4x4").start())) == 161_029


@pytest.mark.long
def test_five_columns_of_four_rows_have_152505051772_matches_in_3945711_positions() -> None:
    """The first number is the OEIS's, A342329, the second J. Tromp's."""
    positions = matches = 0
    for layer in played(open_game("connect4-5x4").start()):
        positions += len(layer)
        matches += sum(ways for state, ways in layer.items() if state.status == -1)
    assert (positions, matches) == (3_945_711, 152_505_051_772)


def test_positions_on_7x6_are_as_many_as_others_counted() -> None:
    lines = (DATA / "connect4_counts.csv").read_text().splitlines()
    rows = [line.split(",") for line in lines if line[0].isdigit()]
    counts = {int(row[0]): int(row[1]) for row in rows}
    for ply, layer in enumerate(played(open_game("connect4").start())):
        assert len(layer) == counts[ply]
        if ply == 7:
            break
