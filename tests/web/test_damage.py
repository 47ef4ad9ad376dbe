"""A store that somebody has spoiled, or that is gone: what is left is shown, the rest is told."""

import hashlib
import json
import shutil
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from plymill.books.format import CHECKSUM, HEADER, HEADER_SIZE
from plymill.cluster import RunStore
from plymill.cluster.storage.sealed import sealed
from plymill.web import Settings
from plymill.web.drawings import throughput
from plymill.web.inside import InsideFiles
from plymill.web.page import _when as when
from plymill.web.sound import plain_of
from plymill.workers import BookJob
from tests.web.conftest import OPENING, Made, client_of

OPENING_FIELD = 10  # of a book's header
HALF = "\ud800"  # of a character: JSON can hold it, UTF-8 cannot
#: Numbers as JSON can hold them, but no run has.
NO_FIGURES = [float("nan"), float("inf"), -float("inf"), -1.0, 1e308, 10**400, "x", None, [1], {}]


@contextmanager
def page_of(folder: Path) -> Iterator[TestClient]:
    with client_of(Settings(store=str(folder))) as client:
        yield client


def require_shown(folder: Path, run_id: str) -> None:
    """All that tells of a run is answered: pages, their parts, and the API."""
    paths = [
        *("/runs", "/books", "/matches", "/live/runs", "/api/v1/runs", "/api/v1/books"),
        *(f"/runs/{run_id}", f"/live/runs/{run_id}", f"/runs/{run_id}/events"),
        *(f"/api/v1/runs/{run_id}{part}" for part in ("", "/units", "/events", "/artifacts")),
    ]
    with page_of(folder) as client:
        for path in paths:
            answer = client.get(path)
            assert answer.status_code == 200, (path, answer.text)


@pytest.fixture
def book(folder: Path, made: Made) -> Path:
    """The folder of a finished run that may be spoiled."""
    return Path(shutil.copytree(Path(made.url) / made.book, folder / made.book))


@pytest.fixture
def live(folder: Path, made: Made) -> Path:
    """The same of one that is under way."""
    return Path(shutil.copytree(Path(made.url) / made.live, folder / made.live))


def change(path: Path, edit: Callable[[Any], object]) -> None:
    """Change a file of JSON."""
    fields = json.loads(path.read_text())
    edit(fields)
    path.write_text(json.dumps(fields))


def state_of(run: Path) -> str:
    with page_of(run.parent) as client:
        return str(client.get(f"/api/v1/runs/{run.name}").json()["state"])


def write_manifest(run: Path, manifest: Any) -> None:
    """A manifest with the digest that belongs to it."""
    text = json.dumps(manifest)
    digest = hashlib.sha256(text.encode()).hexdigest()
    (run / "artifacts" / "manifest.json").write_text(text)
    (run / "artifacts" / "SHA256SUMS").write_text(f"{digest}  manifest.json\n")


# --- figures --------------------------------------------------------------------------------------


