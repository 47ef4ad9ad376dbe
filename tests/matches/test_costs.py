"""Costs: they grow as they should; they are no promise of speed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plymill.games import game_names, open_game
from plymill.matches import Cell, cell_seconds, grid_cells, match_seconds
from plymill.players import PlayerError


@given(st.sampled_from(game_names()), st.integers(100, 100_000), st.integers(100, 100_000))
def test_cost_doubles_with_the_iterations(name: str, first: int, second: int) -> None:
    game = open_game(name)
    once = match_seconds(game, Cell(0, f"uct:{first}", f"uct:{second}"))
    twice = match_seconds(game, Cell(0, f"uct:{2 * first}", f"uct:{2 * second}"))
    assert once < twice < 2 * once
    assert once == match_seconds(game, Cell(0, f"uct:{second}", f"uct:{first}"))


def test_every_pair_of_players_has_a_cost() -> None:
    game = open_game("connect4-7x6")
    texts = ("random", "first-legal", "uct:10", "perfect", "python:module:Player")
    costs = [match_seconds(game, Cell(0, text, text)) for text in texts]
    assert costs == sorted(costs)
    assert all(cost > 0 for cost in costs)
    with pytest.raises(PlayerError):
        match_seconds(game, Cell(0, "nobody", "random"))


def test_costs_of_a_grid_by_cell() -> None:
    game = open_game("tictactoe")
    cells = grid_cells((10, 20), (10, 20))
    seconds = cell_seconds(game, cells)
    assert list(seconds) == [0, 1, 2, 3]
    assert seconds[1] == seconds[2] == match_seconds(game, cells[1])
