"""Whole matches in compiled code: interleaved or alone, they are what a referee would see."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from plymill.errors import IllegalMoveError
from plymill.games import open_game
from plymill.games.random import Stream
from plymill.matches.referee import play_match
from plymill.players import (
    MatchTask,
    NativeMatches,
    PlayerError,
    PlayerSpec,
    parse_player,
    play_uct_matches,
)
from plymill.players.dispatch import load_engine, variants

SEED = 2**64 - 5
GAMES = (
    "tictactoe",
    "bidding-tictactoe",
    "connect4",
    "connect4-suicide-8x6",
    "connect4-9x6",
    "connect4-8x7",  # takes all 64 bits
    "connect4-12x4",  # wider than what fits the vectors
    "sheep-and-wolf",
    "boxes",
)
PLAYERS = tuple(
    parse_player(text)
    for text in (
        "uct:1",
        "uct:40",
        "uct:150",
        "uct:30,final=visits,c=0.7",
        "uct:50,reuse=yes",
        "uct:30,playout=4",
        "uct:20,wincheck=yes",
        "uct:30,simultaneous=sequential,reuse=yes",
        "random",
        "first-legal",
    )
)


def tasks_of(players: tuple[PlayerSpec, ...], opening: bytes = b"") -> list[MatchTask]:
    pairs = [(first, second) for first in players for second in players]
    return [MatchTask(i, 7 * i, *pair, opening=opening) for i, pair in enumerate(pairs)]


def as_bytes(matches: NativeMatches) -> list[bytes]:
    """All that does not depend on time."""
    arrays = (matches.goals, matches.plies, matches.lengths, matches.moves, matches.values)
    return [array.tobytes() for array in arrays]


@pytest.mark.parametrize("name", GAMES)
def test_matches_are_those_of_the_referee_whatever_the_variant_and_the_number_of_lanes(
    name: str,
) -> None:
    game, tasks = open_game(name), tasks_of(PLAYERS)
    expected = None
    for variant in variants():
        for lanes in (1, 2, 5, 8, 17, 32):
            matches = play_uct_matches(game, tasks, SEED, lanes=lanes, variant=variant)
            expected = expected or as_bytes(matches)
            assert as_bytes(matches) == expected
    at = 0
    for i, task in enumerate(tasks):
        players = task.first.make(game), task.second.make(game)
        record = play_match(game, players, Stream(SEED, task.cell, task.match)).record
        end = at + int(matches.lengths[i])
        assert matches.moves[at:end].tobytes() == record.moves
        assert tuple(matches.values[at:end]) == record.values
        assert tuple(matches.goals[i]) == (record.first_goal, record.second_goal)
        assert matches.plies[i] == record.plies
        at = end


def test_a_match_does_not_depend_on_the_others_of_its_unit() -> None:
    game, tasks = open_game("connect4"), tasks_of(PLAYERS[:4])
    together = play_uct_matches(game, tasks, 1)
    for i in (0, 6, 15):
        alone = play_uct_matches(game, [tasks[i]], 1)
        start = int(together.lengths[:i].sum())
        assert np.array_equal(alone.moves, together.moves[start : start + int(together.lengths[i])])
    backwards = play_uct_matches(game, tasks[::-1], 1)
    assert np.array_equal(backwards.goals, together.goals[::-1])


@pytest.mark.parametrize(
    ("name", "text"), [("connect4", "4453"), ("bidding-tictactoe", "bid1/bid0 22"), ("boxes", "")]
)
def test_an_opening_is_part_of_the_match_and_has_no_estimates(name: str, text: str) -> None:
    game = open_game(name)
    plies = game.parse_moves(text)
    opening = bytes(code for ply in plies for code in ply)
    tasks = tasks_of(PLAYERS, opening)
    matches = play_uct_matches(game, tasks, 3)
    for task, end, length in zip(tasks, np.cumsum(matches.lengths), matches.lengths, strict=True):
        start = int(end) - int(length)
        assert matches.moves[start : start + len(opening)].tobytes() == opening
        assert (matches.values[start : start + len(opening)] == 65535).all()
        players = task.first.make(game), task.second.make(game)
        record = play_match(game, players, Stream(3, task.cell, task.match), opening=opening).record
        assert matches.moves[start:end].tobytes() == record.moves


def test_seconds_are_shared_out_by_iterations() -> None:
    game = open_game("connect4")
    few, many = parse_player("uct:10"), parse_player("uct:1000")
    tasks = [MatchTask(0, 0, few, few), MatchTask(0, 1, many, many)]
    seconds = play_uct_matches(game, tasks, 1).seconds
    assert (seconds > 0).all()
    assert seconds[1] > 20 * seconds[0]


def test_no_tasks_give_no_matches() -> None:
    matches = play_uct_matches(open_game("boxes"), [], 1)
    assert [len(array) for array in (matches.goals, matches.moves, matches.seconds)] == [0, 0, 0]


def test_players_that_are_not_native_are_refused() -> None:
    perfect, uct = parse_player("perfect"), parse_player("uct:5")
    with pytest.raises(PlayerError, match="Player 'perfect' cannot play in compiled code"):
        play_uct_matches(open_game("connect4"), [MatchTask(0, 0, uct, perfect)], 1)


def test_an_illegal_opening_is_refused() -> None:
    uct = parse_player("uct:5")
    with pytest.raises(IllegalMoveError):
        play_uct_matches(open_game("connect4"), [MatchTask(0, 0, uct, uct, b"\x09")], 1)


def test_more_lanes_than_there_are_is_as_many_as_there_are() -> None:
    game, tasks = open_game("tictactoe"), tasks_of(PLAYERS[:2])
    most = load_engine().MAX_LANES
    assert as_bytes(play_uct_matches(game, tasks, 1, lanes=10 * most)) == as_bytes(
        play_uct_matches(game, tasks, 1, lanes=0)
    )


_WITHOUT_MEMORY = """
import resource
from plymill.games import Stream, open_game
from plymill.players import MatchTask, UctSpec, play_uct_matches
from plymill.players.uct import UctPlayer

game, spec = open_game("connect4"), UctSpec({iterations})
tasks = [MatchTask(0, i, UctSpec(10), UctSpec(10)) for i in range(4)]
play_uct_matches(game, tasks, 1)  # all that is ever loaded is loaded now
player = UctPlayer(game, spec)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + {room} * 2**20,) * 2)
for work in (
    lambda: play_uct_matches(game, [MatchTask(0, i, spec, spec) for i in range(20)], 1, lanes=8),
    lambda: (player.begin(0, Stream(1)), player.choose(game.start())),
):
    try:
        work()
    except MemoryError as error:
        print("MemoryError:", error)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="limits memory as Linux does")
@pytest.mark.parametrize(("iterations", "room"), [(10, 1), (2_000_000, 24)])
def test_without_memory_for_a_tree_there_is_an_error_and_no_crash(
    iterations: int, room: int
) -> None:
    program = _WITHOUT_MEMORY.format(iterations=iterations, room=room)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("MemoryError: the system gives no more memory") == 2