@pytest.mark.parametrize("time", [*NO_FIGURES, True, 253_402_300_800])
def test_an_event_without_a_proper_time_is_shown_without_one(live: Path, time: Any) -> None:
    events = [{"time": time, "event": "odd one"}, {"time": 1.0, "event": "even one", "held": time}]
    (live / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    require_shown(live.parent, live.name)
    with page_of(live.parent) as client:
        assert "even one" in client.get(f"/runs/{live.name}").text


@pytest.mark.parametrize("time", [*NO_FIGURES, True])
def test_what_is_no_time_is_shown_as_nothing(time: Any) -> None:
    assert when(time) == ""
    assert "1970-01-01" in when(0)
    assert "9999-12-31" in when(253_402_300_799)


@pytest.mark.parametrize("value", NO_FIGURES)
@pytest.mark.parametrize("field", ["started", "updated", "rate", "items_done", "work_total"])
def test_figures_that_no_run_has_keep_none_from_being_shown(
    live: Path, field: str, value: Any
) -> None:
    """The file is as good as none, like one that is illegible."""
    change(live / "progress.json", lambda progress: progress.update({field: value}))
    require_shown(live.parent, live.name)
    assert state_of(live) == "unknown"


@pytest.mark.parametrize("value", NO_FIGURES)
def test_the_same_of_figures_in_lists(live: Path, value: Any) -> None:
    for edit in (
        lambda progress: progress.update(eta=[value, 5.0]),
        lambda progress: progress["history"].append([value, 3]),
        lambda progress: progress["history"].append([progress["updated"], value]),
        lambda progress: progress["workers"][0].update(rate=value),
        lambda progress: progress["workers"][0].update(pid=value),
    ):
        before = (live / "progress.json").read_text()
        change(live / "progress.json", edit)
        require_shown(live.parent, live.name)
        assert state_of(live) == "unknown"
        (live / "progress.json").write_text(before)


@pytest.mark.parametrize("value", NO_FIGURES)
def test_receipts_that_are_none_are_left_out(book: Path, value: Any) -> None:
    def edit(provenance: Any) -> None:
        good = provenance["units"][0]
        for field in ("unit", "seconds", "finished", "pid", "worker", "host"):
            if field not in ("worker", "host") or not isinstance(value, str):
                provenance["units"].append(good | {field: value})
        provenance["units"] += [value, {}, good | {"unit": 10**6}]

    def workers() -> list[dict[str, Any]]:
        with page_of(book.parent) as client:
            found: list[dict[str, Any]] = client.get(f"/api/v1/runs/{book.name}").json()[
                "worker_figures"
            ]
            return found

    change(book / "progress.json", lambda progress: progress.update(workers=[]))
    before = workers()
    assert before
    change(book / "provenance.json", edit)
    require_shown(book.parent, book.name)
    assert workers() == before
    change(book / "provenance.json", lambda provenance: provenance.update(units=value))
    require_shown(book.parent, book.name)


@pytest.mark.parametrize(
    "fields", [{"cost": float("inf")}, {"cost": 1e308}, {"stop": 10**400}, {"name": HALF}]
)
def test_a_plan_of_units_that_no_run_has_is_none(book: Path, fields: dict[str, Any]) -> None:
    plan = json.loads((book / "plan.json").read_text())
    del plan["sha256"]
    plan["units"][-1] |= fields
    (book / "plan.json").write_bytes(sealed(plan))
    require_shown(book.parent, book.name)
    with page_of(book.parent) as client:
        assert client.get(f"/api/v1/runs/{book.name}/units").json()["total"] == 0


def test_a_curve_of_no_time_at_all_is_none() -> None:
    """Its rates would have no end, and neither would the search for the end of their scale."""
    assert throughput([(0.0, 0.0), (5e-324, 1e15)]) is None


# --- texts and shapes -----------------------------------------------------------------------------


def test_halves_of_characters_are_shown_escaped(live: Path) -> None:
    (live / "events.jsonl").write_text(
        json.dumps({"time": 1.0, "event": HALF, "node": HALF, HALF: [HALF, {HALF: HALF}]})
    )
    texts = {"message": HALF, "item": HALF, "stage": HALF}
    change(live / "progress.json", lambda progress: progress.update(texts))
    (live / "submission.json").write_text(json.dumps({"owner": HALF}))
    require_shown(live.parent, live.name)
    with page_of(live.parent) as client:
        assert r"\ud800" in client.get(f"/runs/{live.name}/events").text


@pytest.mark.parametrize("value", [[], [1], "x", 3, None, {"summary": []}, {"summary": "x"}])
def test_a_manifest_of_another_shape_is_shown_as_far_as_it_goes(book: Path, value: Any) -> None:
    manifest = json.loads((book / "artifacts" / "manifest.json").read_text())
    changed = [{"stages": value}, {"files": value}, {"stages": {"summary": {"lines": value}}}]
    for fields in [*changed, {"stages": {"summary": {"lines": [HALF], "note": value}}}]:
        write_manifest(book, manifest | fields)
        require_shown(book.parent, book.name)


@pytest.mark.parametrize("size", [*NO_FIGURES, True])
def test_a_file_of_no_size_is_none(book: Path, size: Any) -> None:
    entry = {"bytes": size, "sha256": "0" * 64}
    write_manifest(book, {"files": {"x.json": entry, "y" * 300: entry | {"bytes": 1}}})
    require_shown(book.parent, book.name)
    with page_of(book.parent) as client:
        files = client.get(f"/api/v1/runs/{book.name}/artifacts").json()
        assert [file["name"] for file in files] == ["y" * 300]
        assert client.get(files[0]["url"]).status_code == 404


def test_what_is_nested_without_end_is_cut_off() -> None:
    nested: Any = "bottom"
    for _ in range(900):
        nested = [nested]
    assert "bottom" not in str(plain_of(nested))
    assert plain_of({"a": [1, 2.5, "b", None, True]}) == {"a": [1, 2.5, "b", None, True]}


# --- damaged books --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:10],
        lambda data: data[: len(data) // 2],
        lambda data: data[:-50] + bytes(byte ^ 255 for byte in data[-50:]),
    ],
    ids=["empty", "cut short", "cut in half", "altered"],
)
def test_a_damaged_book_is_told_by_its_place_in_the_store(
    book: Path, damage: Callable[[bytes], bytes]
) -> None:
    for path in (book / "artifacts").glob("*.plymill"):
        path.write_bytes(damage(path.read_bytes()))
    with page_of(book.parent) as client:
        for where in (f"/books/{book.name}", f"/api/v1/books/{book.name}/position"):
            answer = client.get(where)
            assert answer.status_code == 502, answer.text
            assert f"{book.name}/artifacts/" in answer.text
            assert str(book.parent) not in answer.text.partition("<footer")[0]
        for where in ("/books", "/api/v1/books", f"/runs/{book.name}"):
            assert client.get(where).status_code == 200, "the others are shown"


