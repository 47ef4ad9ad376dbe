"""Text files as other programs write them, and files of a run that are damaged."""

import json
from pathlib import Path

import pytest

from plymill.cluster import RunOptions
from plymill.workers import BookJob, GridJob, run_job
from tests.cli.helpers import Plymill

TOML = "ply = 42\n"
CSV = "game,first_iters,second_iters,samples,avg_goal_first\nticTacToe,10,10,100,60\n"
UTF_16 = b"\xff\xfeg\x00a\x00m\x00e\x00\n\x00"


@pytest.mark.parametrize("data", [
    b"\xef\xbb\xbf" + TOML.encode(),
    TOML.replace("\n", "\r\n").encode(),
    b"\xef\xbb\xbf# a job\r\n" + TOML.encode(),
])  # fmt: skip
def test_a_spec_with_a_mark_or_other_ends_of_lines_is_read(
    plymill_: Plymill, tmp_path: Path, data: bytes
) -> None:
    (tmp_path / "job.toml").write_bytes(data)
    done = plymill_("book", "build", "--spec", tmp_path / "job.toml")
    assert done.err == f"plymill: {tmp_path}/job.toml: ply: expected at most 41, got 42.\n"


@pytest.mark.parametrize(("data", "sentence"), [
    (b"", "{path} is empty, expected the fields of a job, such as ply = 12."),
    (b"# nothing\n", "{path} is empty, expected the fields of a job, such as ply = 12."),
    (UTF_16, "{path}: expected a TOML file in UTF-8, but byte 1 is 0xff: save the file as UTF-8."),
    (b"ply = 12 # M\xfchle\n",
     "{path}: expected a TOML file in UTF-8, but byte 13 is 0xfc: save the file as UTF-8."),
])  # fmt: skip
@pytest.mark.parametrize("words", ["book build --spec {path}", "match pool --spec {path}",
                                   "submit {path} --store /nowhere/runs"])  # fmt: skip
def test_a_spec_that_is_no_text_of_ours_is_told(
    plymill_: Plymill, tmp_path: Path, data: bytes, sentence: str, words: str
) -> None:
    path = tmp_path / "job.toml"
    path.write_bytes(data)
    done = plymill_(*words.format(path=path).split())
    assert (done.code, done.err) == (2, f"plymill: {sentence.format(path=path)}\n")


@pytest.mark.parametrize("data", [
    b"\xef\xbb\xbf" + CSV.encode(),
    CSV.replace("\n", "\r\n").encode(),
    (CSV.replace("goal_first", "goal_first,,").replace(",60", ",60,,")).encode(),
])  # fmt: skip
def test_published_numbers_as_spreadsheets_write_them_are_read(
    plymill_: Plymill, tmp_path: Path, store: Path, grid_id: str, data: bytes
) -> None:
    (tmp_path / "numbers.csv").write_bytes(data)
    words = ("match", "compare", grid_id, "--published", tmp_path / "numbers.csv")
    done = plymill_(*words, "--store", store, "--json")
    assert done.code == 0, done.err
    assert len(json.loads(done.out)["cells"]) == 1


@pytest.mark.parametrize(("data", "sentence"), [
    (b"", "{path}, line 1: expected the columns game, first_iters, second_iters, samples and "
          "either avg_goal_first or wins_first, draws, wins_second, got nothing."),
    (UTF_16, "{path}: expected CSV in UTF-8, but byte 1 is 0xff: save the file as UTF-8."),
    (CSV.replace("samples,", "samples,samples,").encode(),
     "{path}, line 1: there are two columns 'samples', expected one."),
])  # fmt: skip
def test_published_numbers_that_are_none_of_ours_are_told(
    plymill_: Plymill, tmp_path: Path, store: Path, grid_id: str, data: bytes, sentence: str
) -> None:
    path = tmp_path / "numbers.csv"
    path.write_bytes(data)
    done = plymill_("match", "compare", grid_id, "--published", path, "--store", store)
    assert (done.code, done.err) == (2, f"plymill: {sentence.format(path=path)}\n")


