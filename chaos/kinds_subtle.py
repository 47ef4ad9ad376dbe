"""Faults that nobody reports: a processor that computes wrongly, a clock that jumps."""

import time
from random import Random

from chaos.kinds import Kind, Strike
from chaos.sabotage import LIAR
from chaos.session import Session
from chaos.strikes import FaultMissedError
from tests.faults import set_clock

_HOUR = 3600.0


def lie(session: Session, random: Random) -> Strike:
    """A worker computes wrongly until an audit finds out; then its node is replaced by another."""
    watch, place = session.watch, session.place
    victim = random.choice(sorted(watch.living, key=lambda worker: worker.name))
    since = time.monotonic()
    (place.control / LIAR).write_text(victim.name)

    def lies() -> set[str]:
        theirs = (each for each in watch.since(since) if each.worker == victim.name)
        return {each.unit for each in theirs if each.digest != place.truth[each.unit]}

    session.wait(lambda: bool(lies()) or session.complete, f"{victim.name} solves a unit wrongly")
    if not lies():
        raise FaultMissedError(f"{victim.name} has told no lie")

    def caught() -> bool:
        told = [e["message"] for e in watch.events if e["event"] == "warning"]
        return any(f"Worker {victim.name} gave a wrong result" in text for text in told)

    session.wait(lambda: caught() or session.complete, f"{victim.name} is found out")
    if not caught():
        raise FaultMissedError(f"{victim.name} was not found out")
    place.nodes.kill(victim.node)
    place.nodes.add()
    owed = {each.unit for each in watch.finished if each.worker == victim.name}
    (place.control / LIAR).unlink()
    return Strike(f"worker {victim.name}, {len(lies())} units wrong", owed)


def jump(session: Session, random: Random) -> Strike:
    """The clocks of driver and workers are hours wrong for some seconds."""
    hours = random.choice([-30, -2, 2, 30])
    set_clock(session.place.clock, hours * _HOUR)

    def told() -> bool:
        progress, real = session.watch.progress, session.watch.written
        return progress is not None and abs(progress.updated - real - hours * _HOUR) < _HOUR

    try:
        session.wait(told, "the driver's clock is wrong", seconds=60)
        session.pass_time(random.uniform(3, 6))
    finally:
        set_clock(session.place.clock, 0)
    return Strike(f"clocks wrong by {hours:+d} hours")


KINDS = {
    "wrong answers": Kind(lie, "a worker computes wrongly until an audit finds out"),
    "clock jumps": Kind(jump, "the clocks of driver and workers are hours wrong for some seconds"),
}
