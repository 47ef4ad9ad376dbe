"""A tree that is kept needs room to be copied; without it there is an error, and no other match."""

import subprocess
import sys

import pytest

_PROGRAM = """
import resource
from plymill.games import Stream, open_game
from plymill.players import MatchTask, UctSpec, play_uct_matches

game, spec = open_game("tictactoe"), UctSpec(200, reuse=True)

def match():
    play_uct_matches(game, [MatchTask(0, 0, spec, spec)], 1, lanes=1)

def move():
    player, state = spec.make(game), game.start()
    player.begin(0, Stream(1))
    for _ in range(2):
        for moves in ((player.choose(state).move,), None):
            moves = moves or tuple(state.moves()[:1])
            player.observe(moves)
            state = state.play(*moves)

match()
move()  # all that is ever loaded is loaded now
with open("/proc/self/statm") as numbers:
    used = int(numbers.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (5 << 20),) * 2)  # a tree takes 4 at first, then 2
try:
    {what}()
except MemoryError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
@pytest.mark.parametrize("what", ["match", "move"])
def test_a_search_that_cannot_keep_its_tree_ends_in_a_sentence(what: str) -> None:
    program = _PROGRAM.format(what=what)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "the system gives no more memory for the search tree" in done.stdout
