"""The page of a store that is elsewhere."""

from pathlib import Path

import pytest

from plymill.books.format import HEADER_SIZE
from plymill.cluster import ArrowFiles
from plymill.web import Settings
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
        assert asked == [(start, 100) for start in range(0, there.stat().st_size + 1, 100)]
