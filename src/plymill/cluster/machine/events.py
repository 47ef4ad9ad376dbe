"""What the run state is told (events) and what it asks for (instructions). Plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class LossCause(StrEnum):
    """Why a worker is gone.

    A lost node costs nothing but the work in flight. The other causes may be the fault of a unit.
    """

    NODE_LOST = "its node was lost"
    OUT_OF_MEMORY = "it ran out of memory"
    CRASHED = "its process died"
    UNREACHABLE = "it could not be reached"
    NOT_STARTED = "it could not be started"


# --- events ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NodeJoined:
    """A machine can be used; ``slots`` is how many units it can work on at a time."""

    node: str
    slots: int


@dataclass(frozen=True, slots=True)
class NodeLost:
    """A machine is gone, and all workers on it; ``given_back``: another run may have it."""

    node: str
    given_back: bool = False


@dataclass(frozen=True, slots=True)
class NoNodeLeft:
    """A node was barred, and it was the last one: no other could be used, now or in turn."""


@dataclass(frozen=True, slots=True)
class WorkerJoined:
    """A worker has started on a node, as a process of a host, and waits for units."""

    worker: str
    node: str
    host: str = ""
    pid: int = 0


@dataclass(frozen=True, slots=True)
class WorkerLost:
    """A worker is gone; ``detail`` is what the system said about it."""

    worker: str
    node: str
    cause: LossCause
    detail: str = ""


@dataclass(frozen=True, slots=True)
class UnitDone:
    """A worker has stored the result of a unit. ``digest`` covers the result, not how it came."""

    worker: str
    unit: int
    digest: str


@dataclass(frozen=True, slots=True)
class AuditDone:
    """A worker has solved a finished unit again and got a result with this digest."""

    worker: str
    unit: int
    digest: str


@dataclass(frozen=True, slots=True)
class UnitFailed:
    """A unit (or its audit) raised.

    ``fatal``: no other attempt can mend it, as on a full disk. ``conflict``: another worker had
    stored another result of the unit.
    """

    worker: str
    unit: int
    error: str
    audit: bool = False
    fatal: bool = False
    conflict: bool = False


@dataclass(frozen=True, slots=True)
class Dropped:
    """A worker will not report what was called off: it had not begun with it."""

    worker: str
    unit: int
    audit: bool = False


@dataclass(frozen=True, slots=True)
class Overdue:
    """A unit in flight (or its audit) takes much longer than it should: its worker may hang."""

    unit: int
    audit: bool = False


@dataclass(frozen=True, slots=True)
class PlanExtended:
    """The answer to `Extend`: the first ``kept`` units stand, those after them are new.

    ``audited`` and ``avoid`` are those of the whole plan. ``done`` and ``audits`` tell what is
    known of the new units from earlier, as after a crash.
    """

    kept: int
    count: int
    audited: tuple[int, ...] = ()
    avoid: Mapping[int, str] = field(default_factory=dict)
    done: tuple[UnitDone, ...] = ()
    audits: tuple[AuditDone, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanComplete:
    """The other answer to `Extend`: no unit follows."""


Event = (
    NodeJoined
    | NodeLost
    | NoNodeLeft
    | WorkerJoined
    | WorkerLost
    | UnitDone
    | AuditDone
    | UnitFailed
    | Dropped
    | Overdue
    | PlanExtended
    | PlanComplete
)


# --- instructions ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Spawn:
    """Start a worker on this node."""

    node: str


@dataclass(frozen=True, slots=True)
class Bar:
    """Use this node no more and let others have it; it has no worker of ours any more.

    If no other can be used, `NoNodeLeft` follows.
    """

    node: str


@dataclass(frozen=True, slots=True)
class Retire:
    """Stop this worker; nothing that it still says counts."""

    worker: str


@dataclass(frozen=True, slots=True)
class Assign:
    """Give the unit to the worker; ``copy``: another has it, too, and the first result counts."""

    worker: str
    unit: int
    copy: bool = False


@dataclass(frozen=True, slots=True)
class Audit:
    """Let the worker solve the finished unit again with a cold table, storing nothing.

    ``copy`` is as in `Assign`.
    """

    worker: str
    unit: int
    copy: bool = False


@dataclass(frozen=True, slots=True)
class CallOff:
    """Nobody waits any more for what the worker was given. It may report it all the same.

    `Dropped` says that it will not. Nothing is to wait for this worker because of it.
    """

    worker: str
    unit: int
    audit: bool = False


@dataclass(frozen=True, slots=True)
class Requeue:
    """For the record: the unit waits again, for this reason."""

    unit: int
    reason: str


@dataclass(frozen=True, slots=True)
class Quarantine:
    """The unit has used up its attempts and is set aside; the run will end as failed."""

    unit: int
    reason: str


@dataclass(frozen=True, slots=True)
class Discard:
    """Remove the result of this unit, if one is stored: it is not trusted."""

    unit: int


@dataclass(frozen=True, slots=True)
class Warn:
    """For the record: something that a person should know."""

    message: str


@dataclass(frozen=True, slots=True)
class Extend:
    """All units have a trusted result: ask whether others follow from them.

    `PlanExtended` or `PlanComplete` answers.
    """


@dataclass(frozen=True, slots=True)
class Finish:
    """Nothing is left to do. ``quarantined`` units have no trusted result."""

    quarantined: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Abort:
    """The run cannot go on, for this reason."""

    reason: str


Instruction = (
    Spawn
    | Bar
    | Retire
    | Assign
    | Audit
    | CallOff
    | Requeue
    | Quarantine
    | Discard
    | Warn
    | Extend
    | Finish
    | Abort
)
