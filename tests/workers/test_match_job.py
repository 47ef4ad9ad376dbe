"""Match jobs from spec to artefacts, in one process: the same bytes whoever plays what, when."""

import contextlib
import csv
import io
import json
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from plymill.cluster import (
    MemoryFiles,
    Receipt,
    RunInterruptedError,
    RunOptions,
    Unit,
)
from plymill.games import Stream
from plymill.matches.errors import MatchError
from plymill.matches.intervals import wilson_bounds
from plymill.matches.records import Matches
from plymill.matches.referee import play_match
from plymill.matches.rounds import cell_scores, next_round
from plymill.workers import DuelJob, GridJob, MatchJob, PoolJob, make_job
from plymill.workers.match_plan import unpack_openings, unpack_stretches
from plymill.workers.match_worker import MatchWorker, lanes_for, making, thread_memory
from tests.workers.match_runs import artifacts, foreign, plan_of, play, played, store_of

pytestmark = pytest.mark.usefixtures("without_charts")

GRID = GridJob(
    game="tictactoe", first=(10, 20, 40), second=(10, 20, 40), samples=12, unit_seconds=0.0002,
    audit_fraction=0.2, seed=3,
)  # fmt: skip
UNTIL = GridJob(
    game="tictactoe",
    first=(10, 20, 40),
    second=(10, 20),
    samples=10,
    until=0.25,
    unit_seconds=0.0002,
)
DUEL = DuelJob(
    game="connect4",
    player_a="uct:60",
    player_b="uct:20",
    unit_seconds=0.02,
    openings=("44", "43", "34", "45", "33", "54", "24", "42"),
)
POOL = PoolJob(
    game="tictactoe", players=("uct:30", "random", "first-legal"), samples=10, unit_seconds=0.00005
)
JOBS: list[MatchJob] = [GRID, UNTIL, DUEL, POOL]


@pytest.mark.parametrize("spec", JOBS, ids=lambda spec: spec.title)
def test_artefacts_are_the_same_bytes_with_one_two_and_four_workers(spec: MatchJob) -> None:
    made = []
    for nodes in ({"a": 1}, {"a": 1, "b": 1}, {"a": 2, "b": 1, "c": 1, "d": 3}):
        files = MemoryFiles()
        assert play(spec, files, nodes).complete
        store, plan = plan_of(spec, files)
        workers = {store.read_unit(unit)[1].worker for unit in plan.units}
        assert len(workers) >= min(2, len(nodes))
        made.append(artifacts(spec, files))
    assert made[0] == made[1] == made[2]


@pytest.mark.parametrize("spec", JOBS, ids=lambda spec: spec.title)
def test_interrupted_anywhere_and_resumed_the_artefacts_are_the_same(spec: MatchJob) -> None:
    """Every third unit ends the session, those of later rounds too."""
    undisturbed = MemoryFiles()
    play(spec, undisturbed)
    files, sessions = MemoryFiles(), 0
    run, count = MatchWorker.run, 0

    def interrupting(self: MatchWorker, unit: Unit) -> Receipt:
        nonlocal count
        count += 1
        if count % 4 == 0:
            raise KeyboardInterrupt
        return run(self, unit)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MatchWorker, "run", interrupting)
        complete = False
        while not complete:
            sessions += 1
            with contextlib.suppress(RunInterruptedError):
                complete = play(spec, files, {"a": 1, "b": 1}).complete
    assert sessions > 2
    assert artifacts(spec, files) == artifacts(spec, undisturbed)


