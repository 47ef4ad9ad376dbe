"""Match jobs from spec to artefacts, in one process: the same bytes whoever plays what, when."""

import contextlib
import csv
import io
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from plymill.cluster import (
    MemoryFiles,
    Plan,
    Receipt,
    RunInterruptedError,
    RunOptions,
    RunStore,
    Unit,
)
from plymill.errors import PlymillError
from plymill.games import Stream
from plymill.games.game import State
from plymill.matches.errors import MatchError
from plymill.matches.intervals import wilson_bounds
from plymill.matches.records import Matches
from plymill.matches.referee import play_match
from plymill.matches.rounds import cell_scores, next_round
from plymill.players import Choice, PlayerError, PythonSpec
from plymill.players.simple import RandomPlayer
from plymill.workers import DuelJob, GridJob, MatchJob, PoolJob, make_job, run_job
from plymill.workers.match_charts import pool_figures
from plymill.workers.match_plan import unpack_openings, unpack_stretches
from plymill.workers.match_worker import MatchWorker, lanes_for, making, thread_memory
from tests.workers.match_runs import artifacts, play, played, store_of

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


def plan_of(spec: MatchJob, files: MemoryFiles) -> tuple[RunStore, Plan]:
    store = store_of(spec, files)
    plan = store.read_plan()
    assert plan is not None
    return store, plan


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


# --- players that fail ----------------------------------------------------------------------------


def foreign(name: str, **options: Any) -> str:
    more = "".join(f",{key}={value}" for key, value in options.items())
    return f"python:tests.workers.faulty:{name}{more}"


@pytest.mark.parametrize(
    ("player", "status"),
    [
        (foreign("Raises"), "first player raised"),
        (foreign("Crashes"), "first player raised"),
        (foreign("Illegal"), "first player moved illegally"),
        (foreign("Hangs", limit=0.2), "first player hung"),
    ],
)
def test_a_player_that_fails_loses_its_own_matches_only_after_a_second_attempt_elsewhere(
    player: str, status: str
) -> None:
    spec = PoolJob(
        game="tictactoe", players=(player, "first-legal", "random"), samples=1, unit_seconds=0.1
    )
    files = MemoryFiles()
    result = play(spec, files, {"a": 1, "b": 1})
    assert result.complete
    assert result.stages["matches"] == {"matches": 6, "failed": 4}
    rows = pq.read_table(io.BytesIO(artifacts(spec, files)["matches.parquet"])).to_pylist()
    other = status.replace("first", "second")
    assert [row["status"] for row in rows] == [status, status, other, "played", other, "played"]
    assert [row["result"] is None for row in rows] == [row["status"] != "played" for row in rows]
    store, plan = plan_of(spec, files)
    failures = json.loads(store.files.read("provenance/failures.json"))
    assert len(failures) == 8
    for row in rows:
        workers = [fail["worker"] for fail in failures if fail["match"] == row["id"]]
        assert len(set(workers)) == len(workers) == (0 if row["status"] == "played" else 2)
    assert any(unit.avoid for unit in plan.units)
    note = result.stages["summary"]["note"]
    kind = status.removeprefix("first player ")
    assert note.startswith(
        f"4 of 6 matches failed at both attempts and do not count: {player} {kind} in 4. "
        f"The first fault, in match 0:0: Player '{player}' "
    )
    assert failures[0]["fault"] in note
    assert artifacts(spec, files)["summary.txt"].decode().splitlines()[-1] == note
    assert "4 of 6 matches failed at both attempts" in store.files.read("report.html").decode()


def test_a_match_that_succeeds_at_its_second_attempt_counts_like_any_other(tmp_path: Any) -> None:
    spec = PoolJob(
        game="tictactoe",
        players=(foreign("FailsOnce", marker=tmp_path / "marker"), "first-legal"),
        samples=2,
    )
    files = MemoryFiles()
    result = play(spec, files, {"a": 1, "b": 1})
    assert result.stages["matches"] == {"matches": 4, "failed": 0}
    store, plan = plan_of(spec, files)
    assert len(json.loads(store.files.read("provenance/failures.json"))) == 1
    assert len(plan.rounds) == 1
    again = MemoryFiles()
    play(spec, again)  # now it does not fail at all
    assert len(plan_of(spec, again)[1].rounds) == 0
    assert artifacts(spec, files) == artifacts(spec, again)


