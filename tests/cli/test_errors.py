"""Whatever a person can mend is told in one sentence, with exit code 2 and no traceback."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from plymill.cli.failures import exit_code_of
from plymill.cluster import SpecError
from tests.cli.helpers import TINY, Plymill

Case = tuple[str, str]

CASES: dict[str, Case] = {
    "unknown command": ("book biuld", 'Unknown command "biuld"'),
    "unknown flag": ("solve 44 --fast", "Unknown option: --fast."),
    "one word too many": ("solve 44 55", "There is no place for '55' after 'plymill solve'"),
    "missing argument": ("book query", "BOOK"),
    "no number": ("book build --ply many", 'unable to convert "many" into int'),
    "flag without its value": ("book build --ply", "requires an argument"),
    "unknown layout": ("book info x --layout 9ply", 'Invalid value "9ply" for --layout'),
    "no threads": ("book build --threads 0", "--threads"),
    "a column that is none": ("solve 448", "move 3 of '448' is '8', expected a column from 1 to 7"),
    "a full column": ("solve 4444444", "move 7 of '4444444' is in column 4, which is full"),
    "a move after the end": ("solve 12121213", "move 8 of '12121213'"),
    "a ply that is none": ("book build --ply 43", "ply"),
    "an illegal opening": ("book build --opening 49", "'49'"),
    "an opening longer than the ply": (
        "book build --ply 2 --opening 4444",
        "the opening '4444' has 4 moves, more than the ply 2",
    ),
    "a derived ply that is not lower": ("book build --derive 12", "expected plies from 0 to 11"),
    "a share that is none": ("book build --audit-fraction 2", "audit_fraction"),
    "a book that is not there": (
        "book query {tmp}/none 44",
        "none: there is no such file or folder",
    ),
    "a folder for a book": (
        "book info {tmp}",
        "cannot read {tmp}: it is a folder, expected a file",
    ),
    "a file that is no book": ("book info {tmp}/text", "does not begin like a plymill book"),
    "a text file as a published book": ("book info {tmp}/text --layout 8ply", "{tmp}/text"),
    "a plymill book as a published one": (
        "book info {book} --layout 8ply",
        "is a plymill book and not of the 8ply layout",
    ),
    "an unknown published book": ("book info published:9ply", "There is no published book '9ply'"),
    "a spec that is not there": (
        "book build --spec {tmp}/none.toml",
        "{tmp}/none.toml: cannot read the job file: there is no such file or folder.",
    ),
    "a spec that is no TOML": ("book build --spec {tmp}/text", "expected a TOML file"),
    "a spec with an unknown field": ("book build --spec {tmp}/odd.toml", "no field 'plies'"),
    "a spec with a wrong type": ("book build --spec {tmp}/type.toml", "ply"),
    "a spec of another kind": ("book build --spec {tmp}/kind.toml", "kind"),
    "a reference that is not there": ("book build --against {tmp}/none", "{tmp}/none"),
    "a store that is a file": (
        "book build --store {tmp}/text",
        "The store {tmp}/text is not a folder, expected a folder that holds runs",
    ),
    "a store that is not there": ("run list --store {tmp}/none", "{tmp}/none does not exist"),
    "a store of an unknown scheme": ("run list --store ftp://host/x", "ftp://host/x"),
    "a store in no home": ("run list --store ~no-such-user/x", "a user who does not exist"),
    "a store with a name that is not UTF-8": ("run list --store {tmp}/odd\udcff", "not UTF-8"),
    "a published book of another layout": (
        "book info published:12ply --layout 8ply",
        "published:12ply is not of the layout 8ply",
    ),
    "a store without a bucket": ("run list --store s3://", "s3://"),
    "a run that is not there": ("run show book-0 --store {tmp}", "There is no run 'book-0' in"),
    "a run to resume that is not there": ("run resume book-0 --store {tmp}", "no run 'book-0'"),
    "a run to download that is not there": ("run download book-0 --store {tmp}", "no run 'book-0'"),
    "a ply to derive that is not lower": ("book derive {book} 12 {tmp}/new", "12"),
    "an output folder that is not there": (
        "book convert {book} {tmp}/none/new",
        "there is no folder {tmp}/none to write it to",
    ),
    "a folder as output": ("book convert {book} {tmp}", "{tmp} is a folder"),
    "a layout that cannot hold the book": (
        "book convert {book} {tmp}/new --to 12ply-dist",
        "12ply",
    ),
    "a UCI file that is not there": ("book verify {book} --uci {tmp}/none", "{tmp}/none"),
    "an unknown game": ("match grid --game chess --first 10 --second 10", "no game 'chess'"),
    "a grid without an axis": ("match grid --game tictactoe --first 10", "'second' is missing"),
    "iterations that are none": (
        "match grid --game tictactoe --first 10..30 --second 10",
        "expected the last of 10..30 to be the first one doubled",
    ),
    "a width that is none": (
        "match grid --game tictactoe --first 10 --second 10 --until 2",
        "until: expected the width of an interval",
    ),
    "an unknown player": (
        "match duel --game tictactoe --player-a random --player-b deep",
        "player_b: There is no player 'deep'",
    ),
    "hypotheses the wrong way round": (
        "match duel --game tictactoe --player-a random --player-b uct:9 --elo0 9 --elo1 3",
        "expected elo0 less than elo1",
    ),
    "an opening that is not legal": (
        "match duel --game connect4 --player-a random --player-b uct:9 --openings 48",
        "openings, line 1",
    ),
    "a pool of one": ("match pool --game tictactoe --players random", "players"),
    "a match of a run that is not there": (
        "match replay grid-0 0:0 --store {tmp}",
        "no run 'grid-0'",
    ),
    "a match of a book": (
        "match replay {run} 0:0 --store {store}",
        "is of the kind 'book', expected a run of matches",
    ),
    "a match id that is none": (
        "match replay {run} 17 --store {store}",
        "There is no match '17', expected CELL:MATCH",
    ),
    "a comparison with nothing": ("match compare {run} --store {store}", "--published FILE"),
    "published numbers that are not there": (
        "match compare {grid} --published {tmp}/none --store {store}",
        "{tmp}/none: there is no such file or folder",
    ),
    "published numbers that are none": (
        "match compare {grid} --published {tmp}/text --store {store}",
        "{tmp}/text, line 1: expected the columns",
    ),
    "a chart of an unknown kind": (
        "match compare {grid} {grid} --chart {tmp}/x.gif --store {store}",
        "{tmp}/x.gif: expected a name that ends in .svg, .png or .html",
    ),
    "a comparison with a book": (
        "match compare {grid} {run} --store {store}",
        "is of the kind 'book', expected a run of matches",
    ),
    "a spec of the wrong kind for a grid": ("match grid --spec {tmp}/kind.toml", "kind"),
    "a figure that is none": ("match duel --elo0 nan", "--elo0 is nan, expected a finite number."),
    "a width that is no figure": ("match grid --until inf", "--until is inf, expected a finite"),
    "a weight that is no figure": ("book build --weight nan --submit", "--weight"),
    "an option that no player has": (
        "match grid --game tictactoe --first 10 --second 10 --options foo=1",
        "options: 'foo=1' has no option 'foo'",
    ),
    "a width too large, named once": (
        "match grid --game tictactoe --first 10 --second 10 --until 2",
        "The flags: until: expected the width",
    ),
    "a wheel that is not sent": (
        "book build --wheel x.whl",
        "--wheel does nothing without --submit. See 'plymill book build --help'.",
    ),
    "an owner of nothing": ("match grid --owner ann", "--owner does nothing without --submit."),
    "a variable that nobody sees": ("match duel --env A=1", "--env does nothing without --submit."),
    "a label of no node": ("match pool --driver-label a=b", "--driver-label does nothing without"),
    "a share of no cluster": (
        "book build --weight 2",
        "--weight does nothing without --submit or --address.",
    ),
    "a search and a book": ("solve 44 --search --book x", "--search asks no book, and --book"),
    "a layout of no book": ("solve 44 --layout 8ply", "--layout does nothing without --book."),
    "a seed of no sample": ("book verify x --seed 1", "--seed does nothing without --sample."),
    "a layout of nothing to compare with": (
        "book build --against-layout 8ply",
        "--against-layout does nothing without --against.",
    ),
    "a chart that is not drawn": (
        "match compare {grid} {grid} --force --store {store}",
        "--force does nothing without --chart.",
    ),
    "a game of no file": (
        "match compare {grid} {grid} --game x --store {store}",
        "--game does nothing without --published.",
    ),
    "a seed below 0": ("book verify {book} --sample 1 --seed -1", "--seed"),
    "a file where charts are to go": (
        "match chart {grid} --store {store} --to {tmp}/text",
        "{tmp}/text is a file, expected a folder to put files in",
    ),
    "a file where books are to go": (
        "run download {run} --store {store} --to {tmp}/text/books",
        "{tmp}/text is a file, expected a folder to put files in",
    ),
    "a file where artefacts are to go": (
        "download {run} {tmp}/text --store {store}",
        "{tmp}/text is a file, expected a folder to put files in",
    ),
    "a folder of published numbers": (
        "match compare {grid} --published {tmp} --store {store}",
        "{tmp}: it is a folder, expected a file",
    ),
    "a folder for a spec": (
        "match grid --spec {tmp}",
        "{tmp}: cannot read the job file: it is a folder, expected a file.",
    ),
    "a match of a cell that is none": (
        "match replay {grid} 99:0 --store {store}",
        "has no match 99:0, expected cells from 0 to 3.",
    ),
    "a match that was not played": (
        "match replay {grid} 0:9999999999 --store {store}",
        "has no match 0:9999999999, expected",
    ),
    "a delete of what is not there": ("delete book-0 --yes --store {tmp}", "no run 'book-0'"),
    "a table too large": (
        "solve 44444416 --table-mb 1000000000",
        "table size is 1000000000 MiB, expected 1 to 4194304",
    ),
}


@pytest.mark.parametrize(("words", "expected"), CASES.values(), ids=CASES.keys())
def test_a_fault_is_one_sentence_and_exit_code_2(
    plymill_: Plymill,
    tmp_path: Path,
    store: Path,
    run_id: str,
    grid_id: str,
    book: Path,
    words: str,
    expected: str,
) -> None:
    (tmp_path / "text").write_text("not a book, not TOML\n")
    (tmp_path / "odd.toml").write_text("plies = 12\n")
    (tmp_path / "type.toml").write_text('ply = "many"\n')
    (tmp_path / "odd\udcff").mkdir()
    (tmp_path / "kind.toml").write_text('kind = "match"\n')
    places = {"tmp": tmp_path, "book": book, "store": store, "run": run_id, "grid": grid_id}
    done = plymill_(*words.format(**places).split())
    assert done.code == 2
    assert expected.format(**places) in done.err
    (line,) = done.err.splitlines()
    assert line.startswith("plymill: ")
    assert line.endswith((".", "'"))
    assert "Traceback" not in done.err
    assert not (tmp_path / "new").exists()


def test_a_usage_fault_names_the_help_of_its_command(plymill_: Plymill) -> None:
    assert "See 'plymill book build --help'." in plymill_("book", "build", "--ply", "x").err


def test_a_published_book_without_its_package_says_how_to_get_it(
    plymill_: Plymill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plymill.cli.sources.find_spec", lambda _: None)
    done = plymill_("book", "info", "published:12ply")
    assert done.code == 2
    assert "published:12ply comes with the package bitbully-databases" in done.err
    assert "pip install bitbully-databases" in done.err


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (
            PermissionError(errno.EACCES, "Permission denied", "/x/y"),
            2,
            "/x/y: permission denied, expected a",
        ),
        (
            OSError(errno.ENOSPC, "No space left on device", "/x"),
            2,
            "/x: no space left on device; make room",
        ),
        (OSError("odd"), 2, "The system reports: odd."),
        (OSError("AWS Error ODD"), 2, "The system reports: AWS Error ODD."),
        (MemoryError("no 9 MiB"), 2, "no 9 MiB; a smaller table (--table-mb) needs less."),
        (KeyboardInterrupt(), 130, "Stopped; nothing half-written"),
        (SpecError("no game \x1b[31mred\0"), 2, r"no game \x1b[31mred\x00."),
    ],
)
def test_errors_of_the_system_are_told_in_a_sentence(
    capsys: pytest.CaptureFixture[str], error: BaseException, code: int, sentence: str
) -> None:
    def fail() -> int:
        raise error

    assert exit_code_of(fail) == code
    assert sentence in capsys.readouterr().err


def test_a_fault_of_our_own_keeps_its_traceback() -> None:
    def fail() -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        exit_code_of(fail)


@pytest.mark.skipif(not Path("/sys").is_dir(), reason="needs a folder that nobody may write to")
def test_a_store_that_may_not_be_written_is_told(plymill_: Plymill) -> None:
    done = plymill_("book", "build", *TINY, "--store", "/sys/plymill")
    assert done.code == 2
    assert "Cannot write /sys/plymill/book-" in done.err
    assert "Traceback" not in done.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_under_standard_output_is_told() -> None:
    with Path("/dev/full").open("w") as full:
        done = _plymill("solve", "415161", stdout=full.fileno())
    assert done.returncode == 2
    assert "no space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_goes_away_is_not_worth_a_word() -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        done = _plymill("solve", "415161", stdout=write)
    finally:
        os.close(write)
    assert done.returncode == 141
    assert done.stderr == ""


@pytest.mark.parametrize("closing", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_stream_that_is_closed_from_the_start_is_like_nowhere(closing: str) -> None:
    for words, code in (("solve 415161", 0), ("solve 8", 2)):
        line = f'exec "{sys.executable}" -m plymill {words} {closing}'
        done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
        assert done.returncode == code
        assert "Traceback" not in done.stderr


def test_a_name_that_is_not_utf_8_is_shown_with_escapes(book: Path, tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b"/\xff.plymill"
    Path(os.fsdecode(odd)).write_bytes(book.read_bytes())
    done = subprocess.run(
        [sys.executable, "-m", "plymill", "book", "info", odd, "--json"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8:strict"},
        check=True,
    )
    assert json.loads(done.stdout)["path"] == os.fsdecode(odd)


def _plymill(*words: str, stdout: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "plymill", *words],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
