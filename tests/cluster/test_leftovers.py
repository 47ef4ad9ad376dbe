"""Processes are really killed; what they leave goes, and nothing that is still worked on."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from plymill.cluster import Coordinator, LocalExecutor, RunStore, download
from plymill.cluster.storage.leftovers import (
    UNFINISHED,
    create_whole,
    scratch_folder,
    sweep_files,
    sweep_scratch,
    write_whole,
)

ROOT = Path(__file__).parents[2]

#: Says when the file is written and not yet renamed, and stays there until it is killed.
WRITER = """
import os, signal, sys
from pathlib import Path
from plymill.cluster.storage.leftovers import write_whole

def stop(handle):
    print("ready", flush=True)
    signal.pause()

os.fsync = stop
write_whole(Path(sys.argv[1]), b"half")
"""

SCRATCH = """
import signal, sys
from plymill.cluster.storage.leftovers import scratch_folder

with scratch_folder(sys.argv[1]) as folder:
    (folder / "below").mkdir()
    (folder / "below" / "half").write_bytes(b"half")
    print("ready", flush=True)
    signal.pause()
"""

#: A run whose first stage comes as far as half of an artefact.
DRIVER = """
import os, signal, sys
from plymill.cluster import Coordinator, LocalExecutor, RunStore, Stage
from tests.cluster.conftest import SquaresJob, SquaresSpec

def stop(handle):
    print("ready", flush=True)
    signal.pause()

def half(context):
    (context.scratch / "half").write_bytes(b"half")
    os.fsync = stop
    context.publish("total.txt", b"1")

class Stopping(SquaresJob):
    stages = (Stage("sum", half),)