class Fails(RandomPlayer):
    """Lives in this process, which is quicker."""

    def choose(self, state: State) -> Choice:
        raise ValueError(f"no idea {object()}")


def test_artefacts_are_the_same_bytes_whoever_plays_the_matches_that_fail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(PythonSpec, "make", lambda _, game: Fails(game))
    spec = PoolJob(
        game="tictactoe", players=(foreign("Raises"), "first-legal", "random"), samples=80
    )
    made, planned = [], set()
    for nodes in ({"a": 1}, {"a": 1, "b": 1}, {"a": 1, "b": 1, "c": 1}):
        files = MemoryFiles()
        result = play(spec, files, nodes)
        assert result.stages["matches"] == {"matches": 480, "failed": 320}
        planned.add(len(plan_of(spec, files)[1].units))
        made.append(artifacts(spec, files))
    said = made[0]["summary.txt"].decode()
    assert "320 of 480 matches failed at both attempts" in said
    assert "The first fault, in match 0:0: The first player raised ValueError: no idea" in said
    assert len(planned) > 1, "what failed is tried again in units of other sizes"
    assert made[0] == made[1] == made[2]


class Illegal(RandomPlayer):
    """Lives in this process, too; ``mended`` it plays well."""

    mended = False

    def choose(self, state: State) -> Choice:
        return super().choose(state) if self.mended else Choice(99)


class SeldomIllegal(RandomPlayer):
    """Has nothing to say in three matches of four; as it is with the same random numbers again."""

    def choose(self, state: State) -> Choice:
        return super().choose(state) if self._stream.below(8) else Choice(99)


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> Callable[[type[RandomPlayer]], None]:
    """Lets players of the user's own be of a class that lives in this process: it is quicker."""

    def use(kind: type[RandomPlayer]) -> None:
        monkeypatch.setattr(PythonSpec, "make", lambda _, game: kind(game))
        monkeypatch.setattr(PythonSpec, "try_out", lambda _, game: None)

    return use


