"""``plymill run``: list, show, resume and download."""

import hashlib
import json
import shutil
import time
from pathlib import Path

import pytest

from plymill.cluster import RunStore, load_run
from tests.cli.helpers import OPENING, TINY, Plymill, run_without_ray


def test_list_names_every_run_with_its_state(plymill_: Plymill, store: Path, run_id: str) -> None:
    listed = plymill_("run", "list", "--store", store)
    assert listed.code == 0
    row, other = listed.out.splitlines()[1:]
    assert row.split()[:3] == [run_id, "done", "100.0%"]
    assert f"after {OPENING}" in row
    assert "grid of tictactoe, 10 to 40 against 10 to 40 iterations, 30 samples" in other
    fields, _ = json.loads(plymill_("run", "list", "--store", store, "--json").out)
    assert fields["run_id"] == run_id
    assert fields["spec"]["opening"] == OPENING
    assert fields["progress"]["units_done"] == fields["progress"]["units_total"]


def test_no_runs_yet_is_no_error(
    plymill_: Plymill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    listed = plymill_("run", "list")
    assert (listed.code, listed.out) == (0, "There are no runs in ./runs.\n")


def test_show_tells_figures_files_and_what_to_do_next(
    plymill_: Plymill, store: Path, run_id: str
) -> None:
    shown = plymill_("run", "show", run_id, "--store", store)
    assert shown.code == 0
    assert f"{run_id}: done" in shown.out
    assert "279 of 279 positions" in shown.out
    assert "artifacts/validation.json" in shown.out
    assert f"run download {run_id} --store {store}" in shown.out
    fields = json.loads(plymill_("run", "show", run_id, "--store", store, "--json").out)
    assert fields["state"] == "done"
    assert fields["manifest"]["positions"] == 279
    assert fields["trouble"] == []


def test_show_tells_what_it_can_of_a_run_whose_files_were_altered(
    plymill_: Plymill, store: Path, run_id: str, tmp_path: Path
) -> None:
    shutil.copytree(store / run_id, tmp_path / run_id)
    artifacts = tmp_path / run_id / "artifacts"
    manifest = json.loads((artifacts / "manifest.json").read_bytes()) | {"stages": [1, 2]}
    (artifacts / "manifest.json").write_text(json.dumps(manifest))
    digest = hashlib.sha256((artifacts / "manifest.json").read_bytes()).hexdigest()
    sums = (artifacts / "SHA256SUMS").read_text().splitlines()
    lines = [line for line in sums if not line.endswith("manifest.json")]
    (artifacts / "SHA256SUMS").write_text("\n".join([*lines, f"{digest}  manifest.json", ""]))
    with (tmp_path / run_id / "events.jsonl").open("a") as events:
        events.write('{"event": "warning", "message": "a word", "time": NaN}\n')
    shown = plymill_("run", "show", run_id, "--store", tmp_path)
    assert shown.code == 0, shown.err
    assert "manifest.json is not as plymill writes it" in shown.out
    assert "warning: message a word" in shown.out


def test_show_tells_that_a_killed_run_is_silent_and_how_to_go_on(
    plymill_: Plymill, store: Path, run_id: str, tmp_path: Path
) -> None:
    progress = load_run(str(store), run_id).progress
    assert progress is not None
    files = RunStore.open(str(tmp_path), run_id)
    files.files.write("spec.json", (store / run_id / "spec.json").read_bytes())
    killed = progress.model_copy(update={"state": "solving", "updated": progress.updated - 7200})
    files.write_json("progress.json", killed.model_dump(mode="json"))
    node = "0a1b2c3d" * 7
    lost = {"time": 0, "event": "worker lost", "worker": "0a1b2c3d-e4f5a6", "node": node}
    files.write_events(
        [
            {"time": 0, "event": "quarantined", "unit": "00001", "reason": "bad"},
            {**lost, "cause": "its process died", "detail": "The worker died unexpec"},
            {"time": 0, "event": "node lost", "node": node},
        ]
    )
    shown = plymill_("run", "show", run_id, "--store", tmp_path)
    assert "solving (silent for 2 h" in shown.out
    assert "quarantined: reason bad, unit 00001" in shown.out
    assert "worker lost: 0a1b2c3d-e4f5a6, its process died\n" in shown.out
    assert "node lost: node 0a1b2c3d\n" in shown.out
    trouble = json.loads(plymill_("run", "show", run_id, "--store", tmp_path, "--json").out)
    assert trouble["trouble"][1]["detail"] == "The worker died unexpec", "programs get all"
    assert f"To go on: plymill run resume {run_id} --store {tmp_path}" in shown.out


def test_show_tells_what_a_run_waits_for_that_has_no_plan_yet(
    plymill_: Plymill, store: Path, run_id: str, tmp_path: Path
) -> None:
    files = RunStore.open(str(tmp_path), run_id)
    files.files.write("spec.json", (store / run_id / "spec.json").read_bytes())
    now = time.time()
    said = {"run_id": run_id, "state": "planning", "started": now, "updated": now}
    files.write_json("progress.json", {**said, "message": "waiting for a node"})
    shown = plymill_("run", "show", run_id, "--store", tmp_path)
    assert shown.out.splitlines()[0] == f"{run_id}: planning"
    assert shown.out.splitlines()[-1] == "  waiting for a node"


def test_resume_goes_on_with_what_is_stored(
    plymill_: Plymill, tmp_path: Path, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plymill.workers.run.run_job", run_without_ray)
    assert plymill_("book", "build", *TINY, "--store", tmp_path).code == 0
    units = sorted((tmp_path / run_id / "units").iterdir())
    units[0].unlink()
    resumed = plymill_("run", "resume", run_id, "--store", tmp_path, "--json")
    assert resumed.code == 0
    result = json.loads(resumed.out)
    assert result["complete"]
    assert 0 < result["items_resumed"] < result["items"] == 279


def test_download_fetches_every_artefact_with_its_digest(
    plymill_: Plymill, store: Path, run_id: str, tmp_path: Path
) -> None:
    to = tmp_path / "books"
    fetched = plymill_("run", "download", run_id, "--store", store, "--to", to, "--json")
    assert fetched.code == 0
    files = [Path(path) for path in json.loads(fetched.out)["files"]]
    assert {path.name for path in files} >= {"manifest.json", "SHA256SUMS", "validation.json"}
    for line in (to / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ", 1)
        assert hashlib.sha256((to / name).read_bytes()).hexdigest() == digest


def test_a_second_download_says_what_was_there(
    plymill_: Plymill, store: Path, run_id: str, tmp_path: Path
) -> None:
    words = ("run", "download", run_id, "--store", store, "--to", tmp_path / "books")
    first = plymill_(*words)
    count = len(first.err.splitlines())
    assert first.out == f"{count + 1} files in {tmp_path}/books\n", "the digests are a file as well"
    (tmp_path / "books" / "validation.json").unlink()
    again = plymill_(*words)
    assert [line.split()[0] for line in again.err.splitlines()] == ["validation.json"]
    assert f"{count + 1} files in {tmp_path}/books, {count - 1} of them there already" in again.out


def test_download_of_an_unfinished_run_says_so(
    plymill_: Plymill, store: Path, run_id: str, tmp_path: Path
) -> None:
    (tmp_path / run_id).mkdir()
    (tmp_path / run_id / "spec.json").write_bytes((store / run_id / "spec.json").read_bytes())
    fetched = plymill_("run", "download", run_id, "--store", tmp_path, "--to", tmp_path / "x")
    assert fetched.code == 2
    assert "is not finished: it has no artefacts yet." in fetched.err
    assert f"'plymill status {run_id} --store {tmp_path}' tells how far it is." in fetched.err
