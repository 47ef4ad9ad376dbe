"""A disk that is really full: a file system of its own, as large as a few units."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from plymill.cluster import Coordinator, LocalExecutor, RunStore
from plymill.errors import PlymillError


def mount(path: Path, options: str) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(path)]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if not mount(tmp_path, "size=160k"):
        pytest.skip("mounting a file system needs root, and is not allowed here")
    yield tmp_path
    subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


def test_a_full_disk_is_told_in_one_sentence_and_with_more_room_the_run_goes_on(
    make_job: Callable[..., Any], small_disk: Path
) -> None:
    job = make_job()
    store = RunStore.open(str(small_disk), job.spec.run_id)
    with pytest.raises(PlymillError, match="disk of the store is full") as caught:
        Coordinator(job, store, LocalExecutor(job, store)).run()
    assert "\n" not in str(caught.value)
    done = store.finished_units()
    assert 0 < len(done) < 20
    leftovers = [path.name for path in small_disk.rglob("*") if path.name.startswith(".")]
    assert leftovers == []

    assert mount(small_disk, "remount,size=10m")
    again = make_job()
    assert Coordinator(again, store, LocalExecutor(again, store)).run().complete
    assert {unit for _, unit in again.solved} == {f"{i:05d}" for i in range(20)} - done
