"""``plymill book build``: from flags or a file to artefacts, in words and as JSON."""

import json
from pathlib import Path

import pytest

import plymill.workers
from plymill.cluster import RunInterruptedError, RunResult
from tests.cli.helpers import OPENING, TINY, Plymill


def test_a_build_says_what_was_made_where_it_lies_and_how_to_ask_it(
    plymill_: Plymill, tmp_path: Path
) -> None:
    done = plymill_("book", "build", *TINY, "--store", tmp_path)
    assert done.code == 0
    assert "279 positions solved" in done.out
    assert "passed: 12 stones, the book alone, 279 positions compared" in done.out
    question = next(line for line in done.out.splitlines() if line.startswith("To ask the book:"))
    assert question.endswith(f" {OPENING}")
    answered = plymill_(*question.partition("plymill ")[2].split())
    assert answered.code == 0
    assert f"After {OPENING}, player 1" in answered.out


def test_progress_is_plain_lines_on_standard_error_without_a_terminal(
    plymill_: Plymill, tmp_path: Path
) -> None:
    done = plymill_("book", "build", *TINY, "--store", tmp_path)
    lines = done.err.splitlines()
    assert lines[0].endswith(": starting")
    assert lines[1].endswith(": enumerating positions")
    assert any("of 279 positions" in line and "positions/s" in line for line in lines)
    assert any(line.endswith(": merging the units") for line in lines)
    assert lines[-1].endswith(": done")
    assert "\x1b" not in done.err + done.out


def test_json_is_the_only_thing_on_standard_output(plymill_: Plymill, tmp_path: Path) -> None:
    done = plymill_("book", "build", *TINY, "--store", tmp_path, "--json")
    result = json.loads(done.out)
    assert result["complete"] is True
    assert result["items"] == 279
    assert result["quarantined"] == {}
    assert result["url"] == str(tmp_path / result["run_id"])
    assert result["stages"]["merge"]["positions"] == 279
    assert all(Path(path).is_file() for path in result["artifacts"])


def test_the_same_command_again_solves_nothing_again(
    plymill_: Plymill, store: Path, run_id: str
) -> None:
    again = plymill_("book", "build", *TINY, "--store", store, "--json")
    result = json.loads(again.out)
    assert result["run_id"] == run_id
    assert result["items_resumed"] == result["items"] == 279


def test_a_spec_file_describes_the_same_job_as_the_flags(
    plymill_: Plymill, tmp_path: Path, store: Path, run_id: str
) -> None:
    spec = tmp_path / "job.toml"
    spec.write_text(f'opening = "{OPENING}"\nvalidate_sample = 20\naudit_fraction = 0.2\n')
    done = plymill_("book", "build", "--spec", spec, "--store", store, "--json")
    assert json.loads(done.out)["run_id"] == run_id


def test_flags_take_precedence_over_the_spec_file(
    plymill_: Plymill, tmp_path: Path, store: Path, run_id: str
) -> None:
    spec = tmp_path / "job.toml"
    spec.write_text('opening = "1"\nvalidate_sample = 20\naudit_fraction = 0.2\n')
    words = ("--spec", spec, "--opening", OPENING, "--store", store, "--json")
    assert json.loads(plymill_("book", "build", *words).out)["run_id"] == run_id


def test_every_value_is_compared_with_the_book_named_by_against(
    plymill_: Plymill, tmp_path: Path, book: Path
) -> None:
    words = (*TINY, "--against", book, "--store", tmp_path, "--json")
    stages = json.loads(plymill_("book", "build", *words).out)["stages"]
    checks = {check["name"]: check for check in stages["validate"]["12"]["checks"]}
    (against,) = (check for name, check in checks.items() if "reference" in name)
    assert against["ok"]
    assert against["compared"] == 279


def test_outcomes_layouts_and_derived_plies_are_asked_for_by_flags(
    plymill_: Plymill, tmp_path: Path
) -> None:
    words = ("--ply", 3, "--outcomes", "--derive", 1, "--derive", 2, "--validate-sample", 0)
    spec_only = plymill_("book", "build", *words, "--layouts", "8ply", "--store", tmp_path)
    assert spec_only.code == 2
    assert "'8ply' needs a book of ply 8, but only 3, 1, 2 is made" in spec_only.err


def test_an_interrupted_build_exits_with_130_and_says_how_to_go_on(
    plymill_: Plymill, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def stop(*_: object, **__: object) -> RunResult:
        raise RunInterruptedError("stopped")

    monkeypatch.setattr(plymill.workers, "run_job", stop)
    done = plymill_("book", "build", *TINY, "--store", tmp_path)
    assert done.code == 130
    assert " run resume book-" in done.err
    assert f"--store {tmp_path}" in done.err
    assert done.out == ""


def test_quarantined_units_are_named_and_the_exit_code_is_1(
    plymill_: Plymill, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from plymill.workers.book_worker import BookWorker

    def fail(*_: object) -> None:
        raise ValueError("no such luck")

    monkeypatch.setattr(BookWorker, "run", fail)
    done = plymill_("book", "build", *TINY, "--unit-size", 200, "--store", tmp_path)
    assert done.code == 1
    assert "unit 00000 is quarantined" in done.out
    assert "no such luck" in done.out
    assert "run resume book-" in done.out
    assert "2 units could not be solved" in done.err
