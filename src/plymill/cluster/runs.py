"""Looking at the runs of a store, and fetching what they made. Needs no cluster."""

import hashlib
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from plymill.cluster.errors import CorruptFileError, RunNotFoundError, StoreError, StoreFullError
from plymill.cluster.parallel import in_parallel
from plymill.cluster.progress import Progress
from plymill.cluster.storage.files import ArrowFiles
from plymill.cluster.storage.leftovers import sweep_files
from plymill.cluster.storage.sealed import read_object
from plymill.cluster.storage.store import ARTIFACTS, RunStore

_FETCHERS = 8
_SUMS = f"{ARTIFACTS}/SHA256SUMS"
_SUMS_LINE = re.compile(rb"([0-9a-f]{64})  ([A-Za-z0-9_][A-Za-z0-9_.-]*)")


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What a store tells about a run.

    Attributes:
        run_id: the run.
        spec: its spec's fields.
        progress: the figures last written; None before the first.
        manifest: the finished run's manifest; None until then, or if it was altered.
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
        if not self.spec:
            return "damaged"
        return "unknown" if self.progress is None else self.progress.state


def list_runs(store_url: str) -> list[RunInfo]:
    """All runs of a store, by name; folders that are no runs are left out.

    A run whose spec was altered is listed as ``damaged``, with no spec.
    """
    return [_listed(store_url, name) for name in _names(store_url)]


def _names(store_url: str) -> list[str]:
    root = ArrowFiles(store_url)
    return [name for name in root.list("") if root.exists(f"{name}/spec.json")]


def _listed(store_url: str, run_id: str) -> RunInfo:
    try:
        return load_run(store_url, run_id)
    except CorruptFileError:
        return info_of(RunStore.open(store_url, run_id), {})


def load_run(store_url: str, run_id: str) -> RunInfo:
    """One run of a store.

    Raises:
        RunNotFoundError: there is no such run; the sentence names those that there are.
        CorruptFileError: its spec was altered.
    """
    store = RunStore.open(store_url, run_id)
    try:
        return info_of(store, store.read_spec())
    except FileNotFoundError:
        known = _names(store_url)
    there = f"it holds {', '.join(known)}" if known else "it holds no runs"
    raise RunNotFoundError(f"There is no run '{run_id}' in {store_url}; {there}.")


def info_of(store: RunStore, spec: dict[str, Any], *, provenance: bool = True) -> RunInfo:
    """What the files of a run tell, but for its spec.

    Args:
        store: the run's files.
        spec: the fields of its spec; none if it was altered.
        provenance: read who computed what as well, which may be megabytes.
    """
    return RunInfo(
        run_id=store.run_id,
        spec=spec,
        progress=_progress(store),
        manifest=_manifest(store),
        provenance=store.read_json("provenance.json") if provenance else None,
    )


def download(
    store_url: str,
    run_id: str,
    destination: str | Path,
    *,
    on_file: Callable[[str, int], None] = lambda name, size: None,
    on_kept: Callable[[str, int], None] = lambda name, size: None,
) -> list[Path]:
    """Fetch the artefacts of a finished run, several at a time, each checked.

    A file that is there already with the right digest is not fetched again.

    Args:
        store_url: the store.
        run_id: the run.
        destination: a folder, made if need be.
        on_file: called with the name and size of each file once it is fetched.
        on_kept: called with those of each file that was there already.

    Raises:
        RunNotFoundError: there is no such run, or it has no artefacts yet.
        CorruptFileError: ``SHA256SUMS`` was altered, or a file is not what it says.
        StoreError: the destination cannot be written, or is no folder of this machine.
    """
    if "://" in str(destination):
        raise StoreError(f"{destination} is no folder of this machine, expected one.")
    load_run(store_url, run_id)
    store = RunStore.open(store_url, run_id)
    try:
        sums = store.files.read(_SUMS)
    except FileNotFoundError:
        raise RunNotFoundError(
            f"Run {run_id} in {store_url} is not finished: it has no artefacts yet. "
            f"'plymill status {run_id} --store {shlex.quote(store_url)}' tells how far it is."
        ) from None
    digests = _parse_sums(sums, where=store.files.place(_SUMS))
    target = ArrowFiles(str(destination))
    sweep_files(Path(destination))

    def fetch(name: str) -> Path:
        kept = _size_there(target, name, digests[name])
        if kept is None:
            on_file(name, _fetch(store, target, name, digests[name]))
        else:
            on_kept(name, kept)
        return Path(destination) / name

    try:
        paths = in_parallel(fetch, sorted(digests), threads=_FETCHERS)
        target.write("SHA256SUMS", sums)
    except StoreFullError:
        raise StoreFullError(
            f"There is no more room in {destination}; make some, and give the same command again: "
            "what is there already is kept."
        ) from None
    return [*paths, Path(destination) / "SHA256SUMS"]


def _size_there(target: ArrowFiles, name: str, digest: str) -> int | None:
    """The size of a file that is there already; None if there is none with this digest."""
    if not target.exists(name):
        return None
    there = target.read(name)
    return len(there) if hashlib.sha256(there).hexdigest() == digest else None


def _fetch(store: RunStore, target: ArrowFiles, name: str, digest: str) -> int:
    path = f"{ARTIFACTS}/{name}"
    try:
        data = store.files.read(path)
    except FileNotFoundError:
        raise CorruptFileError(
            f"{store.files.place(path)} is missing, though SHA256SUMS names it."
        ) from None
    if hashlib.sha256(data).hexdigest() != digest:
        raise CorruptFileError(f"{store.files.place(path)} is not what SHA256SUMS says.")
    target.write(name, data)
    return len(data)


def _parse_sums(data: bytes, *, where: str) -> dict[str, str]:
    """The digests by name; a name with a slash would lead out of the folder of the artefacts."""
    lines = [_SUMS_LINE.fullmatch(line) for line in data.splitlines()]
    found = {line[2].decode(): line[1].decode() for line in lines if line is not None}
    if not found or len(found) < len(lines):
        raise CorruptFileError(
            f"{where} is cut short or altered: expected lines of a SHA-256 digest and a name."
        )
    return found


def _manifest(store: RunStore) -> dict[str, Any] | None:
    """The manifest, if it is the one that ``SHA256SUMS`` names."""
    try:
        sums = _parse_sums(store.files.read(_SUMS), where=_SUMS)
        data = store.files.read(f"{ARTIFACTS}/manifest.json")
    except (FileNotFoundError, CorruptFileError):
        return None
    sound = sums.get("manifest.json") == hashlib.sha256(data).hexdigest()
    return read_object(data) if sound else None


def _progress(store: RunStore) -> Progress | None:
    fields = store.read_json("progress.json")
    try:
        return None if fields is None else Progress.model_validate(fields)
    except ValidationError:
        return None
