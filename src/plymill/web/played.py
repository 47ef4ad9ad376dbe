"""The matches of a run, while it goes on and after: each unit is read once."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from plymill.cluster import CorruptFileError, Receipt, RunStore, SpecError, Unit
from plymill.games import Game, State
from plymill.matches import (
    NO_VALUE,
    CellResult,
    MatchError,
    Matches,
    MatchRecord,
    Status,
    moves_text,
    plies,
    summarize,
)
from plymill.matches.openings import Openings
from plymill.web.memo import Memo
from plymill.web.models import (
    CellPage,
    CellView,
    MatchDetail,
    MatchLine,
    MatchPage,
    MoveView,
    PlyView,
)
from plymill.web.reading import UNDER_WAY, StoreReader, version_of
from plymill.workers.kinds import spec_from_fields
from plymill.workers.match_plan import unpack_openings
from plymill.workers.match_results import read_attempts
from plymill.workers.match_spec import MatchJob

_LIVE, _ENDED = 2.0, 3600.0
_FOR_EVER = 1e9
_RUNS = 4  # whose matches are kept in memory
_READERS = 8
_SCALE = 10_000

#: A unit's result as `RunStore.read_unit_and_details` gives it.
_Result = tuple[dict[str, Any], Receipt, dict[str, Any]]


@dataclass(frozen=True)
class Played:
    """What was played so far.

    Attributes:
        spec: the job.
        matches: the last attempt at each match, by cell and number.
        openings: how the matches began.
        read: how many units were read.
        planned: how many there are so far.
    """

    spec: MatchJob
    matches: Matches
    openings: Openings
    read: int
    planned: int

    @property
    def game(self) -> Game:
        """The rules."""
        return self.spec.rules

    @cached_property
    def results(self) -> Sequence[CellResult]:
        """The sums of all cells."""
        return summarize(self.spec.cells, self.matches)

    def page(self) -> CellPage:
        """All cells."""
        return CellPage(
            game=self.game.name,
            players=self.game.players,
            units_read=self.read,
            units_planned=self.planned,
            matches=len(self.matches),
            cells=[
                CellView(**{name: getattr(result, name) for name in CellView.model_fields})
                for result in self.results
            ],
        )

    def cell(self, cell: int, *, start: int = 0, limit: int = 100) -> MatchPage:
        """Some of the matches of a cell, by number.

        Raises:
            MatchError: there is no such cell.
        """
        if not 0 <= cell < len(self.spec.cells):
            raise MatchError(f"There is no cell {cell}, expected 0 to {len(self.spec.cells) - 1}.")
        places = np.searchsorted(self.matches.arrays["cell"], [cell, cell + 1])
        first, last = (int(place) for place in places)
        begin = min(last, first + start)
        some = self.matches.take(np.arange(begin, min(last, begin + limit)))
        return MatchPage(total=last - first, matches=[self._line(record) for record in some])

    def record(self, cell: int, match: int) -> MatchRecord:
        """One match.

        Raises:
            MatchError: it was not played, or not yet.
        """
        ids = self.matches.ids
        wanted = np.uint64(cell << 32 | match) if max(cell, match) < 2**32 else np.uint64(0)
        place = int(np.searchsorted(ids, wanted))
        if max(cell, match) >= 2**32 or place == len(ids) or ids[place] != wanted:
            raise MatchError(f"The match {cell}:{match} was not played, or not yet.")
        (record,) = self.matches.take(np.arange(place, place + 1))
        return record

    def match(self, cell: int, match: int) -> MatchDetail:
        """One match, move by move.

        Raises:
            MatchError: it was not played, or not yet.
        """
        record = self.record(cell, match)
        pair = self.spec.cells[cell]
        return MatchDetail(
            **self._line(record).model_dump(),
            game=self.game.name,
            players=self.game.players,
            first=pair.first,
            second=pair.second,
            plies_played=self._plies(record),
        )

    def states(self, cell: int, match: int) -> list[State]:
        """All positions of a match, from the initial one to the last."""
        record = self.record(cell, match)
        states = [self.game.start()]
        for state, moves in plies(self.game, record.moves):
            states.append(state.play(*moves))
        return states

    def _line(self, record: MatchRecord) -> MatchLine:
        goals = (record.first_goal, record.second_goal)
        played = record.status is Status.PLAYED
        words = {True: "first", False: "second"}
        result = "draw" if goals[0] == goals[1] else words[goals[0] > goals[1]]
        return MatchLine.model_validate(
            {
                "id": record.id,
                "cell": record.cell,
                "match": record.match,
                "result": result if played else None,
                "goals": goals if played else None,
                "plies": record.plies,
                "status": record.status.text,
                "moves": moves_text(self.game, record.moves),
            }
        )

    def _plies(self, record: MatchRecord) -> list[PlyView]:
        opening, place, found = len(self.openings.of(record.match)), 0, []
        for number, (state, codes) in enumerate(plies(self.game, record.moves), start=1):
            sides = (0, 1) if len(codes) == 2 else (state.status,)
            values = record.values[place : place + len(codes)]
            moves = [
                MoveView(
                    player=self.game.players[side],
                    side=side,
                    move=state.move_text(code, side),
                    value=None if value == NO_VALUE else value / _SCALE,
                )
                for side, code, value in zip(sides, codes, values, strict=True)
            ]
            found.append(PlyView(ply=number, opening=place < opening, moves=moves))
            place += len(codes)
        return found


class PlayedRuns:
    """The runs of matches of a store.

    Args:
        reader: the store.
    """

    def __init__(self, reader: StoreReader) -> None:
        self._reader = reader
        self._played: Memo[str, Played] = Memo(_RUNS)
        self._known: Memo[str, _Known] = Memo(_RUNS)

    def of(self, run_id: str) -> Played:
        """What a run has played.

        Raises:
            RunNotFoundError: there is no such run.
            SpecError: it is a run of another kind, or of a kind of later versions.
        """
        run = self._reader.run(run_id)
        live = run.state in UNDER_WAY
        seconds = _LIVE if live else _ENDED
        return self._played.get(
            run_id, lambda: self._read(run_id, live=live), lambda _: seconds, version_of(run)
        )

    def _read(self, run_id: str, *, live: bool) -> Played:
        spec = spec_from_fields(self._reader.run(run_id).spec, where=f"run {run_id}")
        if not isinstance(spec, MatchJob):
            raise SpecError(
                f"Run {run_id} is of the kind '{spec.kind}', expected a run of matches."
            )
        store = self._reader.store(run_id)
        plan = store.read_plan()
        if plan is None:
            return Played(spec, Matches.of([]), Openings(), 0, 0)
        known = self._known.get(run_id, _Known, lambda _: _FOR_EVER)
        results = self._refresh(store, plan.units, known.results if live else {})
        known.results = results if live else {}
        units = [unit for unit in plan.units if unit.name in results]
        attempts = read_attempts(_Remembered(store, results), units, moves=True)
        openings = _openings(store, plan.units[0])
        return Played(spec, attempts.matches, openings, len(units), len(plan.units))

    def _refresh(
        self, store: RunStore, units: Sequence[Unit], known: Mapping[str, _Result]
    ) -> dict[str, _Result]:
        """The results of all finished units; those that are known are not read again."""
        there = store.finished_units()

        def read(unit: Unit) -> _Result | None:
            try:
                return known.get(unit.name) or store.read_unit_and_details(unit)
            except (FileNotFoundError, CorruptFileError):  # discarded meanwhile, or damaged
                return None

        finished = [unit for unit in units if unit.name in there]
        with ThreadPoolExecutor(_READERS) as pool:
            found = zip(finished, pool.map(read, finished), strict=True)
            return {unit.name: result for unit, result in found if result is not None}


@dataclass
class _Known:
    """The results of a run under way that were read already.

    They are replaced and never changed: other threads may be reading them.
    """

    results: Mapping[str, _Result] = field(default_factory=dict)


class _Remembered(RunStore):
    """A run's files, but for results of units that are at hand."""

    def __init__(self, store: RunStore, results: Mapping[str, _Result]) -> None:
        self.run_id, self.files = store.run_id, store.files
        self._results = results

    def read_unit_and_details(self, unit: Unit) -> _Result:
        """See `RunStore.read_unit_and_details`."""
        return self._results[unit.name]


def _openings(store: RunStore, unit: Unit) -> Openings:
    try:
        return unpack_openings(store.read_input(unit))
    except (FileNotFoundError, CorruptFileError):
        return Openings()
