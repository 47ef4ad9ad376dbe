"""What the page remembers of a store: no longer than it is true, and so that it asks for little."""

import shutil
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plymill.cluster import Plan, RunInfo, RunStore
from plymill.matches import Matches
from plymill.web import Settings, played
from plymill.web.inside import InsideFiles
from plymill.web.memo import Memo
from plymill.web.played import PlayedRuns
from plymill.web.reading import StoreReader
from plymill.web.runs import detail_of, summaries_of
from plymill.web.shelves import Library
from plymill.workers import BookJob
from tests.web.conftest import OPENING, Made, client_of

NOBODY = [f"grid-{number:012x}" for number in range(6)]


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a run has ended, and how, is read at every look: nobody waits ten seconds."""
    monkeypatch.setattr("plymill.web.reading._ENDED", -1.0)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is asked of the store, one entry a request."""
    found: list[str] = []

    def heard(name: str) -> None:
        real = getattr(InsideFiles, name)

        def hear(self: InsideFiles, path: str, *part: int) -> Any:
            found.append(f"{name} {self.place(path) if path else ''}")
            return real(self, path, *part)

        monkeypatch.setattr(InsideFiles, name, hear)

    for name in ("read", "read_part", "exists", "list"):
        heard(name)
    return found


def copy_run(made: Made, run_id: str, folder: Path) -> RunStore:
    shutil.copytree(Path(made.url) / run_id, folder / run_id)
    return RunStore.open(str(folder), run_id)


def change_progress(store: RunStore, **fields: Any) -> None:
    progress = store.read_json("progress.json")
    assert progress is not None
    store.write_json("progress.json", progress | fields)


def make_names(folder: Path) -> None:
    """Folders that have the names of runs, and a spec."""
    for name in NOBODY:
        (folder / name).mkdir()
        (folder / name / "spec.json").write_text("{}")


# --- a run that ended, was resumed, and ended again ----------------------------------------------


@pytest.mark.usefixtures("forgetful")
@pytest.mark.parametrize("state", ["interrupted", "failed"])
def test_a_run_that_is_resumed_and_finishes_shows_all_its_matches(
    folder: Path, made: Made, state: str
) -> None:
    store = copy_run(made, made.live, folder)
    units = sorted((folder / made.live / "units").iterdir())
    later = {path: path.read_bytes() for path in units[1:]}
    for path in later:
        path.unlink()
    change_progress(store, state=state, updated=1000.0)
    runs = PlayedRuns(StoreReader(str(folder)))
    before = runs.of(made.live)
    assert runs.of(made.live) is before, "what is not changed is not read again"
    for path, data in later.items():
        path.write_bytes(data)
    change_progress(store, state="done", updated=2000.0)
    after = runs.of(made.live)
    assert (before.read, after.read) == (1, len(units))
    assert 0 < len(before.matches) < len(after.matches)


@pytest.mark.usefixtures("forgetful")
def test_a_run_that_fails_a_second_time_shows_what_it_played_meanwhile(
    folder: Path, made: Made
) -> None:
    store = copy_run(made, made.grid, folder)
    last = max((folder / made.grid / "units").iterdir())
    data = last.read_bytes()
    last.unlink()
    change_progress(store, state="failed", updated=1000.0)
    runs = PlayedRuns(StoreReader(str(folder)))
    before = runs.of(made.grid).read
    last.write_bytes(data)
    change_progress(store, state="failed", updated=2000.0)
    assert runs.of(made.grid).read == before + 1


def test_a_new_manifest_goes_with_a_new_plan_and_provenance(folder: Path, made: Made) -> None:
    """The plan was remembered from before the run was resumed: receipts are of the one after."""
    store = copy_run(made, made.book, folder)
    path = folder / made.book / "plan.json"
    whole = path.read_bytes()
    plan = store.read_plan()
    assert plan is not None
    assert len(plan.units) > 1
    store.write_plan(plan.model_copy(update={"units": plan.units[:1], "audited": ()}))
    change_progress(store, state="interrupted", updated=1000.0, workers=[])
    reader = StoreReader(str(folder))
    assert reader.plan(made.book) is not None
    path.write_bytes(whole)
    change_progress(store, state="done", updated=2000.0, workers=[])
    reader._runs = Memo(4)  # ten seconds later
    detail = detail_of(reader, made.book)
    assert sum(worker.units for worker in detail.worker_figures) == len(plan.units)


