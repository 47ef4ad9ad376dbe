"""What is shown while a run or a search goes on."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from plymill.cli.output import program
from plymill.cli.patience import patience
from plymill.cli.progress import PlainLines, display, line, watching
from plymill.cli.words import duration, plural, rate, size, time_range
from plymill.cluster import Progress, WorkerFigures

WORKER = WorkerFigures(name="n1-ab", node="n1", host="mill", slots=2, units=5, items=500, rate=40.0)


def progress(**changes: Any) -> Progress:
    fields: dict[str, Any] = {
        "run_id": "book-1",
        "state": "solving",
        "started": 1000.0,
        "updated": 1065.0,
        "item": "positions",
        "units_total": 60,
        "units_done": 15,
        "items_total": 12345,
        "items_done": 3000,
        "rate": 123.4,
        "eta": (70.0, 200.0),
        "workers": (WORKER,),
    }
    return Progress(**{**fields, **changes})


def rendered(shown: Progress) -> str:
    console = Console(file=io.StringIO(), width=100)
    console.print(display(shown))
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_the_live_display_shows_rate_units_workers_and_a_range_of_time() -> None:
    text = rendered(progress())
    for part in (
        "book-1",
        "solving, 1 min 5 s",
        "24.3%",
        "3,000 of 12,345 positions",
        "123 positions/s",
        "15 of 60 units",
        "1 worker",
        "time left 1 min 10 s to 3 min 20 s",
        "mill",
        "80 positions/s",
    ):
        assert part in text


def test_the_live_display_tells_warnings_and_quarantined_units() -> None:
    text = rendered(progress(message="unit 7 fails", units_quarantined=1))
    assert "unit 7 fails" in text
    assert "(1 quarantined)" in text


def test_many_workers_are_counted_but_not_all_listed() -> None:
    text = rendered(progress(workers=(WORKER,) * 20))
    assert "20 workers" in text
    assert "and 12 more" in text
    assert text.count("n1-ab") == 8


def test_a_terminal_gets_the_live_display_and_its_last_state_stays() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=100)
    with watching("book-1", console) as watcher:
        assert "starting" in stream.getvalue()
        watcher(progress())
        watcher(progress(state="done"))
    assert "\x1b[" in stream.getvalue()
    assert "done" in stream.getvalue().rpartition("book-1")[2]


def test_plain_lines_come_at_changes_and_every_ten_seconds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = PlainLines()
    for second in range(25):
        lines(progress(updated=1000.0 + second))
    lines(progress(state="finishing", stage="merge", updated=1025.0))
    written = capsys.readouterr().err.splitlines()
    assert len(written) == 4
    assert written[-1] == "book-1: merging the units"


def test_a_task_of_an_hour_is_one_line_and_another_for_what_it_waits_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = PlainLines()
    for second in range(3600):
        said = "waiting for a node" if second < 1000 else ""
        lines(progress(state="planning", message=said, updated=1000.0 + second))
    written = capsys.readouterr().err.splitlines()
    assert written == [
        "book-1: enumerating positions, waiting for a node",
        "book-1: enumerating positions",
    ]


@pytest.mark.parametrize("state", ["failed", "interrupted"])
def test_why_a_run_has_ended_is_left_to_the_last_sentence(state: str) -> None:
    ended = progress(state=state, message="the disk is full")
    assert line(ended) == f"book-1: {state}"
    assert "the disk is full" not in rendered(ended)


def test_a_line_of_a_resumed_run_tells_what_was_there_before() -> None:
    assert "3,000 of 12,345 positions (2,000 from earlier)" in line(progress(items_resumed=2000))
    assert "3,000 of 12,345 positions, 750 (25%) failed, " in line(progress(items_failed=750))
    assert "failed" not in line(progress())


def test_patience_is_silent_for_what_is_quick_and_speaks_after_a_while(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with patience("Solving 44", quiet=3600):
        pass
    assert capsys.readouterr().err == ""
    heard = ""
    with patience("Solving 44", quiet=0):
        while not heard:
            heard = capsys.readouterr().err
    assert heard == "Solving 44 ...\n"


def test_hints_name_the_program_as_it_can_be_called_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program_file = tmp_path / "venv" / "bin" / "plymill"
    program_file.parent.mkdir(parents=True)
    program_file.touch(mode=0o755)
    monkeypatch.setattr("sys.argv", [str(program_file)])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")
    assert program() == "venv/bin/plymill"
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert program() == str(program_file)
    monkeypatch.setenv("PATH", str(program_file.parent))
    assert program() == "plymill"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0 s"), (59.6, "1 min"), (200, "3 min 20 s"), (7500, "2 h 5 min"), (90000, "1 d 1 h")],
)
def test_durations_in_two_units(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_figures_in_words() -> None:
    assert time_range(None) == "unknown"
    assert time_range((10.1, 10.2)) == "10 s"
    assert rate(1234.5) == "1,234"
    assert rate(0.1234) == "0.123"
    assert size(312) == "312 bytes"
    assert size(4_900_000) == "4.9 MB"
    assert plural(1, "unit") == "1 unit"
    assert plural(2000, "unit") == "2,000 units"
