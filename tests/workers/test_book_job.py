"""The opening-book job from spec to artefacts, in one process."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plymill.cluster import RunFailedError, RunOptions, RunResult, RunStore, SpecError
from plymill.cluster.storage.unitfile import arrays_digest
from plymill.solver import Solver, Table, enumerate_ply
from plymill.workers import (
    BookJob,
    make_job,
    resume_run,
    spec_from_fields,
    spec_from_toml,
    with_reference,
)
from plymill.workers.book_plan import make_plan, seconds_per_position, unit_size
from plymill.workers.book_worker import BookWorker
from tests.workers.pages import Tags

RunHere = Callable[..., RunResult]
ArtifactsOf = Callable[[str, str], dict[str, bytes]]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"opening": "4444444"}, "move 7 of '4444444'"),
        ({"opening": "48"}, "48"),
        ({"opening": "444444", "ply": 5}, "has 6 moves, more than the ply 5"),
        ({"derive": [12]}, "derive: expected plies from 0 to 11, got 12"),
        ({"opening": "444", "derive": [2]}, "derive: expected plies from 3 to 11, got 2"),
        ({"layouts": ["9ply"]}, "layouts, entry 1: .*got '9ply'"),
        ({"layouts": ["8ply"], "derive": []}, "'8ply' needs a book of ply 8, but only 12 is made"),
        ({"layouts": ["12ply"], "opening": "4"}, "'12ply' is for whole books"),
        ({"layouts": ["12ply-dist"], "distances": False}, "'12ply-dist' needs distances"),
        ({"ply": 50}, "ply: expected at most 41, got 50"),
        ({"audit_fraction": 2}, "audit_fraction: .*got 2"),
        ({"reference_layout": "12ply"}, "needs both"),
        ({"opening": "1212121"}, "the opening '1212121' ends the game"),
        ({"seed": -1}, "seed: .*got -1"),
        ({"ply": 20}, "ply: expected at most 14 stones more than the 0 of the opening, got 20"),
        ({"ply": True}, "ply: .*got true"),
        ({"ply": "12"}, "ply: .*got '12'"),
        ({"distances": "no"}, "distances: .*got 'no'"),
        ({"derive": ["8"]}, "derive, entry 1: .*got '8'"),
        ({"derive": [8, 10, 8]}, "derive: expected each once, got 8 twice"),
        ({"layouts": ["8ply", "8ply"]}, "layouts: expected each once, got 8ply twice"),
        ({"derive": 8}, "derive: .*got 8"),
        ({"layouts": "8ply"}, "layouts: .*got '8ply'"),
        ({"opening": 4444}, "opening: .*got 4444"),
        ({"plies": 12}, "there is no field 'plies'"),
    ],
)
def test_a_job_that_makes_no_sense_is_refused_in_one_sentence(
    fields: dict[str, Any], expected: str
) -> None:
    with pytest.raises(SpecError, match=f"^the flags: .*{expected}") as caught:
        BookJob.from_fields(fields, where="the flags")
    assert "\n" not in str(caught.value)


def test_the_8_ply_book_is_derived_by_default_where_that_is_possible() -> None:
    assert BookJob().derive == (8,)
    assert BookJob(opening="44444422").derive == (8,)
    assert BookJob(opening="444444223").derive == ()
    assert BookJob(ply=8).derive == ()
    assert BookJob(derive=()).run_id != BookJob().run_id
    assert BookJob(derive=(8,)).run_id == BookJob().run_id


def test_a_toml_file_names_its_kind(tmp_path: Path) -> None:
    path = tmp_path / "job.toml"
    path.write_text('kind = "book"\nopening = "4444"\n')
    assert spec_from_toml(path) == BookJob(opening="4444")
    with pytest.raises(SpecError, match="kind: expected one of book, grid, duel, pool, got 'cook'"):
        spec_from_fields({"kind": "cook"})


def test_units_take_the_time_they_should_and_small_jobs_are_shared_out() -> None:
    assert unit_size(BookJob(), 4_200_899) == 10_000
    assert unit_size(BookJob(), 4_200_899) * seconds_per_position(12) == pytest.approx(45)
    assert 4_200_899 / unit_size(BookJob(), 4_200_899) > 400
    assert unit_size(BookJob(opening="444444"), 2519) == 40
    assert unit_size(BookJob(opening="44444422"), 279) == 32
    assert unit_size(BookJob(ply=8), 77_715) < 1000
    assert unit_size(BookJob(unit_size=7), 100) == 7


def test_the_plan_covers_every_position_once_in_the_order_of_locality(
    tiny: BookJob, tmp_path: Path
) -> None:
    store = RunStore.open(str(tmp_path), tiny.run_id)
    plan = make_plan(tiny, store)
    assert plan == make_plan(tiny, store)
    keys = np.concatenate([store.read_input(unit)["keys"] for unit in plan.units])
    np.testing.assert_array_equal(np.sort(keys), enumerate_ply(12, "44444422"))
    assert plan.items == 279
    assert len(plan.audited) == 2


def test_inputs_of_finished_units_that_are_lost_or_damaged_are_written_anew(
    tiny: BookJob,
    tmp_path: Path,
    run_in_process: RunHere,
    artifacts_of: ArtifactsOf,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = str(tmp_path)
    run_in_process(tiny, url)
    before = artifacts_of(url, tiny.run_id)
    store = RunStore.open(url, tiny.run_id)
    plan = store.read_plan()
    assert plan is not None
    store.files.delete("input/00001.zst")
    store.files.write("input/00002.zst", b"")
    store.discard_stages()
    monkeypatch.setattr(BookWorker, "run", None)  # nothing is solved
    assert run_in_process(tiny, url).complete
    assert artifacts_of(url, tiny.run_id) == before
    keys = np.concatenate([store.read_input(unit)["keys"] for unit in plan.units])
    np.testing.assert_array_equal(np.sort(keys), enumerate_ply(12, "44444422"))


def test_an_opening_with_nothing_undecided_below_is_refused(tmp_path: Path) -> None:
    spec = BookJob(opening="121212", ply=6, derive=())
    with pytest.raises(SpecError, match="no undecided position with 6 stones follows '121212'"):
        make_plan(spec, RunStore.open(str(tmp_path), spec.run_id))


@pytest.mark.parametrize("distances", [True, False])
def test_a_unit_result_holds_sorted_keys_and_exact_scores(
    tmp_path: Path, *, distances: bool
) -> None:
    spec = BookJob(opening="44444422", distances=distances)
    store = RunStore.open(str(tmp_path), spec.run_id)
    unit = make_plan(spec, store).units[3]
    worker = BookWorker(spec, store, "w", threads=1, table_mb=8)
    receipt = worker.run(unit)
    arrays, stored = store.read_unit(unit)
    assert stored == receipt
    assert receipt.counters["nodes"] > 0
    keys = arrays["keys"]
    np.testing.assert_array_equal(keys, np.sort(store.read_input(unit)["keys"]))
    expected = Solver(table=Table(8)).score_many(keys)
    np.testing.assert_array_equal(arrays["scores"], expected if distances else np.sign(expected))
    assert worker.audit(unit) == receipt.digest


def test_a_unit_comes_out_the_same_whatever_the_table_has_seen(
    tiny: BookJob, tmp_path: Path
) -> None:
    store = RunStore.open(str(tmp_path), tiny.run_id)
    plan = make_plan(tiny, store)
    forwards = BookWorker(tiny, store, "a", threads=2, table_mb=8)
    backwards = BookWorker(tiny, store, "b", threads=1, table_mb=2)
    digests = [forwards.run(unit).digest for unit in plan.units]
    assert [backwards.run(unit).digest for unit in plan.units[::-1]][::-1] == digests


def test_a_run_makes_books_that_agree_with_the_published_one(
    tmp_path: Path,
    run_in_process: RunHere,
    artifacts_of: ArtifactsOf,
    published: Callable[[str], Path],
    tiny: BookJob,
) -> None:
    path = published("12ply-dist")
    spec = with_reference(tiny, path, "12ply-dist")
    store = RunStore.open(str(tmp_path), spec.run_id)
    store.files.write("input/reference", path.read_bytes())
    result = run_in_process(spec, str(tmp_path))
    assert result.complete
    checks = {check["name"]: check for check in result.stages["validate"]["12"]["checks"]}
    against = next(check for name, check in checks.items() if "reference" in name)
    assert against["compared"] == 279
    assert against["ok"]
    names = set(artifacts_of(str(tmp_path), spec.run_id))
    assert "connect4-12ply-dist-after-44444422.plymill" in names


def test_a_reference_that_cannot_be_compared_is_refused_before_anything_is_solved(
    published: Callable[[str], Path], tiny: BookJob, tmp_path: Path, run_in_process: RunHere
) -> None:
    with pytest.raises(SpecError, match=r"holds positions of ply 8 .*expected .* of ply 12"):
        with_reference(tiny, published("8ply"), "8ply")
    run_in_process(tiny, str(tmp_path))
    book = tmp_path / tiny.run_id / "artifacts" / f"{tiny.stem(12)}.plymill"
    assert with_reference(tiny, book, "plymill").reference_layout == "plymill"
    with pytest.raises(SpecError, match=r"after '44444422', expected .* after '1'"):
        with_reference(BookJob(opening="1"), book, "plymill")


def test_a_derived_book_without_positions_is_left_out(
    tmp_path: Path, run_in_process: RunHere, artifacts_of: ArtifactsOf
) -> None:
    spec = BookJob(ply=8, opening="121212", derive=(6, 7), validate_sample=2)
    result = run_in_process(spec, str(tmp_path))
    assert result.complete
    assert result.stages["derive"]["6"]["positions"] == 0
    assert set(result.stages["validate"]) == {"8", "7"}
    names = {name for name in artifacts_of(str(tmp_path), spec.run_id) if name.endswith(".plymill")}
    assert names == {f"{spec.stem(8)}.plymill", f"{spec.stem(7)}.plymill"}


def test_a_run_of_another_version_is_not_resumed_as_another_run(tmp_path: Path) -> None:
    text = json.dumps({"kind": "book", "ply": 8}, separators=(",", ":"))
    run_id = f"book-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    (tmp_path / run_id).mkdir()
    (tmp_path / run_id / "spec.json").write_text(text)
    with pytest.raises(SpecError, match=f"another version of plymill: .* expected {run_id}"):
        resume_run(run_id, str(tmp_path))


def test_two_runs_make_the_same_bytes_with_other_workers(
    tmp_path: Path, run_in_process: RunHere, artifacts_of: ArtifactsOf, tiny: BookJob
) -> None:
    one, other = str(tmp_path / "one"), str(tmp_path / "other")
    run_in_process(tiny, one)
    run_in_process(tiny, other, {"a": 2, "b": 1, "c": 3})
    assert artifacts_of(one, tiny.run_id) == artifacts_of(other, tiny.run_id)


def test_a_wrong_score_in_a_sound_file_is_caught_by_the_validation(
    tmp_path: Path, run_in_process: RunHere, tiny: BookJob
) -> None:
    spec = BookJob(opening=tiny.opening, audit_fraction=0, validate_sample=279)
    run_in_process(spec, str(tmp_path))
    store = RunStore.open(str(tmp_path), spec.run_id)
    plan = store.read_plan()
    assert plan is not None
    arrays, receipt = store.read_unit(plan.units[0])
    scores = arrays["scores"].copy()
    scores[0] = 1 if scores[0] != 1 else 2
    wrong = {"keys": arrays["keys"], "scores": scores}
    store.discard_unit(plan.units[0])
    store.write_unit(plan.units[0], wrong, replace(receipt, digest=arrays_digest(wrong)))
    for stage in ("merge", "derive", "pack", "validate"):
        store.files.delete(f"stages/{stage}.json")
    with pytest.raises(RunFailedError, match="is not sound"):
        run_in_process(spec, str(tmp_path))


def test_the_page_is_whole_and_needs_nothing_else(
    tmp_path: Path, run_in_process: RunHere, tiny: BookJob
) -> None:
    run_in_process(tiny, str(tmp_path))
    folder = tmp_path / tiny.run_id
    page = (folder / "report.html").read_text()
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert tags.links == []
    assert tags.seen.count("figure") >= 5
    manifest = json.loads((folder / "artifacts/manifest.json").read_text())
    for name, entry in manifest["files"].items():
        assert name in page
        assert entry["sha256"] in page
    assert "player 1 wins" in page
    assert "passed" in page


def test_memory_declared_grows_with_table_and_threads() -> None:
    small = make_job(BookJob(), RunOptions(table_mb=100))
    assert small.worker_memory(2) > small.worker_memory(1) > 100 * 2**20
    assert make_job(BookJob(), RunOptions(table_mb=200)).worker_memory(1) > small.worker_memory(1)
