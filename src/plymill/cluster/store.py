"""The store of a run: the only durable truth. One class owns every path.

::

    <store>/<run_id>/
      spec.json  plan.json            what was asked; the units and their input digests
      input/<unit>.zst                what the units read
      units/<unit>.zst                one finished unit each
      audits/<unit>.json              who solved the unit again, and the digest he got
      stages/<stage>.json             which finishing stages are done, and what they wrote
      progress.json  events.jsonl     rate, estimate, workers; what happened
      artifacts/                      what the person wanted, manifest.json, SHA256SUMS
      provenance.json  report.html    who computed what, when, how long; the page that shows all
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pydantic import ValidationError

from plymill.cluster import unitfile
from plymill.cluster.errors import CorruptFileError, StoreError
from plymill.cluster.files import ArrowFiles, Files
from plymill.cluster.plan import Plan, Unit
from plymill.cluster.spec import JobSpec

ARTIFACTS = "artifacts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What a worker returns for a unit whose result it has stored: a few hundred bytes.

    Attributes:
        unit: index of the unit.
        digest: digest of the result.
        worker: name of the worker that solved it.
        seconds: time that one thread spent on it.
        finished: when, in seconds since 1970.
        host: name of the machine.
        pid: process on that machine.
        counters: what the job counts, e.g. nodes searched.
    """

    unit: int
    digest: str
    worker: str
    seconds: float
    finished: float
    host: str
    pid: int
    counters: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """The second opinion on a unit, as it is stored."""

    unit: int
    digest: str
    worker: str


