"""Curves, maps of units, and boards."""

import re
from collections.abc import Mapping

import pytest

from plymill.games import game_names, open_game
from plymill.web.boards import board_of
from plymill.web.drawings import estimates, spread, throughput, unit_map


def test_an_even_pace_is_a_level_line() -> None:
    curve = throughput([(10.0 * k, 50.0 * k) for k in range(21)])
    assert curve is not None
    assert (curve.begin, curve.end, curve.mean, curve.top) == (0.0, 200.0, 5.0, 5.0)
    assert {point.split()[1] for point in curve.line[1:].split("L")} == {"0.0"}


def test_a_pause_is_seen_as_one() -> None:
    curve = throughput([(0, 0), (10, 100), (20, 100), (30, 200)])
    assert curve is not None
    heights = [float(point.split()[1]) for point in curve.line[1:].split("L")]
    assert heights == [0.0, 0.0, 100.0, 100.0, 0.0, 0.0]


@pytest.mark.parametrize("samples", [[], [(1.0, 5.0)], [(1.0, 5.0), (1.0, 9.0)]])
def test_too_few_samples_make_no_curve(samples: list[tuple[float, float]]) -> None:
    assert throughput(samples) is None


def test_units_are_spread_over_the_time_that_they_took() -> None:
    samples = spread([(10.0, 10.0, 100), (20.0, 10.0, 300), (15.0, 10.0, 50)])
    assert samples[0] == (0.0, 0.0)
    assert samples[-1][1] == pytest.approx(450)
    assert dict(samples)[10.0] == pytest.approx(125)


@pytest.mark.parametrize(("rate", "top"), [(0, 1), (0.003, 0.005), (1, 1), (7, 10), (210, 500)])
def test_scales_end_at_round_numbers(rate: float, top: float) -> None:
    curve = throughput([(0, 0), (1, rate)])
    assert curve is not None
    assert curve.top == pytest.approx(top)


def test_the_map_has_a_square_for_each_unit() -> None:
    found = unit_map("ddw.qd", [1, 5])
    assert (found.columns, found.rows, found.each) == (10, 1, 1)
    assert found.counts == {"done": 3, "flying": 1, "waiting": 1, "failed": 1}
    assert found.paths["done"] == "M1 5h18M51 5h8"
    assert found.paths["failed"] == "M41 5h8"
    assert found.audited == "M13 5h4M53 5h4"
    assert squares(found.paths, 8) == 6


def test_stretches_of_squares_end_with_their_rows() -> None:
    found = unit_map("d" * 25, range(25))
    assert found.columns == 15
    assert found.paths["done"] == "M1 5h148M1 15h98"
    assert found.audited == "M3 5h144M3 15h94"


def test_many_units_share_squares_that_show_the_worst_of_them() -> None:
    letters = "d" * 50_000 + "q" + "d" * 9_999
    found = unit_map(letters, range(60_000))
    assert found.each == 10
    assert squares({"failed": found.paths["failed"]}, 8) == 1
    assert squares(found.paths, 8) == squares({"audited": found.audited}, 4) == 6_000
    assert sum(map(len, found.paths.values())) < 2_000


def squares(paths: Mapping[str, str], size: int) -> int:
    """How many squares paths of dashes have."""
    lengths = [int(part) for path in paths.values() for part in re.findall(r"h(\d+)", path)]
    return sum((length + 10 - size) // 10 for length in lengths)


def test_estimates_lie_in_the_box() -> None:
    path, points = estimates([(1, 0.0), (3, 1.0)], 4)
    assert points == [(75.0, 100.0), (375.0, 0.0)]
    assert path == "M75.0 100.0L375.0 0.0"
    assert estimates([], 0) == ("", [])


@pytest.mark.parametrize("name", game_names())
def test_every_game_has_a_board_that_marks_the_last_move(name: str) -> None:
    before = open_game(name).start()
    count = 2 if before.status == 2 else 1
    moves = [before.moves(side)[-1] for side in range(2)] if count == 2 else [before.moves()[0]]
    after = before.play(*moves)
    board = board_of(after, before)
    assert board.kind in ("discs", "squares", "dots")
    if board.kind == "dots":
        assert board.fresh.count("M") == 1
        assert board.size == (5, 5)
    else:
        marked = [square for row in board.rows for square in row if square.last]
        bids = name.startswith("bidding")  # the first move of all is a bid, and no stone
        assert len(marked) in ((0,) if bids else (1, 2))
        assert len({len(row) for row in board.rows}) == 1
    assert not any(square.last for row in board_of(before).rows for square in row)
