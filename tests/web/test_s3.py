"""The page of a store that is elsewhere."""

from pathlib import Path

import pytest

from plymill.cluster import ArrowFiles
from plymill.web import Settings
from tests.web.conftest import OPENING, Made, client_of

pytest.importorskip("moto", reason="this test needs an S3 server")


def test_the_page_of_a_bucket_tells_the_same(bucket: str, made: Made) -> None:
    there = ArrowFiles(bucket)
    for path in sorted(Path(made.url).rglob("*")):
        if path.is_file():
            there.write(str(path.relative_to(made.url)), path.read_bytes())
    paths = [
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
