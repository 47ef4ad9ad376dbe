"""What the store shows of a run while it goes on: units as they are finished, workers, events."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chaos.strikes import is_gone, processor_seconds
from plymill.cluster import CorruptFileError, Progress
from plymill.cluster.storage.unitfile import decode


@dataclass(frozen=True, slots=True)
class Finished:
    """One result of a unit, of which there may be several.

    Attributes:
        unit: the unit's name.
        seen: when it was seen first, in seconds of the monotonic clock.
        worker: name of the worker.
        pid: its process.
        digest: of the result.
        processor_seconds: what it cost.
    """

    unit: str
    seen: float
    worker: str
    pid: int
    digest: str
    processor_seconds: float


@dataclass
class Watch:
    """Looks at a run's folder again and again.

    Attributes:
        folder: the run's files.
        finished: all results so far, in the order in which they were seen.
        progress: as last written; None before.
        events: as last written.
    """

    folder: Path
    finished: list[Finished] = field(default_factory=list)
    progress: Progress | None = None
    events: list[dict[str, Any]] = field(default_factory=list)
    _stamps: dict[str, int] = field(default_factory=dict)
    _receipts: dict[str, dict[str, Any]] = field(default_factory=dict)
    _written: int = 0
    _spent: dict[int, float] = field(default_factory=dict)
    _settled: dict[int, float] = field(default_factory=dict)
    _audits: int = 0

    def look(self) -> None:
        """Take in what is new."""
        self._look_at_progress()
        for worker in self.workers:
            spent = processor_seconds(worker.pid)
            if spent is not None:
                self._spent[worker.pid] = spent
                self._settled.setdefault(worker.pid, spent)
        for finished in self._news():
            self.finished.append(finished)
            self._settled[finished.pid] = self._spent.get(finished.pid, 0.0)
        self._settle_audits()

    def _news(self) -> Iterator[Finished]:
        for path in _whole_files(self.folder / "units"):
            try:
                stamp = path.stat().st_mtime_ns
                if self._stamps.get(path.name) == stamp:
                    continue
                file = decode(path.read_bytes(), where=path.name)
            except (FileNotFoundError, CorruptFileError):  # discarded, or damaged by us
                continue
            self._stamps[path.name] = stamp
            receipt = file.provenance
            known = self._receipts.get(path.name)
            self._receipts[path.name] = receipt
            if receipt == known:  # seen when it was not quite written
                continue
            yield Finished(
                unit=path.stem,
                seen=time.monotonic(),
                worker=receipt["worker"],
                pid=receipt["pid"],
                digest=file.digest,
                processor_seconds=receipt["processor_seconds"] or 0.0,
            )

    def _look_at_progress(self) -> None:
        path = self.folder / "progress.json"
        try:
            stamp = path.stat().st_mtime_ns
            if stamp == self._written:
                return
            self.progress = Progress.model_validate_json(path.read_bytes())
            lines = (self.folder / "events.jsonl").read_text().splitlines()
        except FileNotFoundError:
            return
        self.events = [json.loads(line) for line in lines]
        self._written = stamp

    def _settle_audits(self) -> None:
        """What a worker has spent until an audit was told was not in vain."""
        audits = [event["worker"] for event in self.events if event["event"] == "audited"]
        pids = {worker.name: worker.pid for worker in self.workers}
        for name in audits[self._audits :]:
            if name in pids:
                self._settled[pids[name]] = self._spent.get(pids[name], 0.0)
        self._audits = len(audits)

    # --- what is asked ----------------------------------------------------------------------------

    @property
    def workers(self) -> Any:
        """The workers of the run, as last told."""
        return () if self.progress is None else self.progress.workers

    @property
    def living(self) -> list[Any]:
        """The workers whose process is there."""
        return [worker for worker in self.workers if not is_gone(worker.pid)]

    @property
    def written(self) -> float:
        """When the progress was last written, by the clock of the disk, in seconds since 1970."""
        return self._written / 1e9

    @property
    def done(self) -> set[str]:
        """The names of the units with a file now."""
        return {path.stem for path in _whole_files(self.folder / "units")}

    @property
    def units(self) -> list[str]:
        """The names of all units of the plan; none before there is one."""
        return [path.stem for path in _whole_files(self.folder / "input")]

    @property
    def share(self) -> float:
        """How many of all units are finished, from 0 to 1."""
        total = len(self.units)
        return len(self.done) / total if total else 0.0

    def since(self, moment: float) -> list[Finished]:
        """The results that were seen after a moment of the monotonic clock."""
        return [each for each in self.finished if each.seen > moment]

    def in_flight(self) -> set[str]:
        """The units that workers have, as last told."""
        return {unit for worker in self.workers for unit in worker.in_flight}

    def lost_seconds(self, pids: list[int]) -> float:
        """What these processes had spent since they last finished something."""
        return sum(self._spent[pid] - self._settled[pid] for pid in pids if pid in self._spent)


def _whole_files(folder: Path) -> list[Path]:
    """The units' files, by name; one that is being written has a name that begins with a dot."""
    return sorted(path for path in folder.glob("*.zst") if not path.name.startswith("."))
