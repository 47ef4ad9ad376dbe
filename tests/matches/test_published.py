"""Published numbers: both shapes of file, and malformed ones by line and column."""

from pathlib import Path

import pytest

from plymill.matches import MatchError, Sample, of_game, read_first_moves, read_published

REFERENCE = Path(__file__).parents[3] / "shared" / "reference" / "uct"

AVERAGED = """\
game,first_iters,second_iters,avg_goal_first,samples,mean_seconds
ticTacToe,10,10,59.211,114,0.1
ticTacToe,10,20,46.018,113-114,
"""
COUNTED = """\
game,first_iters,second_iters,avg_outcome_first,wins_first,draws,wins_second,samples
Tic-tac-toe,10,10,0.625,50,25,25,100
"""
MOVES = """\
game,player,move,iters,fraction
Tic-tac-toe,1,( mark 1 1 ),10,0.25
Tic-tac-toe,1,( mark  2 2 ),10,0.75
Tic-tac-toe,2,( mark 1 1 ),10,0.5
"""


def read(text: str) -> dict[str, object]:
    return dict(read_published(text.splitlines(), where="file.csv"))


def test_means() -> None:
    grid = read_published(AVERAGED.splitlines(), where="file.csv")["ticTacToe"]
    assert grid[10, 10] == Sample(114, 59.211 / 100, None, 0.1)
    # 46.018 is a whole number of half points of 113 matches, not of 114.
    assert grid[10, 20] == Sample(113, 46.018 / 100, None, None)


def test_wins_draws_and_losses() -> None:
    grid = read_published(COUNTED.splitlines(), where="file.csv")["Tic-tac-toe"]
    assert grid[10, 10] == Sample(100, 0.625, 0.0625, None)


def test_fractions_of_first_moves() -> None:
    games = read_first_moves(MOVES.splitlines(), where="file.csv")
    assert games == {"Tic-tac-toe": {10: {"mark 1 1": 0.25, "mark 2 2": 0.75}}}


def test_games_are_found_by_either_name() -> None:
    tables = {"ticTacToe": 1, "chess": 2}
    assert of_game(tables, "tictactoe", where="file.csv") == 1
    assert of_game(tables, "chess", where="file.csv") == 2
    with pytest.raises(MatchError) as error:
        of_game(tables, "boxes-5x5", where="file.csv")
    assert str(error.value) == (
        "file.csv: there is no game boxes-5x5, expected one of chess, ticTacToe."
    )


def changed(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "file.csv, line 1: expected the columns game, first_iters, second_iters, samples and "
             "either avg_goal_first or wins_first, draws, wins_second, got nothing."),
        (changed(AVERAGED, "first_iters", "iters"), "file.csv, line 1: expected the columns"),
        (changed(AVERAGED, "avg_goal_first", "mean"), "file.csv, line 1: expected the columns"),
        (AVERAGED.splitlines()[0], "file.csv: expected a row for each cell of a grid, got none."),
        (changed(AVERAGED, "59.211", "59,211"), "file.csv, line 2: expected one entry for each"),
        (changed(AVERAGED, ",0.1", ""), "file.csv, line 2: expected one entry for each column, "
                                        "got 5."),
        (changed(AVERAGED, "59.211", "abc"), "file.csv, line 2, column avg_goal_first: expected a "
                                             "number from 0 to 100, got 'abc'."),
        (changed(AVERAGED, "59.211", "101"), "line 2, column avg_goal_first: expected a number"),
        (changed(AVERAGED, "59.211", "nan"), "line 2, column avg_goal_first: expected a number"),
        (changed(AVERAGED, "59.211", ""), "line 2, column avg_goal_first: expected a number "
                                          "from 0 to 100, got ''."),
        (changed(AVERAGED, "113-114", "114-113"), "file.csv, line 3, column samples: expected a "
                                                  "number of matches, or a range such as 113-114, "
                                                  "got '114-113'."),
        (changed(AVERAGED, "113-114", "0"), "line 3, column samples: expected a number of matches"),
        (changed(AVERAGED, "113-114", "1-99999"), "line 3, column samples: expected a number"),
        (changed(AVERAGED, "10,20", "10,2.5"), "line 3, column second_iters: expected a whole "
                                               "number of at least 1, got '2.5'."),
        (changed(AVERAGED, "10,20", "10,10"), "file.csv, line 3: the cell 10, 10 is there twice."),
        (changed(AVERAGED, ",0.1", ",soon"), "line 2, column mean_seconds: expected a number"),
        (changed(COUNTED, "50,25,25,100", "50,25,25,99"),
         "file.csv, line 2, column samples: expected 100, the sum of wins_first, draws, "
         "wins_second, got 99."),
        (changed(COUNTED, "50,25", "-50,25"), "line 2, column wins_first: expected a whole number"),
        (changed(COUNTED, "50,25,25,100", "0,0,0,100"), "line 2, column samples: expected 0"),
        (changed(COUNTED, "Tic", '"Tic'), "line 2: expected CSV, but"),
    ],
)  # fmt: skip
def test_malformed_files_are_refused_by_line_and_column(text: str, sentence: str) -> None:
    with pytest.raises(MatchError) as error:
        read(text)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (AVERAGED, "file.csv, line 1: expected the columns game, player, move, iters, fraction"),
        (changed(MOVES, "0.25", "25"), "line 2, column fraction: expected a number from 0 to 1"),
        (changed(MOVES, "2 2", "1 1"), "file.csv, line 3: the move mark 1 1 is there twice."),
    ],
)
def test_malformed_first_moves_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(MatchError) as error:
        read_first_moves(text.splitlines(), where="file.csv")
    assert sentence in str(error.value)


@pytest.mark.skipif(not REFERENCE.exists(), reason="the published grids are not on this machine")
def test_the_published_grids_can_be_read() -> None:
    with (REFERENCE / "published_2017.csv").open() as file:
        means = read_published(file, where="2017")
    with (REFERENCE / "published_2019.csv").open() as file:
        counts = read_published(file, where="2019")
    with (REFERENCE / "first_moves_2019.csv").open() as file:
        moves = read_first_moves(file, where="moves")
    assert sorted(map(len, means.values())) == [144, 144, 144, 169, 169, 169, 169]
    assert sorted(map(len, counts.values())) == [144, 144, 196]
    assert {len(row) for row in moves["Connect Four (8x6)"].values()} == {8}
    for game in ("connect4-8x6", "tictactoe", "boxes-5x5"):
        assert of_game(means, game, where="2017")[10, 10].matches == 114
        assert of_game(counts, game, where="2019")[10, 10].matches == 100
    # Every mean is a whole number of half points, whichever number of matches it was.
    for grid in means.values():
        for sample in grid.values():
            points = 2 * sample.mean * sample.matches
            assert abs(points - round(points)) < 0.01
