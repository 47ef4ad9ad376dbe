"""What a unit took by the clock, and what it cost: two figures, told apart."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from plymill.cluster import RunResult, RunStore
from plymill.workers import BookJob
from plymill.workers.book_page import book_page
from plymill.workers.book_plan import make_plan
from plymill.workers.book_worker import BookWorker

RunHere = Callable[..., RunResult]


class Clock:
    """Time that goes on by itself, in steps."""

    def __init__(self, step: float) -> None:
        self.now, self.step = 100.0, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def test_a_receipt_tells_wall_time_and_processor_time(
    tiny: BookJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clocks = SimpleNamespace(perf_counter=Clock(10), thread_time=Clock(3), time=Clock(0))
    monkeypatch.setattr("plymill.workers.book_worker.time", clocks)
    store = RunStore.open(str(tmp_path), tiny.run_id)
    unit = make_plan(tiny, store).units[0]
    receipt = BookWorker(tiny, store, "w", threads=1, table_mb=8).run(unit)
    assert (receipt.seconds, receipt.processor_seconds) == (10, 3)
    assert store.read_unit(unit)[1] == receipt


def test_the_page_says_which_seconds_are_of_processors(
    tmp_path: Path, run_in_process: RunHere, tiny: BookJob
) -> None:
    run_in_process(tiny, str(tmp_path))
    folder = tmp_path / tiny.run_id
    manifest = json.loads((folder / "artifacts/manifest.json").read_text())
    provenance = json.loads((folder / "provenance.json").read_text())
    assert "wall time" in provenance["legend"]["seconds"]
    assert "processor time" in provenance["legend"]["processor_seconds"]
    units = provenance["units"]
    for unit in units:
        unit |= {"seconds": 3.0, "processor_seconds": 2.0}
    count = len(units)
    page = book_page(tiny, manifest, provenance)
    assert "<th>wall seconds</th><th>processor seconds</th>" in page
    assert f"<code>{3.0 * count}</code></td><td><code>{2.0 * count}</code>" in page
    assert f"All in all: {2.0 * count} processor seconds." in page
    units[0]["processor_seconds"] = None  # written by a version that did not count it
    assert f"All in all: {2.0 * count - 2} (without 1 of {count} units)" in book_page(
        tiny, manifest, provenance
    )
    for unit in units:
        del unit["processor_seconds"]
    assert "All in all: not counted" in book_page(tiny, manifest, provenance)
