"""The chaos run's own parts: drawing, billing, the table, and that what does harm really does."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from chaos.bill import Outcome, bill
from chaos.command import compare, main
from chaos.draw import FROM, TO, draw
from chaos.kinds import Strike, all_kinds
from chaos.report import Report, table
from chaos.sabotage import LIAR, Sabotaged
from chaos.strikes import (
    FaultMissedError,
    StoreDisk,
    can_limit_memory,
    end,
    flip,
    is_gone,
    processor_seconds,
    run_out_of_memory,
    stop,
    store_disk,
    truncate,
)
from chaos.watch import Finished, Watch
from plymill.cluster import Coordinator, LocalExecutor, RunOptions, RunStore
from plymill.workers import BookJob, make_job

ROOT = Path(__file__).parents[2]
TINY = BookJob(opening="44444422", unit_size=10, audit_fraction=0.3, validate_sample=5)


# --- drawing --------------------------------------------------------------------------------------


def test_a_seed_draws_the_same_faults_and_another_one_others() -> None:
    kinds = sorted(all_kinds())
    assert draw(kinds, 20, 3) == draw(list(reversed(kinds)), 20, 3)
    assert draw(kinds, 20, 3) != draw(kinds, 20, 4)


def test_twenty_faults_are_of_all_kinds_and_in_the_order_of_the_run() -> None:
    kinds = sorted(all_kinds())
    planned = draw(kinds, 20, 5)
    assert {each.kind for each in planned} == set(kinds)
    shares = [each.share for each in planned]
    assert shares == sorted(shares)
    assert FROM <= shares[0] <= shares[-1] <= TO


def test_every_kind_is_told_of_in_the_docs() -> None:
    text = (ROOT / "docs" / "failures.md").read_text(encoding="utf-8")
    section = text.partition("## What twenty faults cost")[2]
    assert [kind for kind in all_kinds() if f"| {kind} |" not in section] == []


def test_a_kind_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--only", "worker killed,earthquake"])
    assert left.value.code == 2
    assert "there is no fault 'earthquake'; expected some of: worker killed" in (
        capsys.readouterr().err
    )


# --- billing --------------------------------------------------------------------------------------


def result(unit: str, seen: float, seconds: float) -> Finished:
    return Finished(unit=unit, seen=seen, worker="w", pid=1, digest="", processor_seconds=seconds)


def test_results_that_come_again_are_charged_to_the_fault_that_owes_them() -> None:
    strikes = [(10.0, Strike("a file", {"1"})), (20.0, Strike("a worker", {"2"}))]
    outcomes = [Outcome("damaged", 10.0, 0.1), Outcome("killed", 20.0, 0.2)]
    finished = [
        result("1", 5.0, 3.0),
        result("3", 6.0, 0.5),
        result("2", 21.0, 4.0),  # was in flight: late, and what it cost before is not known
        result("4", 22.0, 9.0),  # nobody's fault
        result("1", 23.0, 3.5),  # found late, but the first fault's
        result("3", 24.0, 0.6),  # done twice, for a reason that only the last fault can be
    ]
    bill(finished, strikes, outcomes)
    assert [(o.again, o.processor_seconds) for o in outcomes] == [(1, 3.0), (2, 0.5)]


def test_every_result_is_seen_once_and_half_written_files_are_not(tmp_path: Path) -> None:
    job = make_job(TINY, RunOptions(table_mb=16))
    store = RunStore.open(str(tmp_path), TINY.run_id)
    result = Coordinator(job, store, LocalExecutor(job, store)).run()
    watch = Watch(tmp_path / TINY.run_id)
    watch.look()
    units = sorted(each.unit for each in watch.finished)
    assert len(set(units)) == len(units) == result.progress.units_total
    assert watch.units == units
    assert watch.share == 1
    path = watch.folder / "units" / f"{units[0]}.zst"
    path.with_name(f".unfinished-1-{path.name}").write_bytes(path.read_bytes())
    path.touch()
    watch.look()
    assert len(watch.finished) == len(units)
    plan = store.read_plan()
    assert plan is not None
    arrays, receipt = store.read_unit(plan.units[0])
    store.discard_unit(plan.units[0])
    watch.look()
    assert watch.done == set(units[1:])
    store.write_unit(plan.units[0], arrays, replace(receipt, worker="another"))
    watch.look()
    assert [(each.unit, each.worker) for each in watch.finished[len(units) :]] == [
        (units[0], "another")
    ]


# --- reporting ------------------------------------------------------------------------------------


GOOD = Outcome(
    kind="worker killed",
    at=12.3,
    share=0.25,
    victim="worker process 77",
    next_unit=0.4,
    recovered=6.25,
    again=2,
    processor_seconds=1.04,
)
MISSED = Outcome(kind="disk full", at=130.0, share=0.5, missed="there is room", starts=3)


def test_the_table_has_a_line_for_each_fault() -> None:
    assert table([GOOD, MISSED]).splitlines() == [
        "fault          at s  done  what it hit            unit s  whole s  again  cpu s  starts",
        "worker killed    12   25%  worker process 77         0.4      6.2      2    1.0       0",
        "disk full       130   50%  MISSED: there is room       -        -      0    0.0       3",
    ]


def test_a_report_fails_if_anything_is_not_as_it_should_be() -> None:
    good = Report(job="book", size="small", seed=1, outcomes=[GOOD], compared=3)
    assert not good.failed
    assert "All 3 artefacts are the same" in str(good)
    for bad, words in (
        (replace(good, outcomes=[GOOD, MISSED]), "Not every fault has hit: disk full."),
        (replace(good, differing=["book"]), "Artefacts differ: book."),
        (replace(good, stuck="it hangs"), "The run did not end: it hangs"),
        (replace(good, compared=0), "Nothing was compared."),
    ):
        assert bad.failed
        assert words in str(bad)
        assert bad.to_json()["failed"]


def test_artefacts_that_are_missing_added_or_altered_are_named(tmp_path: Path) -> None:
    expected, found = (RunStore.open(str(tmp_path / name), "run") for name in ("a", "b"))
    for store, files in ((expected, "same gone other"), (found, "same more other")):
        for name in files.split():
            data = store.url.encode() if name == "other" else b"x"
            store.files.write(f"artifacts/{name}", data)
    report = Report(job="book", size="small", seed=1)
    compare(report, expected, found)
    assert report.compared == 1
    assert report.differing == ["gone", "more", "other"]


# --- harm -----------------------------------------------------------------------------------------


def test_a_worker_that_lies_is_found_out_and_the_artefacts_are_the_same(tmp_path: Path) -> None:
    def run(name: str) -> RunStore:
        job = Sabotaged(make_job(TINY, RunOptions(table_mb=16)), tmp_path)
        store = RunStore.open(str(tmp_path / name), TINY.run_id)
        executor = LocalExecutor(job, store, {"a": 1, "b": 1, "c": 1})
        assert Coordinator(job, store, executor).run().complete
        return store

    honest = run("honest")
    (tmp_path / LIAR).write_text("b-2")
    lied = run("lied")
    warnings = [e["message"] for e in lied.read_events() if e["event"] == "warning"]
    assert any("Worker b-2 gave a wrong result" in text for text in warnings)
    report = Report(job="book", size="small", seed=1)
    compare(report, honest, lied)
    assert report.compared >= 3
    assert report.differing == []


@pytest.fixture
def process() -> Iterator[int]:
    """A process that takes memory, little by little."""
    script = "import time\nkept = []\nwhile True: kept.append(bytes(10**5)); time.sleep(0.01)"
    with subprocess.Popen([sys.executable, "-c", script]) as running:
        yield running.pid
        running.kill()


def test_a_process_is_stopped_and_ended_and_cannot_be_ended_twice(process: int) -> None:
    assert processor_seconds(process) is not None
    stop(process)
    end(process)
    assert is_gone(process)
    assert processor_seconds(process) is None
    with pytest.raises(FaultMissedError, match="was gone before"):
        end(process)


def test_a_process_without_memory_is_killed_by_the_kernel(process: int) -> None:
    if not can_limit_memory():
        pytest.skip("limiting a process's memory needs root and a memory controller")
    run_out_of_memory(process)
    assert is_gone(process)


def test_a_file_is_altered_or_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(100))
    flip(path, 0.5)
    assert [at for at, byte in enumerate(path.read_bytes()) if byte] == [50]
    truncate(path, 0.3)
    assert len(path.read_bytes()) == 30


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[StoreDisk]:
    disk = store_disk(tmp_path / "disk")
    if disk is None:
        pytest.skip("mounting a file system needs root, and is not allowed here")
    yield disk
    disk.close()


def test_a_disk_is_full_read_only_and_frozen_for_a_while(disk: StoreDisk) -> None:
    path = disk.path / "file"
    disk.fill()
    with pytest.raises(OSError, match="No space left"):
        path.write_bytes(bytes(10**6))
    disk.free()
    disk.read_only(True)
    with pytest.raises(OSError, match="Read-only"):
        path.write_bytes(b"x")
    disk.read_only(False)
    disk.freeze(0.1)
    path.write_bytes(b"x")


FREEZING = """
import sys
from pathlib import Path
from chaos.strikes import StoreDisk
disk = object.__new__(StoreDisk)
disk.path = Path(sys.argv[1])
disk.freeze(3)
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_frozen_disk_thaws_whatever_becomes_of_who_froze_it(
    disk: StoreDisk, how: signal.Signals
) -> None:
    words = [sys.executable, "-c", FREEZING, str(disk.path)]
    freezing = subprocess.Popen(words, cwd=ROOT, start_new_session=True)
    waiting = ["pgrep", "--full", f"^sh -c trap .*{disk.path}"]
    while not any(_has_child(pid) for pid in subprocess.run(
        waiting, capture_output=True, check=False).stdout.split()):  # fmt: skip
        time.sleep(0.05)
    os.killpg(freezing.pid, how)
    assert freezing.wait(30) != 0
    write = "import sys; open(sys.argv[1], 'w').write('x')"
    writing = subprocess.Popen([sys.executable, "-c", write, str(disk.path / "file")])
    assert writing.wait(30) == 0
    assert (disk.path / "file").read_text() == "x"


def _has_child(pid: bytes) -> bool:
    """Whether the script sleeps: what it freezes is frozen by then."""
    command = ["pgrep", "--parent", pid.decode(), "sleep"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
