"""With enough iterations UCT plays what is right: exact values are the judge."""

import pytest

from plymill.games import Position, open_game
from plymill.games.random import Stream
from plymill.players import MatchTask, UctSpec, parse_player, play_uct_matches
from plymill.players.uct import UctPlayer
from plymill.solver import Solver

#: Move strings after which one move only keeps the outcome, and that move; the win, or the loss
#: that it avoids, lies 2 to 13 plies ahead.
TACTICAL = {
    "1375254253": 4,
    "5313213462": 4,
    "454256743714": 3,
    "433342653474": 5,
    "271447323551": 6,
    "13432447342646": 2,
    "31556576242256": 3,
    "16577242716733": 4,
    "6274653573355773": 6,
    "5655571213144123": 2,
    "3143364276777262": 2,
    "6241133525567441": 7,
    "1464425511313361": 1,
    "714336354562767763": 4,
    "516624621356341633": 5,
    "234146551311653174": 3,
    "123124776275475354": 5,
    "12546554774121575235": 6,
    "15663565417172532762": 4,
    "357451646623114127": 2,
    "46211244771327715634": 3,
    "65416723423565261673": 5,
    "13126476522335535132": 4,
    "723561366151252367": 1,
}


@pytest.fixture(scope="module")
def solver() -> Solver:
    return Solver(16)


@pytest.mark.parametrize("final", ["average", "visits"])
@pytest.mark.parametrize("moves", TACTICAL)
def test_uct_finds_the_one_move_that_keeps_the_outcome(
    moves: str, final: str, solver: Solver
) -> None:
    scores = solver.scores(Position(moves))
    outcomes = [(score > 0) - (score < 0) for score in scores if score is not None]
    assert outcomes.count(max(outcomes)) == 1  # the judge's word that the position is tactical
    assert solver.best_moves(Position(moves))[0] == TACTICAL[moves]
    game = open_game("connect4-7x6")
    state = game.after(moves)
    player = UctPlayer(game, UctSpec(100_000, final=final))
    player.begin(state.status, Stream(0))
    choice = player.choose(state)
    assert choice.move + 1 == TACTICAL[moves]
    assert choice.value is not None
    won = max(outcomes) == 1
    assert choice.value > 0.5 if won else 0.2 < choice.value < 0.8


def test_tic_tac_toe_is_drawn_between_players_with_many_iterations() -> None:
    spec = parse_player("uct:4000")
    tasks = [MatchTask(0, match, spec, spec) for match in range(100)]
    goals = play_uct_matches(open_game("tictactoe"), tasks, 1).goals
    assert (goals == 50).all()


@pytest.mark.parametrize("game", ["connect4", "sheep-and-wolf", "boxes", "bidding-tictactoe"])
def test_more_iterations_win_more_often(game: str) -> None:
    many, few = parse_player("uct:400"), parse_player("uct:10")
    tasks = [MatchTask(0, match, many, few) for match in range(60)]
    tasks += [MatchTask(1, match, few, many) for match in range(60)]
    goals = play_uct_matches(open_game(game), tasks, 1).goals
    assert goals[:60, 0].mean() + goals[60:, 1].mean() > 120


def test_iterations_beat_chance() -> None:
    uct, chance = parse_player("uct:100"), parse_player("random")
    tasks = [MatchTask(0, match, chance, uct) for match in range(60)]
    assert play_uct_matches(open_game("connect4"), tasks, 1).goals[:, 1].mean() > 95
