"""Tables: the Parquet files, and results cell by cell as CSV and JSON."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plymill.games import Stream, open_game
from plymill.matches import (
    CellResult,
    Matches,
    MatchRecordError,
    Openings,
    Status,
    grid_cells,
    play_match,
    results_csv,
    results_json,
    summarize,
    wilson,
)
from plymill.matches.tables import MatchTable, read_results, write_times
from plymill.players import parse_player
from tests.matches.conftest import record

GAME = open_game("connect4-7x6")
CELLS = grid_cells((10, 20), (10, 20))


@pytest.fixture(scope="module")
def played() -> Matches:
    """Two random matches in each of four cells, one of which failed."""
    players = (parse_player("random").make(GAME), parse_player("random").make(GAME))
    records = [
        play_match(GAME, players, Stream(3, cell.index, match), cell=cell.index, match=match).record
        for cell in CELLS
        for match in range(2)
    ]
    return Matches.of([*records[:-1], record(3, 1, moves=b"\x03", status=Status.FIRST_HUNG)])


def table_bytes(matches: Matches) -> bytes:
    file = io.BytesIO()
    openings = Openings((b"", b"\x03\x03"))
    MatchTable(game=GAME, cells=CELLS, seed=2**63 + 1, openings=openings).write(file, matches)
    return file.getvalue()


def test_a_row_a_match(played: Matches) -> None:
    rows = list(read_results(io.BytesIO(table_bytes(played))))
    assert [row["id"] for row in rows] == [f"{c}:{m}" for c in range(4) for m in range(2)]
    first = next(iter(played))
    assert rows[0] == {
        "game": "connect4-7x6",
        "cell": 0,
        "match": 0,
        "id": "0:0",
        "first": "uct:10",
        "second": "uct:10",
        "seed": 2**63 + 1,
        "result": {1: "first", 0: "draw", -1: "second"}[int(played.outcomes[0])],
        "first_goal": first.first_goal,
        "second_goal": first.second_goal,
        "plies": first.plies,
        "moves": "".join(str(code + 1) for code in first.moves),
        "status": "played",
        "opening": "",
    }
    assert rows[-1]["result"] is rows[-1]["first_goal"] is None
    assert (rows[-1]["status"], rows[-1]["opening"]) == ("first player hung", "44")


def test_equal_matches_give_equal_bytes_in_whatever_order(played: Matches) -> None:
    shuffled = played.take(np.random.default_rng(1).permutation(len(played)))
    assert table_bytes(shuffled) == table_bytes(played)


def test_large_tables_have_row_groups_of_fixed_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plymill.matches.tables.ROW_GROUP", 3)
    matches = Matches.of([record(0, match) for match in range(8)])
    file = pq.ParquetFile(io.BytesIO(table_bytes(matches)))
    assert [file.metadata.row_group(i).num_rows for i in range(3)] == [3, 3, 2]


def test_a_cell_that_is_none_is_refused() -> None:
    with pytest.raises(MatchRecordError, match="matches: expected cells from 0 to 3, got 4"):
        table_bytes(Matches.of([record(4, 0)]))


def test_other_files_are_refused(tmp_path: Path) -> None:
    text = tmp_path / "matches.parquet"
    text.write_text("moves,score\n")
    with pytest.raises(MatchRecordError, match="expected a Parquet file of matches"):
        list(read_results(str(text)))
    with pytest.raises(MatchRecordError, match="expected a Parquet file of matches"):
        list(read_results(str(tmp_path / "missing")))
    file = io.BytesIO()
    write_times(file, **times(1))
    with pytest.raises(MatchRecordError, match="expected the columns game, cell, match"):
        list(read_results(io.BytesIO(file.getvalue())))


def times(size: int) -> dict[str, Any]:
    return {
        "cell": np.arange(size, dtype=np.uint32)[::-1],
        "match": np.zeros(size, np.uint32),
        "seconds": np.arange(size, dtype=np.float64) / 2,
        "workers": [f"worker{i % 2}" for i in range(size)],
    }


def test_seconds_and_workers_are_a_table_of_their_own() -> None:
    file = io.BytesIO()
    write_times(file, **times(3))
    rows = pq.read_table(io.BytesIO(file.getvalue())).to_pylist()
    assert [(row["id"], row["seconds"], row["worker"]) for row in rows] == [
        ("0:0", 1.0, "worker0"),
        ("1:0", 0.5, "worker1"),
        ("2:0", 0.0, "worker0"),
    ]


outcomes = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from([0, 50, 100]), st.booleans()), max_size=40
)


@given(outcomes, st.randoms())
def test_results_add_up_in_whatever_order(drawn: list[tuple[int, int, bool]], random: Any) -> None:
    records = [
        record(cell, match, goal, status=Status.PLAYED if good else Status.SECOND_RAISED)
        for match, (cell, goal, good) in enumerate(drawn)
    ]
    results = summarize(CELLS, Matches.of(records))
    random.shuffle(records)
    assert summarize(CELLS, Matches.of(records)) == results
    for result in results:
        goals = [goal for cell, goal, good in drawn if cell == result.cell and good]
        assert (result.wins, result.draws, result.losses) == tuple(map(goals.count, (100, 50, 0)))
        assert result.matches + result.failed == sum(cell == result.cell for cell, *_ in drawn)
        if goals:
            assert result.mean_goal is not None
            assert result.mean_goal == pytest.approx(sum(goals) / len(goals), abs=1e-6)
            assert result.low <= result.mean_goal <= result.high
            assert result.spread == pytest.approx(25 * goals.count(50) / len(goals), abs=1e-6)
        else:
            assert (result.mean_goal, result.low, result.high) == (None, 0, 100)


def one_cell(seconds: float | None = None) -> list[CellResult]:
    matches = Matches.of([record(0, match, 100 * (match < 3), b"\x01\x02") for match in range(4)])
    times = None if seconds is None else {0: seconds}
    return summarize(grid_cells((10,), (20,)), matches, times)


def test_results_as_csv() -> None:
    interval = wilson(0.75, 4)
    (row,) = csv.DictReader(io.StringIO(results_csv(one_cell())))
    assert row == {
        "cell": "0",
        "first": "uct:10",
        "second": "uct:20",
        "first_iterations": "10",
        "second_iterations": "20",
        "matches": "4",
        "failed": "0",
        "wins": "3",
        "draws": "0",
        "losses": "1",
        "mean_goal": "75.0",
        "low": str(round(100 * interval.low, 6)),
        "high": str(round(100 * interval.high, 6)),
        "spread": "0.0",
        "mean_plies": "2.0",
    }
    assert results_csv(one_cell(0.5)).splitlines()[1].endswith(",2.0,0.5")


def test_results_as_json() -> None:
    said = json.loads(results_json(one_cell(), game="connect4-8x6"))
    assert said["game"] == "connect4-8x6"
    assert said["interval"] == "Wilson score interval of the mean goal at 95%"
    assert said["cells"][0]["wins"] == 3
    assert "mean_seconds" not in said["cells"][0]
