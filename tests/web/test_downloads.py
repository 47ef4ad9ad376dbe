"""Files that a run made, on their way to a visitor: damaged, closed, or changed meanwhile."""

import errno
import http.client
import shutil
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plymill.web import Settings
from tests.web.conftest import Made, client_of, logged, served


@pytest.fixture
def book(folder: Path, made: Made) -> Path:
    """The folder of a finished run that may be spoiled."""
    return Path(shutil.copytree(Path(made.url) / made.book, folder / made.book))


@pytest.mark.parametrize(
    "damage",
    [lambda data: b"", lambda data: data[:-1], lambda data: data + b"x"],
    ids=["empty", "too short", "too long"],
)
def test_a_file_of_another_size_than_its_run_made_is_told(
    book: Path, damage: Callable[[bytes], bytes]
) -> None:
    with client_of(Settings(store=str(book.parent))) as client:
        for file in client.get(f"/api/v1/runs/{book.name}/artifacts").json():
            place = book / "artifacts" / file["name"]
            place.write_bytes(damage(place.read_bytes()))
            for query in ("", "?show=1"):
                answer = client.get(file["url"] + query)
                assert answer.status_code == 502
                assert f"expected the {file['bytes']:,} that its run made" in answer.text


def test_a_file_that_may_not_be_read_is_told(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.open

    def closed(self: Path, *args: Any, **words: Any) -> Any:
        if self.is_relative_to(book):
            raise PermissionError(errno.EACCES, "Permission denied", str(self))
        return real(self, *args, **words)

    with client_of(Settings(store=str(book.parent))) as client:
        file = client.get(f"/api/v1/runs/{book.name}/artifacts").json()[0]
        monkeypatch.setattr(Path, "open", closed)
        for path in (file["url"], f"/runs/{book.name}/report"):
            answer = client.get(path)
            assert answer.status_code == 503
            told = answer.text.partition("<footer")[0]
            assert f"Cannot read {book.name}/" in told
            assert "permission denied" in told
            assert str(book.parent) not in told


@pytest.mark.parametrize("grows", [False, True], ids=["cut short", "longer"])
def test_a_file_that_changes_while_it_is_sent_ends_the_answer_without_a_traceback(
    book: Path, *, grows: bool
) -> None:
    """The report has no size in the manifest; its answer tells the one that it had."""
    size = 48 << 20  # more than the buffers of both ends hold
    report = book / "report.html"
    report.write_bytes(bytes(size))
    with served(Settings(store=str(book.parent), port=0)) as url, logged() as said:
        with urllib.request.urlopen(f"{url}/runs/{book.name}/report") as answer:
            assert answer.headers["content-length"] == str(size)
            with report.open("r+b") as file:
                file.truncate(size + 5000 if grows else 1 << 20)
            if grows:
                assert len(answer.read()) == size
            else:
                with pytest.raises(http.client.IncompleteRead):
                    answer.read()
        assert urllib.request.urlopen(f"{url}/static/page.css").status == 200
    assert [record.exc_info for record in said] == [None] * len(said)
    told = [record.getMessage() for record in said if record.name == "plymill"]
    assert len(told) == (0 if grows else 1)
    assert all("a download was cut off" in line for line in told)
