"""The compiled UCT engine against UCT as plainly as it can be written, and its own numbers."""

from collections.abc import Sequence
from functools import cache
from math import log, sqrt
from typing import Any

import pytest

from plymill.games import open_game
from plymill.games.game import Game, State
from plymill.games.random import Stream
from plymill.players import Player, UctSpec, parse_player
from plymill.players.dispatch import load_engine, variants
from plymill.players.uct import UctPlayer
from tests.players.reference import ReferencePlayer

GAMES = {  # and the most iterations that the reference gets done in a moment
    "tictactoe": 400,
    "bidding-tictactoe": 300,
    "connect4": 250,
    "connect4-suicide-8x6": 150,
    "connect4-9x6": 100,
    "sheep-and-wolf": 80,
    "boxes": 70,
    "boxes-suicide": 70,
}
OPTIONS = (
    "",
    ",c=0.3",
    ",c=0",
    ",final=visits",
    ",reuse=yes",
    ",playout=3",
    ",wincheck=yes",
    ",simultaneous=sequential",
    ",reuse=yes,simultaneous=sequential,playout=2,wincheck=yes",
)


def advance(state: State, players: list[Player]) -> State:
    """Let both players move, and tell them."""
    sides = [side for side in (0, 1) if state.status in (side, 2)]
    moves = tuple(players[side].choose(state).move for side in sides)
    for player in players:
        player.observe(moves)
    return state.play(*moves)


def record(game: Game, players: Sequence[UctPlayer | ReferencePlayer], seed: int) -> list[Any]:
    """All that two players choose and know in a match against each other."""
    stream, state, seen = Stream(seed), game.start(), []
    for side, player in enumerate(players):
        player.begin(side, stream)
    while state.status != -1:
        moves = []
        for player in (players[side] for side in (0, 1) if state.status in (side, 2)):
            choice = player.choose(state)
            seen.append((choice, player.statistics(), stream.words))
            moves.append(choice.move)
        for player in players:
            player.observe(tuple(moves))
        state = state.play(*moves)
    return seen


@cache
def truth(name: str, spec: UctSpec, seed: int) -> list[Any]:
    return record(open_game(name), [ReferencePlayer(spec), ReferencePlayer(spec)], seed)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("variant", variants())
def test_statistics_moves_and_values_are_those_of_the_plain_search(
    name: str, options: str, variant: str
) -> None:
    for seed, iterations in enumerate((1, 2, 9, GAMES[name])):
        spec = parse_player(f"uct:{iterations}{options}")
        assert isinstance(spec, UctSpec)
        game = open_game(name)
        players = [UctPlayer(game, spec, variant=variant) for _ in range(2)]
        assert record(game, players, seed) == truth(name, spec, seed)


@pytest.mark.parametrize("variant", variants())
def test_a_tree_that_grows_beyond_its_first_memory_is_the_same_tree(variant: str) -> None:
    game = open_game("connect4-9x6")
    best = UctPlayer(game, UctSpec(60_000))  # of the fastest variant
    player = UctPlayer(game, UctSpec(60_000), variant=variant)
    for one in (best, player):
        one.begin(0, Stream(3))
    assert player.choose(game.start()) == best.choose(game.start())
    assert player.statistics() == best.statistics()
    assert sum(visits for _, visits, _ in player.statistics()) == 60_000
    assert player.memory > 2 << 20
    player.close()
    assert player.memory == 0


def test_logarithms_and_roots_are_those_of_the_c_library_and_alike_in_all_variants() -> None:
    engines = [load_engine(name) for name in variants()]
    counts = [*range(1, 3000), 65_535, 65_536, 65_537, 1_234_567, 10_000_000, 21_000_000]
    for n in counts:
        roots = {engine.numbers(n) for engine in engines}
        assert len(roots) == 1
        logarithm, inverse = roots.pop()
        assert logarithm == pytest.approx(sqrt(log(n)), rel=4e-16, abs=1e-16)
        assert inverse == pytest.approx(1 / sqrt(n), rel=4e-16)


def test_a_position_that_was_not_reached_by_the_moves_observed_gets_a_tree_of_its_own() -> None:
    game, spec = open_game("connect4"), UctSpec(200, reuse=True)
    kept, fresh = UctPlayer(game, spec), UctPlayer(game, spec)
    kept.begin(0, Stream(1))
    kept.choose(game.start())
    elsewhere = game.after("4433")
    kept.begin(0, Stream(2))
    fresh.begin(0, Stream(2))
    assert kept.choose(elsewhere) == fresh.choose(elsewhere)
    assert kept.statistics() == fresh.statistics()


def test_a_kept_tree_is_searched_further() -> None:
    game, spec = open_game("tictactoe"), UctSpec(2000, reuse=True)
    players: list[Player] = [UctPlayer(game, spec), UctPlayer(game, spec)]
    stream = Stream(1)
    for side in range(2):
        players[side].begin(side, stream)
    state = advance(advance(game.start(), players), players)
    players[0].choose(state)
    first = players[0]
    assert isinstance(first, UctPlayer)
    assert sum(visits for _, visits, _ in first.statistics()) > 2000


def test_an_engine_that_does_not_run_here_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match=r"engine variant 'v9' does not run here, expected one of"):
        load_engine("v9")
