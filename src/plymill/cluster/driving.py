"""Driving a run alone: taking its lease, keeping it, and stopping when it is lost. See `leases`."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from uuid import uuid4

from plymill.cluster.errors import RunTakenError, StoreError
from plymill.cluster.storage import leases
from plymill.cluster.storage.files import Files
from plymill.cluster.storage.leases import Contender, Holder, Lease, Step
from plymill.cluster.storage.sealed import read_object
from plymill.cluster.storage.store import RunStore

_NUMBER = re.compile(r"(\d{6,})\.json")
_LOOK = 1.0


class LeaseFiles:
    """The files of a run's lease."""

    def __init__(self, files: Files) -> None:
        self._files = files.sub("lease")

    def latest(self) -> Lease | None:
        """The lease with the highest number."""
        found = (_NUMBER.fullmatch(name) for name in self._files.list(""))
        number = max((int(match[1]) for match in found if match), default=None)
        if number is None:
            return None
        try:
            return Lease.read(number, read_object(self._files.read(_name(number))) or {})
        except FileNotFoundError:
            return None

    def create(self, lease: Lease) -> bool:
        """Make a new one; False if another was quicker."""
        return self._files.create(_name(lease.number), _text(lease))

    def write(self, lease: Lease) -> None:
        """Write a heartbeat."""
        self._files.write(_name(lease.number), _text(lease))


class Driving:
    """A lease that is held; beats in a thread of its own.

    Args:
        files: of the lease.
        contender: holds it.
        on_lost: called once, from that thread, when it is found that the lease is another's.
        beat: seconds between two heartbeats.
    """

    def __init__(
        self,
        files: LeaseFiles,
        contender: Contender,
        on_lost: Callable[[], None],
        *,
        beat: float,
    ) -> None:
        self._files = files
        self._contender = contender
        self._on_lost = on_lost
        self._beat = beat
        self._over = threading.Event()
        self._lost = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="lease", daemon=True)
        self._thread.start()

    @property
    def lost(self) -> bool:
        """Whether another driver has the lease."""
        return self._lost.is_set()

    def release(self) -> None:
        """Give the lease back, so that nobody has to wait for it."""
        self._over.set()
        self._thread.join()
        if self.lost:
            return
        with suppress(StoreError):  # then it expires
            latest = self._files.latest()
            if not self._contender.lost(latest) and latest is not None:
                self._files.write(Lease(number=latest.number, holder=latest.holder, released=True))

    def _keep(self) -> None:
        try:
            self._beat_until_over()
        except Exception:  # a fault of ours: without a heartbeat another will take the lease
            self._lose()
            raise

    def _beat_until_over(self) -> None:
        while not self._over.wait(self._beat):
            with suppress(StoreError):  # a store that is away for a while is away for all
                if self._contender.lost(self._files.latest()):
                    self._lose()
                    return
                self._files.write(self._contender.beating())

    def _lose(self) -> None:
        self._lost.set()
        self._on_lost()


@contextmanager
def driving(
    store: RunStore,
    *,
    on_lost: Callable[[], None] = lambda: None,
    tell: Callable[[str], None] = lambda text: None,
) -> Iterator[Driving]:
    """Hold the lease of a run while it is driven.

    Args:
        store: the run's files.
        on_lost: called from another thread when the lease is lost.
        tell: called with a sentence when it has to be found out whether another driver is alive.

    Raises:
        RunTakenError: another driver is alive.
    """
    files = LeaseFiles(store.files)
    contender = Contender(leases.this_process(uuid4().hex), expiry=leases.EXPIRY)
    take(files, contender, store.run_id, tell=tell)
    held = Driving(files, contender, on_lost, beat=leases.BEAT)
    try:
        yield held
    finally:
        held.release()


def require_undriven(store: RunStore) -> None:
    """Take the lease of a run that is to be removed: nobody drives it, nor begins to right now.

    Raises:
        RunTakenError: a driver is alive.
    """
    contender = Contender(leases.this_process(uuid4().hex), expiry=leases.EXPIRY)
    try:
        take(LeaseFiles(store.files), contender, store.run_id)
    except RunTakenError:
        holder = LeaseFiles(store.files).latest()
        who = _who(holder.holder) if holder is not None else "somebody"
        raise RunTakenError(f"Run {store.run_id} is driven by {who}.") from None


def take(
    files: LeaseFiles,
    contender: Contender,
    run_id: str,
    *,
    tell: Callable[[str], None] = lambda text: None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Contend for a lease until it is held.

    Raises:
        RunTakenError: another driver is alive.
    """
    told = False
    while contender.held is None:
        latest = files.latest()
        dead = latest is not None and leases.is_dead(latest.holder)
        step = contender.look(latest, clock(), dead=dead)
        if step is Step.CREATE:
            lease = contender.next_lease(latest)
            contender.created(lease, mine=files.create(lease))
            continue
        assert latest is not None, "what is not there is made"
        if step is Step.LEAVE:
            raise RunTakenError(taken(run_id, latest.holder))
        if not told:
            told = True
            tell(
                f"Run {run_id} has a driver, {_who(latest.holder)}; waiting up to "
                f"{contender.expiry:g} seconds to see whether it is alive."
            )
        sleep(_LOOK)


def taken(run_id: str, holder: Holder) -> str:
    """What a driver says that leaves."""
    return (
        f"Run {run_id} is driven by another driver already, {_who(holder)}; this one leaves it to "
        "that."
    )


def _who(holder: Holder) -> str:
    return f"process {holder.pid} on {holder.host}" if holder.host else "of an unknown machine"


def _name(number: int) -> str:
    return f"{number:06d}.json"


def _text(lease: Lease) -> bytes:
    return (json.dumps(lease.fields, sort_keys=True) + "\n").encode()
