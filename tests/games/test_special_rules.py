"""Rules that are easily got wrong: the tiebreaker, extra turns, and how sheep and wolf ends."""

import pytest

from plymill.games import State, Stream, open_game

BIDDING = open_game("bidding-tictactoe")


@pytest.mark.parametrize(
    ("bids", "winner", "coins"),
    [
        ("bid2/bid1", "x", "x has 1 and the tiebreaker, o has 5"),
        ("bid1/bid2", "o", "x has 5 and the tiebreaker, o has 1"),
        ("bid1/bid1", "o", "x has 4 and the tiebreaker, o has 2"),  # the holder loses a tie
        ("bid0/bid0", "o", "x has 3 and the tiebreaker, o has 3"),
        ("bid1+/bid1", "x", "x has 2, o has 4 and the tiebreaker"),  # but wins it by adding it
        ("bid0+/bid0", "x", "x has 3, o has 3 and the tiebreaker"),
        ("bid2+/bid1", "x", "x has 1, o has 5 and the tiebreaker"),  # it goes though not needed
        ("bid1+/bid2", "o", "x has 5 and the tiebreaker, o has 1"),  # and stays with a loser
    ],
)
def test_a_bidding(bids: str, winner: str, coins: str) -> None:
    state = BIDDING.after(bids)
    assert BIDDING.players[state.status] == winner
    assert str(state).splitlines()[-1] == f"coins: {coins}"
    assert state.play(4).status == 2
    assert str(state.play(4)).splitlines()[-1] == f"coins: {coins}"


def test_the_tiebreaker_works_for_the_second_player_too() -> None:
    got_it = BIDDING.after("bid0+/bid0 22")
    assert BIDDING.players[got_it.play(9, 9).status] == "x"
    assert BIDDING.players[got_it.play(9, 10).status] == "o"
    assert got_it.play(9, 10).play(0).moves(0) == [9, 10, 11, 12, 13, 14, 15, 16]


def test_nobody_bids_more_than_he_has() -> None:
    poor = BIDDING.after("bid3/bid0 22")
    assert [poor.move_text(code, 0) for code in poor.moves(0)] == ["bid0", "bid0+"]
    assert [poor.move_text(code, 1) for code in poor.moves(1)] == [f"bid{n}" for n in range(7)]


def test_one_line_can_complete_two_boxes_and_gives_another_turn() -> None:
    before = open_game("boxes-2x1").after("11-12 11-21 12-22 21-31 31-32 22-32")
    after = before.play(before.move_code("21-22"))
    assert after.status == -1
    assert str(after).splitlines()[-1] == "boxes: xplayer 2, oplayer 0"
    one = open_game("boxes-2x1").after("11-12 11-21 12-22 21-22")
    assert one.status == 1
    assert str(one).splitlines()[-1] == "boxes: xplayer 0, oplayer 1"


def test_equally_many_boxes_are_the_second_players() -> None:
    ends = [open_game("boxes-2x1").start().playout(Stream(seed)) for seed in range(50)]
    (tie, *_) = [end for end in ends if end.words[1] == end.words[2]]
    assert tie.goals == (0, 100)
    misere = [open_game("boxes-suicide-2x1").start().playout(Stream(seed)) for seed in range(50)]
    (tie, *_) = [end for end in misere if end.words[1] == end.words[2]]
    assert tie.goals == (100, 0)


def test_a_four_on_the_last_square_is_a_win_and_no_draw() -> None:
    ends = [open_game("connect4-4x4").start().playout(Stream(seed)) for seed in range(5_000)]
    full = [end for end in ends if end.words[1].bit_count() == 16]
    assert {end.goals for end in full} == {(50, 50), (0, 100)}  # the second player moves last
    drawn = [end for end in ends if end.goals == (50, 50)]
    assert all(end in full for end in drawn)


SHEEP = open_game("sheep-and-wolf")


def square(name: str) -> int:
    return 8 * (int(name[1]) - 1) + "abcdefgh".index(name[0])


def pasture(wolf: str, sheep: str, *, mover: int) -> State:
    """A position that need not come from the start; 0 is the wolf."""
    rebuild, _ = SHEEP.start().__reduce__()
    bits = sum(1 << square(name) for name in sheep.split())
    state = rebuild(SHEEP, (bits, square(wolf), mover, 0))
    assert isinstance(state, State)
    return state


@pytest.mark.parametrize(
    ("state", "move", "goals"),
    [
        pytest.param(
            pasture("a3", "b2 c3 e1 g1", mover=1), "c3-b4", (0, 100), id="the wolf is shut in"
        ),
        pytest.param(
            pasture("f6", "a5 c5 e5 g7", mover=0),
            "f6-g5",
            (100, 0),
            id="no sheep is below the wolf",
        ),
        pytest.param(
            pasture("c3", "a1 b8 d8 f8", mover=0), "c3-b2", (100, 0), id="no sheep can move"
        ),
        pytest.param(
            pasture("b2", "a1 b8 d8 e7", mover=1),
            "e7-f8",
            (100, 0),
            id="no sheep could move, but it is the wolf's turn",
        ),
        pytest.param(
            pasture("a1", "b2 c3 e3 g1", mover=1),
            "g1-h2",
            (0, 100),
            id="past the sheep, but shut in",
        ),
    ],
)
def test_how_sheep_and_wolf_ends(state: State, move: str, goals: tuple[int, int]) -> None:
    assert state.status != -1
    end = state.play(state.move_code(move))
    assert end.status == -1
    assert end.goals == goals
