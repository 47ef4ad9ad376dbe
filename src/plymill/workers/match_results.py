"""All matches of a run, read from its units: the last attempt at each of them."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from plymill.cluster import RunStore, Unit
from plymill.matches.grids import Stretch
from plymill.matches.records import COLUMNS, FLAT, TYPES, Matches

_READERS = 8
_CELL_BITS = np.uint64(32)
_MATCH_MASK = np.uint64(2**32 - 1)

Ids = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Attempts:
    """What was played so far.

    Attributes:
        matches: the last attempt at each match, sorted by id.
        times: how often each of them was tried, in the same order.
        units: which of the units that were read the last attempt belongs to.
        workers: who played each of these units.
        seconds: of the last attempts; those at them before are not counted.
        faults: of all attempts that failed, in the order of the plan: the unit, the match's id, a
            sentence, and more about it.
    """

    matches: Matches
    times: npt.NDArray[np.int64]
    units: npt.NDArray[np.int64]
    workers: Sequence[str]
    seconds: npt.NDArray[np.float64]
    faults: Sequence[tuple[int, str, str, str]]

    def to_retry(self) -> dict[str, list[Stretch]]:
        """The matches that failed at the first attempt, by the worker where they did."""
        failed = ~self.matches.played & (self.times == 1)
        ids, units = self.matches.ids[failed], self.units[failed]
        by_worker: dict[str, list[int]] = {}
        for match_id, unit in zip(ids.tolist(), units.tolist(), strict=True):
            by_worker.setdefault(self.workers[unit], []).append(match_id)
        return {
            worker: stretches_of(np.array(by_worker[worker], dtype=np.uint64))
            for worker in sorted(by_worker)
        }


_NO_INTEGERS = np.zeros(0, dtype=np.int64)
_NOTHING = Attempts(Matches.of([]), _NO_INTEGERS, _NO_INTEGERS, (), np.zeros(0), ())


def read_attempts(store: RunStore, units: Sequence[Unit], *, moves: bool = False) -> Attempts:
    """Read what was played in units.

    Args:
        store: the run's files.
        units: in the order of the plan, each of them finished.
        moves: read moves and values too; without them the matches have length 0.

    Raises:
        CorruptFileError: a unit's file is damaged.
    """

    def read(unit: Unit) -> tuple[Matches, str, dict[str, Any]]:
        arrays, receipt, details = store.read_unit_and_details(unit)
        whole = arrays if moves else _without_moves(arrays)
        return Matches(whole, where=f"unit {unit.name}"), receipt.worker, details

    if not units:
        return _NOTHING
    with ThreadPoolExecutor(_READERS) as pool:
        parts, workers, details = zip(*pool.map(read, units), strict=True)
    everything = Matches.concatenated(parts)
    last, times = _last_of_each(everything.ids)
    places = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    seconds = np.array([second for told in details for second in told["seconds"]])
    faults = [
        (unit, match_id, *fault)
        for unit, told in enumerate(details)
        for match_id, fault in told["faults"].items()
    ]
    return Attempts(everything.take(last), times, places[last], workers, seconds[last], faults)


def _without_moves(arrays: Mapping[str, Any]) -> dict[str, Any]:
    nothing = np.zeros(len(arrays["cell"]), dtype="<u2")
    columns = {name: arrays[name] for name in COLUMNS} | {"length": nothing, "plies": nothing}
    return columns | {name: np.empty(0, dtype=TYPES[name]) for name in FLAT}


def _last_of_each(ids: Ids) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.int64]]:
    """Places of the last occurrence of each id, by id, and how often it occurs."""
    _, first, times = np.unique(ids[::-1], return_index=True, return_counts=True)
    return len(ids) - 1 - first, times


def stretches_of(ids: Ids) -> list[Stretch]:
    """Ids of matches as stretches."""
    ordered = np.sort(ids)
    gaps = np.flatnonzero(ordered[1:] - ordered[:-1] != 1) + 1
    begins = ordered[np.concatenate([[0], gaps]).astype(np.intp)] if len(ordered) else ordered
    ends = ordered[np.concatenate([gaps - 1, [-1]]).astype(np.intp)] if len(ordered) else ordered
    return [
        Stretch(int(begin >> _CELL_BITS), int(begin & _MATCH_MASK), int(end & _MATCH_MASK) + 1)
        for begin, end in zip(begins, ends, strict=True)
    ]
