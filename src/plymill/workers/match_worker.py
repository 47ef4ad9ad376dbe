"""Plays the units of a match job. No Ray here."""

import os
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from plymill.cluster import Receipt, RunStore, Unit
from plymill.cluster.storage.unitfile import arrays_digest
from plymill.games import Stream
from plymill.matches.grids import Stretch
from plymill.matches.openings import Openings
from plymill.matches.records import Matches, MatchRecord, Status
from plymill.matches.referee import play_match
from plymill.players import PerfectSpec, Player, PlayerSpec, PythonSpec, UctSpec
from plymill.players.native import LANES, MatchTask, best_lanes, play_uct_matches
from plymill.workers.match_plan import unpack_openings, unpack_stretches
from plymill.workers.match_spec import MatchJob

THREAD_MB = 512  # at most, for the trees of the matches that take turns in a thread
_BYTES_AN_ITERATION = 400  # of a tree, with room to grow
_TREES = 3  # of a match
_PROCESS_MB = 300  # interpreter, libraries, the results of a unit
_SOLVER_MB = 256  # of perfect players: tables, and the positions that are remembered
_PLAYER_MB = 200  # of the process of a player of the user's own
_DETAILS_LENGTH = 4000


@dataclass
class Played:
    """The matches of a unit, and what is told of them beside the result.

    Attributes:
        parts: the matches.
        seconds: of each, in the same order.
        iterations: of all searches.
        faults: what went wrong in the matches that failed, by id: a sentence, and more about it.
    """

    parts: list[Matches] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    iterations: int = 0
    faults: dict[str, tuple[str, str]] = field(default_factory=dict)

    def in_order(self) -> tuple[Matches, list[float]]:
        """The matches by id, and the seconds of each."""
        everything = Matches.concatenated(self.parts)
        order = np.argsort(everything.ids)
        return everything.take(order), np.array(self.seconds)[order].round(6).tolist()


class MatchWorker:
    """Plays matches: whole ones in compiled code where both players are, else move by move.

    Args:
        spec: the job.
        store: the run's files.
        name: the worker's name, which goes into its receipts.
    """

    def __init__(self, spec: MatchJob, store: RunStore, name: str) -> None:
        self._spec = spec
        self._store = store
        self._name = name
        self._game = spec.rules
        self._sides = {cell.index: spec.sides(cell) for cell in spec.cells}

    def run(self, unit: Unit) -> Receipt:
        """Play a unit and store its result: the arrays of `plymill.matches.records`, by id."""
        began, began_working = time.perf_counter(), time.thread_time()
        played = self._play(unit)
        processor_seconds = time.thread_time() - began_working  # without other processes
        matches, seconds = played.in_order()
        arrays: dict[str, Any] = matches.arrays
        receipt = Receipt(
            unit=unit.index,
            digest=arrays_digest(arrays),
            worker=self._name,
            seconds=round(time.perf_counter() - began, 6),
            processor_seconds=round(processor_seconds, 6),
            finished=round(time.time(), 3),
            host=socket.gethostname(),
            pid=os.getpid(),
            counters={
                "matches": len(matches),
                "iterations": played.iterations,
                "failed": len(played.faults),
            },
        )
        details = {"seconds": seconds, "faults": played.faults}
        self._store.write_unit(unit, arrays, receipt, details=details)
        return receipt

    def audit(self, unit: Unit) -> str:
        """Play a unit again; the digest of the result."""
        matches, _ = self._play(unit).in_order()
        return arrays_digest(matches.arrays)

    def _play(self, unit: Unit) -> Played:
        arrays = self._store.read_input(unit)
        stretches, openings = unpack_stretches(arrays), unpack_openings(arrays)
        played = Played()
        native = [s for s in stretches if all(side.native for side in self._sides[s.cell])]
        if native:
            self._play_native(native, openings, played)
        for stretch in stretches:
            if stretch not in native:
                self._play_asking(stretch, openings, played)
        return played

    def _play_native(
        self, stretches: Sequence[Stretch], openings: Openings, played: Played
    ) -> None:
        tasks = [
            MatchTask(stretch.cell, match, *self._sides[stretch.cell], openings.of(match))
            for stretch in stretches
            for match in range(stretch.start, stretch.stop)
        ]
        sides = [side for stretch in stretches for side in self._sides[stretch.cell]]
        lanes = min(lanes_for(sides), best_lanes(self._game))
        result = play_uct_matches(self._game, tasks, self._spec.seed, lanes=lanes)
        count = len(tasks)
        played.parts.append(
            Matches(
                {
                    "cell": np.array([task.cell for task in tasks], dtype="<u4"),
                    "match": np.array([task.match for task in tasks], dtype="<u4"),
                    "first_goal": result.goals[:, 0],
                    "second_goal": result.goals[:, 1],
                    "plies": result.plies,
                    "status": np.full(count, Status.PLAYED, dtype="u1"),
                    "length": result.lengths,
                    "moves": result.moves,
                    "values": result.values,
                }
            )
        )
        played.seconds += result.seconds.tolist()
        played.iterations += int(result.iterations.sum())

    def _play_asking(self, stretch: Stretch, openings: Openings, played: Played) -> None:
        """Play the matches of a cell one after the other, each player asked for every move."""
        records: list[MatchRecord] = []
        with making(self._sides[stretch.cell], self._spec) as players:
            for match in range(stretch.start, stretch.stop):
                done = play_match(
                    self._game,
                    players,
                    Stream(self._spec.seed, stretch.cell, match),
                    cell=stretch.cell,
                    match=match,
                    opening=openings.of(match),
                )
                records.append(done.record)
                played.seconds.append(done.seconds)
                if done.fault:
                    details = done.details[-_DETAILS_LENGTH:]
                    played.faults[done.record.id] = (done.fault, details)
        played.parts.append(Matches.of(records))


@contextmanager
def making(sides: tuple[PlayerSpec, PlayerSpec], spec: MatchJob) -> Iterator[tuple[Player, Player]]:
    """Both players of a cell, closed in the end."""
    with ExitStack() as stack:
        players = []
        for side in sides:
            player = side.make(spec.rules)
            stack.callback(player.close)
            players.append(player)
        yield players[0], players[1]


def lanes_for(sides: Sequence[PlayerSpec]) -> int:
    """How many matches may take turns in a thread, so that their trees fit its memory."""
    most = max((side.iterations for side in sides if isinstance(side, UctSpec)), default=1)
    return max(1, min(LANES, THREAD_MB * 2**20 // (_TREES * _BYTES_AN_ITERATION * most)))


def thread_memory(sides: Sequence[PlayerSpec]) -> int:
    """Bytes that a thread needs for its players; a single match may need more than `THREAD_MB`."""
    most = max((side.iterations for side in sides if isinstance(side, UctSpec)), default=1)
    trees = max(2**24, lanes_for(sides) * _TREES * _BYTES_AN_ITERATION * most)
    processes = min(2, sum(isinstance(side, PythonSpec) for side in sides))
    return trees + processes * _PLAYER_MB * 2**20


def process_memory(sides: Sequence[PlayerSpec]) -> int:
    """Bytes that all threads of a worker need together."""
    solves = any(isinstance(side, PerfectSpec) for side in sides)
    return (_PROCESS_MB + (_SOLVER_MB if solves else 0)) * 2**20
