"""Other boards are the same sources compiled with another width and height."""

import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.other_boards import OTHER_SIZES, OtherBoard, size_name

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler"),
]

#: Runs in an interpreter that sees the other board. Reads moves of positions, prints findings.
SCRIPT = """
import json, sys
from plymill.games.arrays import decided
from plymill.games.connect4 import HEIGHT, WIDTH, HUFFMAN_MAX_PLY, Position
from plymill.solver import Solver, enumerate_ply, variants

def outcomes(ply, solver):
    keys = enumerate_ply(ply, decided=True, immediate_wins=True, mirrored=True)
    over = decided(keys)
    found = solver.score_many(keys[~over], outcomes=True)
    losses = int((found == -1).sum()) + int(over.sum())
    return [ply, int((found == 1).sum()), int((found == 0).sum()), losses]

def round_trips(position):
    codings = [Position.from_key(position.key), Position.from_array(position.to_array()),
               position.mirror().mirror()]
    if position.ply <= HUFFMAN_MAX_PLY:
        codings.append(Position.from_huffman(position.huffman_key, position.ply))
    return all(coding == position for coding in codings)

asked = json.load(sys.stdin)
positions = [Position(moves) for moves in asked["moves"]]
answer = {"size": [WIDTH, HEIGHT], "variants": {}}
answer["round_trips"] = all(round_trips(p) and round_trips(p.mirror()) for p in positions)
for variant in variants():
    solver = Solver(8, variant=variant)
    scores = solver.score_many([p.key for p in positions]).tolist()
    mirrored = solver.score_many([p.mirror().key for p in positions]).tolist()
    one_by_one = [solver.scores(p) for p in positions[: asked["singly"]]]
    answer["variants"][variant] = [scores, mirrored, one_by_one, solver.counters.nodes]
solver = Solver(64)
answer["outcomes"] = [outcomes(ply, solver) for ply in range(asked["plies"])]
answer["layers"] = [
    enumerate_ply(ply, decided=True, immediate_wins=True, mirrored=True).tolist()
    for ply in range(asked["layers"])
]
print(json.dumps(answer))
"""


def find_out(
    other: OtherBoard, moves: list[str], *, singly: int = 0, plies: int = 0, layers: int = 0
) -> Any:
    """What the script finds out about these positions and about the first plies."""
    asked = {"moves": moves, "singly": singly, "plies": plies, "layers": layers}
    answer = other.ask(SCRIPT, asked)
    assert answer["size"] == [other.width, other.height]
    return answer


@pytest.mark.parametrize(
    ("width", "height", "fits"),
    [(9, 6, True), (7, 8, True), (4, 14, True), (10, 5, False), (3, 6, False), (8, 7, False)],
)
def test_a_board_that_does_not_fit_is_not_compiled(width: int, height: int, fits: bool) -> None:
    """Beyond nine columns the look-ahead has no lane: moves there would never be searched."""
    header = ROOT / "src" / "plymill" / "games" / "bitboard.h"
    size = [f"-DPLYMILL_WIDTH={width}", f"-DPLYMILL_HEIGHT={height}"]
    done = subprocess.run(
        ["cc", *size, "-fsyntax-only", "-x", "c", str(header)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode == 0) == fits
    assert fits or "the board must have 4 to 9 columns" in done.stderr


@pytest.fixture(scope="module", params=OTHER_SIZES, ids=size_name)
def other(
    request: pytest.FixtureRequest, other_board: Callable[[int, int], OtherBoard]
) -> OtherBoard:
    return other_board(*request.param)


Columns = tuple[str, ...]


class Oracle(Protocol):
    """A slow board: the stones of each column as a string of 1 and 2, bottom first."""

    def after(self, moves: str) -> Columns: ...
    def dropped(self, columns: Columns, column: int, stone: str) -> Columns: ...
    def ends(self, columns: Columns, column: int) -> bool: ...
    def score(self, columns: Columns) -> int: ...


Oracles = Callable[[int, int], Oracle]


def random_games(
    other: OtherBoard, oracle: Oracle, empty: range, count: int
) -> list[tuple[str, Columns]]:
    """Moves and columns of undecided positions with so many empty squares."""
    choice = random.Random(other.width).choice
    found: list[tuple[str, Columns]] = []
    while len(found) < count:
        moves, columns = "", oracle.after("")
        while len(moves) < other.width * other.height - empty[len(found) % len(empty)]:
            quiet = [
                (f"{moves}{column + 1}", child)
                for column in range(other.width)
                if len(columns[column]) < other.height
                and not oracle.ends(
                    child := oracle.dropped(columns, column, "12"[len(moves) % 2]), column
                )
            ]
            if not quiet:
                break
            moves, columns = choice(quiet)
        else:
            found.append((moves, columns))
    return found


def test_late_scores_are_what_trying_everything_finds(other: OtherBoard, oracle: Oracles) -> None:
    """In every variant, also of the mirror image, with the same nodes; and codings round-trip."""
    slow = oracle(other.width, other.height)
    games = random_games(other, slow, range(13), 260)
    expected = [slow.score(columns) for _, columns in games]
    answer = find_out(other, [moves for moves, _ in games])
    assert answer["round_trips"]
    assert len(set(expected)) > 6
    nodes = set()
    for scores, mirrored, _, searched in answer["variants"].values():
        assert scores == expected
        assert mirrored == expected
        nodes.add(searched)
    assert len(nodes) == 1


def test_scores_before_that_are_the_best_of_their_moves(other: OtherBoard, oracle: Oracles) -> None:
    games = random_games(other, oracle(other.width, other.height), range(14, 23), 45)
    answer = find_out(other, [moves for moves, _ in games], singly=len(games))
    for scores, mirrored, by_move, _ in answer["variants"].values():
        best = [max(s for s in moves if s is not None) for moves in by_move]
        assert scores == mirrored == best
        assert [len(moves) for moves in by_move] == [other.width] * len(games)


def key_of(columns: Columns, height: int) -> int:
    """own + mask by the definition."""
    mover = "12"[sum(len(column) for column in columns) % 2]
    contents = [
        (1 << len(column)) - 1 + sum(1 << row for row, stone in enumerate(column) if stone == mover)
        for column in columns
    ]
    return sum(content << (height + 1) * c for c, content in enumerate(contents))


def test_the_first_layers_are_what_playing_reaches(other: OtherBoard, oracle: Oracles) -> None:
    """Nobody can have won with five stones, and no column be full."""
    slow = oracle(other.width, other.height)
    layer, layers = {slow.after("")}, []
    for ply in range(6):
        layers.append(sorted(key_of(columns, other.height) for columns in layer))
        layer = {
            slow.dropped(columns, column, "12"[ply % 2])
            for columns in layer
            for column in range(other.width)
            if len(columns[column]) < other.height
        }
    assert find_out(other, [], layers=6)["layers"] == layers


@pytest.mark.parametrize("other", [(6, 5)], indirect=True, ids=["6x5"])
def test_all_positions_up_to_8_stones_have_the_published_outcomes(
    other: OtherBoard, rows: Callable[[str], list[dict[str, str]]]
) -> None:
    """Among them the empty board, a draw (J. Tromp's table of board sizes says the same)."""
    expected = [[int(v) for v in row.values()] for row in rows("connect4_6x5_outcomes.csv")]
    assert find_out(other, [], plies=9)["outcomes"] == expected[:9]
