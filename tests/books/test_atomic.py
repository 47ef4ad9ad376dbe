"""Files that appear whole or not at all."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from plymill.books.atomic import atomic_file


def test_the_file_appears_when_all_is_written(tmp_path: Path) -> None:
    target = tmp_path / "some.file"
    with atomic_file(target) as file:
        file.write(b"all of it")
        assert not target.exists()
    assert target.read_bytes() == b"all of it"
    assert list(tmp_path.iterdir()) == [target]


def test_threads_that_write_the_same_file_do_not_mix(tmp_path: Path) -> None:
    """Both have their file open and half-written at the same time; the last to end wins whole."""
    target, halfway = tmp_path / "some.file", Barrier(2)

    def write(text: bytes) -> None:
        with atomic_file(target) as file:
            file.write(text)
            file.flush()
            halfway.wait(timeout=60)
            file.write(text)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, (b"one" * 1000, b"2" * 1000)))
    assert target.read_bytes() in (b"one" * 2000, b"2" * 2000)
    assert list(tmp_path.iterdir()) == [target]


def test_an_error_leaves_what_stood_there(tmp_path: Path) -> None:
    target = tmp_path / "some.file"
    target.write_bytes(b"older")

    def fail() -> None:
        with atomic_file(target) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert target.read_bytes() == b"older"
    assert list(tmp_path.iterdir()) == [target]


def test_a_folder_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    def fail() -> None:
        with atomic_file(tmp_path / "none" / "some.file"):
            raise AssertionError("never reached")

    with pytest.raises(FileNotFoundError):
        fail()