class RunStore:
    """The files of one run.

    Args:
        root: the store, which may hold many runs.
        run_id: the run.
    """

    def __init__(self, root: Files, run_id: str) -> None:
        self.run_id = run_id
        self.files = root.sub(run_id)

    @classmethod
    def open(cls, url: str, run_id: str) -> "RunStore":
        """The files of a run in the store at ``url``: a folder, ``s3://...`` or ``gs://...``."""
        return cls(ArrowFiles(url), run_id)

    @property
    def url(self) -> str:
        """Where the run's files are."""
        return self.files.url

    # --- spec and plan ----------------------------------------------------------------------------

    def write_spec(self, spec: JobSpec) -> None:
        """Store the spec, or check that the one stored is the same.

        Raises:
            StoreError: another spec has the same run id, or the stored one was altered.
        """
        text = spec.canonical_json
        try:
            stored = self.files.read("spec.json").decode()
        except FileNotFoundError:
            self.files.write("spec.json", text.encode())
            return
        if stored != text:
            raise StoreError(f"{self.url}/spec.json is not the spec of {self.run_id}.")

    def read_spec(self) -> dict[str, Any]:
        """The fields of the stored spec. Raises FileNotFoundError if the run is not there."""
        fields: dict[str, Any] = self._read_json("spec.json")
        return fields

    def write_plan(self, plan: Plan) -> None:
        """Publish the plan; all its inputs must be there already."""
        self.files.write("plan.json", plan.model_dump_json().encode())

    def read_plan(self) -> Plan | None:
        """The plan, or None if it is missing, altered or another run's: then it is made anew."""
        try:
            plan = Plan.model_validate_json(self.files.read("plan.json"))
        except (FileNotFoundError, ValidationError):
            return None
        return plan if plan.run_id == self.run_id else None

    # --- inputs, units, audits --------------------------------------------------------------------

    def write_input(self, unit: str, arrays: unitfile.Arrays) -> str:
        """Store what a unit reads; returns its digest."""
        data = unitfile.encode(run_id=self.run_id, unit=unit, arrays=arrays)
        self.files.write(self._input(unit), data)
        return unitfile.arrays_digest(arrays)

    def read_input(self, unit: Unit) -> dict[str, Any]:
        """The arrays that a unit reads.

        Raises:
            CorruptFileError: they are missing, damaged, or not those of the plan.
        """
        file = self._read_unit_file(self._input(unit.name), unit)
        if file.digest != unit.input_digest:
            raise CorruptFileError(f"{self._input(unit.name)} is not the input of the plan.")
        return file.arrays

    def write_unit(self, unit: Unit, arrays: unitfile.Arrays, receipt: Receipt) -> None:
        """Publish the result of a unit with its receipt."""
        data = unitfile.encode(
            run_id=self.run_id,
            unit=unit.name,
            arrays=arrays,
            input_digest=unit.input_digest,
            provenance=asdict(receipt),
        )
        self.files.write(self._unit(unit.name), data)

    def read_unit(self, unit: Unit) -> tuple[dict[str, Any], Receipt]:
        """The result of a unit and its receipt.

        Raises:
            FileNotFoundError: it is not finished.
            CorruptFileError: the file is damaged or belongs to something else.
        """
        path = self._unit(unit.name)
        file = self._read_unit_file(path, unit)
        if file.input_digest != unit.input_digest:
            raise CorruptFileError(f"{path} was computed from another input.")
        try:
            receipt = Receipt(**file.provenance)
        except TypeError as error:
            raise CorruptFileError(f"{path} has no proper receipt: {error}.") from error
        if receipt.unit != unit.index or receipt.digest != file.digest:
            raise CorruptFileError(f"{path} has the receipt of another result.")
        return file.arrays, receipt

    def finished_units(self) -> set[str]:
        """The names of the units that have a file, whatever is in it."""
        return {name.removesuffix(".zst") for name in self.files.list("units")}

    def discard_unit(self, unit: Unit) -> None:
        """Remove a unit's result, then its audit."""
        self.files.delete(self._unit(unit.name))
        self.files.delete(self._audit(unit.name))

    def write_audit(self, unit: Unit, record: AuditRecord) -> None:
        """Store the second opinion on a unit."""
        self.write_json(self._audit(unit.name), asdict(record))

    def read_audits(self, plan: Plan) -> list[AuditRecord]:
        """The second opinions that are stored and legible."""
        names = {name.removesuffix(".json") for name in self.files.list("audits")}
        records = []
        for unit in (plan.units[index] for index in plan.audited):
            if unit.name in names:
                try:
                    records.append(AuditRecord(**self._read_json(self._audit(unit.name))))
                except (ValueError, TypeError):
                    self.files.delete(self._audit(unit.name))
        return records

    # --- progress, events, artefacts --------------------------------------------------------------

    def write_json(self, path: str, value: Any) -> None:
        """Publish JSON that people may read: sorted keys, two blanks."""
        text = json.dumps(value, sort_keys=True, indent=2) + "\n"
        self.files.write(path, text.encode())

    def read_json(self, path: str) -> Any | None:
        """Published JSON, or None if it is missing or illegible."""
        try:
            return self._read_json(path)
        except (FileNotFoundError, ValueError):
            return None

    def write_events(self, events: Iterable[Mapping[str, Any]]) -> None:
        """Publish the whole list of events, one JSON object a line."""
        lines = [json.dumps(event, sort_keys=True) + "\n" for event in events]
        self.files.write("events.jsonl", "".join(lines).encode())

    def read_events(self) -> list[dict[str, Any]]:
        """All events so far; lines that are no JSON are left out."""
        try:
            text = self.files.read("events.jsonl").decode(errors="replace")
        except FileNotFoundError:
            return []
        events = []
        for line in text.splitlines():
            try:
                events.append(json.loads(line))
            except ValueError:
                continue
        return events

    def publish(self, path: str, data: bytes) -> dict[str, Any]:
        """Publish a file and return its ``{"sha256", "bytes"}``."""
        self.files.write(path, data)
        return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}

    def is_intact(self, path: str, sha256: str) -> bool:
        """Whether a published file is there with this digest."""
        try:
            return hashlib.sha256(self.files.read(path)).hexdigest() == sha256
        except FileNotFoundError:
            return False

    # --- paths ------------------------------------------------------------------------------------

    def _input(self, unit: str) -> str:
        return f"input/{unit}.zst"

    def _unit(self, unit: str) -> str:
        return f"units/{unit}.zst"

    def _audit(self, unit: str) -> str:
        return f"audits/{unit}.json"

    def _read_json(self, path: str) -> Any:
        return json.loads(self.files.read(path))

    def _read_unit_file(self, path: str, unit: Unit) -> unitfile.UnitFile:
        file = unitfile.decode(self.files.read(path), where=path)
        if (file.run_id, file.unit) != (self.run_id, unit.name):
            raise CorruptFileError(
                f"{path} belongs to unit {file.unit} of {file.run_id}, not to unit {unit.name} "
                f"of {self.run_id}."
            )
        return file
