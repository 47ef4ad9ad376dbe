"""Looking at the runs of a store, and fetching what they made. Needs no cluster."""

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from plymill.cluster.errors import CorruptFileError, RunNotFoundError, StoreError
from plymill.cluster.files import ArrowFiles
from plymill.cluster.progress import Progress
from plymill.cluster.store import ARTIFACTS, RunStore

_FETCHERS = 8


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What a store tells about a run.

    Attributes:
        run_id: the run.
        spec: its spec's fields.
        progress: the figures last written; None before the first.
        manifest: the finished run's manifest; None until then.
        provenance: who computed what; None until the run is finished.
    """

    run_id: str
    spec: dict[str, Any]
    progress: Progress | None
    manifest: dict[str, Any] | None
    provenance: dict[str, Any] | None

    @property
    def state(self) -> str:
        """``done``, ``failed``, ``interrupted``, or the phase last reported."""
        return "unknown" if self.progress is None else self.progress.state


def list_runs(store_url: str) -> list[RunInfo]:
    """All runs of a store, by name; folders that are no runs are left out."""
    root = ArrowFiles(store_url)
    names = [name for name in root.list("") if root.exists(f"{name}/spec.json")]
    return [load_run(store_url, name) for name in names]


def load_run(store_url: str, run_id: str) -> RunInfo:
    """One run of a store.

    Raises:
        RunNotFoundError: there is no such run; the sentence names those that there are.
    """
    store = RunStore.open(store_url, run_id)
    spec = store.read_json("spec.json")
    if spec is None:
        root = ArrowFiles(store_url)
        known = [name for name in root.list("") if root.exists(f"{name}/spec.json")]
        there = f"it holds {', '.join(known)}" if known else "it holds no runs"
        raise RunNotFoundError(f"There is no run '{run_id}' in {store_url}; {there}.")
    return RunInfo(
        run_id=run_id,
        spec=spec,
        progress=_progress(store),
        manifest=store.read_json(f"{ARTIFACTS}/manifest.json"),
        provenance=store.read_json("provenance.json"),
    )


def download(
    store_url: str,
    run_id: str,
    destination: str | Path,
    *,
    on_file: Callable[[str, int], None] | None = None,
) -> list[Path]:
    """Fetch the artefacts of a finished run, several at a time, each checked.

    A file that is there already with the right digest is not fetched again.

    Args:
        store_url: the store.
        run_id: the run.
        destination: a folder, made if need be.
        on_file: called with the name and size of each file once it is there.

    Raises:
        RunNotFoundError: there is no such run, or it has no artefacts yet.
        CorruptFileError: a file of the store is not what ``SHA256SUMS`` says.
        StoreError: the destination cannot be written.
    """
    load_run(store_url, run_id)
    store = RunStore.open(store_url, run_id)
    try:
        sums = store.files.read(f"{ARTIFACTS}/SHA256SUMS")
    except FileNotFoundError:
        raise RunNotFoundError(
            f"Run {run_id} in {store_url} is not finished: it has no artefacts yet."
        ) from None
    target = ArrowFiles(str(destination))
    digests = dict(line.split("  ", 1)[::-1] for line in sums.decode().splitlines())

    def fetch(name: str) -> Path:
        size = _fetch(store, target, name, digests[name])
        if on_file is not None:
            on_file(name, size)
        return Path(destination) / name

    with ThreadPoolExecutor(_FETCHERS) as pool:
        paths = list(pool.map(fetch, sorted(digests)))
    target.write("SHA256SUMS", sums)
    return [*paths, Path(destination) / "SHA256SUMS"]


def _fetch(store: RunStore, target: ArrowFiles, name: str, digest: str) -> int:
    if not target.is_local:
        raise StoreError(f"{target.url} is no folder of this machine.")
    if target.exists(name):
        there = target.read(name)
        if hashlib.sha256(there).hexdigest() == digest:
            return len(there)
    data = store.files.read(f"{ARTIFACTS}/{name}")
    if hashlib.sha256(data).hexdigest() != digest:
        raise CorruptFileError(f"{store.url}/{ARTIFACTS}/{name} is not what SHA256SUMS says.")
    target.write(name, data)
    return len(data)


def _progress(store: RunStore) -> Progress | None:
    fields = store.read_json("progress.json")
    try:
        return None if fields is None else Progress.model_validate(fields)
    except ValidationError:
        return None
