"""The heavy things besides solving: preparing a run, making its plan longer, finishing it.

They run as tasks of the executor, not in the coordinator, and can be killed at any moment and
called again.
"""

import hashlib
import platform
import socket
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from plymill._version import __version__
from plymill.cluster.errors import CorruptFileError, RunFailedError, StoreError
from plymill.cluster.job import Job, Stage, StageContext
from plymill.cluster.plan import Plan, Round, Unit, results_digest
from plymill.cluster.storage.files import DISK_FULL
from plymill.cluster.storage.leftovers import scratch_folder, sweep_scratch
from plymill.cluster.storage.receipts import AuditRecord, Receipt
from plymill.cluster.storage.store import ARTIFACTS, PROVENANCE, RunStore

_READERS = 8
_LEGEND = {
    "seconds": "wall time of the unit in its thread, pauses for other programs included",
    "processor_seconds": "processor time of that thread: what the unit cost; null if not counted",
    "finished": "when, in seconds since 1970",
}


@dataclass(frozen=True, slots=True)
class Inventory:
    """What the store holds when a session starts, or when the plan was made longer.

    Attributes:
        plan: the plan of the run.
        receipts: of the units whose result is sound.
        audits: second opinions on those units.
        faults: one sentence for each file that is not sound; it will be made again.
        kept: how many units the plan shares with the one before; the rest tells of the others.
    """

    plan: Plan
    receipts: tuple[Receipt, ...]
    audits: tuple[AuditRecord, ...]
    faults: tuple[str, ...]
    kept: int = 0


def prepare(job: Job, store: RunStore) -> Inventory:
    """Make sure that there is a plan with sound inputs, and see which units are finished.

    What earlier sessions left half-written is removed.
    """
    store.files.sweep()
    sweep_scratch(store.run_id)
    plan = store.read_plan() or _plan(job, store)
    receipts, faults = _finished(store, plan.units)
    audits = _audits(store, plan, receipts)
    # Those of finished units, too: what follows from their results, and replays, read them.
    damaged = _damaged_inputs(store, plan.units)
    if damaged:
        plan = _plan(job, store)
        receipts, more = _finished(store, plan.units)  # the damaged thing may have been the plan
        audits = _audits(store, plan, receipts)
        faults = list(dict.fromkeys(faults + damaged + more))
    return Inventory(plan, tuple(receipts), tuple(audits), tuple(faults))


def extend(job: Job, store: RunStore, plan: Plan, digests: Sequence[str]) -> Inventory | None:
    """Let the job say what follows from the results of all units.

    Units that were made from results which have been replaced since, because their worker turned
    out not to be trusted, are dropped first, with their results. They are dropped before the
    plan is: whoever is killed in between finds out again.

    Args:
        job: the job.
        store: the run's files.
        plan: its plan; every unit has a result.
        digests: of these results, by index.

    Returns:
        The plan that follows, with what the store holds of the units that are new in it; None if
        nothing follows.
    """
    kept = plan.first(plan.standing(digests))
    for unit in plan.units[len(kept.units) :]:
        store.discard_unit(unit)
    longer = job.extend(store, kept)
    if longer is None and kept == plan:
        return None
    following = kept if longer is None else _next_round(kept, longer, digests)
    store.discard_stages()
    store.write_plan(following)
    count = len(kept.units)
    receipts, faults = _finished(store, following.units[count:])
    audits = _audits(store, following, receipts)
    return Inventory(following, tuple(receipts), tuple(audits), tuple(faults), count)


def _next_round(plan: Plan, longer: Plan, digests: Sequence[str]) -> Plan:
    """The longer plan, checked, with a note of the results that it was made from."""
    count = len(plan.units)
    if longer.first(count) != plan or len(longer.units) == count:
        raise ValueError("a longer plan begins with the units of the shorter one")
    basis = results_digest(digests[:count])
    rounds = (*plan.rounds, Round(units=count, basis=basis))
    return Plan.model_validate(longer.model_dump() | {"rounds": rounds})


def run_stage(job: Job, store: RunStore, plan: Plan, name: str) -> Mapping[str, Any]:
    """Carry out one finishing stage, unless its record and all its files are there already."""
    stage = next(stage for stage in job.stages if stage.name == name)
    record = store.read_sealed(_record(name))
    if record is not None and _is_intact(store, record):
        result: Mapping[str, Any] = record["result"]
        return result
    files: dict[str, Any] = {}

    def publish(path: str, data: bytes) -> None:
        files[path] = store.publish(f"{ARTIFACTS}/{path}", data)

    with scratch_folder(store.run_id) as scratch, _telling_where_it_is_full(scratch):
        context = StageContext(store, plan, scratch, _earlier(job, store, stage), publish)
        result = stage.run(context)
    store.write_sealed(_record(name), {"files": files, "result": result})
    return result


@contextmanager
def _telling_where_it_is_full(scratch: Path) -> Iterator[None]:
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        raise RunFailedError(
            f"The disk of {scratch.parent} on {socket.gethostname()} is full, where stages put "
            "their temporary files (TMPDIR names another place); make room and run the same "
            "command again, finished units are kept."
        ) from error


