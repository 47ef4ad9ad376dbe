"""The kinds of fault, by name, and whether they are possible on this machine."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from chaos.session import Session
from chaos.strikes import can_limit_memory


def nothing() -> None:
    """There is nothing to undo."""


def at_once() -> bool:
    """There is nothing to wait for, but that the run goes on."""
    return True


@dataclass(frozen=True)
class Strike:
    """A fault that has hit.

    Attributes:
        victim: what died, stopped or was altered.
        owed: units that may have to be done again because of it, beside what dead workers had.
        over: whether the run has overcome it, beside having finished a unit with all its workers.
        whole: when all workers are there again, if that is not to be waited for; then other faults
            may hit before.
        undo: ends the fault, once it is over.
    """

    victim: str
    owed: set[str] = field(default_factory=set)
    over: Callable[[], bool] = at_once
    whole: Callable[[], bool] | None = None
    undo: Callable[[], None] = nothing


@dataclass(frozen=True)
class Kind:
    """A kind of fault.

    Attributes:
        strike: makes it hit; the random numbers choose the victim.
        about: says what happens.
        needs_disk: whether the store has to have a file system of its own.
        needs_memory_limit: whether a process's memory has to be limited.
    """

    strike: Callable[[Session, Random], Strike]
    about: str
    needs_disk: bool = False
    needs_memory_limit: bool = False


def all_kinds() -> dict[str, Kind]:
    """Every kind by its name."""
    from chaos import kinds_files, kinds_processes, kinds_subtle

    return {**kinds_processes.KINDS, **kinds_files.KINDS, **kinds_subtle.KINDS}


def impossible(kinds: dict[str, Kind], *, disk: bool) -> dict[str, str]:
    """The kinds that cannot be had here, each with the reason."""
    memory = can_limit_memory()
    reasons = {}
    for name, kind in kinds.items():
        if kind.needs_disk and not disk:
            reasons[name] = "mounting a file system is not allowed here"
        if kind.needs_memory_limit and not memory:
            reasons[name] = "there is no memory controller that may be used here"
    return reasons
