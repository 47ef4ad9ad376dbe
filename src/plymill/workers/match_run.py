"""The match jobs: tie their specs to plans, rounds, workers and stages."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from plymill.cluster import Plan, RunOptions, RunStore, Stage
from plymill.matches.costs import cell_seconds
from plymill.matches.errors import MatchError
from plymill.matches.grids import Stretch
from plymill.matches.openings import Openings, random_openings, read_openings
from plymill.matches.records import Matches
from plymill.matches.rounds import cell_scores, next_round
from plymill.workers.match_duel import first_pairs, more_pairs, pair_stretches, standing
from plymill.workers.match_failures import give_up
from plymill.workers.match_page import match_page
from plymill.workers.match_plan import Planner, unpack_openings
from plymill.workers.match_provenance import provenance_files
from plymill.workers.match_results import read_attempts
from plymill.workers.match_spec import DuelJob, GridJob, MatchJob, OpeningJob, PoolJob
from plymill.workers.match_stages import match_stages
from plymill.workers.match_worker import MatchWorker, process_memory, thread_memory

_MB = 2**20
_LONG_GAME = 20  # plies from which random openings are drawn without being asked for
_OPENING_PLIES = 4
_TASK_MB = 1024  # reading and writing all matches, drawing charts


class MatchRun(ABC):
    """What all match jobs do alike; see `plymill.cluster.Job`.

    Whatever the job, a match that failed is tried once more, on another worker if there is one.

    Args:
        spec: what was asked.
        options: how to carry it out; neither matters to matches, nor has any effect.
    """

    def __init__(self, spec: MatchJob, options: RunOptions) -> None:
        del options
        self.spec = spec

    @abstractmethod
    def first(self) -> Sequence[Stretch]:
        """The matches of the first round."""

    @abstractmethod
    def following(self, matches: Matches) -> Sequence[Stretch]:
        """The matches that follow from those so far, which are the last attempts at each."""

    def is_void(self, matches: Matches) -> bool:
        """Whether nothing follows from these matches, so that the job has to be given up."""
        del matches
        return False

    def openings(self) -> Openings:
        """How the matches begin."""
        return Openings()

    def plan(self, store: RunStore) -> Plan:
        """See `plymill.cluster.Job.plan`."""
        if not store.finished_units():  # what has been played needs no players any more
            self.try_out()
        return Planner(self.spec, store, self.openings()).begin(self.first())

    def try_out(self, tell: Callable[[str], None] = lambda _: None) -> None:
        """Make each player once, in this process or one of its own.

        Args:
            tell: is told in words what takes a while.

        Raises:
            PlymillError: a class of the user's own cannot be made, or a book cannot be read.
        """
        players = dict.fromkeys(side for cell in self.spec.cells for side in self.spec.sides(cell))
        for player in players:
            if not player.native:
                tell(f"trying out '{player}'")
                player.try_out(self.spec.rules)

    def extend(self, store: RunStore, plan: Plan) -> Plan | None:
        """See `plymill.cluster.Job.extend`."""
        attempts = read_attempts(store, plan.units)
        openings = unpack_openings(store.read_input(plan.units[0]))
        planner = Planner(self.spec, store, openings)
        again = attempts.to_retry()
        if not again and self.is_void(attempts.matches):
            raise give_up(store, plan, attempts)
        if not again:
            following = self.following(attempts.matches)
            return planner.go_on(plan, following) if following else None
        for worker, stretches in again.items():
            plan = planner.go_on(plan, stretches, avoid=worker)
        return plan

    def make_worker(self, store: RunStore, name: str, threads: int) -> MatchWorker:
        """See `plymill.cluster.Job.make_worker`."""
        del threads
        return MatchWorker(self.spec, store, name)

    def worker_memory(self, threads: int) -> int:
        """See `plymill.cluster.Job.worker_memory`."""
        sides = list({side for cell in self.spec.cells for side in self.spec.sides(cell)})
        return process_memory(sides) + threads * thread_memory(sides)

    @property
    def task_memory(self) -> int:
        """See `plymill.cluster.Job.task_memory`."""
        return _TASK_MB * _MB

    @property
    def stages(self) -> Sequence[Stage]:
        """See `plymill.cluster.Job.stages`."""
        return match_stages(self.spec)

    def provenance_files(self, store: RunStore, plan: Plan) -> Mapping[str, bytes]:
        """See `plymill.cluster.Job.provenance_files`."""
        return provenance_files(self.spec, store, plan)

    def page(
        self, store: RunStore, manifest: Mapping[str, Any], provenance: Mapping[str, Any]
    ) -> str:
        """See `plymill.cluster.Job.page`."""
        return match_page(self.spec, store, manifest, provenance)


class GridRun(MatchRun):
    """A grid: the samples of all cells, and more of those whose interval is too wide."""

    spec: GridJob

    def first(self) -> Sequence[Stretch]:
        """See `MatchRun.first`."""
        return [Stretch(cell.index, 0, self.spec.samples) for cell in self.spec.cells]

    def following(self, matches: Matches) -> Sequence[Stretch]:
        """See `MatchRun.following`."""
        if self.spec.until is None:
            return []
        scores = cell_scores(matches, len(self.spec.cells))
        return next_round(scores, self.spec.until)


class _OpeningRun(MatchRun):
    """A job with openings."""

    spec: OpeningJob

    def openings(self) -> Openings:
        """See `MatchRun.openings`."""
        spec = self.spec
        if spec.openings:
            return read_openings(spec.rules, spec.openings)
        if spec.opening_plies is not None:
            return self._random(spec.opening_plies)
        if spec.rules.max_plies < _LONG_GAME:
            return Openings()
        try:
            return self._random(_OPENING_PLIES)
        except MatchError:  # there are not as many
            return Openings()

    def _random(self, plies: int) -> Openings:
        spec = self.spec
        if not plies:
            return Openings()
        return random_openings(
            spec.rules,
            plies=plies,
            count=spec.opening_count,
            seed=spec.seed,
            margin=spec.opening_margin,
        )


class DuelRun(_OpeningRun):
    """A duel: pairs of matches until the test has decided."""

    spec: DuelJob

    def first(self) -> Sequence[Stretch]:
        """See `MatchRun.first`."""
        return pair_stretches(0, first_pairs(self.spec, self._pair_seconds))

    def following(self, matches: Matches) -> Sequence[Stretch]:
        """See `MatchRun.following`."""
        stand = standing(self.spec, matches)
        return pair_stretches(stand.tried, more_pairs(self.spec, stand))

    def is_void(self, matches: Matches) -> bool:
        """See `MatchRun.is_void`: no pair counts."""
        stand = standing(self.spec, matches)
        return stand.void == stand.tried

    @property
    def _pair_seconds(self) -> float:
        return sum(cell_seconds(self.spec.rules, self.spec.cells).values())


class PoolRun(_OpeningRun):
    """A pool: the samples of all cells."""

    spec: PoolJob

    def first(self) -> Sequence[Stretch]:
        """See `MatchRun.first`."""
        return [Stretch(cell.index, 0, self.spec.samples) for cell in self.spec.cells]

    def following(self, matches: Matches) -> Sequence[Stretch]:
        """See `MatchRun.following`; all there is was played in the first round."""
        del matches
        return []