def test_a_duel_in_which_no_pair_counts_stops_and_is_played_anew_once_the_player_is_mended(
    in_this_process: Callable[[type[RandomPlayer]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    in_this_process(Illegal)
    spec = DuelJob(game="tictactoe", player_a=foreign("Illegal"), player_b="random", max_pairs=200)
    files = MemoryFiles()
    with pytest.raises(MatchError) as caught:
        play(spec, files)
    said = str(caught.value)
    assert "in each of its 64 pairs a match failed at both attempts. The first fault, in" in said
    assert "in match 0:0: The first player played 99 at ply 1, expected one of the codes" in said
    store, plan = plan_of(spec, files)
    assert len(json.loads(store.files.read("provenance/failures.json"))) == 256
    assert store.finished_units() == set()
    assert not plan.rounds
    monkeypatch.setattr(Illegal, "mended", True)
    assert play(spec, files).complete
    undisturbed = MemoryFiles()
    play(spec, undisturbed)
    assert artifacts(spec, files) == artifacts(spec, undisturbed)


def test_a_duel_in_which_some_pairs_count_ends_and_tells_what_failed(
    in_this_process: Callable[[type[RandomPlayer]], None],
) -> None:
    in_this_process(SeldomIllegal)
    spec = DuelJob(game="tictactoe", player_a=foreign("Illegal"), player_b="random", max_pairs=200)
    files = MemoryFiles()
    result = play(spec, files)
    duel = result.stages["duel"]
    assert 0 < duel["void"] < duel["pairs"]
    progress = result.progress
    assert progress.items_done == progress.items_total > 2 * duel["pairs"], "some were tried twice"
    assert progress.items_failed == 2 * result.stages["matches"]["failed"]
    failed, matches = (result.stages["matches"][name] for name in ("failed", "matches"))
    assert result.stages["summary"]["note"].startswith(
        f"{failed:,} of {matches:,} matches failed at both attempts and do not count: "
        f"{foreign('Illegal')} moved illegally in {failed:,}. The first fault, in match "
    )
    assert result.stages["summary"]["note"] in artifacts(spec, files)["summary.txt"].decode()


@pytest.mark.parametrize(
    ("player", "message"),
    [
        ("python:no.such.module:Bot", "raised ModuleNotFoundError: No module named 'no"),
        (foreign("Nobody"), "raised AttributeError: module 'tests.workers.faulty' has no"),
        (foreign("Mute"), "raised TypeError: 'Mute' object has no method 'choose'"),
        (foreign("Unmade"), "raised RuntimeError: no weights"),
        (foreign("Unmade", strength=3), "raised TypeError: .*'strength'"),
    ],
)
def test_a_player_that_cannot_be_made_is_found_before_anything_is_planned(
    player: str, message: str
) -> None:
    spec = PoolJob(game="tictactoe", players=("random", player), samples=5)
    files = MemoryFiles()
    with pytest.raises(PlayerError, match=f"^Player '{player}' {message}.*expected a class"):
        play(spec, files)
    store = store_of(spec, files)
    assert store.read_plan() is None
    assert store.files.list("input") == []


def test_a_player_that_cannot_be_made_here_is_found_before_ray_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a cluster he may well be there: it is found out there."""

    def started(*args: Any, **options: Any) -> None:
        raise RuntimeError("Ray starts")

    monkeypatch.setattr("plymill.cluster.on_ray.session.ray_session", started)
    spec = PoolJob(game="tictactoe", players=("random", foreign("Unmade")), samples=5)
    told: list[str] = []
    with pytest.raises(PlayerError, match="raised RuntimeError: no weights"):
        run_job(spec, str(tmp_path), on_progress=lambda progress: told.append(progress.message))
    assert told == [f"trying out '{foreign('Unmade')}'"]
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(RuntimeError, match="Ray starts"):
        run_job(spec, str(tmp_path), address="somewhere:6379")
    good = PoolJob(game="tictactoe", players=("random", foreign("First")), samples=5)
    with pytest.raises(RuntimeError, match="Ray starts"):
        run_job(good, str(tmp_path))


def test_a_book_that_cannot_be_read_is_found_before_anything_is_planned(tmp_path: Path) -> None:
    book = tmp_path / "missing.plymill"
    spec = DuelJob(game="connect4", player_a=f"perfect:book={book}", player_b="random")
    files = MemoryFiles()
    with pytest.raises(PlymillError, match=f"cannot read {book}"):
        play(spec, files)
    assert store_of(spec, files).read_plan() is None


def test_players_without_a_match_that_counts_come_last_and_are_not_rated() -> None:
    spec = PoolJob(
        game="tictactoe",
        players=(foreign("Raises"), "random", foreign("Illegal"), "uct:30"),
        samples=5,
    )
    files = MemoryFiles()
    result = play(spec, files)
    made = artifacts(spec, files)
    said = json.loads(made["pool.json"])
    assert [row["player"] for row in said["ratings"]] == [
        "uct:30", "random", foreign("Raises"), foreign("Illegal")
    ]  # fmt: skip
    for row in said["ratings"][2:]:
        assert (row["elo"], row["points"], row["matches"]) == (None, None, 0)
    assert sum(row["elo"]["mean"] for row in said["ratings"][:2]) == pytest.approx(0, abs=1e-6)
    assert said["points"]["random"][foreign("Raises")] is None
    cross = list(csv.DictReader(io.StringIO(made["crosstable.csv"].decode())))
    assert [row["points"] == "" for row in cross] == [True, False, True, False]
    assert cross[0]["random"] == cross[1][foreign("Raises")] == ""
    assert result.stages["summary"]["lines"][2] == f"  -. {foreign('Raises')}  no match counted"
    page = store_of(spec, files).files.read("report.html").decode()
    assert page.count("no match counted") == 2


def test_a_pool_in_which_nothing_counts_rates_nobody() -> None:
    spec = PoolJob(game="tictactoe", players=(foreign("Raises"), "random"), samples=2)
    files = MemoryFiles()
    assert play(spec, files).complete
    said = json.loads(artifacts(spec, files)["pool.json"])
    assert [row["elo"] for row in said["ratings"]] == [None, None]
    assert pool_figures(spec, said["ratings"]) == {}


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
