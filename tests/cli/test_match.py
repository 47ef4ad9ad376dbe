"""``plymill match``: from flags to verdicts, and what can be asked of a run afterwards."""

import json
from pathlib import Path

import pytest

from plymill.cluster import RunStore
from plymill.workers.match_worker import MatchWorker
from tests.cli.helpers import SMALL_GRID, Plymill, run_without_ray

PUBLISHED = """game,first_iters,second_iters,avg_goal_first,samples
ticTacToe,10,10,65.0,114
ticTacToe,10,40,10.0,114
ticTacToe,40,10,85.0,114
ticTacToe,80,80,85.0,114
"""
TOML = """game = "tictactoe"
first = [10, 40]
second = "10,40"
samples = 30
"""


@pytest.fixture(autouse=True)
def _without_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plymill.workers.match_stages.figures_of", lambda spec, matches: {})


def test_a_grid_says_what_came_out_and_how_to_look_at_a_match(
    plymill_: Plymill, tmp_path: Path
) -> None:
    done = plymill_("match", "grid", *SMALL_GRID, "--store", tmp_path)
    assert done.code == 0
    assert "120 matches played" in done.out
    assert "First player:" in done.out
    assert "matches.parquet" in done.out
    hint = next(line for line in done.out.splitlines() if line.startswith("To see a match again:"))
    again = plymill_(*hint.partition("plymill ")[2].split())
    assert again.code == 0
    assert again.out.endswith("It is the same as in the run: moves, estimates and goals.\n")
    lines = done.err.splitlines()
    assert any("of 120 matches" in line and "matches/s" in line for line in lines)
    assert any(line.endswith(": collecting the matches") for line in lines)


def test_flags_and_spec_file_describe_the_same_run(
    plymill_: Plymill, tmp_path: Path, store: Path, grid_id: str
) -> None:
    spec = tmp_path / "grid.toml"
    spec.write_text(TOML)
    done = plymill_("match", "grid", "--spec", spec, "--store", store, "--json")
    result = json.loads(done.out)
    assert result["run_id"] == grid_id
    assert result["items_resumed"] == result["items"] == 120
    other = plymill_(
        "match", "grid", "--spec", spec, "--samples", 5, "--store", tmp_path / "s", "--json"
    )
    assert json.loads(other.out)["items"] == 20


def test_a_duel_tells_its_verdict(plymill_: Plymill, tmp_path: Path) -> None:
    words = ("--game", "tictactoe", "--player-a", "uct:60", "--player-b", "random")
    done = plymill_("match", "duel", *words, "--elo1", 50, "--store", tmp_path)
    assert done.code == 0
    assert "H1 is accepted: uct:60 is ahead of random by 50 Elo rather than by 0" in done.out
    assert "Score of uct:60:" in done.out
    result = json.loads(
        plymill_("match", "duel", *words, "--elo1", 50, "--store", tmp_path, "--json").out
    )
    assert result["stages"]["duel"]["verdict"] == "H1"
    listed = plymill_("run", "list", "--store", tmp_path)
    assert "duel of tictactoe, uct:60 against random" in listed.out


def test_a_pool_tells_its_ratings_and_what_failed(plymill_: Plymill, tmp_path: Path) -> None:
    players = ("uct:60", "random", "python:tests.workers.faulty:Raises")
    flags = [word for player in players for word in ("--players", player)]
    done = plymill_(
        "match", "pool", "--game", "tictactoe", *flags, "--samples", 2, "--store", tmp_path
    )
    assert done.code == 0
    assert "  1. uct:60  Elo " in done.out
    assert (
        f"8 of 12 matches failed at both attempts and do not count: {players[2]} raised in 8. "
        f"The first fault, in match 1:0: Player '{players[2]}' raised ValueError: no idea."
    ) in done.err
    assert "  -. python:tests.workers.faulty:Raises  no match counted" in done.out
    (run,) = tmp_path.iterdir()
    shown = plymill_("run", "show", run.name, "--store", tmp_path)
    assert "8 of 12 matches failed at both attempts" in shown.out
    assert "pool of tictactoe, 3 players" in shown.out


def test_a_mistyped_player_is_told_in_a_sentence_and_nothing_is_planned(
    plymill_: Plymill, tmp_path: Path
) -> None:
    words = ("--game", "tictactoe", "--player-a", "python:nomod:X", "--player-b", "random")
    done = plymill_("match", "duel", *words, "--store", tmp_path)
    assert done.code == 2
    said = done.err.splitlines()[-1]
    assert said.startswith("plymill: Player 'python:nomod:X' raised ModuleNotFoundError: No module")
    assert "Traceback" not in done.err
    assert not list(tmp_path.glob("*/plan.json"))


def test_show_and_download_work_with_matches(
    plymill_: Plymill, tmp_path: Path, store: Path, grid_id: str
) -> None:
    shown = plymill_("run", "show", grid_id, "--store", store)
    assert "120 of 120 matches" in shown.out
    assert "First player:" in shown.out
    fetched = plymill_("run", "download", grid_id, "--store", store, "--to", tmp_path / "x")
    assert fetched.code == 0
    assert (tmp_path / "x" / "matches.parquet").is_file()


