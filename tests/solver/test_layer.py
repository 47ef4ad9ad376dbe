"""All positions of a ply: their number, their filters and their order."""

import itertools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plymill.errors import IllegalMoveError, PlymillError, SolverError
from plymill.games import Position
from plymill.games.arrays import canonical_keys, decided, immediate_wins, mirror_keys, plies
from plymill.solver import enumerate_ply, locality_order

Rows = Callable[[str], list[dict[str, str]]]


def everything(ply: int) -> npt.NDArray[np.uint64]:
    return enumerate_ply(ply, decided=True, immediate_wins=True, mirrored=True)


def played_out(opening: str, plies_more: int) -> set[Position]:
    """Every position so many plies after the opening, by playing; won games are not continued."""
    layer = {Position(opening)}
    for _ in range(plies_more):
        layer = {position.play(column) for position in layer for column in position.legal_moves()}
    return layer


@pytest.mark.parametrize("ply", range(10))
def test_the_number_of_positions_is_the_published_one(rows: Rows, ply: int) -> None:
    assert len(everything(ply)) == int(rows("connect4_counts.csv")[ply]["all"])


@pytest.mark.slow
@pytest.mark.parametrize("ply", [10, 11, 12])
def test_the_number_of_late_positions_is_the_published_one(rows: Rows, ply: int) -> None:
    assert len(everything(ply)) == int(rows("connect4_counts.csv")[ply]["all"])


@pytest.mark.parametrize(
    "ply", [8, pytest.param(10, marks=pytest.mark.slow), pytest.param(12, marks=pytest.mark.slow)]
)
def test_the_books_hold_the_published_number_of_positions(rows: Rows, ply: int) -> None:
    row = rows("connect4_counts.csv")[ply]
    keys = enumerate_ply(ply)
    assert len(keys) == int(row["book"])
    if row["book_mirrored"]:
        mirrored = enumerate_ply(ply, mirrored=True)
        assert len(mirrored) == int(row["book_mirrored"])
        assert np.array_equal(np.unique(canonical_keys(mirrored)), keys)