def test_many_may_look_at_many_runs_that_are_played(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without any time spent on reading: all of them meet where results are kept."""
    live = StoreReader(made.url).run(made.live)
    plan = made.store(made.live).read_plan()
    assert plan is not None

    class Quick(RunStore):
        def read_plan(self) -> Plan | None:
            return plan

        def finished_units(self) -> set[str]:
            return set()

    class Reader(StoreReader):
        def run(self, run_id: str) -> RunInfo:
            return replace(live, run_id=run_id)

        def store(self, run_id: str) -> RunStore:
            return Quick(self.files, run_id)

    nothing = SimpleNamespace(matches=Matches.of([]))
    monkeypatch.setattr(played, "read_attempts", lambda *args, **options: nothing)
    monkeypatch.setattr(played, "_openings", lambda *args: None)
    monkeypatch.setattr(played, "_LIVE", -1.0)
    monkeypatch.setattr(played, "ThreadPoolExecutor", _Here)
    runs = PlayedRuns(Reader(made.url))
    numbers = count()

    def look(_: int) -> None:
        for _ in range(500):
            runs.of(f"grid-{next(numbers) % 97:012x}")

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(look, range(8)))
    finally:
        sys.setswitchinterval(interval)


class _Here:
    """A pool without threads."""

    def __init__(self, size: int) -> None:
        del size

    def __enter__(self) -> "_Here":
        return self

    def __exit__(self, *args: object) -> None:
        pass

    map = staticmethod(map)


# --- the list of runs -----------------------------------------------------------------------------


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list of names is read at every look."""
    monkeypatch.setattr("plymill.web.reading._LIVE", -1.0)


@pytest.mark.usefixtures("hasty")
def test_names_that_are_known_to_be_runs_are_not_asked_about_again(
    folder: Path, asked: list[str]
) -> None:
    make_names(folder)
    (folder / "grid-aaaaaaaaaaaa").mkdir()  # of somebody who is only beginning
    reader = StoreReader(str(folder))
    assert reader.names() == NOBODY
    assert len(asked) == 1 + len(NOBODY) + 1
    asked.clear()
    assert reader.names() == NOBODY
    assert [request for request in asked if "exists" in request] == [
        f"exists {folder}/grid-aaaaaaaaaaaa/spec.json"
    ]
    (folder / "grid-aaaaaaaaaaaa" / "spec.json").write_text("{}")
    assert reader.names() == [*NOBODY, "grid-aaaaaaaaaaaa"]


@pytest.mark.usefixtures("hasty")
def test_a_run_that_is_deleted_is_listed_no_more_and_asked_about_when_it_is_back(
    folder: Path,
) -> None:
    make_names(folder)
    reader = StoreReader(str(folder))
    assert NOBODY[0] in reader.names()
    shutil.rmtree(folder / NOBODY[0])
    assert reader.names() == NOBODY[1:]
    (folder / NOBODY[0]).mkdir()
    assert reader.names() == NOBODY[1:], "there is no spec in it"


def test_new_names_are_asked_about_several_at_a_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_names(folder)
    meet(monkeypatch, InsideFiles, "exists")
    assert StoreReader(str(folder)).names() == NOBODY


def test_owners_are_read_several_at_a_time(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """One request a run, and there are four of them."""
    reader = StoreReader(made.url)
    reader.runs()
    meet(monkeypatch, StoreReader, "owner")
    assert len(summaries_of(reader)) == 4


def meet(monkeypatch: pytest.MonkeyPatch, kind: type, name: str) -> None:
    """Let each call wait for another one that comes while it waits."""
    barrier = threading.Barrier(2, timeout=10)
    real: Callable[..., Any] = getattr(kind, name)

    def wait(self: Any, path: str) -> Any:
        barrier.wait()
        return real(self, path)

    monkeypatch.setattr(kind, name, wait)


def test_a_look_at_the_list_just_after_another_asks_for_nothing(
    folder: Path, made: Made, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor if there are more runs than are remembered at the outset, of which some were stopped."""
    monkeypatch.setattr("plymill.web.reading._MOST_RUNS", 2)
    monkeypatch.setattr("plymill.web.reading._LIVE", 60.0)
    for run_id in (made.book, made.pool, made.live):
        copy_run(made, run_id, folder)
    change_progress(copy_run(made, made.grid, folder), state="interrupted")
    reader = StoreReader(str(folder))
    first = summaries_of(reader)
    assert len(first) == 4
    assert asked
    asked.clear()
    assert summaries_of(reader) == first
    assert asked == []


def test_a_look_at_a_run_lists_its_audits_once(made: Made, asked: list[str]) -> None:
    with client_of(Settings(store=made.url)) as client:
        for _ in range(2):
            assert client.get(f"/runs/{made.book}").status_code == 200
    assert asked.count(f"list {made.url}/{made.book}/audits") == 1


# --- the list of books ----------------------------------------------------------------------------


@pytest.fixture
def shelves(folder: Path, made: Made) -> str:
    """A store with nine runs that made books, more than are kept unpacked."""
    for size in range(20, 29):
        spec = BookJob(opening=OPENING, unit_size=size)
        store = RunStore.open(str(folder), spec.run_id)
        store.write_spec(spec)
        there = Path(made.url) / made.book
        shutil.copytree(there / "artifacts", folder / spec.run_id / "artifacts")
        shutil.copy(there / "progress.json", folder / spec.run_id)
    return str(folder)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How many books were opened, and how many were unpacked."""
    found = {"open_book": 0, "ArrayBook": 0}

    def counting(name: str) -> None:
        real: Callable[..., Any] = getattr(sys.modules["plymill.web.shelves"], name)

        class Counted(real if isinstance(real, type) else object):  # type: ignore[misc]
            def __new__(cls, *args: Any, **options: Any) -> Any:
                found[name] += 1
                return real(*args, **options)

        monkeypatch.setattr(f"plymill.web.shelves.{name}", Counted)

    for name in found:
        counting(name)
    return found


def test_the_list_of_books_unpacks_none_and_opens_each_once(
    shelves: str, opened: dict[str, int]
) -> None:
    library = Library(StoreReader(shelves))
    first = library.entries()
    assert len(first) == 9
    assert opened == {"open_book": 18, "ArrayBook": 0}
    assert library.entries() == first
    assert opened == {"open_book": 18, "ArrayBook": 0}


def test_the_list_tells_of_a_book_what_its_shelf_does(shelves: str) -> None:
    library = Library(StoreReader(shelves))
    listed = {entry.run_id: entry for entry in library.entries()}
    for run_id, entry in listed.items():
        assert library.shelf(run_id).entry == entry
        assert [book.ply for book in entry.books] == [8, 12]
    assert len(library._shelves) == 8, "no more than these stay unpacked"


def test_all_books_are_remembered_if_there_are_more_than_at_the_outset(
    shelves: str, opened: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plymill.web.shelves._DESCRIBED", 2)
    library = Library(StoreReader(shelves))
    for _ in range(2):
        library.entries()
    assert opened["open_book"] == 18


def test_of_a_book_that_is_elsewhere_the_list_fetches_the_header_once(
    shelves: str, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(InsideFiles, "local_path", lambda *args: None)
    library = Library(StoreReader(shelves))
    run_id = library.entries()[0].run_id
    assert fetched(asked) == {"read": 0, "read_part": 18}
    library.entries()
    assert fetched(asked) == {"read": 0, "read_part": 18}
    assert library.shelf(run_id).ask(f"{OPENING}1").source == "book"
    assert fetched(asked) == {"read": 2, "read_part": 18}


def test_a_shelf_that_was_opened_tells_the_list_what_is_in_it(
    shelves: str, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(InsideFiles, "local_path", lambda *args: None)
    reader = StoreReader(shelves)
    library = Library(reader)
    for name in reader.names():
        library.shelf(name)
    library.entries()
    assert fetched(asked) == {"read": 18, "read_part": 0}


def fetched(asked: list[str]) -> dict[str, int]:
    """How often a book was read, and how often a part of one."""
    books = [request.partition(" ")[0] for request in asked if request.endswith(".plymill")]
    return {name: books.count(name) for name in ("read", "read_part")}


def test_a_large_book_that_is_elsewhere_answers_and_leaves_no_file(
    shelves: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(InsideFiles, "local_path", lambda *args: None)
    monkeypatch.setattr("plymill.web.shelves._UNPACKED", 0)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    reader = StoreReader(shelves)
    library = Library(reader)
    shelf = library.shelf(reader.names()[0])
    assert list(scratch.iterdir()) == []
    assert shelf.ask(f"{OPENING}1").source == "book"


def test_a_run_whose_book_is_gone_is_left_out_of_the_list(shelves: str) -> None:
    library = Library(StoreReader(shelves))
    run_id = StoreReader(shelves).names()[0]
    next((Path(shelves) / run_id / "artifacts").glob("*.plymill")).unlink()
    assert len(library.entries()) == 8
