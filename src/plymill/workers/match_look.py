"""Looking at the runs of match jobs: what was played, and playing a match of them again."""

from dataclasses import dataclass

from plymill.cluster import RunNotFoundError, RunStore, SpecError, Unit, load_run
from plymill.games import Stream
from plymill.matches.aggregates import CellResult, summarize
from plymill.matches.errors import MatchError
from plymill.matches.records import Matches, MatchRecord
from plymill.matches.referee import PlayedMatch, play_match
from plymill.workers.kinds import spec_from_fields
from plymill.workers.match_plan import unpack_openings, unpack_stretches
from plymill.workers.match_results import Attempts, read_attempts
from plymill.workers.match_spec import MatchJob
from plymill.workers.match_worker import making


@dataclass(frozen=True)
class PlayedRun:
    """A run of a match job, as far as it is.

    Attributes:
        spec: the job.
        store: the run's files.
        units: its units that are finished, in the order of the plan.
        planned: how many units there are so far.
    """

    spec: MatchJob
    store: RunStore
    units: tuple[Unit, ...]
    planned: int

    def attempts(self, *, moves: bool = False) -> Attempts:
        """What was played; see `read_attempts`."""
        return read_attempts(self.store, self.units, moves=moves)

    def results(self) -> list[CellResult]:
        """The sums of all cells."""
        return summarize(self.spec.cells, self.attempts(moves=True).matches)


def open_run(store_url: str, run_id: str) -> PlayedRun:
    """A run of matches.

    Raises:
        RunNotFoundError: there is no such run, or it has played nothing yet.
        SpecError: it is a run of another kind.
        CorruptFileError: its spec or its plan was altered.
    """
    where = f"{store_url}/{run_id}/spec.json"
    spec = spec_from_fields(load_run(store_url, run_id).spec, where=where)
    if not isinstance(spec, MatchJob):
        raise SpecError(f"Run {run_id} is of the kind '{spec.kind}', expected a run of matches.")
    store = RunStore.open(store_url, run_id)
    try:
        plan = store.require_plan()
        there = store.finished_units()
        units = tuple(unit for unit in plan.units if unit.name in there)
    except FileNotFoundError:
        units = ()
    if not units:
        raise RunNotFoundError(f"Run {run_id} in {store_url} has not played any match yet.")
    return PlayedRun(spec, store, units, len(plan.units))


def parse_match_id(text: str) -> tuple[int, int]:
    """Cell and number of a match from ``CELL:MATCH``.

    Raises:
        MatchError: the text is something else.
    """
    numbers = text.split(":")
    if len(numbers) != 2 or not all(n.isascii() and n.isdigit() and len(n) < 11 for n in numbers):
        raise MatchError(f"There is no match '{text}', expected CELL:MATCH, such as 17:3.")
    return int(numbers[0]), int(numbers[1])


@dataclass(frozen=True, slots=True)
class Replay:
    """A match as it is in the run, and as it was played again.

    Attributes:
        recorded: the match in the run, the last attempt at it.
        again: the match now.
        opening: codes of the moves that it begins with.
    """

    recorded: MatchRecord
    again: PlayedMatch
    opening: bytes

    @property
    def same(self) -> bool:
        """Whether moves, estimates, goals and all else are the same."""
        return self.recorded == self.again.record


def replay(run: PlayedRun, cell: int, match: int) -> Replay:
    """Play a match of a run again, the players asked for every move.

    Raises:
        MatchError: the run has not played this match.
    """
    unit, opening = _find(run, cell, match)
    arrays, _ = run.store.read_unit(unit)
    matches = Matches(arrays, where=f"unit {unit.name}")
    (recorded,) = matches.take((arrays["cell"] == cell) & (arrays["match"] == match))
    with making(run.spec.sides(run.spec.cells[cell]), run.spec) as players:
        again = play_match(
            run.spec.rules,
            players,
            Stream(run.spec.seed, cell, match),
            cell=cell,
            match=match,
            opening=opening,
        )
    return Replay(recorded, again, opening)


def _find(run: PlayedRun, cell: int, match: int) -> tuple[Unit, bytes]:
    """The last unit that holds a match, and how the match begins."""
    for unit in reversed(run.units):
        arrays = run.store.read_input(unit)
        for stretch in unpack_stretches(arrays):
            if stretch.cell == cell and stretch.start <= match < stretch.stop:
                return unit, unpack_openings(arrays).of(match)
    cells = len(run.spec.cells)
    held = f"cells from 0 to {cells - 1}" if cell >= cells else "a match that was played"
    raise MatchError(f"Run {run.spec.run_id} has no match {cell}:{match}, expected {held}.")