@pytest.mark.slow
def test_the_12_ply_layer_needs_less_than_a_gigabyte() -> None:
    status = Path("/proc/self/status")
    if not status.is_file():
        pytest.skip("this system does not tell the peak memory of a process")
    code = (
        "from plymill.solver import enumerate_ply; enumerate_ply(12, mirrored=True); "
        f"print(open({str(status)!r}).read())"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    peak = next(line for line in done.stdout.splitlines() if line.startswith("VmHWM"))
    assert int(peak.split()[1]) < 1 << 20  # KiB


FLAGS = list(itertools.product([False, True], repeat=3))


@pytest.mark.parametrize(("with_decided", "with_wins", "mirrored"), FLAGS)
@pytest.mark.parametrize(("opening", "more"), [("", 4), ("44", 3), ("1212", 4), ("333", 4)])
def test_every_flag_lifts_one_filter(
    opening: str, more: int, with_decided: bool, with_wins: bool, mirrored: bool
) -> None:
    expected = set()
    for position in played_out(opening, more):
        if position.winner() and not with_decided:
            continue
        if position.has_immediate_win() and not with_wins:
            continue
        expected.add(position.key if mirrored else position.canonical_key)
    keys = enumerate_ply(
        len(opening) + more,
        opening,
        decided=with_decided,
        immediate_wins=with_wins,
        mirrored=mirrored,
    )
    assert keys.tolist() == sorted(expected)


def test_flags_find_what_they_are_for() -> None:
    """The filters each drop something from the layer used here: no test above is empty."""
    full = everything(9)
    assert decided(full).any()
    assert immediate_wins(full[~decided(full)]).any()
    assert (canonical_keys(full) != full).any()


@given(st.integers(0, 7), st.booleans(), st.booleans(), st.booleans())
def test_keys_ascend_once_each_and_have_the_ply(
    ply: int, with_decided: bool, with_wins: bool, mirrored: bool
) -> None:
    keys = enumerate_ply(ply, decided=with_decided, immediate_wins=with_wins, mirrored=mirrored)
    assert keys.dtype == np.uint64
    assert (keys[1:] > keys[:-1]).all()
    assert (plies(keys) == ply).all()
    if mirrored:
        assert np.array_equal(np.sort(mirror_keys(keys)), keys)
    else:
        assert np.array_equal(canonical_keys(keys), keys)


def test_an_opening_may_be_a_position_and_its_mirror_image_gives_the_same() -> None:
    keys = enumerate_ply(6, "12")
    assert np.array_equal(enumerate_ply(6, Position("12")), keys)
    assert np.array_equal(enumerate_ply(6, Position.from_key(Position("12").key)), keys)
    assert np.array_equal(enumerate_ply(6, "76"), keys)


def test_the_opening_itself_is_the_layer_of_its_ply() -> None:
    assert enumerate_ply(0).tolist() == [0]
    assert enumerate_ply(2, "11", mirrored=True).tolist() == [Position("11").key]
    assert enumerate_ply(2, "77").tolist() == [Position("11").key]


def test_nothing_follows_a_won_game() -> None:
    assert enumerate_ply(7, "1212121", decided=True).tolist() == [Position("1212121").key]
    assert enumerate_ply(7, "1212121").tolist() == []
    assert enumerate_ply(8, "1212121", decided=True, immediate_wins=True).tolist() == []


def test_a_full_board_is_the_last_layer() -> None:
    full = "461136646756634713335277214532714722155524"
    assert enumerate_ply(42, full[:41]).tolist() == [Position(full).canonical_key]


@pytest.mark.parametrize(
    ("ply", "opening", "says"),
    [
        (-1, "", "ply -1 cannot follow an opening of 0 stones: expected 0 to 42"),
        (43, "", "ply 43 cannot follow an opening of 0 stones: expected 0 to 42"),
        (3, "4444", "ply 3 cannot follow an opening of 4 stones: expected 4 to 42"),
    ],
)
def test_a_ply_out_of_reach_is_refused(ply: int, opening: str, says: str) -> None:
    with pytest.raises(SolverError, match=says) as caught:
        enumerate_ply(ply, opening)
    assert isinstance(caught.value, PlymillError)


def test_an_illegal_opening_is_refused_with_the_place_of_the_move() -> None:
    with pytest.raises(IllegalMoveError, match="move 3 of '449'"):
        enumerate_ply(8, "449")


@given(st.lists(st.integers(0, 16421), max_size=200))
def test_the_order_is_a_permutation(places: list[int]) -> None:
    keys = everything(6)[places]
    order = locality_order(keys)
    assert order.dtype == np.int64
    assert sorted(order.tolist()) == list(range(len(keys)))


def test_mirror_images_lie_side_by_side() -> None:
    keys = everything(6)
    ordered = canonical_keys(keys[locality_order(keys)]).tolist()
    runs = [key for key, _ in itertools.groupby(ordered)]
    assert len(runs) == len(set(runs)) == len(np.unique(canonical_keys(keys)))


def test_the_order_depends_on_the_positions_only() -> None:
    keys = enumerate_ply(7)
    shuffled = np.random.default_rng(1).permutation(keys)
    expected = keys[locality_order(keys)].tolist()
    assert shuffled[locality_order(shuffled)].tolist() == expected
    mirrored = mirror_keys(shuffled)
    assert canonical_keys(mirrored[locality_order(mirrored)]).tolist() == expected


@pytest.fixture(scope="module")
def middle_columns() -> list[str]:
    """The stones in column 4, bottom first, of the positions of ply 7 in the order for solving."""
    keys = enumerate_ply(7)
    boards = [Position.from_key(key).to_array() for key in keys[locality_order(keys)].tolist()]
    return ["".join(str(stone) for stone in board[::-1, 3] if stone) for board in boards]


@pytest.mark.parametrize("opening", ["", "4", "44", "444", "4444", "44444", "444444"])
def test_what_follows_an_opening_in_the_middle_is_one_stretch(
    middle_columns: list[str], opening: str
) -> None:
    stones = ("12" * 3)[: len(opening)]
    places = [i for i, middle in enumerate(middle_columns) if middle.startswith(stones)]
    assert places == list(range(places[0], places[0] + len(places)))


def test_the_middle_column_decides_first(middle_columns: list[str]) -> None:
    runs = [middle for middle, _ in itertools.groupby(middle_columns)]
    assert len(runs) == len(set(runs)) > 40
