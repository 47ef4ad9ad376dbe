"""Showing how far a run is: a live display on a terminal, plain lines elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from plymill.cli.output import error_console, note
from plymill.cli.words import duration, plural, rate, time_range

if TYPE_CHECKING:
    from plymill.cluster import Progress

Watcher = Callable[["Progress"], None]

_LINE_EVERY = 10.0  # seconds between two plain lines
_BAR_WIDTH = 40
_WORKERS_SHOWN = 8
_PLANNING = {"book": "enumerating positions"}
_STAGES = {
    "matches": "collecting the matches",
    "cells": "summing up the cells",
    "duel": "judging the duel",
    "pool": "rating the players",
    "charts": "drawing the charts",
    "summary": "summing up",
    "merge": "merging the units",
    "derive": "deriving lower plies",
    "pack": "packing the layouts",
    "validate": "validating the books",
    "": "writing manifest and check sums",
}


@contextmanager
def watching(run_id: str, console: Console | None = None) -> Iterator[Watcher]:
    """A callback for ``run_job`` that shows each progress on standard error.

    Until the first one, for which Ray has to start, it shows that the run does.
    """
    console = console or error_console()
    if not console.is_terminal:
        note(f"{run_id}: starting")
        yield PlainLines()
        return
    start = Text.assemble((run_id, "bold"), "  starting")
    with Live(start, console=console, refresh_per_second=4, transient=False) as live:
        yield lambda progress: live.update(display(progress))


class PlainLines:
    """Writes a line when the state changes, and every ten seconds of solving.

    While there are no figures that change, what a run waits for counts as its state.
    """

    def __init__(self) -> None:
        self._state: tuple[str, str, str] | None = None
        self._written = 0.0

    def __call__(self, progress: "Progress") -> None:
        """Show a progress, if it is time."""
        solving = progress.state == "solving"
        state = (progress.state, progress.stage, "" if solving else progress.message)
        due = solving and abs(progress.updated - self._written) >= _LINE_EVERY
        if state == self._state and not due:
            return
        self._state = state
        self._written = progress.updated
        note(line(progress))


def line(progress: "Progress") -> str:
    """A progress in one line."""
    parts = [f"{progress.run_id}: {phase(progress)}"]
    if progress.units_total and progress.state == "solving":
        parts += figures(progress)
    if _tells(progress):
        parts.append(progress.message)
    return ", ".join(parts)


def phase(progress: "Progress") -> str:
    """What a run is doing, in words."""
    if progress.state == "planning":
        return _PLANNING.get(progress.run_id.partition("-")[0], "planning")
    if progress.state == "solving" and progress.item == "matches":
        return "playing"
    if progress.state == "finishing":
        return _STAGES.get(progress.stage, progress.stage)
    return progress.state


def figures(progress: "Progress") -> list[str]:
    """Counts, rate, workers and time left, in words."""
    done = f"{progress.items_done:,} of {progress.items_total:,} {progress.item}"
    if progress.items_resumed:
        done += f" ({progress.items_resumed:,} from earlier)"
    if progress.items_failed:
        share = progress.items_failed / max(1, progress.items_done)
        done += f", {progress.items_failed:,} ({share:.0%}) failed"
    units = f"{progress.units_done:,} of {plural(progress.units_total, 'unit')}"
    if progress.rounds > 1:
        units += f" in round {progress.rounds:,}"
    if progress.units_quarantined:
        units += f" ({progress.units_quarantined:,} quarantined)"
    return [
        done,
        f"{rate(progress.rate)} {progress.item}/s",
        units,
        plural(len(progress.workers), "worker"),
        f"time left {time_range(progress.eta)}",
    ]


def display(progress: "Progress") -> RenderableType:
    """A progress as a block of lines for a terminal."""
    spent = duration(progress.seconds)
    head = Text.assemble((progress.run_id, "bold"), f"  {phase(progress)}, {spent}")
    parts: list[RenderableType] = [head]
    if progress.share is not None:
        row = Table.grid()
        row.add_row(
            ProgressBar(total=1, completed=progress.share, width=_BAR_WIDTH),
            f" {progress.share:.1%}",
        )
        parts.append(row)
        items, speed, units, workers, left = figures(progress)
        if progress.state == "solving":
            parts += [Text(f"  {items}, {speed}"), Text(f"  {units}, {workers}, {left}")]
            parts.append(_workers(progress))
        else:
            parts.append(Text(f"  {items}, {units}"))
    if _tells(progress):
        parts.append(Text(progress.message, style="yellow"))
    return Group(*parts)


def _tells(progress: "Progress") -> bool:
    """Whether there is a message; why a run has ended is what the command says last, once."""
    return bool(progress.message) and progress.state not in ("failed", "interrupted")


def _workers(progress: "Progress") -> RenderableType:
    table = Table.grid(padding=(0, 2))
    shown = progress.workers[:_WORKERS_SHOWN]
    for worker in shown:
        table.add_row(
            f"  {worker.name}",
            worker.host,
            plural(worker.slots, "thread"),
            plural(worker.units, "unit"),
            f"{rate(worker.rate * worker.slots)} {progress.item}/s",
        )
    if len(progress.workers) > len(shown):
        table.add_row(f"  and {len(progress.workers) - len(shown)} more")
    return table
