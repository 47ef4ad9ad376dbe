"""Match jobs whose players fail, in one process: who loses what, and what is told."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from plymill.cluster import (
    MemoryFiles,
)
from plymill.errors import PlymillError
from plymill.games.game import State
from plymill.matches.errors import MatchError
from plymill.players import Choice, PlayerError, PythonSpec
from plymill.players.simple import RandomPlayer
from plymill.workers import DuelJob, PoolJob, run_job
from plymill.workers.match_charts import pool_figures
from tests.workers.match_runs import artifacts, foreign, plan_of, play, store_of

pytestmark = pytest.mark.usefixtures("without_charts")


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