@pytest.mark.parametrize("damage", [None, lambda data: data[:-1], lambda data: b""])
@pytest.mark.parametrize("spec", [UNTIL, DUEL], ids=lambda spec: spec.kind)
def test_inputs_of_finished_units_that_are_lost_or_damaged_are_written_anew(
    spec: MatchJob, damage: Callable[[bytes], bytes] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run interrupted after its last unit needs them for all that follows."""
    files = MemoryFiles()
    play(spec, files)
    before = artifacts(spec, files)
    store = store_of(spec, files)
    inputs = {name: store.files.read(f"input/{name}") for name in store.files.list("input")}
    for name, data in inputs.items():
        store.files.delete(f"input/{name}")
        if damage is not None:
            store.files.write(f"input/{name}", damage(data))
    store.discard_stages()
    monkeypatch.setattr(MatchWorker, "run", None)  # nothing is played
    assert play(spec, files).complete
    assert artifacts(spec, files) == before
    assert {name: store.files.read(f"input/{name}") for name in inputs} == inputs


def test_every_match_of_the_grid_is_played_once_and_is_what_it_is_alone() -> None:
    files = MemoryFiles()
    play(GRID, files)
    store, plan = plan_of(GRID, files)
    assert plan.items == 9 * 12
    pairs = [
        (stretch.cell, match)
        for unit in plan.units
        for stretch in unpack_stretches(store.read_input(unit))
        for match in range(stretch.start, stretch.stop)
    ]
    assert sorted(pairs) == [(cell, match) for cell in range(9) for match in range(12)]
    matches = played(GRID, files)
    for record in list(matches)[::7]:
        with making(GRID.sides(GRID.cells[record.cell]), GRID) as players:
            alone = play_match(
                GRID.rules,
                players,
                Stream(GRID.seed, record.cell, record.match),
                cell=record.cell,
                match=record.match,
            )
        assert alone.record == record


def test_units_cost_about_the_same_though_cells_differ_a_thousandfold() -> None:
    axis = tuple(10 * 2**k for k in range(11))
    spec = GridJob(game="connect4-8x6", first=axis, second=axis, samples=4000)
    files = MemoryFiles()
    plan = make_job(spec, RunOptions()).plan(store_of(spec, files))
    costs = np.array([unit.cost for unit in plan.units])
    items = [unit.items for unit in plan.units]
    assert max(items) > 100 * min(items)
    assert costs.max() < 1.3 * np.median(costs)
    assert costs.min() > 0.7 * np.median(costs)
    assert 29 < np.median(costs) < 31
    assert plan == make_job(spec, RunOptions()).plan(store_of(spec, files))


def test_a_small_job_is_cut_so_that_several_threads_share_it() -> None:
    spec = GridJob(game="connect4", first=(100_000,), second=(100_000,), samples=100)
    plan = make_job(spec, RunOptions()).plan(store_of(spec, MemoryFiles()))
    assert 16 <= len(plan.units) <= 64


def test_the_table_of_matches_has_a_row_for_each_and_times_lie_beside_the_provenance() -> None:
    files = MemoryFiles()
    play(GRID, files)
    store = store_of(GRID, files)
    table = pq.read_table(io.BytesIO(store.files.read("artifacts/matches.parquet")))
    rows = table.to_pylist()
    assert [row["id"] for row in rows] == [f"{c}:{m}" for c in range(9) for m in range(12)]
    assert {row["game"] for row in rows} == {"tictactoe"}
    assert rows[-1]["first"] == "uct:40"
    assert rows[-1]["second"] == "uct:40"
    times = pq.read_table(io.BytesIO(store.files.read("provenance/matches.parquet"))).to_pylist()
    assert [row["id"] for row in times] == [row["id"] for row in rows]
    assert all(row["seconds"] > 0 and row["worker"] for row in times)
    cells = list(csv.DictReader(io.StringIO(store.files.read("artifacts/cells.csv").decode())))
    assert "mean_seconds" not in cells[0], "it differs from run to run"
    timed = list(csv.DictReader(io.StringIO(store.files.read("provenance/cells.csv").decode())))
    assert all(float(cell["mean_seconds"]) > 0 for cell in timed)
    wins = sum(row["result"] == "first" for row in rows if row["cell"] == 8)
    assert int(cells[8]["wins"]) == wins


def test_receipts_tell_iterations_and_progress_counts_matches() -> None:
    files = MemoryFiles()
    result = play(GRID, files)
    store, plan = plan_of(GRID, files)
    receipts = [store.read_unit(unit)[1] for unit in plan.units]
    assert sum(receipt.counters["matches"] for receipt in receipts) == 108
    assert sum(receipt.counters["iterations"] for receipt in receipts) > 108 * 5 * 10
    assert result.progress.items_done == 108
    assert result.progress.item == "matches"
    assert result.progress.work_done == pytest.approx(result.progress.work_total)


def test_a_grid_goes_on_until_every_interval_is_narrow_enough() -> None:
    files = MemoryFiles()
    result = play(UNTIL, files)
    matches = played(UNTIL, files)
    for score in cell_scores(matches, len(UNTIL.cells)):
        low, high = wilson_bounds(score.mean, score.played)
        assert high - low <= 0.25
        assert score.played > 10
    _, plan = plan_of(UNTIL, files)
    assert plan.rounds
    assert result.progress.rounds == len(plan.rounds) + 1
    longer = UNTIL.model_copy(update={"until": None})
    other = MemoryFiles()
    play(longer, other)
    few, many = played(longer, other), matches
    common = many.take(many.arrays["match"] < 10)
    assert common == few, "the first samples are those of the grid without an end"


def test_a_grid_says_how_many_intervals_stayed_wider_than_was_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    narrow = play(UNTIL, MemoryFiles())
    assert narrow.stages["cells"]["wide"] == 0
    assert len(narrow.stages["summary"]["lines"]) == 1
    monkeypatch.setattr("plymill.workers.match_run.next_round", partial(next_round, most=15))
    files = MemoryFiles()
    wide = play(UNTIL, files)
    rows = list(csv.DictReader(io.StringIO(artifacts(UNTIL, files)["cells.csv"].decode())))
    count = sum(float(row["high"]) - float(row["low"]) > 25 for row in rows)
    assert wide.stages["cells"]["wide"] == count > 0
    assert f"wider than 0.25 in {count} cells" in wide.stages["summary"]["lines"][1]


# --- duels and pools ------------------------------------------------------------------------------


def test_a_duel_ends_with_the_pair_that_decides_and_leaves_out_what_was_played_beyond() -> None:
    files = MemoryFiles()
    play(DUEL, files)
    said = json.loads(artifacts(DUEL, files)["duel.json"])
    assert said["verdict"] == "H1"
    assert said["llr"] >= said["bounds"][1]
    matches = played(DUEL, files)
    assert len(matches) > 2 * said["pairs"], "whole rounds are played"
    table = pq.read_table(io.BytesIO(artifacts(DUEL, files)["matches.parquet"])).to_pylist()
    assert len(table) == 2 * said["pairs"] == 2 * sum(said["counts"])
    assert max(row["match"] for row in table) == said["pairs"] - 1
    openings = {row["match"]: row["opening"] for row in table if row["cell"] == 0}
    assert openings == {row["match"]: row["opening"] for row in table if row["cell"] == 1}
    assert all(row["moves"].startswith(row["opening"]) for row in table)
    assert len({row["opening"] for row in table}) == 8


def test_a_duel_decides_alike_however_its_units_are_cut() -> None:
    verdicts = set()
    for seconds in (0.03, 0.1, 5.0):
        files = MemoryFiles()
        play(DUEL.model_copy(update={"unit_seconds": seconds}), files)
        spec = DUEL.model_copy(update={"unit_seconds": seconds})
        made = artifacts(spec, files)
        verdicts.add((made["duel.json"], made["matches.parquet"], made["cells.csv"]))
    assert len(verdicts) == 1


@pytest.mark.parametrize(
    ("game", "fields", "count"),
    [
        ("connect4", {"opening_count": 5}, 5),
        ("connect4", {"opening_count": 5, "opening_plies": 0}, 0),
        ("connect4", {"openings": ("44", "43")}, 2),
        ("tictactoe", {}, 0),
        ("tictactoe", {"opening_plies": 1, "opening_count": 3, "opening_margin": 0.4}, 3),
        ("sheep-and-wolf", {}, 0),
    ],
)
def test_a_duel_of_a_long_game_begins_with_random_openings_if_there_are_any(
    game: str, fields: dict[str, Any], count: int
) -> None:
    spec = DuelJob(game=game, player_a="uct:10", player_b="random", **fields)
    store = store_of(spec, MemoryFiles())
    plan = make_job(spec, RunOptions()).plan(store)
    openings = unpack_openings(store.read_input(plan.units[-1]))
    assert len(openings.codes) == count
    assert len(set(openings.codes)) == count


def test_openings_that_cannot_be_found_are_an_error_only_if_they_were_asked_for() -> None:
    spec = DuelJob(
        game="sheep-and-wolf", player_a="uct:10", player_b="random", opening_plies=4,
        opening_count=2,
    )  # fmt: skip
    with pytest.raises(MatchError, match="expected 2 balanced positions of sheep-and-wolf"):
        make_job(spec, RunOptions()).plan(store_of(spec, MemoryFiles()))


@pytest.mark.parametrize("pentanomial", [True, False])
def test_a_duel_of_equals_goes_on_in_rounds_and_ends_undecided_at_its_limit(
    *, pentanomial: bool
) -> None:
    spec = DuelJob(
        game="tictactoe", player_a="uct:20", player_b="uct:20", elo1=3, max_pairs=300,
        pentanomial=pentanomial, unit_seconds=0.05,
    )  # fmt: skip
    files = MemoryFiles()
    result = play(spec, files)
    said = result.stages["duel"]
    assert result.complete
    assert said["verdict"] == "open"
    assert said["pairs"] == 300
    assert sum(said["counts"]) == (300 if pentanomial else 600)
    assert "Undecided" in result.stages["summary"]["lines"][0]


def test_a_duel_may_be_decided_in_a_later_round() -> None:
    spec = DuelJob(
        game="tictactoe", player_a="uct:40", player_b="uct:20", elo1=25, unit_seconds=0.02,
        seed=2,
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("plymill.workers.match_duel._MOST_AT_FIRST", 64)
        files = MemoryFiles()
        result = play(spec, files)
        _, plan = plan_of(spec, files)
    assert len(plan.rounds) >= 1
    assert result.stages["duel"]["verdict"] == "H1"
    assert result.stages["duel"]["pairs"] > 64


def test_a_pool_rates_its_players_and_makes_the_cross_table() -> None:
    files = MemoryFiles()
    result = play(POOL, files)
    made = artifacts(POOL, files)
    ratings = json.loads(made["pool.json"])["ratings"]
    assert ratings[0]["player"] == "uct:30"
    assert sum(row["elo"]["mean"] for row in ratings) == pytest.approx(0, abs=0.01)
    assert all(row["elo"]["low"] < row["elo"]["mean"] < row["elo"]["high"] for row in ratings)
    assert all(row["matches"] == 40 for row in ratings)
    cross = list(csv.DictReader(io.StringIO(made["crosstable.csv"].decode())))
    assert sum(float(row["points"]) for row in cross) == 60
    assert result.stages["summary"]["lines"][0].startswith("  1. uct:30")


def test_only_units_all_of_whose_players_play_alike_again_are_audited() -> None:
    spec = PoolJob(
        game="tictactoe", players=(foreign("First"), "first-legal", "random"), samples=2,
        audit_fraction=1.0, unit_seconds=0.001,
    )  # fmt: skip
    files = MemoryFiles()
    assert play(spec, files, {"a": 1, "b": 1}).complete
    store, plan = plan_of(spec, files)
    cells = {
        unit.index: {stretch.cell for stretch in unpack_stretches(store.read_input(unit))}
        for unit in plan.units
    }
    native = {3, 5}  # first-legal against random, and the other way round
    assert set(plan.audited) == {index for index, held in cells.items() if held <= native}
    assert len(store.files.list("audits")) == len(plan.audited) > 0


def test_a_worker_that_plays_wrongly_is_caught_and_what_followed_is_played_again() -> None:
    spec = UNTIL.model_copy(update={"audit_fraction": 0.5})
    right = MemoryFiles()
    play(spec, right)
    in_order = MatchWorker._play

    def wrongly(self: MatchWorker, unit: Unit) -> Any:
        played = in_order(self, unit)
        if self._name.startswith("b"):
            played.parts = [_turned(part) for part in played.parts]
        return played

    files = MemoryFiles()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MatchWorker, "_play", wrongly)
        play(spec, files, {"a": 1, "b": 1, "c": 1})
    assert artifacts(spec, files) == artifacts(spec, right)


def _turned(matches: Matches) -> Matches:
    arrays = dict(matches.arrays)
    arrays["first_goal"], arrays["second_goal"] = arrays["second_goal"], arrays["first_goal"]
    return Matches(arrays)


def test_matches_of_very_long_searches_take_fewer_turns_so_that_their_trees_fit() -> None:
    few = GridJob(game="tictactoe", first=(10,), second=(5_000_000,))
    many = GridJob(game="tictactoe", first=(10,), second=(1000,))
    assert lanes_for(many.sides(many.cells[0])) == 8
    assert lanes_for(few.sides(few.cells[0])) == 1
    options = RunOptions()
    assert make_job(few, options).worker_memory(2) > 2 * 5_000_000 * 400
    assert thread_memory(many.sides(many.cells[0])) < 2**30
    own = PoolJob(game="connect4", players=(foreign("First"), "random"))
    solving = PoolJob(game="connect4", players=("perfect", "random"))
    neither = PoolJob(game="connect4", players=("first-legal", "random"))
    needs = [make_job(spec, options).worker_memory(2) for spec in (own, solving, neither)]
    assert min(needs[:2]) > needs[2]
