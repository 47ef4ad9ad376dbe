"""Whether every node reaches the store: found out before the first unit, not by the first unit.

The driver writes a file. Every node reads it and writes one of its own, which the driver reads. So
a store that a node cannot reach is found, and also one that is a folder of its own on each node.
"""

import os
import pickle
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from uuid import uuid4

from plymill.cluster.errors import StoreError
from plymill.cluster.storage.retries import SHORT
from plymill.cluster.storage.store import RunStore

_EXPECTED = "expected a store that all nodes read and write"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a node tells: its host and process, and what was wrong, if anything was."""

    host: str
    pid: int
    fault: str = ""


class StoreProbe:
    """One look at whether nodes and driver see what the other writes.

    Args:
        store: the run's files.
        patience: for how many seconds a node waits for a store that is away.
    """

    def __init__(self, store: RunStore, *, patience: float = SHORT) -> None:
        self._store = store
        self._patience = patience
        self._folder = f"probe-{uuid4().hex}"
        self._secret = uuid4().hex

    @property
    def parcel(self) -> tuple[bytes, str, str]:
        """What `answer` needs; the store is opened there, where that can be told if it fails."""
        return pickle.dumps(self._store.patient(self._patience)), self._folder, self._secret

    def begin(self) -> None:
        """Write the driver's file.

        Raises:
            StoreError: the driver itself cannot.
        """
        self._store.files.write(f"{self._folder}/driver", self._secret.encode())

    def fault(self, node: str, answer: Answer) -> str:
        """What is wrong with the store as this node sees it; empty if nothing is."""
        who = f"Node {node[:8]} ({answer.host})"
        if answer.fault:
            return f"{who} cannot use the store {self._store.url}: {answer.fault}; {_EXPECTED}."
        try:
            seen = self._store.files.read(f"{self._folder}/{node}")
        except FileNotFoundError:
            seen = b""
        if seen != self._secret.encode():
            return (
                f"{who} writes to a store {self._store.url} of its own, of which the driver on "
                f"{socket.gethostname()} sees nothing; {_EXPECTED}."
            )
        return ""

    def end(self) -> None:
        """Remove what was written; nobody waits for long for a store that is away."""
        with suppress(StoreError):
            self._store.patient(SHORT).files.sub(self._folder).delete_all()


@contextmanager
def probing(store: RunStore) -> Iterator[StoreProbe]:
    """A probe that has begun, and is ended."""
    probe = StoreProbe(store)
    probe.begin()
    try:
        yield probe
    finally:
        probe.end()


def answer(parcel: tuple[bytes, str, str], node: str) -> Answer:
    """Read what the driver wrote, and write what it is to read; runs on a node."""
    pickled, folder, secret = parcel
    fault = ""
    try:
        store: RunStore = pickle.loads(pickled)
        try:
            seen = store.files.read(f"{folder}/driver")
        except FileNotFoundError:
            seen = b""
        if seen == secret.encode():
            store.files.write(f"{folder}/{node}", seen)
        else:
            fault = "what the driver writes is not there"
    except Exception as error:  # whatever it is, a person has to know of it
        fault = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
    return Answer(socket.gethostname(), os.getpid(), fault)