job = Stopping(SquaresSpec(count=60))
store = RunStore.open(sys.argv[1], job.spec.run_id)
Coordinator(job, store, LocalExecutor(job, store)).run()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files, of these tests and of the processes that they start."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@contextmanager
def at_work(script: str, *words: object) -> Iterator[Callable[[], None]]:
    """A process that has come to where it stops; gives a function that kills it."""
    process = subprocess.Popen(
        [sys.executable, "-c", script, *map(str, words)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        stdout=subprocess.PIPE,
        text=True,
    )

    def kill() -> None:
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL

    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield kill
    finally:
        process.kill()
        process.communicate()


def unfinished(folder: Path) -> list[Path]:
    return sorted(folder.rglob(f"{UNFINISHED}*"))


def test_half_a_file_is_removed_when_its_writer_is_dead_and_not_before(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with at_work(WRITER, folder / "x") as kill:
        (half,) = unfinished(folder)
        assert sweep_files(folder) == []
        assert half.read_bytes() == b"half"
        kill()
        assert sweep_files(folder) == [half]
    assert list(folder.iterdir()) == []


def test_a_scratch_folder_is_removed_when_its_maker_is_dead_and_only_by_its_own_run(
    temporary: Path,
) -> None:
    with at_work(SCRATCH, "book-1") as kill:
        (folder,) = temporary.iterdir()
        assert sweep_scratch("book-1") == []
        kill()
        assert sweep_scratch("book-2") == []
        assert (folder / "below" / "half").exists()
        assert sweep_scratch("book-1") == [folder]
    assert list(temporary.iterdir()) == []


def test_a_later_session_removes_what_a_killed_one_left(
    make_job: Callable[..., Any], tmp_path: Path, temporary: Path
) -> None:
    url = str(tmp_path / "store")
    job = make_job(count=60)
    foreign = tmp_path / "store" / "other-run" / f"{UNFINISHED}0-x"
    with at_work(DRIVER, url) as kill, scratch_folder("other-run") as others:
        kill()
        foreign.parent.mkdir()
        foreign.write_bytes(b"half")
        run = tmp_path / "store" / job.spec.run_id
        assert [path.parent.name for path in unfinished(run)] == ["artifacts"]
        assert len(list(temporary.iterdir())) == 2
        store = RunStore.open(url, job.spec.run_id)
        assert Coordinator(job, store, LocalExecutor(job, store)).run().complete
        assert job.solved == [], "nothing that was finished is solved again"
        assert unfinished(run) == []
        assert list(temporary.iterdir()) == [others]
        assert foreign.exists(), "another run's is not ours to remove"


def test_a_download_removes_what_a_killed_one_left(
    make_job: Callable[..., Any], tmp_path: Path
) -> None:
    url = str(tmp_path / "store")
    job = make_job(count=20)
    store = RunStore.open(url, job.spec.run_id)
    Coordinator(job, store, LocalExecutor(job, store)).run()
    target = tmp_path / "here"
    with at_work(WRITER, target / "total.txt") as kill:
        kill()
    assert len(unfinished(target)) == 1
    download(url, job.spec.run_id, target)
    assert unfinished(target) == []


def hammer(sweep: Callable[[], object], work: Callable[[int], None], count: int) -> None:
    """Work in this thread while another sweeps as often as it can."""
    done = Event()

    def sweeping() -> None:
        while not done.is_set():
            sweep()

    with ThreadPoolExecutor(1) as pool:
        swept = pool.submit(sweeping)
        try:
            for turn in range(count):
                work(turn)
        finally:
            done.set()
        swept.result()


def test_a_sweep_at_the_wrong_moment_takes_no_file(tmp_path: Path) -> None:
    hammer(
        lambda: sweep_files(tmp_path),
        lambda turn: write_whole(tmp_path / f"{turn}", b"whole"),
        200,
    )
    assert {path.name for path in tmp_path.glob("[0-9]*")} == {str(turn) for turn in range(200)}
    assert unfinished(tmp_path) == []


def test_a_sweep_at_the_wrong_moment_takes_no_scratch_folder() -> None:
    def work(turn: int) -> None:
        with scratch_folder("book-1") as folder:
            (folder / "x").write_bytes(b"%d" % turn)
            assert (folder / "x").read_bytes() == b"%d" % turn

    hammer(lambda: sweep_scratch("book-1"), work, 200)


def test_a_sweep_between_making_and_locking_makes_the_maker_begin_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = fcntl.flock
    swept: list[Path] = []

    def lock_too_late(handle: int, operation: int) -> None:
        if operation == fcntl.LOCK_EX:
            monkeypatch.setattr(fcntl, "flock", lock)
            swept.extend(sweep_files(tmp_path) + sweep_scratch("book-1"))
        lock(handle, operation)

    monkeypatch.setattr(fcntl, "flock", lock_too_late)
    write_whole(tmp_path / "x", b"whole")
    assert len(swept) == 1
    assert (tmp_path / "x").read_bytes() == b"whole"
    assert unfinished(tmp_path) == []
    monkeypatch.setattr(fcntl, "flock", lock_too_late)
    swept.clear()
    with scratch_folder("book-1") as folder:
        assert len(swept) == 1
        assert folder.is_dir()
        assert folder not in swept


def test_without_locks_files_are_written_and_nothing_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(handle: int, operation: int) -> None:
        raise OSError(45, "Operation not supported")

    monkeypatch.setattr("fcntl.flock", no_locks)
    left = tmp_path / f"{UNFINISHED}0-x"
    left.write_bytes(b"half")
    write_whole(tmp_path / "x", b"whole")
    with scratch_folder("book-1") as folder:
        assert folder.is_dir()
        assert sweep_scratch("book-1") == []
    assert sweep_files(tmp_path) == []
    assert (tmp_path / "x").read_bytes() == b"whole"
    assert left.exists()


def test_a_file_that_was_swept_by_who_does_not_see_locks_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flush = os.fsync

    def sweep_once(handle: int) -> None:
        for path in unfinished(tmp_path):
            path.unlink()
        monkeypatch.setattr(os, "fsync", flush)

    monkeypatch.setattr(os, "fsync", sweep_once)
    write_whole(tmp_path / "x", b"whole")
    assert (tmp_path / "x").read_bytes() == b"whole"


def test_a_file_is_added_once_whole_and_never_over_another(tmp_path: Path) -> None:
    target = tmp_path / "folder" / "file"
    assert create_whole(target, b"first")
    assert not create_whole(target, b"second")
    assert target.read_bytes() == b"first"
    assert [path.name for path in target.parent.iterdir()] == ["file"]


def test_of_two_who_add_a_file_in_the_same_moment_one_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "folder" / "file"
    assert create_whole(target, b"first")
    monkeypatch.setattr(Path, "exists", lambda self: False)
    assert not create_whole(target, b"second")
    assert target.read_bytes() == b"first"
    assert [path.name for path in target.parent.iterdir()] == ["file"]


def test_where_files_have_one_name_only_a_file_is_added_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, target: Path) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    target = tmp_path / "folder" / "file"
    assert create_whole(target, b"first")
    monkeypatch.setattr(Path, "exists", lambda self: False)
    assert not create_whole(target, b"second")
    assert target.read_bytes() == b"first"
    assert [path.name for path in target.parent.iterdir()] == ["file"]