def test_resume_goes_on_with_matches(
    plymill_: Plymill, tmp_path: Path, grid_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plymill.workers.run.run_job", run_without_ray)
    assert plymill_("match", "grid", *SMALL_GRID, "--store", tmp_path).code == 0
    for unit in (tmp_path / grid_id / "units").iterdir():
        unit.unlink()
    resumed = plymill_("run", "resume", grid_id, "--store", tmp_path, "--json")
    assert resumed.code == 0
    assert json.loads(resumed.out)["complete"]


# --- looking at matches ---------------------------------------------------------------------------


def test_replay_shows_every_move_on_the_board_with_what_was_expected_of_it(
    plymill_: Plymill, store: Path, grid_id: str
) -> None:
    shown = plymill_("match", "replay", grid_id, "3:7", "--store", store)
    assert shown.code == 0
    assert "Match 3:7 of" in shown.out
    assert "uct:40 (xplayer) against uct:40 (oplayer)" in shown.out
    fields = json.loads(plymill_("match", "replay", grid_id, "3:7", "--store", store, "--json").out)
    assert fields["same"] is True
    for ply in fields["plies"]:
        (move,) = ply["moves"]
        text = f"{ply['ply']}. {move['player']} plays {move['move']}, expects "
        assert text in shown.out
    assert sum(fields["goals"]) == 100


def test_replay_says_what_is_not_the_same(
    plymill_: Plymill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play = MatchWorker._play

    def altered(self: MatchWorker, unit: object) -> object:
        played = play(self, unit)  # type: ignore[arg-type]
        for part in played.parts:
            values = part.arrays["values"].copy()
            values[0] = 1234
            part.arrays["values"] = values
        return played

    monkeypatch.setattr(MatchWorker, "_play", altered)
    run = json.loads(plymill_("match", "grid", *SMALL_GRID, "--store", tmp_path, "--json").out)[
        "run_id"
    ]
    units = RunStore.open(str(tmp_path), run).finished_units()
    assert units
    first = plymill_("match", "replay", run, "3:0", "--store", tmp_path)
    assert first.code == 1
    assert "It is not the same as in the run: the moves are, but not all estimates." in first.out


def test_compare_with_published_numbers_tells_z_chi_squared_and_a_verdict(
    plymill_: Plymill, tmp_path: Path, store: Path, grid_id: str
) -> None:
    published = tmp_path / "published.csv"
    published.write_text(PUBLISHED)
    words = ("match", "compare", grid_id, "--published", published, "--store", store)
    told = plymill_(*words)
    assert told.code == 0
    assert "against published.csv, tictactoe" in told.out
    assert "Cells that stand out:" in told.out
    assert "The grid differs: chi-squared" in told.out
    assert "2 cells are in one of the grids only" in told.out
    result = json.loads(plymill_(*words, "--json").out)
    assert result["agreement"] == "differs"
    cells = {(cell["first"], cell["second"]): cell for cell in result["cells"]}
    assert len(cells) == 3
    assert cells[10, 40]["stands_out"]
    assert not cells[10, 10]["stands_out"]
    assert cells[10, 10]["theirs"] == {"matches": 114, "mean_goal": 65.0}


@pytest.mark.parametrize("ending", ["svg", "png", "html"])
def test_compare_with_another_run_draws_the_differences(
    plymill_: Plymill, tmp_path: Path, store: Path, grid_id: str, ending: str
) -> None:
    other = plymill_("match", "grid", *SMALL_GRID, "--seed", 1, "--store", store, "--json")
    run = json.loads(other.out)["run_id"]
    try:
        chart = tmp_path / f"difference.{ending}"
        words = ("match", "compare", grid_id, run, "--store", store, "--chart", chart)
        told = plymill_(*words)
        assert told.code == 0
        assert f"{grid_id} against {run}" in told.out
        assert "The grid agrees" in told.out
        start = {"svg": b"<svg", "png": b"\x89PNG", "html": b"<!doctype html>"}[ending]
        assert chart.read_bytes().startswith(start)
        again = plymill_(*words)
        assert again.code == 2
        assert "is there already; --force replaces it" in again.err
    finally:
        for path in sorted((store / run).rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        (store / run).rmdir()


def test_runs_that_share_their_matches_are_not_compared(
    plymill_: Plymill, store: Path, grid_id: str
) -> None:
    refused = plymill_("match", "compare", grid_id, grid_id, "--store", store)
    assert refused.code == 2
    assert "are of the same seed 0, and the matches of 4 cells are the same" in refused.err
    assert "play one of them with another --seed" in refused.err


def test_chart_draws_what_is_there_of_a_run_that_is_not_finished(
    plymill_: Plymill, tmp_path: Path
) -> None:
    words = (*SMALL_GRID, "--unit-seconds", 0.0001, "--store", tmp_path / "runs", "--json")
    run = json.loads(plymill_("match", "grid", *words).out)["run_id"]
    units = sorted((tmp_path / "runs" / run / "units").iterdir())
    assert len(units) > 2
    units[-1].unlink()
    charts = tmp_path / "charts"
    drawn = plymill_("match", "chart", run, "--to", charts, "--store", tmp_path / "runs")
    assert drawn.code == 0
    assert f"{len(units) - 1} of {len(units)} units are finished" in drawn.err
    names = {path.name for path in charts.iterdir()}
    assert {"grid.svg", "grid.png", "charts.html"} <= names
    again = plymill_("match", "chart", run, "--to", charts, "--store", tmp_path / "runs")
    assert again.code == 2
    assert "--force replaces it" in again.err
