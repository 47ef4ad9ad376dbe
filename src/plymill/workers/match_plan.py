"""From the matches of a job to its units.

A unit is a list of stretches: consecutive matches of one cell. Cells with the most costly matches
come first, so that the matches of a unit cost about the same and the last units of a run are cheap.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np

from plymill.cluster import Plan, RunStore, SpecError, Unit
from plymill.cluster.plan import audit_sample
from plymill.matches.costs import cell_seconds
from plymill.matches.grids import Cut, Schedule, Stretch
from plymill.matches.openings import Openings
from plymill.players import PythonSpec
from plymill.words import duration
from plymill.workers.match_spec import MatchJob

UNIT_SECONDS = 30.0
SHORTEST_UNIT = 0.5
FEW_UNITS = 64
_WRITERS = 8
MAX_UNITS = 100_000  # each has a file for what it reads and one for its result


class Planner:
    """Makes units of stretches of matches, and writes what they read.

    Args:
        spec: the job.
        store: the run's files.
        openings: how the matches begin.
    """

    def __init__(self, spec: MatchJob, store: RunStore, openings: Openings) -> None:
        self._spec = spec
        self._store = store
        self._openings = pack_openings(openings)

    @cached_property
    def seconds(self) -> Mapping[int, float]:
        """Estimated seconds of a match, by cell."""
        return cell_seconds(self._spec.rules, self._spec.cells)

    def begin(self, stretches: Sequence[Stretch]) -> Plan:
        """The plan of a job's first matches."""
        plan = Plan(run_id=self._spec.run_id, item="matches", units=())
        return self.go_on(plan, stretches)

    def go_on(self, plan: Plan, stretches: Sequence[Stretch], *, avoid: str = "") -> Plan:
        """The plan with further matches.

        Args:
            plan: the plan so far.
            stretches: what to play besides.
            avoid: a worker that is not to play it if there is another.
        """
        ordered = sorted(stretches, key=lambda s: (-self.seconds[s.cell], s.cell, s.start))
        schedule = Schedule(ordered)
        cuts = schedule.cut(self.seconds.__getitem__, self._unit_seconds(ordered))
        _require_few(plan, len(cuts), sum(cut.cost for cut in cuts))

        def write(place: int) -> Unit:
            cut, index = cuts[place], len(plan.units) + place
            parts = list(schedule.part(cut.start, cut.stop))
            return self._unit(index, plan.items, cut, parts, avoid)

        with ThreadPoolExecutor(_WRITERS) as pool:
            units = list(pool.map(write, range(len(cuts))))
        return plan.extended(units, self._audited(units, cuts, schedule))

    def _unit_seconds(self, stretches: Sequence[Stretch]) -> float:
        """Half a minute; less where little is to do, so that several threads share it."""
        if self._spec.unit_seconds is not None:
            return self._spec.unit_seconds
        total = sum(stretch.matches * self.seconds[stretch.cell] for stretch in stretches)
        return min(UNIT_SECONDS, max(total / FEW_UNITS, SHORTEST_UNIT))

    def _unit(self, index: int, first: int, cut: Cut, parts: Sequence[Stretch], avoid: str) -> Unit:
        name = f"{index:05d}"
        arrays = {
            "cell": np.array([part.cell for part in parts], dtype="<u4"),
            "start": np.array([part.start for part in parts], dtype="<u4"),
            "stop": np.array([part.stop for part in parts], dtype="<u4"),
        }
        return Unit(
            name=name,
            index=index,
            start=first + cut.start,
            stop=first + cut.stop,
            input_digest=self._store.write_input(name, arrays | self._openings),
            cost=cut.cost,
            avoid=avoid,
        )

    def _audited(
        self, units: Sequence[Unit], cuts: Sequence[Cut], schedule: Schedule
    ) -> tuple[int, ...]:
        """Of the units all of whose players play alike again."""
        alike = {cell.index for cell in self._spec.cells if not self._foreign(cell.index)}
        sure = [
            unit
            for unit, cut in zip(units, cuts, strict=True)
            if all(part.cell in alike for part in schedule.part(cut.start, cut.stop))
        ]
        return audit_sample(self._spec.run_id, sure, self._spec.audit_fraction, self._spec.seed)

    def _foreign(self, cell: int) -> bool:
        players = self._spec.sides(self._spec.cells[cell])
        return any(isinstance(player, PythonSpec) for player in players)


def _require_few(plan: Plan, units: int, seconds: float) -> None:
    if len(plan.units) + units > MAX_UNITS:
        raise SpecError(
            f"The matches of this job would make {units:,} units and take a core about "
            f"{duration(seconds)}, expected {MAX_UNITS:,} units at most: ask for fewer matches or "
            "iterations, or for a larger unit_seconds."
        )


def pack_openings(openings: Openings) -> dict[str, Any]:
    """Openings as arrays of a unit's input."""
    return {
        "opening_length": np.array([len(codes) for codes in openings.codes], dtype="<u2"),
        "opening_moves": np.frombuffer(b"".join(openings.codes), dtype="u1"),
    }


def unpack_openings(arrays: Mapping[str, Any]) -> Openings:
    """The openings in a unit's input."""
    moves, ends = arrays["opening_moves"].tobytes(), np.cumsum(arrays["opening_length"]).tolist()
    return Openings(tuple(moves[a:b] for a, b in zip([0, *ends], ends, strict=False)))


def unpack_stretches(arrays: Mapping[str, Any]) -> list[Stretch]:
    """What a unit plays, from its input."""
    columns = (arrays[name].tolist() for name in ("cell", "start", "stop"))
    return [Stretch(*entry) for entry in zip(*columns, strict=True)]
