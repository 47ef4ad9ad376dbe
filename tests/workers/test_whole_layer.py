"""The whole 12-ply layer through the job system, its scores looked up instead of solved."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plymill.books import Book, open_book, validate
from plymill.cluster import Coordinator, LocalExecutor, Receipt, RunOptions, RunStore, Unit
from plymill.cluster.storage.unitfile import arrays_digest
from plymill.workers import BookJob, BookRun


class LookUpWorker:
    """Takes scores from a book, so that a layer takes seconds and not hours."""

    def __init__(self, store: RunStore, name: str, book: Book) -> None:
        self.store = store
        self.name = name
        self.book = book

    def arrays(self, unit: Unit) -> dict[str, Any]:
        keys = np.sort(self.store.read_input(unit)["keys"])
        values, found = self.book.lookup(keys)
        assert found.all()
        return {"keys": keys, "scores": values}

    def run(self, unit: Unit) -> Receipt:
        arrays = self.arrays(unit)
        receipt = Receipt(
            unit=unit.index,
            digest=arrays_digest(arrays),
            worker=self.name,
            seconds=unit.cost,
            finished=unit.cost * unit.index,
            host="here",
            pid=1,
        )
        self.store.write_unit(unit, arrays, receipt)
        return receipt

    def audit(self, unit: Unit) -> str:
        return arrays_digest(self.arrays(unit))


class LookUpRun(BookRun):
    book: Book

    def make_worker(self, store: RunStore, name: str, threads: int) -> Any:
        del threads
        return LookUpWorker(store, name, self.book)


@pytest.mark.slow
def test_the_whole_layer_becomes_all_books_and_they_agree_with_the_published_ones(
    tmp_path: Path, published: Callable[[str], Path]
) -> None:
    spec = BookJob(layouts=("plymill", "8ply", "12ply", "12ply-dist"), validate_sample=20)
    job = LookUpRun(spec, RunOptions(table_mb=16))
    job.book = open_book(published("12ply-dist"), "12ply-dist")
    store = RunStore.open(str(tmp_path), spec.run_id)
    result = Coordinator(job, store, LocalExecutor(job, store)).run()
    assert result.complete
    assert result.stages["merge"]["positions"] == 4_200_899
    assert result.stages["derive"]["8"]["positions"] == 77_715
    assert result.progress.units_total == 421

    folder = tmp_path / spec.run_id / "artifacts"
    with open_book(folder / "connect4-12ply.12ply-dist.dat", "12ply-dist") as book:
        assert validate(book, against=[job.book], itself=False).ok
    with (
        open_book(folder / "connect4-8ply.8ply.dat", "8ply") as book,
        open_book(published("8ply"), "8ply") as known,
    ):
        assert validate(book, against=[known], itself=False).ok