@pytest.mark.parametrize("elsewhere", [False, True], ids=["here", "elsewhere"])
def test_a_block_that_is_read_only_when_it_is_asked_for_is_told_alike(
    book: Path, monkeypatch: pytest.MonkeyPatch, *, elsewhere: bool
) -> None:
    (path,) = (book / "artifacts").glob("*-12ply-*.plymill")
    data = bytearray(path.read_bytes())
    data[HEADER_SIZE : HEADER_SIZE + 64] = bytes(64)
    path.write_bytes(data)
    monkeypatch.setattr("plymill.web.shelves._UNPACKED", 0)
    if elsewhere:
        monkeypatch.setattr(InsideFiles, "local_path", lambda *args: None)
    with page_of(book.parent) as client:
        answers = [
            client.get(f"/api/v1/books/{book.name}/position?moves={OPENING}{column}")
            for column in range(1, 8)
        ]
        damaged = [answer.json()["error"] for answer in answers if answer.status_code == 502]
        assert damaged
        for told in damaged:
            assert ".plymill" in told
            assert "/" not in told, "a path of this machine"


def test_a_book_whose_header_was_made_up_keeps_none_from_being_listed(
    folder: Path, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its check sum is right: whoever writes a header can write that as well."""
    good = run_of_a_book(made, folder)
    bad = run_of_a_book(made, folder, unit_size=21)
    raw = next((good / "artifacts").glob("*-12ply-*.plymill")).read_bytes()
    for elsewhere in (False, True):
        if elsewhere:
            monkeypatch.setattr(InsideFiles, "local_path", lambda *args: None)
        for opening in (b"\xff\xfe", b"9999", b"4444444", b"123" * 14):
            fields = list(HEADER.unpack_from(raw))
            fields[OPENING_FIELD] = opening
            header = HEADER.pack(*fields)
            header += CHECKSUM.pack(zlib.crc32(header))
            for path in (bad / "artifacts").glob("*.plymill"):
                path.write_bytes(header + raw[len(header) :])
            with page_of(folder) as client:
                books = client.get("/api/v1/books").json()
                assert [book["run_id"] for book in books] == [good.name]
                assert client.get(f"/books/{bad.name}").status_code == 502


def run_of_a_book(made: Made, folder: Path, **fields: Any) -> Path:
    """The folder of a run that made the same books as the one that is there."""
    spec = BookJob(opening=OPENING, **fields)
    RunStore.open(str(folder), spec.run_id).write_spec(spec)
    there, run = Path(made.url) / made.book, folder / spec.run_id
    shutil.copytree(there / "artifacts", run / "artifacts")
    shutil.copy(there / "progress.json", run)
    return run


def test_a_disk_without_room_for_a_copy_of_a_book_is_told(
    book: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(InsideFiles, "local_path", lambda *args: None)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with page_of(book.parent) as client:
        answer = client.get(f"/api/v1/books/{book.name}/position")
        assert answer.status_code == 503
        assert answer.json()["error"].startswith(f"Cannot keep a copy of {book.name}/artifacts/")


# --- a store that is gone -------------------------------------------------------------------------


def test_a_store_that_is_gone_is_not_called_empty(
    book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plymill.web.memo._FAILED", -1.0)  # it is looked for again at once
    folder = book.parent
    with page_of(folder) as client:
        folder.rename(folder.parent / "elsewhere")
        for path in ("/runs", "/live/runs", "/books", "/matches", f"/runs/{book.name}",
                     "/api/v1/runs", f"/api/v1/books/{book.name}/position"):  # fmt: skip
            answer = client.get(path)
            assert answer.status_code == 503, path
            assert "is not there any more" in answer.text
            assert str(folder.parent) not in answer.text.partition("<footer")[0]
        folder.mkdir()
        assert "There are no runs in this store yet" in client.get("/runs").text
        (folder.parent / "elsewhere" / book.name).rename(book)
        assert client.get(f"/runs/{book.name}").status_code == 200
