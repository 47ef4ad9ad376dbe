"""Who drives a run: one driver at a time, by a lease in the run's store.

The lease is a row of files ``lease/000001.json``, ``lease/000002.json``, ... Whoever makes the next
one, which only one can (`Files.create`), holds the lease from then on; whoever held it before finds
the new file and stops. The holder writes its file again and again, with a number that grows: its
heartbeat.

No clock of one machine is compared with that of another, nor with the time of a file. Whoever waits
for a lease watches the heartbeat, and takes the lease over once he has seen no change for
``EXPIRY`` seconds of his own monotonic clock. So a clock that is wrong or jumps changes nothing.
"""

import os
import platform
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

BEAT = 5.0
EXPIRY = 30.0  # six beats


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A driver, as it stands in its lease.

    Attributes:
        name: unlike that of all others, of all times.
        host: its machine, for people.
        pid: its process there.
        birth: what no other process of any machine has; empty where that cannot be known. Whoever
            shares the machine can tell by it that the process is dead.
    """

    name: str
    host: str = ""
    pid: int = 0
    birth: str = ""


@dataclass(frozen=True, slots=True)
class Lease:
    """What one file of a lease holds."""

    number: int
    holder: Holder
    beat: int = 0
    released: bool = False

    @classmethod
    def read(cls, number: int, fields: Mapping[str, Any]) -> "Lease":
        """A lease from its file; one that is illegible counts as held by nobody known."""
        try:
            holder = Holder(**fields["holder"])
            lease = cls(number, holder, fields["beat"], fields["released"])
        except (KeyError, TypeError):
            lease = cls(number, Holder(name="?"))
        return lease if _is_sound(lease) else cls(number, Holder(name="?"))

    @property
    def fields(self) -> dict[str, Any]:
        """What is written to the file."""
        return {"holder": asdict(self.holder), "beat": self.beat, "released": self.released}


def _is_sound(lease: Lease) -> bool:
    """Whether everything in it is of its kind: who alters a file may put in anything."""
    holder = lease.holder
    texts = (holder.name, holder.host, holder.birth)
    return (
        all(isinstance(text, str) for text in texts)
        and type(holder.pid) is int
        and type(lease.beat) is int
        and type(lease.released) is bool
    )


class Step(Enum):
    """What a contender does next."""

    WAIT = "look again a little later"
    CREATE = "make the next file"
    LEAVE = "another driver is alive"


@dataclass(slots=True)
class Contender:
    """Decides about a lease from what is seen of it. No clock and no files inside.

    Ask `look` with what the store shows and do what it says; after `Step.CREATE` tell `created`
    whether it was you who made the file. With a lease that is `held`, ask `lost` from time to time,
    and write `beating`.

    Attributes:
        me: the driver.
        held: the lease that is held; None before, and after it is lost.
    """

    me: Holder
    expiry: float = EXPIRY
    held: Lease | None = None
    _seen: Lease | None = None
    _since: float = 0.0

    def look(self, latest: Lease | None, now: float, *, dead: bool = False) -> Step:
        """What to do about the lease that is the latest.

        Args:
            latest: the lease with the highest number; None if there is none.
            now: seconds of a clock that never goes back, of this process only.
            dead: its holder is known to be dead.
        """
        if latest is None or latest.released or dead:
            return Step.CREATE
        if self._seen is None or _pulse(latest) != _pulse(self._seen):
            alive = self._seen is not None
            self._seen, self._since = latest, now
            return Step.LEAVE if alive else Step.WAIT
        return Step.CREATE if now - self._since >= self.expiry else Step.WAIT

    def next_lease(self, latest: Lease | None) -> Lease:
        """What to write after `Step.CREATE`."""
        return Lease(number=latest.number + 1 if latest else 1, holder=self.me)

    def created(self, lease: Lease, *, mine: bool) -> None:
        """Whether the file was made by us; if not, another was quicker, and is watched."""
        if mine:
            self.held = lease

    def beating(self) -> Lease:
        """The next heartbeat, to be written."""
        assert self.held is not None, "only a holder beats"
        self.held = replace(self.held, beat=self.held.beat + 1)
        return self.held

    def lost(self, latest: Lease | None) -> bool:
        """Whether the lease is another's by now; it is then held no more."""
        if self.held is None:
            return True
        ours = latest is not None and (latest.number, latest.holder.name) == (
            self.held.number,
            self.me.name,
        )
        if not ours:
            self.held = None
        return not ours


def _pulse(lease: Lease) -> tuple[int, int, str]:
    return lease.number, lease.beat, lease.holder.name


def this_process(name: str) -> Holder:
    """This process as a holder."""
    pid = os.getpid()
    return Holder(name=name, host=socket.gethostname(), pid=pid, birth=_birth(pid))


def is_dead(holder: Holder) -> bool:
    """Whether a holder was a process of this machine that is gone; False if that is not known."""
    mine = _birth(os.getpid())
    if not holder.birth or not mine or _machine(holder.birth) != _machine(mine):
        return False
    return _birth(holder.pid) != holder.birth


def _machine(birth: str) -> str:
    return birth.rpartition(":")[0]


def _birth(pid: int) -> str:
    """Boot, namespace of processes, and start of a process; empty if that cannot be known.

    A process that is gone has none of its own, but the machine's.
    """
    if platform.system() != "Linux":
        return ""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        namespace = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - no path, but a name
    except OSError:
        return ""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        state, start = stat.rpartition(")")[2].split()[0], stat.rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return f"{boot}:{namespace}:gone"
    return f"{boot}:{namespace}:{'gone' if state in 'ZX' else start}"
