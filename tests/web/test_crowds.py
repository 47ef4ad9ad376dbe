"""Many visitors at once who want the same, or what takes long."""

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from itertools import islice, product
from typing import Any

import pytest

from plymill.books import Book
from plymill.cluster.errors import StoreAwayError
from plymill.errors import IllegalMoveError
from plymill.games import Position
from plymill.players.answers import Answer
from plymill.players.answers import answer as real
from plymill.web import Settings
from plymill.web.inside import InsideFiles
from tests.web.conftest import OPENING, Made, client_of


def test_a_store_that_is_away_is_asked_once_by_many_visitors(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each try takes seconds: the last of them would wait for as many tries as there are others."""
    everybody = threading.Barrier(8, timeout=10)
    tried: list[str] = []

    def away(self: InsideFiles, folder: str) -> list[str]:
        tried.append(folder)
        time.sleep(0.2)  # in which all others have come
        raise StoreAwayError("The store does not answer.")

    monkeypatch.setattr(InsideFiles, "list", away)
    with client_of(Settings(store=made.url)) as client, ThreadPoolExecutor(8) as pool:

        def look(_: int) -> int:
            everybody.wait()
            return client.get("/live/runs").status_code

        assert list(pool.map(look, range(8))) == [503] * 8
    assert len(tried) == 1


@pytest.mark.parametrize("same", [True, False], ids=["the same", "different ones"])
def test_many_who_ask_for_what_takes_long_leave_threads_for_others(
    made: Made, monkeypatch: pytest.MonkeyPatch, *, same: bool
) -> None:
    """A server has forty threads. The first is solving, and so many may wait for him."""
    done = threading.Event()

    def slow(position: Position, book: Book, solver: Any, **words: Any) -> Answer:
        if solver is None:
            return real(position, book, solver, **words)
        assert done.wait(30)
        return real(Position(f"{OPENING}1"), book, None, **words)  # whatever it is

    monkeypatch.setattr("plymill.web.shelves.answer", slow)
    where = f"/api/v1/books/{made.book}/position?moves="
    paths = [where + moves for moves in (unknown()[:1] * 40 if same else unknown()[:40])]
    waiting = 17 if same else 16
    with client_of(Settings(store=made.url)) as client, ThreadPoolExecutor(40) as pool:
        try:
            asked = [pool.submit(client.get, path) for path in paths]
            refused = list(islice(as_completed(asked, timeout=30), 40 - waiting))
            assert {answer.result().status_code for answer in refused} == {503}
            assert client.get(f"/runs/{made.book}").status_code == 200
        finally:
            done.set()
        codes = Counter(answer.result().status_code for answer in asked)
    assert codes == {503: 40 - waiting, 200: waiting}


def unknown() -> list[str]:
    """Positions that no book of the store tells, all of as many stones."""
    found = []
    for more in product("123567", repeat=3):  # the other column is full
        moves = f"{OPENING}711656{''.join(more)}"
        with suppress(IllegalMoveError):
            if not Position(moves).is_over():
                found.append(moves)
    return found
