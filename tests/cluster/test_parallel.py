"""Several things at once: all results in order, the first error at once, and nobody waits."""

import subprocess
import sys
import threading

import pytest

from plymill.cluster.parallel import in_parallel


def test_results_come_in_the_order_of_their_items_though_they_are_made_at_once() -> None:
    together = threading.Barrier(4, timeout=30)

    def do(item: int) -> int:
        together.wait()
        return item * item

    assert in_parallel(do, range(8), threads=4) == [item * item for item in range(8)]
    assert in_parallel(do, [], threads=4) == []


def test_an_error_is_told_while_others_are_still_at_work_and_nothing_more_begins() -> None:
    begun: list[int] = []
    never = threading.Event()

    def do(item: int) -> None:
        begun.append(item)
        if item == 1:
            raise ValueError("the second")
        never.wait(60)

    with pytest.raises(ValueError, match="the second"):
        in_parallel(do, range(100), threads=2)
    never.set()
    assert len(begun) <= 3


def test_a_process_ends_though_a_thread_of_it_waits_for_ever() -> None:
    script = """
import threading
from plymill.cluster.parallel import in_parallel

def do(item):
    if item:
        raise SystemExit(7)
    threading.Event().wait()

in_parallel(do, [0, 1], threads=2)
"""
    done = subprocess.run([sys.executable, "-c", script], check=False, timeout=60)
    assert done.returncode == 7
