"""What is remembered for a moment: made once, for all who wait for it."""

import threading
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count

import pytest

from plymill.web.memo import Memo
from plymill.web.shelves import BusyError


def test_a_memo_asks_once_however_many_wait() -> None:
    asked = []

    def make() -> int:
        asked.append(threading.get_ident())
        time.sleep(0.05)
        return 7

    memo: Memo[str, int] = Memo(4)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: memo.get("x", make, lambda _: 60.0), range(8)))
    assert answers == [7] * 8
    assert len(asked) == 1


def test_a_memo_forgets_what_is_old_and_what_was_not_asked_for() -> None:
    now = [0.0]
    made: list[str] = []
    memo: Memo[str, str] = Memo(2, clock=lambda: now[0])

    def get(key: str) -> str:
        def make() -> str:
            made.append(key)
            return key

        return memo.get(key, make, lambda _: 5.0)

    for key in ("a", "b", "a", "c", "a", "b"):
        assert get(key) == key
    assert made == ["a", "b", "c", "b"]
    now[0] = 6.0
    get("a")
    assert made[-1] == "a"


def test_what_goes_wrong_is_raised_to_all_who_wait_and_tried_once() -> None:
    """A store that is away takes seconds to say so: they are not spent by one after the other."""
    everybody = threading.Barrier(8, timeout=10)
    tried: list[int] = []
    memo: Memo[str, int] = Memo(4)

    def fail() -> int:
        tried.append(threading.get_ident())
        time.sleep(0.2)  # in which all others have come
        raise OSError("away")

    def look(_: int) -> BaseException:
        everybody.wait()
        with pytest.raises(OSError, match="away") as caught:
            memo.get("x", fail, lambda _: 60.0)
        return caught.value

    with ThreadPoolExecutor(8) as pool:
        raised = list(pool.map(look, range(8)))
    assert len(tried) == 1
    assert len(set(map(id, raised))) == 1


def test_what_went_wrong_is_not_tried_again_for_a_second() -> None:
    now = [0.0]
    memo: Memo[str, int] = Memo(2, clock=lambda: now[0])
    tried: list[float] = []

    def fail() -> int:
        tried.append(now[0])
        raise OSError("away")

    depths = set()
    for now[0] in (0.0, 0.4, 0.8, 1.1, 1.2):
        with pytest.raises(OSError, match="away") as caught:
            memo.get("x", fail, lambda _: 60.0)
        depths.add(len(caught.traceback))
    assert tried == [0.0, 1.1]
    assert len(depths) <= 2, "the traceback grows with each who is told"
    assert memo.get("x", lambda: 3, lambda _: 60.0, version="other") == 3
    now[0] = 3.0
    assert memo.get("x", lambda: 4, lambda _: 60.0) == 4


def test_what_went_wrong_keeps_nothing_of_what_was_in_hand() -> None:
    class Large:
        pass

    memo: Memo[str, int] = Memo(2)
    held: list[weakref.ref[Large]] = []

    def open_it() -> int:
        large = Large()
        held.append(weakref.ref(large))
        raise OSError("damaged")

    def fail() -> int:
        try:
            return open_it()
        except OSError as error:
            raise ValueError("no book") from error

    with pytest.raises(ValueError, match="no book"):
        memo.get("x", fail, lambda _: 60.0)
    assert held[0]() is None


def test_who_waits_may_be_refused_and_the_first_is_not() -> None:
    """Those who wait for the same are as many threads as those who wait for something else."""
    memo: Memo[str, int] = Memo(4)
    begun, done = threading.Event(), threading.Event()

    def make() -> int:
        begun.set()
        assert done.wait(10)
        return 7

    @contextmanager
    def refuse() -> Iterator[None]:
        raise BusyError("too many")
        yield

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(memo.get, "x", make, lambda _: 60.0, wait=refuse)
        assert begun.wait(10)
        with pytest.raises(BusyError):
            memo.get("x", make, lambda _: 60.0, wait=refuse)
        done.set()
        assert first.result() == 7
    assert memo.get("x", make, lambda _: 60.0, wait=refuse) == 7, "nobody has to wait"


def test_a_memo_makes_a_value_anew_for_another_version() -> None:
    memo: Memo[str, int] = Memo(2)
    numbers = count()

    def get(version: int) -> int:
        return memo.get("x", lambda: next(numbers), lambda _: 60.0, version)

    assert [get(1), get(1), get(2), get(2), get(1)] == [0, 0, 1, 1, 2]


def test_a_memo_holds_as_many_as_it_is_told_to() -> None:
    memo: Memo[int, int] = Memo(2)
    made: list[int] = []

    def make(key: int) -> int:
        made.append(key)
        return key

    memo.hold(5)
    memo.hold(1)  # never fewer than before
    for key in [*range(5)] * 2:
        memo.get(key, lambda key=key: make(key), lambda _: 60.0)  # type: ignore[misc]
    assert made == [0, 1, 2, 3, 4]
