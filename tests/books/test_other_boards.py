"""Books on other boards: the same sources, compiled for another width and height."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plymill.books import ArrayBook, BookFormatError, convert_book, open_book
from tests.other_boards import OTHER_SIZES, OtherBoard, size_name

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler"),
]

#: Runs in an interpreter that sees the other board.
SCRIPT = """
import json, random, sys
import numpy as np
from plymill.books import *
from plymill.games import HEIGHT, WIDTH, Position
from plymill.games.connect4 import HUFFMAN_MAX_PLY
from plymill.solver import Solver, enumerate_ply

asked = json.load(sys.stdin)
solver = Solver(16)
answer = {"board": [WIDTH, HEIGHT], "refusals": {}}

def quiet_game(plies, chooser):
    position = Position()
    while position.ply < plies:
        moves = [c for c in position.legal_moves() if not position.can_win(c)]
        if not moves:
            return None
        position = position.play(chooser.choice(moves))
    return None if position.has_immediate_win() else position

def late_scope(left, below, chooser):
    while True:
        opening = quiet_game(WIDTH * HEIGHT - left - below, chooser)
        if opening is None:
            continue
        scope = Scope(ply=opening.ply + below, distances=True, opening=opening.moves)
        if len(positions_of(scope)) > 50:
            return scope

scope = late_scope(10, 6, random.Random(WIDTH))
keys = positions_of(scope)
scores = solver.score_many(keys)
write_book(asked["path"], keys, scores, ply=scope.ply, distances=True, opening=scope.opening)
with open_book(asked["path"]) as book:
    answer["verdict"] = validate(
        book, against=[ArrayBook(keys, scores, scope)], sample=10**6, solve_keys=solver.score_many
    ).verdict
    answer["same"] = np.array_equal(book[:][0], keys) and np.array_equal(book[:][1], scores)
    answer["found"] = all(
        book.find(image) == score
        for key, score in zip(keys.tolist(), scores.tolist())
        for image in (Position.from_key(key), Position.from_key(key).mirror())
    )
    below = Position.from_key(int(keys[0]))
    ply = scope.ply - 3
    derived = derive(book, ply)
    expected = positions_of(Scope(ply=ply, distances=True, opening=scope.opening))
    answer["derived"] = np.array_equal(derived.keys, expected) and np.array_equal(
        derived.values, solver.score_many(expected)
    )
    try:
        convert_book(book, asked["path"] + ".dat", "12ply-dist")
    except BookContentError as error:
        answer["refusals"]["write"] = str(error)
for name, layout in asked["foreign"].items():
    try:
        open_book(name, layout)
    except BookFormatError as error:
        answer["refusals"][layout or "plymill"] = str(error)
early = enumerate_ply(5, decided=True, immediate_wins=True, mirrored=True)
codes = huffman_keys(early)
answer["codec"] = len(set(codes.tolist())) == len(early) and np.array_equal(
    keys_from_huffman(codes, 5), early
)
full = [quiet_game(HUFFMAN_MAX_PLY, random.Random(seed)) for seed in range(200)]
full = [position for position in full if position is not None]
codes = huffman_keys([position.key for position in full])
answer["widest"] = [
    len(full) > 0
    and codes.tolist() == [position.huffman_key for position in full]
    and keys_from_huffman(codes, HUFFMAN_MAX_PLY).tolist() == [p.key for p in full]
]
answer["plies"] = sorted({position.ply for position in full})
print(json.dumps(answer))
"""


@pytest.fixture(scope="module", params=OTHER_SIZES, ids=size_name)
def other(
    request: pytest.FixtureRequest, other_board: Callable[[int, int], OtherBoard]
) -> OtherBoard:
    return other_board(*request.param)


def test_books_of_another_board_are_written_read_checked_derived_and_kept_apart(
    other: OtherBoard, tmp_path: Path, late_book: ArrayBook
) -> None:
    path, ours, published = (tmp_path / name for name in ("other", "ours", "published"))
    convert_book(late_book, ours)
    published.write_bytes(bytes(500))
    foreign = {str(ours): None, str(published): "12ply-dist"}
    answer: dict[str, Any] = other.ask(SCRIPT, {"path": str(path), "foreign": foreign})
    size = f"{other.width}x{other.height}"
    assert answer["board"] == [other.width, other.height]
    assert answer["verdict"] == "passed"
    for law in ("same", "found", "derived", "codec"):
        assert answer[law], law
    assert answer["widest"] == [True]
    refusals = answer["refusals"]
    assert f"{ours} is for a board of 7x6, this plymill plays {size}" in refusals["plymill"]
    for refusal in (refusals["write"], refusals["12ply-dist"]):
        assert f"the 12ply-dist layout is for boards of 7x6, this plymill plays {size}" in refusal
    assert list(path.read_bytes()[10:12]) == [other.width, other.height]
    with pytest.raises(BookFormatError, match=f"is for a board of {size}, this plymill plays 7x6"):
        open_book(path)
