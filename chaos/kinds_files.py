"""Faults of files and disks."""

from collections.abc import Callable
from pathlib import Path
from random import Random

from chaos.kinds import Kind, Strike
from chaos.kinds_processes import end_driver
from chaos.session import Session
from chaos.strikes import FaultMissedError, StoreDisk, flip, truncate
from plymill.cluster import CorruptFileError, Plan

_UNITS, _INPUT = "units", "input"


def _plan(session: Session) -> Plan:
    plan = session.store.read_plan()
    if plan is None:
        raise FaultMissedError("there is no plan")
    return plan


def _spoil_unit(
    session: Session, random: Random, how: Callable[[Path, float], None], what: str
) -> Strike:
    """Spoil the result of a unit that is finished; found when the result is needed next."""
    name = random.choice(sorted(session.watch.done))
    how(session.watch.folder / _UNITS / f"{name}.zst", random.random())
    unit = next(unit for unit in _plan(session).units if unit.name == name)
    try:
        session.store.read_unit(unit)
    except (CorruptFileError, FileNotFoundError):
        return Strike(f"units/{name}.zst {what}", {name})
    raise FaultMissedError(f"units/{name}.zst is sound after all")


def flip_unit(session: Session, random: Random) -> Strike:
    """One bit."""
    return _spoil_unit(session, random, flip, "altered")


def truncate_unit(session: Session, random: Random) -> Strike:
    """Its end is missing."""
    return _spoil_unit(session, random, truncate, "cut off")


def delete_unit(session: Session, random: Random) -> Strike:
    """It is not there any more."""
    return _spoil_unit(session, random, lambda path, _: path.unlink(), "deleted")


def flip_input(session: Session, random: Random) -> Strike:
    """One bit of the input of a unit that waits."""
    watch = session.watch
    waiting = sorted(set(watch.units) - watch.done - watch.in_flight())
    name = random.choice(waiting[len(waiting) // 2 :] or waiting)
    flip(watch.folder / _INPUT / f"{name}.zst", random.random())
    unit = next(unit for unit in _plan(session).units if unit.name == name)
    try:
        session.store.read_input(unit)
    except CorruptFileError:
        return Strike(f"input/{name}.zst altered", {name})
    raise FaultMissedError(f"input/{name}.zst is sound after all")


def flip_plan(session: Session, random: Random) -> Strike:
    """One bit of ``plan.json``, while no driver runs."""
    end_driver(session)
    flip(session.watch.folder / "plan.json", random.random())
    if session.store.read_plan() is not None:
        raise FaultMissedError("plan.json is sound after all")
    return Strike("plan.json altered")


def _disk(session: Session) -> StoreDisk:
    disk = session.place.disk
    if disk is None:
        raise FaultMissedError("the store has no file system of its own")
    return disk


def fill_disk(session: Session, random: Random) -> Strike:
    """No room for some seconds."""
    seconds = random.uniform(3, 6)
    owed = session.watch.in_flight()
    disk = _disk(session)
    try:
        disk.fill()
        session.pass_time(seconds)
    finally:
        disk.free()
    return Strike(f"no room for {seconds:.1f} s", owed)


def refuse_writes(session: Session, random: Random) -> Strike:
    """The store answers all who write with an error, for some seconds."""
    seconds = random.uniform(3, 6)
    owed = session.watch.in_flight()
    disk = _disk(session)
    disk.read_only(True)
    try:
        session.pass_time(seconds)
        probe = session.watch.folder / "probe"
        try:
            probe.touch()
        except OSError:
            return Strike(f"read-only for {seconds:.1f} s", owed)
        probe.unlink()
        raise FaultMissedError("the store could be written to")
    finally:
        disk.read_only(False)


def freeze_store(session: Session, random: Random) -> Strike:
    """Whoever writes to the store waits, for some seconds."""
    seconds = random.uniform(4, 10)
    _disk(session).freeze(seconds)
    return Strike(f"no answer for {seconds:.1f} s")


KINDS = {
    "result altered": Kind(flip_unit, "one bit of a finished unit's file is flipped"),
    "result cut off": Kind(truncate_unit, "a finished unit's file loses its end"),
    "result deleted": Kind(delete_unit, "a finished unit's file is removed"),
    "input altered": Kind(flip_input, "one bit of a waiting unit's input is flipped"),
    "plan altered": Kind(flip_plan, "one bit of plan.json is flipped while no driver runs"),
    "disk full": Kind(fill_disk, "the store has no room for three to six seconds", needs_disk=True),
    "store read-only": Kind(
        refuse_writes,
        "the store refuses to be written to for three to six seconds",
        needs_disk=True,
    ),
    "store frozen": Kind(
        freeze_store, "writing to the store takes four to ten seconds", needs_disk=True
    ),
}
