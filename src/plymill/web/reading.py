"""What the page reads of a store, each thing at most once a second or so."""

import re
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from plymill.cluster import ArrowFiles, CorruptFileError, Plan, RunInfo, RunNotFoundError, RunStore
from plymill.cluster.runs import info_of
from plymill.cluster.sending.submit import is_cancelled, owner_of
from plymill.cluster.storage.store import ARTIFACTS
from plymill.web.inside import InsideFiles
from plymill.web.memo import Memo

#: States in which a run is being worked on.
UNDER_WAY = ("planning", "solving", "finishing")

_RUN = re.compile(r"[a-z][a-z0-9]{0,30}-[0-9a-f]{12}", re.ASCII)
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_LIVE, _ENDED = 1.0, 10.0  # seconds for which what was read is good
_READERS = 8
_MOST_RUNS = 1000


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
        self._runs: Memo[str, RunInfo] = Memo(_MOST_RUNS)
        self._owners: Memo[str, str | None] = Memo(_MOST_RUNS)
        self._plans: Memo[str, Plan | None] = Memo(16)
        self._provenance: Memo[str, dict[str, Any] | None] = Memo(4)
        self._events: Memo[str, list[dict[str, Any]]] = Memo(16)

    def names(self) -> list[str]:
        """The runs that there are."""
        return self._names.get("", self._read_names, lambda _: _LIVE)

    def runs(self) -> list[RunInfo]:
        """All runs, the one that was heard of last first; without their provenance."""
        with ThreadPoolExecutor(_READERS) as pool:
            found = [run for run in pool.map(self._run_or_none, self.names()) if run is not None]
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
            if _RUN.fullmatch(run_id):
                return RunStore(self.files, run_id)
        except FileNotFoundError:
            pass
        raise RunNotFoundError("There is no such run in the store.")

    def plan(self, run_id: str) -> Plan | None:
        """The units of a run, as far as it is planned."""
        run = self.run(run_id)
        return self._plans.get(run_id, self.store(run_id).read_plan, lambda _: _freshness(run))

    def provenance(self, run_id: str) -> dict[str, Any] | None:
        """Who computed what; None until the run is finished."""
        run = self.run(run_id)
        if run.manifest is None:
            return None
        store = self.store(run_id)
        return self._provenance.get(
            run_id, lambda: store.read_json("provenance.json"), lambda _: _freshness(run)
        )

    def events(self, run_id: str) -> list[dict[str, Any]]:
        """What happened, in the order in which it did."""
        run = self.run(run_id)
        return self._events.get(run_id, self.store(run_id).read_events, lambda _: _freshness(run))

    def owner(self, run_id: str) -> str | None:
        """Who submitted the run, if that is known."""
        return self._owners.get(run_id, lambda: owner_of(self.store(run_id)), lambda _: _ENDED)

    def files_of(self, run_id: str) -> InsideFiles:
        """The files of a run, to be read piece by piece.

        Raises:
            RunNotFoundError: the name is no run's, or leads out of the store.
        """
        self.store(run_id)
        return self.files.sub(run_id)

    def state(self, run_id: str) -> str:
        """The state of a run: that of `RunInfo`, or ``cancelled`` if nobody wants it any more."""
        state = self.run(run_id).state
        unwanted = state in ("interrupted", "failed") and is_cancelled(self.store(run_id))
        return "cancelled" if unwanted else state

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
        names = [name for name in self.files.list("") if _RUN.fullmatch(name)]
        return [name for name in names if self.files.exists(f"{name}/spec.json")]

    def _read_run(self, run_id: str) -> RunInfo:
        store = self.store(run_id)
        try:
            return _sound(info_of(store, store.read_spec(), provenance=False))
        except FileNotFoundError:
            raise RunNotFoundError("There is no such run in the store.") from None
        except CorruptFileError:
            return _sound(info_of(store, {}, provenance=False))


def artifact_path(name: str) -> str:
    """Where an artefact is among the files of its run."""
    return f"{ARTIFACTS}/{name}"


def _sound(run: RunInfo) -> RunInfo:
    """The run without entries of its manifest that name no file of the artefacts' folder."""
    if run.manifest is None:
        return run
    files = run.manifest.get("files")
    good = {
        name: {"bytes": entry["bytes"], "sha256": entry["sha256"]}
        for name, entry in (files.items() if isinstance(files, dict) else ())
        if _FILE.fullmatch(name) and _is_entry(entry)
    }
    return replace(run, manifest=run.manifest | {"files": good})


def _is_entry(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("bytes"), int)
        and isinstance(entry.get("sha256"), str)
        and _DIGEST.fullmatch(entry["sha256"]) is not None
    )


def _freshness(run: RunInfo) -> float:
    return _LIVE if run.state in UNDER_WAY else _ENDED
