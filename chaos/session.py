"""A run under attack: its cluster, its driver, the person who starts it again, and the faults."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from chaos.nodes import Nodes
from chaos.strikes import StoreDisk
from chaos.watch import Watch
from plymill.cluster import JobSpec, RunStore

_LOOK_EVERY = 0.1
_AGAIN_AFTER = 1.0  # seconds that the person takes to start the command again
_IN_VAIN = 6
PATIENCE = 240.0


class StuckError(Exception):
    """A run that does not go on."""


@dataclass
class Place:
    """Where a run takes place.

    Attributes:
        nodes: the cluster.
        store: the folder of the store.
        logs: a folder for what the drivers say.
        control: a folder for what `sabotage` obeys.
        clock: a folder for `tests.faults.set_clock`.
        disk: the store's own file system; None if it has none.
        truth: the digest of each unit's result in the undisturbed run, by name; empty in that run.
    """

    nodes: Nodes
    store: Path
    logs: Path
    control: Path
    clock: Path
    disk: StoreDisk | None = None
    truth: Mapping[str, str] = field(default_factory=dict)


class Session:
    """One run and its driver.

    Args:
        place: where.
        spec: what.

    Attributes:
        watch: what the store shows of it.
        driver: the process that drives it; it may have ended.
        starts: how often the person had to start it again.
        complete: whether the run has come to its end.
        on_tick: called at every `tick`.
    """

    def __init__(self, place: Place, spec: JobSpec) -> None:
        self.place = place
        self.spec = spec
        self.store = RunStore.open(str(place.store), spec.run_id)
        self.store.write_spec(spec)
        self.watch = Watch(place.store / spec.run_id)
        self.began = time.monotonic()
        self.starts = 0
        self.complete = False
        self._drivers = 0
        self.driver = self.new_driver()
        self.on_tick: Callable[[], None] = lambda: None
        self._ended: float | None = None
        self._vain = (0, 0)

    # --- drivers ----------------------------------------------------------------------------------

    def new_driver(self) -> subprocess.Popen[str]:
        """Start a driver; what it says goes to a log of its own, see `said`."""
        self._drivers += 1
        words = [self.spec.run_id, str(self.place.store), self.place.nodes.address]
        with self._log(self._drivers).open("w") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "chaos.driver", *words, str(self.place.control)],
                stdout=log,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
                cwd=Path(__file__).parents[1],
            )

    def said(self) -> str:
        """The last line that the driver which was started last has said, its own words if any."""
        lines = self._log(self._drivers).read_text(errors="replace").strip().splitlines()
        ours = [line for line in lines if line.startswith("plymill: ")]
        return (ours or lines or [""])[-1].removeprefix("plymill: ")

    def stop_driver(self, how: signal.Signals) -> None:
        """End the driver, and wait until it has ended; the person starts it again afterwards."""
        self.driver.send_signal(how)
        try:
            self.driver.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise StuckError(f"the driver does not end on {how.name}") from None

    def close(self) -> None:
        """End the driver, whatever it does."""
        if self.driver.poll() is None:
            os.killpg(self.driver.pid, signal.SIGKILL)
            self.driver.wait()

    def _log(self, number: int) -> Path:
        return self.place.logs / f"{self.place.store.name}-driver-{number:02d}.log"

    # --- time -------------------------------------------------------------------------------------

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self.began

    def tick(self, *, start_again: bool = True) -> None:
        """Let a moment pass: look at the run, and be the person who starts an ended driver again.

        Raises:
            StuckError: that was in vain several times, without a unit finished in between.
        """
        time.sleep(_LOOK_EVERY)
        code = self.driver.poll()
        self.watch.look()  # afterwards, so that nothing is missed in the end
        self.on_tick()
        if code is None or self.complete:
            return
        if code == 0:
            self.complete = True
            return
        self._ended = self._ended or time.monotonic()
        if start_again and time.monotonic() - self._ended > _AGAIN_AFTER:
            self._count_in_vain()
            self._ended = None
            self.starts += 1
            self.driver = self.new_driver()

    def _count_in_vain(self) -> None:
        units, times = self._vain
        here = len(self.watch.finished)
        self._vain = (here, times + 1 if here == units else 1)
        if self._vain[1] > _IN_VAIN:
            raise StuckError(f"started again {times} times in vain: {self.said()}")

    def wait(
        self,
        condition: Callable[[], bool],
        what: str,
        *,
        start_again: bool = True,
        seconds: float = PATIENCE,
    ) -> None:
        """Let time pass until something holds.

        Raises:
            StuckError: it does not within ``seconds``; ``what`` names it.
        """
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise StuckError(f"{what}: not within {seconds:g} s; the driver: {self.said()}")
            self.tick(start_again=start_again)

    def pass_time(self, seconds: float) -> None:
        """Let time pass in which nobody starts anything again."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.tick(start_again=False)

    # --- state ------------------------------------------------------------------------------------

    def at_strength(self, since: float) -> bool:
        """Whether as many workers as there are nodes are there, told after this moment (1970)."""
        progress = self.watch.progress
        return (
            progress is not None
            and progress.state == "solving"
            and self.watch.written > since
            and len(self.watch.living) >= self.place.nodes.count
        )

    def at_work(self) -> bool:
        """Whether the driver drives, and every worker has a unit."""
        return (
            self.driver.poll() is None
            and self.at_strength(0.0)
            and all(worker.in_flight for worker in self.watch.living)
        )
