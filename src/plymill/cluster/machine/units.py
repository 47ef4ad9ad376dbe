"""Where each unit is, and who has solved it with which result.

Rule: every unit is, at any moment, in one place: waiting, in flight, done, or quarantined.
"""

from collections.abc import Sequence
from enum import Enum


class UnitStatus(Enum):
    """Where a unit is. The value is its letter in the map of units."""

    WAITING = "."
    IN_FLIGHT = "w"
    DONE = "d"
    QUARANTINED = "q"


class Units:
    """The units of a run, named by their index.

    Args:
        count: how many there are; all of them wait.
    """

    def __init__(self, count: int) -> None:
        self._status = [UnitStatus.WAITING] * count
        self._solved: dict[int, tuple[str, str]] = {}
        self._quarantined: dict[int, str] = {}

    @property
    def status(self) -> Sequence[UnitStatus]:
        """The status of every unit."""
        return tuple(self._status)

    @property
    def digests(self) -> Sequence[str]:
        """The digest of every unit's result; empty for a unit that has none."""
        return tuple(self._solved.get(unit, ("", ""))[1] for unit in range(len(self._status)))

    @property
    def quarantined(self) -> dict[int, str]:
        """The quarantined units, each with the reason."""
        return dict(self._quarantined)

    @property
    def waiting(self) -> list[int]:
        """The units that wait, ascending."""
        return [unit for unit, s in enumerate(self._status) if s is UnitStatus.WAITING]

    def replace_from(self, kept: int, count: int) -> None:
        """Units from ``kept`` on are other ones than before, and there are ``count`` in all."""
        self._status[kept:] = [UnitStatus.WAITING] * (count - kept)
        self._solved = {unit: who for unit, who in self._solved.items() if unit < kept}

    def wait(self, unit: int) -> None:
        """The unit waits again."""
        self._status[unit] = UnitStatus.WAITING

    def fly(self, unit: int) -> None:
        """A worker has the unit."""
        self._status[unit] = UnitStatus.IN_FLIGHT

    def finish(self, unit: int, worker: str, digest: str) -> None:
        """The unit has a result."""
        self._status[unit] = UnitStatus.DONE
        self._solved[unit] = (worker, digest)

    def undo(self, unit: int) -> None:
        """The result of the unit does not count any more."""
        del self._solved[unit]

    def set_aside(self, unit: int, reason: str) -> None:
        """The unit is quarantined."""
        self._status[unit] = UnitStatus.QUARANTINED
        self._quarantined[unit] = reason

    def is_done(self, unit: int) -> bool:
        """Whether the unit is done."""
        return self._status[unit] is UnitStatus.DONE

    def solved_by(self, worker: str) -> list[int]:
        """The units whose results are this worker's."""
        return [unit for unit, (solver, _) in self._solved.items() if solver == worker]
