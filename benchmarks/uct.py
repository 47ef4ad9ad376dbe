"""UCT iterations a second on Connect Four 7x6, against OpenSpiel's MCTS and a plain loop in C.

Ours is one search from the empty board. A figure beside it tells what a whole unit of matches
between players of as many iterations gives, its matches interleaved. All run on one core, in turns.

The C program (``peer_c/uct.c``) uses the same random numbers in the same order, and has to visit
each move as often as ours. In positions where, by the solver's word, one move only keeps the
outcome, ours has to find that move; how many of them OpenSpiel finds is told as well.
"""

import ctypes
import tempfile
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt
import pyspiel

from _harness import Comparison, parser, show
from _peer_c import compile_peer
from plymill.games import Position, Stream, open_game
from plymill.players import MatchTask, UctSpec, play_uct_matches
from plymill.players.dispatch import variants
from plymill.players.uct import UctPlayer
from plymill.solver import Solver

GAME = open_game("connect4-7x6")
#: Where a win or a loss lies 5 to 13 plies ahead.
TACTICAL = (
    *("271447323551", "13432447342646", "31556576242256", "16577242716733", "6274653573355773"),
    *("6241133525567441", "714336354562767763", "123124776275475354", "12546554774121575235"),
    *("15663565417172532762", "357451646623114127", "46211244771327715634"),
)


def our_search(iterations: int, seed: int) -> UctPlayer:
    """Searches the empty board."""
    player = UctPlayer(GAME, UctSpec(iterations))
    player.begin(0, Stream(seed))
    player.choose(GAME.start())
    return player


def unit_rate(iterations: int, matches: int) -> float:
    """Million iterations a second of whole matches."""
    spec = UctSpec(iterations)
    tasks = [MatchTask(0, match, spec, spec) for match in range(matches)]
    start = time.thread_time()
    moves = len(play_uct_matches(GAME, tasks, 1).moves)
    return moves * iterations / (time.thread_time() - start) / 1e6


def open_spiel_bot(iterations: int, seed: int) -> pyspiel.MCTSBot:
    """OpenSpiel's MCTS with our exploration, which its goals from -1 to 1 make twice the number."""
    evaluator = pyspiel.RandomRolloutEvaluator(n_rollouts=1, seed=seed)
    game = pyspiel.load_game("connect_four")
    return pyspiel.MCTSBot(game, evaluator, 2 * 2**0.5, iterations, 1000, False, seed, False)


def rate(work: Callable[[], object], iterations: int) -> float:
    """Million iterations a second, by the processor's time of this thread."""
    start = time.thread_time()
    work()
    return iterations / (time.thread_time() - start) / 1e6


def check_tactics(iterations: int) -> int:
    """How many of the positions OpenSpiel plays right; ours has to play all of them right."""
    solver, right = Solver(16), 0
    for moves in TACTICAL:
        scores = solver.scores(Position(moves))
        outcomes = [-2 if score is None else (score > 0) - (score < 0) for score in scores]
        state, theirs = GAME.after(moves), pyspiel.load_game("connect_four").new_initial_state()
        for column in moves:
            theirs.apply_action(int(column) - 1)
        player = UctPlayer(GAME, UctSpec(iterations))
        player.begin(state.status, Stream(1))
        if outcomes[player.choose(state).move] != max(outcomes):
            raise AssertionError(f"UCT does not keep the outcome after {moves}")
        right += outcomes[open_spiel_bot(iterations, 1).step(theirs)] == max(outcomes)
    return right


def check_visits(peer: ctypes.CDLL, iterations: int, seeds: int) -> int:
    """Compares the visits of every move with those in C; how many were compared."""
    for seed in range(seeds):
        ours = np.zeros(7, dtype=np.uint32)
        for move, visits, _ in our_search(iterations, seed).statistics():
            ours[move] = visits
        theirs = peer_search(peer, iterations, seed)
        if not np.array_equal(ours, theirs):
            raise AssertionError(f"visits {ours} of seed {seed}, in C {theirs}")
    return 7 * seeds


def peer_search(peer: ctypes.CDLL, iterations: int, seed: int) -> npt.NDArray[np.uint32]:
    """The visits of each move by the C program."""
    words = np.array(Stream(seed).words, dtype=np.uint64)
    visits = np.zeros(7, dtype=np.uint32)
    peer.uct.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_double, ctypes.c_void_p]
    if not peer.uct(words.ctypes.data, iterations, 2**0.5, visits.ctypes.data):
        raise MemoryError("no memory for the tree of the C program")
    return visits


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--iterations", type=int, default=20_480)
    options.add_argument("--rounds", type=int, default=9, help="how often each side runs")
    options.add_argument("--matches", type=int, default=32, help="matches of the unit")
    args = options.parse_args()
    count = args.iterations
    start = pyspiel.load_game("connect_four").new_initial_state()
    with tempfile.TemporaryDirectory() as folder:
        peer = compile_peer("uct.c", folder, variants()[0])
        checked = check_visits(peer, count, 20) + len(TACTICAL)
        right = check_tactics(count)
        ours, theirs, in_c = [], [], []
        for seed in range(args.rounds):
            ours.append(rate(partial(our_search, count, seed), count))
            in_c.append(rate(partial(peer_search, peer, count, seed), count))
            bot = open_spiel_bot(count, seed)
            theirs.append(rate(partial(bot.mcts_search, start), count))
    median = float(np.median(ours))
    result = Comparison(
        claim=f"A search of {count:,} iterations from the empty board",
        ours=median,
        peer=float(np.median(theirs)),
        unit="million iterations a second",
        larger_is_better=True,
        checked=checked,
        extra={
            "variant": variants()[0],
            "plain_c_loop": float(np.median(in_c)),
            "ratio_to_plain_c_loop": round(median / float(np.median(in_c)), 2),
            "unit_of_interleaved_matches": unit_rate(count, args.matches),
            "tactical_positions_right": len(TACTICAL),
            "tactical_positions_right_in_open_spiel": right,
        },
    )
    show(result, as_json=args.json)


if __name__ == "__main__":
    main()
