"""What the page reads of a store, each thing at most once a second or so."""

import re
import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

from plymill.cluster import (
    ArrowFiles,
    CorruptFileError,
    Plan,
    RunInfo,
    RunNotFoundError,
    RunStore,
)
from plymill.cluster.runs import info_of
from plymill.cluster.sending.submit import is_cancelled, owner_of
from plymill.cluster.storage.store import ARTIFACTS, RUN_NAME
from plymill.web.inside import InsideFiles
from plymill.web.memo import Memo
from plymill.web.sound import (
    is_figure,
    mapping_of,
    plain_of,
    sound_plan,
    sound_receipts,
    sound_run,
)

#: States in which a run is being worked on.
UNDER_WAY = ("planning", "solving", "finishing")

_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_LIVE, _ENDED = 1.0, 10.0  # seconds for which what was read is good
_READERS = 8
_MOST_RUNS = 1000  # or as many as there are

Item = TypeVar("Item")
Found = TypeVar("Found")


class StoreReader:
    """The runs of a store.

    Args:
        url: the store.
        clock: seconds since 1970.

    Raises:
        StoreError: the store cannot be opened.
    """

    def __init__(self, url: str, clock: Callable[[], float] = time.time) -> None:
        self.files = InsideFiles(ArrowFiles(url))
        self.clock = clock
        self._names: Memo[str, list[str]] = Memo(1)
        self._known: frozenset[str] = frozenset()  # those of them that are runs for certain
        self._runs: Memo[str, RunInfo] = Memo(_MOST_RUNS)
        self._owners: Memo[str, str | None] = Memo(_MOST_RUNS)
        self._cancelled: Memo[str, bool] = Memo(_MOST_RUNS)
        self._plans: Memo[str, Plan | None] = Memo(16)
        self._receipts: Memo[str, list[dict[str, Any]] | None] = Memo(4)
        self._events: Memo[str, list[dict[str, Any]]] = Memo(16)
        self._audited: Memo[str, frozenset[str]] = Memo(16)

    def names(self) -> list[str]:
        """The runs that there are."""
        return self._names.get("", self._read_names, lambda _: _LIVE)

    def runs(self) -> list[RunInfo]:
        """All runs, the one that was heard of last first; without their provenance."""
        found = [run for run in side_by_side(self._run_or_none, self.names()) if run is not None]
        return sorted(found, key=lambda run: run.progress.updated if run.progress else 0.0)[::-1]

    def run(self, run_id: str) -> RunInfo:
        """One run, without its provenance; its spec is empty if it was altered.

        Raises:
            RunNotFoundError: there is no such run.
        """
        return self._runs.get(run_id, lambda: self._read_run(run_id), _freshness)

    def store(self, run_id: str) -> RunStore:
        """The files of a run.

        Raises:
            RunNotFoundError: the name is no run's, or leads out of the store.
        """
        try:
            if RUN_NAME.fullmatch(run_id):
                return RunStore(self.files, run_id)
        except FileNotFoundError:
            pass
        raise RunNotFoundError("There is no such run in the store.")

    def plan(self, run_id: str) -> Plan | None:
        """The units of a run, as far as it is planned."""
        run = self.run(run_id)
        store = self.store(run_id)
        return self._of_run(self._plans, run, lambda: sound_plan(store.read_plan()))

    def receipts(self, run_id: str) -> list[dict[str, Any]] | None:
        """Who computed which unit of the plan; None until the run is finished."""
        run = self.run(run_id)
        plan = self.plan(run_id)
        if run.manifest is None or plan is None:
            return None
        store, count = self.store(run_id), len(plan.units)

        def read() -> list[dict[str, Any]] | None:
            found = sound_receipts(store.read_json("provenance.json"))
            return found and [receipt for receipt in found if receipt["unit"] < count]

        return self._of_run(self._receipts, run, read)

    def events(self, run_id: str) -> list[dict[str, Any]]:
        """What happened, in the order in which it did."""
        run = self.run(run_id)
        store = self.store(run_id)
        return self._of_run(self._events, run, lambda: plain_of(store.read_events()))

    def audited(self, run_id: str) -> frozenset[str]:
        """The names of the units of which there is a second opinion."""
        files = self.store(run_id).files

        def read() -> frozenset[str]:
            return frozenset(name.removesuffix(".json") for name in files.list("audits"))

        return self._of_run(self._audited, self.run(run_id), read)

    def owner(self, run_id: str) -> str | None:
        """Who submitted the run, if that is known."""
        return self._owners.get(
            run_id, lambda: plain_of(owner_of(self.store(run_id))), lambda _: _ENDED
        )

    def files_of(self, run_id: str) -> InsideFiles:
        """The files of a run, to be read piece by piece.

        Raises:
            RunNotFoundError: the name is no run's, or leads out of the store.
        """
        self.store(run_id)
        return self.files.sub(run_id)

    def state(self, run: RunInfo) -> str:
        """The state of a run: that of `RunInfo`, or ``cancelled`` if nobody wants it any more."""
        if run.state not in ("interrupted", "failed"):
            return run.state
        store = self.store(run.run_id)
        unwanted = self._of_run(self._cancelled, run, lambda: is_cancelled(store))
        return "cancelled" if unwanted else run.state

    def artifact(self, run_id: str, name: str) -> Mapping[str, Any]:
        """Size and digest of an artefact, as the manifest names it.

        Raises:
            RunNotFoundError: the run has no such artefact.
        """
        files = (self.run(run_id).manifest or {}).get("files", {})
        if name not in files:
            raise RunNotFoundError("The run has no such artefact.")
        return dict(files[name])

    def _run_or_none(self, run_id: str) -> RunInfo | None:
        try:
            return self.run(run_id)
        except RunNotFoundError:  # it was deleted meanwhile
            return None

    def _read_names(self) -> list[str]:
        """Names that are new are asked about; a run stays one until it is listed no more.

        One thread at a time is here: the others wait for what it finds.
        """
        names = [name for name in self.files.list("") if RUN_NAME.fullmatch(name)]
        new = [name for name in names if name not in self._known]
        there = side_by_side(lambda name: self.files.exists(f"{name}/spec.json"), new)
        fresh = {name for name, is_run in zip(new, there, strict=True) if is_run}
        self._known = self._known.intersection(names) | fresh
        of_each: tuple[Memo[str, Any], ...] = (self._runs, self._owners, self._cancelled)
        for memo in of_each:
            memo.hold(len(self._known))
        return [name for name in names if name in self._known]

    def _of_run(self, memo: Memo[str, Found], run: RunInfo, read: Callable[[], Found]) -> Found:
        return memo.get(run.run_id, read, lambda _: _freshness(run), version_of(run))

    def _read_run(self, run_id: str) -> RunInfo:
        store = self.store(run_id)
        try:
            return _sound(info_of(store, store.read_spec(), provenance=False))
        except FileNotFoundError:
            self.files.require_there()
            raise RunNotFoundError("There is no such run in the store.") from None
        except CorruptFileError:
            return _sound(info_of(store, {}, provenance=False))


