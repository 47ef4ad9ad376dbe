"""The logs for machines: JSON lines in a file, and not a word on the terminal."""

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plymill.cluster import ClusterError, Coordinator, LocalExecutor, MemoryFiles, RunStore
from plymill.cluster.logs import Logging, log, log_to
from tests.cluster.conftest import SquaresJob

MakeJob = Callable[..., SquaresJob]


def carry_out(job: SquaresJob, memory: MemoryFiles) -> None:
    store = RunStore(memory, job.spec.run_id)
    watchers = (Logging(job.spec.run_id),)
    Coordinator(job, store, LocalExecutor(job, store), watchers=watchers).run()


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_what_happens_goes_to_the_file_and_nothing_to_the_terminal(
    make_job: MakeJob, memory: MemoryFiles, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    job, path = make_job(count=50), tmp_path / "run.jsonl"
    with log_to(path):
        carry_out(job, memory)
    told = lines(path)
    assert told[0]["message"] == "session started"
    assert told[-1]["message"] == "session done"
    assert all(line["run"] == job.spec.run_id for line in told)
    assert all(line["level"] == "info" for line in told)
    assert not any(line["message"] == "unit finished" for line in told)
    assert capfd.readouterr() == ("", "")


def test_debug_tells_every_unit_and_warning_only_what_a_person_should_know(
    make_job: MakeJob, memory: MemoryFiles, tmp_path: Path
) -> None:
    job = make_job(count=50)
    with log_to(tmp_path / "all.jsonl", "debug"):
        carry_out(job, memory)
    units = [x for x in lines(tmp_path / "all.jsonl") if x["message"] == "unit finished"]
    assert [unit["unit"] for unit in units] == [f"{index:05d}" for index in range(5)]
    assert units[0]["squares"] == 10
    with log_to(tmp_path / "few.jsonl", "warning"):
        Logging("squares-1").happened("node joined", {"node": "a"})
        Logging("squares-1").happened("warning", {"message": "the disk is nearly full"})
    (only,) = lines(tmp_path / "few.jsonl")
    assert only["message"] == "warning"
    assert only["text"] == "the disk is nearly full"


def test_without_a_file_nothing_is_logged_anywhere(capfd: pytest.CaptureFixture[str]) -> None:
    with log_to(None):
        log("warning", "something", {})
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("plymill").propagate is False


def test_an_error_carries_its_traceback_in_the_same_line(tmp_path: Path) -> None:
    with log_to(tmp_path / "log"):
        try:
            raise ValueError("no such board")
        except ValueError:
            log("error", "unit failed", {"unit": "00001"})
    (line,) = lines(tmp_path / "log")
    assert line["unit"] == "00001"
    assert line["traceback"].endswith("ValueError: no such board")


def test_a_later_session_appends(tmp_path: Path) -> None:
    for word in ("first", "second"):
        with log_to(tmp_path / "log"):
            log("info", word, {})
    assert [line["message"] for line in lines(tmp_path / "log")] == ["first", "second"]


def test_a_file_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    with (
        pytest.raises(ClusterError, match=r"Cannot write the log .*there is no such file"),
        log_to(tmp_path / "nowhere" / "log"),
    ):
        pass
