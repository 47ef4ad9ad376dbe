"""No path leads out of the store, and nothing in it can be changed."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from plymill.cluster import ArrowFiles, RunNotFoundError, StoreError
from plymill.web.inside import InsideFiles
from plymill.web.reading import StoreReader
from tests.web.conftest import Made

SECRET = b"not for visitors"


@pytest.fixture
def files(folder: Path) -> InsideFiles:
    (folder.parent / "secret").write_bytes(SECRET)
    (folder / "run").mkdir()
    (folder / "run" / "file").write_bytes(b"inside")
    return InsideFiles(ArrowFiles(str(folder)))


OUTSIDE = [
    "../secret",
    "run/../../secret",
    "run/../run/file",
    "./run/file",
    "/etc/passwd",
    "//etc/passwd",
    "run//file",
    "run/file/",
    "run\\..\\secret",
    "run/\0file",
    "",
    "file:///etc/passwd",
    "s3://bucket/secret",
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_path_that_leads_out_is_a_file_that_is_not_there(files: InsideFiles, path: str) -> None:
    assert not files.exists(path)
    for read in (files.read, files.size, files.local_path):
        with pytest.raises(FileNotFoundError):
            read(path)
    for take in (files.read_part, lambda path, start, count: files.chunks(path, count)):
        with pytest.raises(FileNotFoundError):
            take(path, 0, 5)


@pytest.mark.parametrize("path", [*OUTSIDE[:2], "/etc", "run\\.."])
def test_a_folder_outside_has_no_names_and_no_files(files: InsideFiles, path: str) -> None:
    assert files.list(path) == []
    with pytest.raises(FileNotFoundError):
        files.sub(path)


def test_what_is_inside_is_read_whole_or_in_pieces(files: InsideFiles, folder: Path) -> None:
    assert files.read("run/file") == b"inside"
    assert files.size("run/file") == 6
    assert b"".join(files.chunks("run/file", 6)) == b"inside"
    assert files.sub("run").read("file") == b"inside"
    assert files.sub("run").list("") == ["file"]
    assert files.sub("run").url == str(folder / "run")
    assert files.local_path("run/file") == folder / "run" / "file"


@pytest.mark.parametrize("target", ["../secret", "../../secret", "/etc/passwd"])
def test_a_link_to_a_file_outside_is_not_followed(
    files: InsideFiles, folder: Path, target: str
) -> None:
    (folder / "run" / "link").symlink_to(target if target[0] == "/" else folder / target)
    assert not files.exists("run/link")
    with pytest.raises(FileNotFoundError):
        files.read("run/link")


def test_a_link_to_a_folder_outside_is_not_followed(files: InsideFiles, folder: Path) -> None:
    (folder / "out").symlink_to(folder.parent)
    assert files.list("out") == []
    assert not files.exists("out/secret")
    with pytest.raises(FileNotFoundError):
        files.sub("out")


def test_a_link_within_the_store_is_followed(files: InsideFiles, folder: Path) -> None:
    (folder / "again").symlink_to(folder / "run")
    assert files.read("again/file") == b"inside"


def test_the_store_itself_may_be_a_link(folder: Path, files: InsideFiles) -> None:
    link = folder.parent / "link"
    link.symlink_to(folder)
    assert InsideFiles(ArrowFiles(str(link))).read("run/file") == b"inside"


def test_a_pipe_is_no_file(files: InsideFiles, folder: Path) -> None:
    os.mkfifo(folder / "run" / "pipe")
    with pytest.raises(FileNotFoundError):
        files.read("run/pipe")


@pytest.mark.parametrize(
    "change",
    [
        lambda files: files.write("run/file", b"other"),
        lambda files: files.delete("run/file"),
        lambda files: files.sub("run").delete_all(),
    ],
)
def test_nothing_can_be_changed(files: InsideFiles, change: Callable[[InsideFiles], None]) -> None:
    with pytest.raises(StoreError, match="only reads"):
        change(files)
    files.sweep()
    assert files.read("run/file") == b"inside"


@pytest.mark.parametrize(
    "name",
    ["..", "../store", ".", "", "book-1234", "Book-0123456789ab", "book-0123456789ab/..", "/"],
)
def test_only_names_of_runs_are_runs(folder: Path, name: str) -> None:
    with pytest.raises(RunNotFoundError):
        StoreReader(str(folder)).store(name)


def test_a_run_that_is_a_link_to_elsewhere_is_not_there(folder: Path, made: Made) -> None:
    (folder / made.book).symlink_to(Path(made.url) / made.book)
    reader = StoreReader(str(folder))
    assert reader.names() == []
    with pytest.raises(RunNotFoundError):
        reader.run(made.book)