def side_by_side(function: Callable[[Item], Found], items: Iterable[Item]) -> list[Found]:
    """What a function finds for each item, several at a time: each may wait for the store."""
    with ThreadPoolExecutor(_READERS) as pool:
        return list(pool.map(function, items))


def version_of(run: RunInfo) -> Hashable:
    """What tells the files of a run that has ended from those that it had before it was resumed.

    Those of a run under way change all the time, and are good for a moment in any case.
    """
    if run.state in UNDER_WAY:
        return "under way"
    updated = None if run.progress is None else run.progress.updated
    return run.state, updated, run.manifest is None


def artifact_path(name: str) -> str:
    """Where an artefact is among the files of its run."""
    return f"{ARTIFACTS}/{name}"


def _sound(run: RunInfo) -> RunInfo:
    """The run as far as it can be shown.

    That is without entries of its manifest that name no file of the artefacts' folder.
    """
    run = sound_run(run)
    if run.manifest is None:
        return run
    files = mapping_of(run.manifest.get("files"))
    good = {
        name: {"bytes": entry["bytes"], "sha256": entry["sha256"]}
        for name, entry in files.items()
        if _FILE.fullmatch(name) and _is_entry(entry)
    }
    return replace(run, manifest=run.manifest | {"files": good})


def _is_entry(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("bytes"), int)
        and is_figure(entry["bytes"])
        and isinstance(entry.get("sha256"), str)
        and _DIGEST.fullmatch(entry["sha256"]) is not None
    )


def _freshness(run: RunInfo) -> float:
    return _LIVE if run.state in UNDER_WAY else _ENDED
