"""Letting the planned faults hit a run, one after the other, and measuring what each costs."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from chaos.bill import Outcome, bill
from chaos.draw import Planned
from chaos.kinds import Kind, Strike
from chaos.session import Session
from chaos.strikes import FaultMissedError, is_gone

LONGEST = 1800.0  # seconds that a run may take after its last fault


@dataclass
class Attack:
    """The faults of a run.

    Attributes:
        session: the run.
        kinds: what there is.
        tell: is told each outcome.
        outcomes: so far.
    """

    session: Session
    kinds: Mapping[str, Kind]
    tell: Callable[[Outcome], None]
    outcomes: list[Outcome] = field(default_factory=list)
    _strikes: list[tuple[float, Strike]] = field(default_factory=list)

    def carry_out(self, planned: Sequence[Planned]) -> None:
        """Let all faults hit, and the run come to its end.

        Raises:
            StuckError: it does not.
        """
        self.session.on_tick = self._note_recoveries
        try:
            for each in planned:
                self._suffer(each)
            self.session.wait(lambda: self.session.complete, "the run ends", seconds=LONGEST)
        finally:
            for _, strike in self._strikes:
                strike.undo()
            bill(self.session.watch.finished, self._strikes, self.outcomes)

    def _suffer(self, planned: Planned) -> None:
        session, watch = self.session, self.session.watch
        session.wait(
            lambda: session.complete or (watch.share >= planned.share and session.at_work()),
            f"the run is at work before '{planned.kind}'",
        )
        outcome = Outcome(planned.kind, session.elapsed, watch.share)
        self.outcomes.append(outcome)
        if session.complete:
            outcome.missed = "the run was over before"
            return
        hands = {worker.pid: set(worker.in_flight) for worker in watch.living}
        began, wall, starts = time.monotonic(), time.time(), session.starts
        strike = Strike("")
        try:
            strike = self.kinds[planned.kind].strike(session, Random(planned.seed))
            outcome.victim = strike.victim
            self._await_recovery(strike, planned.kind, began, wall)
            if strike.whole is None:
                outcome.recovered = time.monotonic() - began
        except FaultMissedError as missed:
            outcome.missed = str(missed)
        finally:
            self._strikes.append((began, strike))
            dead = [pid for pid in hands if is_gone(pid)]
            strike.owed.update(*(hands[pid] for pid in dead))
            outcome.processor_seconds = watch.lost_seconds(dead)
            outcome.next_unit = next((each.seen - began for each in watch.since(began)), None)
            outcome.starts = session.starts - starts
        self.tell(outcome)

    def _note_recoveries(self) -> None:
        """Of faults whose end nobody waits for."""
        for outcome, (began, strike) in zip(self.outcomes, self._strikes, strict=False):
            if outcome.recovered is None and strike.whole is not None and strike.whole():
                outcome.recovered = time.monotonic() - began

    def _await_recovery(self, strike: Strike, kind: str, began: float, wall: float) -> None:
        """Wait until the run goes on as before.

        Raises:
            StuckError: it does not.
        """
        session = self.session

        def over() -> bool:
            whole = strike.whole is not None or session.at_strength(wall)
            return session.complete or (
                bool(session.watch.since(began)) and whole and strike.over()
            )

        session.wait(over, f"'{kind}' is overcome")
