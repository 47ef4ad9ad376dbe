"""The page of a store that is elsewhere."""

from pathlib import Path

import pytest

from plymill.books.format import HEADER_SIZE
from plymill.cluster import ArrowFiles, CorruptFileError
from plymill.web import Settings
from plymill.web.inside import InsideFiles
from tests.web.conftest import OPENING, Made, client_of

pytest.importorskip("moto", reason="this test needs an S3 server")


def copy(made: Made, bucket: str) -> None:
    there = ArrowFiles(bucket)
    for path in sorted(Path(made.url).rglob("*")):
        if path.is_file():
            there.write(str(path.relative_to(made.url)), path.read_bytes())


def test_the_page_of_a_bucket_tells_the_same(bucket: str, made: Made) -> None:
    copy(made, bucket)
    paths = [
        "/books",
        f"/runs/{made.book}",
        f"/books/{made.book}/position?moves={OPENING}1",
        f"/matches/{made.grid}",
        f"/matches/{made.grid}/0:0",
        f"/runs/{made.live}/units",
    ]
    with (
        client_of(Settings(store=made.url)) as near,
        client_of(Settings(store=bucket)) as far,
    ):
        for where in paths:
            answer = far.get(f"/api/v1{where}")
            assert answer.status_code == 200, answer.text
            assert answer.json() == near.get(f"/api/v1{where}").json()
        file = far.get(f"/api/v1/runs/{made.book}/artifacts").json()[0]
        assert far.get(file["url"]).content == near.get(file["url"]).content
        for way in ("..%2F..%2Fx", "%2Fx", "s3:%2F%2Fother%2Fx"):
            assert far.get(f"/runs/{made.book}/artifacts/{way}").status_code == 404
        assert far.get("/runs/book-0123456789ab").status_code == 404


def test_of_large_files_no_more_is_fetched_than_is_needed(
    bucket: str, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy(made, bucket)
    monkeypatch.setattr("plymill.web.inside._PART", 100)
    asked: list[tuple[int, int]] = []

    class Counting(ArrowFiles):
        def read(self, path: str) -> bytes:
            small = path.endswith(("SHA256SUMS", "manifest.json"))
            assert "artifacts/" not in path or small, "all of an artefact is in memory at once"
            return super().read(path)

        def read_part(self, path: str, start: int, count: int) -> bytes:
            asked.append((start, count))
            return super().read_part(path, start, count)

    monkeypatch.setattr("plymill.web.reading.ArrowFiles", Counting)
    with client_of(Settings(store=bucket)) as far:
        books = far.get("/api/v1/books").json()
        assert [book["run_id"] for book in books] == [made.book]
        assert asked == [(0, HEADER_SIZE)] * len(books[0]["books"])
        file = far.get(f"/api/v1/runs/{made.book}/artifacts").json()[0]
        asked.clear()
        there = Path(made.url) / made.book / "artifacts" / file["name"]
        assert far.get(file["url"]).content == there.read_bytes()
        assert asked == [(start, 100) for start in range(0, there.stat().st_size, 100)]


def test_a_file_that_changes_while_it_is_fetched_is_not_taken_for_whole(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plymill.web.inside._PART", 4)
    there = ArrowFiles(bucket)
    files = InsideFiles(there)

    def fetch(first: bytes, then: bytes | None) -> bytes:
        """What comes of a file that is replaced, or deleted, after its first part."""
        there.write("changing", first)
        pieces = files.chunks("changing", files.size("changing"))
        found = next(pieces, b"")
        if then is None:
            there.delete("changing")
        else:
            there.write("changing", then)
        return b"".join([found, *pieces])

    assert fetch(b"0123456789", b"0123456789") == b"0123456789"
    assert fetch(b"01234567", b"0123456789") == b"01234567"
    assert fetch(b"", b"x") == b""
    for then in (b"012345", b"01", b"", None):
        with pytest.raises((OSError, CorruptFileError)):
            fetch(b"0123456789", then)
    for look in (files.size, lambda path: files.chunks(path, 1)):
        with pytest.raises(FileNotFoundError):
            look("none")


def test_a_damaged_file_of_a_bucket_is_told(bucket: str, made: Made) -> None:
    copy(made, bucket)
    there = ArrowFiles(bucket)
    with client_of(Settings(store=bucket)) as far:
        file = far.get(f"/api/v1/runs/{made.book}/artifacts").json()[0]
        place = f"{made.book}/artifacts/{file['name']}"
        there.write(place, there.read(place)[:-1])
        answer = far.get(file["url"])
        assert answer.status_code == 502
        assert f"{place} has {file['bytes'] - 1:,} bytes" in answer.text