def seal(job: Job, store: RunStore, plan: Plan) -> None:
    """Write what describes the finished run: manifest, check sums, provenance and the page.

    The manifest and the check sums lie with the artefacts and are the same for equal runs; whatever
    may differ (times, hosts, who solved what) is in ``provenance.json`` and on the page only.
    """
    files = published_files(job, store)
    manifest = {
        "run_id": store.run_id,
        "spec": job.spec.model_dump(mode="json"),
        "plymill": __version__,
        "units": len(plan.first_attempts),
        plan.item: sum(unit.items for unit in plan.first_attempts),
        "stages": {stage.name: _stored(store, stage.name)["result"] for stage in job.stages},
        "files": files,
    }
    store.write_json(f"{ARTIFACTS}/manifest.json", manifest)
    digests = {path: entry["sha256"] for path, entry in files.items()}
    digests["manifest.json"] = hashlib.sha256(
        store.files.read(f"{ARTIFACTS}/manifest.json")
    ).hexdigest()
    lines = [f"{sha}  {path}\n" for path, sha in sorted(digests.items())]
    store.files.write(f"{ARTIFACTS}/SHA256SUMS", "".join(lines).encode())
    provenance = _provenance(store, plan)
    store.write_json("provenance.json", provenance)
    for name, data in job.provenance_files(store, plan).items():
        store.files.write(f"{PROVENANCE}/{name}", data)
    store.files.write("report.html", job.page(store, manifest, provenance).encode())


def published_files(job: Job, store: RunStore) -> dict[str, dict[str, Any]]:
    """``{path: {"sha256", "bytes"}}`` of all artefacts that the stages so far have published."""
    files: dict[str, dict[str, Any]] = {}
    for stage in job.stages:
        files.update(_stored(store, stage.name)["files"])
    return files


def _provenance(store: RunStore, plan: Plan) -> dict[str, Any]:
    with ThreadPoolExecutor(_READERS) as pool:
        receipts = list(pool.map(lambda unit: store.read_unit(unit)[1], plan.units))
    return {
        "run_id": store.run_id,
        "versions": {name: version(name) for name in ("ray", "numpy", "pyarrow", "zstandard")}
        | {"python": platform.python_version(), "plymill": __version__},
        "legend": _LEGEND,
        "units": [
            asdict(receipt) | {"name": plan.units[receipt.unit].name} for receipt in receipts
        ],
        "audits": [asdict(record) for record in store.read_audits(plan)],
        "events": store.read_events(),
    }


def _plan(job: Job, store: RunStore) -> Plan:
    plan = job.plan(store)
    store.write_plan(plan)
    return plan


def _finished(store: RunStore, units: Sequence[Unit]) -> tuple[list[Receipt], list[str]]:
    """The receipts of the units with a sound result, and a sentence for each other result."""
    there = store.finished_units()
    with ThreadPoolExecutor(_READERS) as pool:
        found = list(pool.map(lambda unit: _look(store, unit, there), units))
    receipts = [item for item in found if isinstance(item, Receipt)]
    return receipts, [item for item in found if isinstance(item, str)]


def _look(store: RunStore, unit: Unit, there: set[str]) -> Receipt | str | None:
    if unit.name not in there:
        return None
    try:
        return store.read_unit(unit)[1]
    except FileNotFoundError:
        return None
    except CorruptFileError as error:
        return str(error)


def _audits(store: RunStore, plan: Plan, receipts: Sequence[Receipt]) -> list[AuditRecord]:
    done = {receipt.unit for receipt in receipts}
    return [record for record in store.read_audits(plan) if record.unit in done]


def _damaged_inputs(store: RunStore, units: Sequence[Unit]) -> list[str]:
    """One sentence for each of these units whose input is not sound."""
    with ThreadPoolExecutor(_READERS) as pool:
        return [text for text in pool.map(lambda u: _input_fault(store, u), units) if text]


def _input_fault(store: RunStore, unit: Unit) -> str | None:
    try:
        store.read_input(unit)
    except CorruptFileError as error:
        return str(error)
    return None


def _earlier(job: Job, store: RunStore, stage: Stage) -> dict[str, Any]:
    results = {}
    for other in job.stages:
        if other.name == stage.name:
            break
        results[other.name] = _stored(store, other.name)["result"]
    return results


def _is_intact(store: RunStore, record: Mapping[str, Any]) -> bool:
    return all(
        store.is_intact(f"{ARTIFACTS}/{path}", entry["sha256"])
        for path, entry in record["files"].items()
    )


def _stored(store: RunStore, stage: str) -> dict[str, Any]:
    """The record of a stage that is done. Raises CorruptFileError if it is not there or damaged."""
    record = store.read_sealed(_record(stage))
    if record is None:
        raise CorruptFileError(
            f"{store.files.place(_record(stage))} is missing or altered, expected the record of "
            "a stage that is done; the same command again makes it anew."
        )
    return record


def _record(stage: str) -> str:
    return f"stages/{stage}.json"
