"""What workers say of the units that they have solved."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What a worker returns for a unit whose result it has stored: a few hundred bytes.

    Attributes:
        unit: index of the unit.
        digest: digest of the result.
        worker: name of the worker that solved it.
        seconds: wall time that one thread spent on it, waiting included; rates are made of it.
        processor_seconds: processor time of that thread: what the unit cost. None in receipts of
            versions that did not count it.
        finished: when, in seconds since 1970.
        host: name of the machine.
        pid: process on that machine.
        counters: what the job counts, e.g. nodes searched.
    """

    unit: int
    digest: str
    worker: str
    seconds: float
    finished: float
    host: str
    pid: int
    counters: Mapping[str, int] = field(default_factory=dict)
    processor_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """The second opinion on a unit, as it is stored."""

    unit: int
    digest: str
    worker: str