def test_a_data_file_that_is_no_text_is_told(plymill_: Plymill, tmp_path: Path) -> None:
    (tmp_path / "uci").write_bytes(UTF_16)
    done = plymill_("book", "verify", "published:8ply", "--uci", tmp_path / "uci")
    assert done.code == 2
    assert f"{tmp_path}/uci: expected a data file in UTF-8, but byte 1 is 0xff" in done.err


@pytest.mark.parametrize("words", [
    "book build --spec /dev/zero",
    "submit /dev/zero --store s3://x",
    "book verify published:8ply --uci /dev/zero",
    "match compare {run} --published /dev/zero --store {store}",
])  # fmt: skip
def test_a_file_without_end_is_read_no_further_than_such_a_file_goes(
    plymill_: Plymill, store: Path, grid_id: str, words: str
) -> None:
    done = plymill_(*words.format(run=grid_id, store=store).split())
    assert done.code == 2
    assert "/dev/zero" in done.err
    assert "it is longer than" in done.err.lower()
    assert done.err.count("\n") == 1


@pytest.fixture
def damaged(plymill_: Plymill, store: Path, grid_id: str, tmp_path: Path) -> Path:
    """A run of its own, to damage."""
    for path in (store / grid_id).rglob("*"):
        if path.is_file():
            copy = tmp_path / "runs" / path.relative_to(store)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    return tmp_path / "runs" / grid_id


LOOKS = ["match replay {run} 0:0", "match compare {run} {run}", "match chart {run} --to {tmp}/to"]


@pytest.mark.parametrize("words", LOOKS)
@pytest.mark.parametrize("name", ["plan.json", "units/00000.zst"])
def test_a_damaged_file_of_a_run_is_told_with_its_place_and_what_mends_it(
    plymill_: Plymill, damaged: Path, tmp_path: Path, words: str, name: str
) -> None:
    data = (damaged / name).read_bytes()
    (damaged / name).write_bytes(data[:-40])
    words = words.format(run=damaged.name, tmp=tmp_path)
    done = plymill_(*words.split(), "--store", damaged.parent)
    assert done.code == 2
    assert done.err.startswith(f"plymill: {damaged}/{name} is cut short or altered: ")
    assert done.err.endswith("; resuming the run writes it anew.\n")
    assert not (tmp_path / "to").exists()


def test_a_run_without_a_plan_has_played_nothing(plymill_: Plymill, damaged: Path) -> None:
    (damaged / "plan.json").unlink()
    done = plymill_("match", "replay", damaged.name, "0:0", "--store", damaged.parent)
    assert done.code == 2
    assert "has not played any match yet." in done.err


@pytest.mark.parametrize("job", [
    BookJob(ply=3),
    GridJob.from_fields({"game": "tictactoe", "first": "10", "second": "10", "samples": 1}),
])  # fmt: skip
def test_a_log_that_cannot_be_written_is_told_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, job: BookJob | GridJob
) -> None:
    monkeypatch.setattr("ray.init", lambda **_: pytest.fail("Ray was started"))
    options = RunOptions(log_file=tmp_path / "none" / "log")
    with pytest.raises(Exception, match=r"Cannot write the log .*none/log: there is no such file"):
        run_job(job, str(tmp_path / "runs"), options=options)
    assert not (tmp_path / "runs").exists()


def test_charts_that_are_there_are_noticed_before_any_is_drawn(
    plymill_: Plymill,
    store: Path,
    grid_id: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "plymill.workers.match_charts.figures_of", lambda *_: pytest.fail("they were drawn")
    )
    (tmp_path / "charts.html").write_text("mine")
    done = plymill_("match", "chart", grid_id, "--store", store, "--to", tmp_path)
    assert done.code == 2
    assert done.err == f"plymill: {tmp_path}/charts.html is there already; --force replaces it.\n"
    assert (tmp_path / "charts.html").read_text() == "mine"
