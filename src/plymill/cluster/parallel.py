"""Several things at once, in threads that the end of the process does not wait for.

`concurrent.futures` waits: a download from a mount that is gone could not be stopped by Ctrl-C.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_parallel(
    do: Callable[[Item], Result], items: Iterable[Item], *, threads: int
) -> list[Result]:
    """What a function returns for each item, in their order.

    Once it has raised for one of them, nothing more is begun, and that is raised here, at once.

    Args:
        do: the function.
        items: its arguments.
        threads: how many of them at a time.
    """
    waiting: SimpleQueue[tuple[Item, Future[Result]]] = SimpleQueue()
    ended: SimpleQueue[Future[Result]] = SimpleQueue()
    futures: list[Future[Result]] = []
    for item in items:
        futures.append(Future())
        futures[-1].add_done_callback(ended.put)
        waiting.put((item, futures[-1]))

    def work() -> None:
        while True:
            try:
                item, future = waiting.get_nowait()
            except Empty:
                return
            try:
                future.set_result(do(item))
            except BaseException as error:
                _drain(waiting)
                future.set_exception(error)
                return

    for _ in range(min(threads, len(futures))):
        Thread(target=work, daemon=True).start()
    for _ in futures:
        ended.get().result()
    return [future.result() for future in futures]


def _drain(queue: "SimpleQueue[tuple[Item, Future[Result]]]") -> None:
    while True:
        try:
            queue.get_nowait()
        except Empty:
            return
