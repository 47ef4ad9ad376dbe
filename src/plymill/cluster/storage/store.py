"""The store of a run: the only durable truth. One class owns every path.

::

    <store>/<run_id>/
      spec.json  plan.json            what was asked; the units and their input digests
      input/<unit>.zst                what the units read
      units/<unit>.zst                one finished unit each
      audits/<unit>.json              who solved the unit again, and the digest he got
      stages/<stage>.json             which finishing stages are done, and what they wrote
      lease/                          which driver drives the run, see `leases`
      submission.json                 who sent it to a cluster, if anybody did
      progress.json  events.jsonl     rate, estimate, workers; what happened
      artifacts/                      what the person wanted, manifest.json, SHA256SUMS
      provenance.json  report.html    who computed what, when, how long; the page that shows all
      provenance/                     the same of each item, if the job tells it
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import asdict
from typing import Any

from pydantic import ValidationError

from plymill.cluster.errors import ConflictError, CorruptFileError, RunNotFoundError, StoreError
from plymill.cluster.plan import Plan, Unit
from plymill.cluster.spec import JobSpec, is_named_after
from plymill.cluster.storage import unitfile
from plymill.cluster.storage.files import ArrowFiles, Files
from plymill.cluster.storage.receipts import AuditRecord, Receipt
from plymill.cluster.storage.sealed import read_object, sealed, unsealed

ARTIFACTS = "artifacts"
PROVENANCE = "provenance"
_DETAILS = "details"
_ANEW = "resuming the run writes it anew"

# What a run can be called. Anything else, such as ``../x``, could lead out of the store.
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
# What it is called when a spec names it.
RUN_NAME = re.compile(r"[a-z][a-z0-9]{0,30}-[0-9a-f]{12}", re.ASCII)


class RunStore:
    """The files of one run.

    Args:
        root: the store, which may hold many runs.
        run_id: the run.

    Raises:
        RunNotFoundError: no run can have this name.
    """

    def __init__(self, root: Files, run_id: str) -> None:
        if not _RUN_ID.fullmatch(run_id):
            raise RunNotFoundError(
                f"'{run_id}' is not the name of a run, expected one such as book-1f0c2a3b4d5e."
            )
        self.run_id = run_id
        self.files = root.sub(run_id)

    def patient(self, seconds: float) -> "RunStore":
        """The same files, asked again for so many seconds while the store is away."""
        other = copy(self)
        other.files = self.files.patient(seconds)
        return other

    @classmethod
    def open(cls, url: str, run_id: str) -> "RunStore":
        """The files of a run in the store at ``url``: a folder, ``s3://...`` or ``gs://...``."""
        return cls(ArrowFiles(url), run_id)

    @property
    def url(self) -> str:
        """Where the run's files are."""
        return self.files.url

    def exists(self) -> bool:
        """Whether anybody has written down what the run is to do."""
        return self.files.exists("spec.json")

    def is_run(self) -> bool:
        """Whether this is the folder of a run, be it a damaged one, and nothing else."""
        signs = ("spec.json", "plan.json", "progress.json", "submission.json")
        named = RUN_NAME.fullmatch(self.run_id) is not None
        return named and any(map(self.files.exists, signs))

    # --- spec and plan ----------------------------------------------------------------------------

    def write_spec(self, spec: JobSpec) -> None:
        """Store the spec; one that is there and was altered is replaced.

        Raises:
            StoreError: another spec has the same run id.
        """
        text = spec.canonical_json.encode()
        try:
            stored = self.files.read("spec.json")
        except FileNotFoundError:
            stored = b""
        if stored == text:
            return
        if is_named_after(self.run_id, stored):
            raise StoreError(
                f"{self.files.place('spec.json')} is the spec of another job that has the "
                f"same name {self.run_id}; expected a store without it."
            )
        self.files.write("spec.json", text)

    def read_spec(self) -> dict[str, Any]:
        """The fields of the stored spec.

        Raises:
            FileNotFoundError: the run is not there.
            CorruptFileError: the file is not what the run's name stands for.
        """
        data = self.files.read("spec.json")
        fields = read_object(data) if is_named_after(self.run_id, data) else None
        if fields is None:
            raise CorruptFileError(
                f"{self.files.place('spec.json')} is altered: it is not the spec that the "
                "run is named after; starting the job again with its flags or file writes it anew."
            )
        return fields

    def write_plan(self, plan: Plan) -> None:
        """Publish the plan; all its inputs must be there already."""
        self.files.write("plan.json", sealed(plan.model_dump(mode="json")))

    def read_plan(self) -> Plan | None:
        """The plan, or None if it is missing, altered or another run's: then it is made anew."""
        try:
            return self.require_plan()
        except (FileNotFoundError, CorruptFileError):
            return None

    def require_plan(self) -> Plan:
        """The plan.

        Raises:
            FileNotFoundError: there is none yet.
            CorruptFileError: it is altered, or another run's.
        """
        place = self.files.place("plan.json")
        try:
            plan = Plan.model_validate(unsealed(self.files.read("plan.json"), where=place))
        except CorruptFileError as error:
            raise _to_be_made_anew(error) from None
        except ValidationError:
            raise CorruptFileError(f"{place} is not a plan of units; {_ANEW}.") from None
        if plan.run_id != self.run_id:
            raise CorruptFileError(f"{place} is the plan of run {plan.run_id}; {_ANEW}.")
        return plan

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
        place = self.files.place(self._input(unit.name))
        try:
            file = self._read_unit_file(self._input(unit.name), unit)
        except FileNotFoundError:
            raise CorruptFileError(f"{place} is missing; {_ANEW}.") from None
        except CorruptFileError as error:
            raise _to_be_made_anew(error) from None
        if file.digest != unit.input_digest:
            raise CorruptFileError(f"{place} is not the input of the plan; {_ANEW}.")
        return file.arrays

    def write_unit(
        self,
        unit: Unit,
        arrays: unitfile.Arrays,
        receipt: Receipt,
        *,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        """Publish the result of a unit with its receipt; the same result, if it is there, stays.

        No sound result is written over, so that a worker that is late, and whose unit another has
        done meanwhile, changes nothing.

        Args:
            unit: the unit.
            arrays: its result.
            receipt: who solved it, when, how long it took.
            details: the same of each item, as JSON.

        Raises:
            ConflictError: another result is there.
        """
        path = self._unit(unit.name)
        data = unitfile.encode(
            run_id=self.run_id,
            unit=unit.name,
            arrays=arrays,
            input_digest=unit.input_digest,
            provenance=asdict(receipt) | ({_DETAILS: dict(details)} if details else {}),
        )
        if self.files.add(path, data):
            return
        stored = self._digest_of_result(unit)
        if stored is None:  # damaged, or made of another input
            self.files.write(path, data)
        elif stored != receipt.digest:
            raise ConflictError(
                f"{self.files.place(path)} holds another result of unit {unit.name} than "
                f"{receipt.worker} has got; one of the two is wrong."
            )

    def read_unit(self, unit: Unit) -> tuple[dict[str, Any], Receipt]:
        """The result of a unit and its receipt.

        Raises:
            FileNotFoundError: it is not finished.
            CorruptFileError: the file is damaged or belongs to something else.
        """
        arrays, receipt, _ = self.read_unit_and_details(unit)
        return arrays, receipt

    def read_unit_and_details(self, unit: Unit) -> tuple[dict[str, Any], Receipt, dict[str, Any]]:
        """The result of a unit, its receipt, and what its worker told besides; as `read_unit`."""
        try:
            return self._read_result(unit)
        except CorruptFileError as error:
            raise _to_be_made_anew(error) from None

    def _read_result(self, unit: Unit) -> tuple[dict[str, Any], Receipt, dict[str, Any]]:
        path = self._unit(unit.name)
        file = self._read_unit_file(path, unit)
        place = self.files.place(path)
        if file.input_digest != unit.input_digest:
            raise CorruptFileError(f"{place} was computed from another input.")
        details = file.provenance.pop(_DETAILS, {})
        try:
            receipt = Receipt(**file.provenance)
        except TypeError as error:
            raise CorruptFileError(f"{place} has no proper receipt: {error}.") from error
        if receipt.unit != unit.index or receipt.digest != file.digest:
            raise CorruptFileError(f"{place} has the receipt of another result.")
        return file.arrays, receipt, details

    def _digest_of_result(self, unit: Unit) -> str | None:
        try:
            return self.read_unit(unit)[1].digest
        except (FileNotFoundError, CorruptFileError):
            return None

    def finished_units(self) -> set[str]:
        """The names of the units that have a file, whatever is in it."""
        return {name.removesuffix(".zst") for name in self.files.list("units")}

    def discard_unit(self, unit: Unit) -> None:
        """Remove a unit's result, then its audit; before them, what stages have made of them."""
        self.discard_stages()
        self.files.delete(self._unit(unit.name))
        self.files.delete(self._audit(unit.name))

    def discard_stages(self) -> None:
        """Let all finishing stages be done again: they were made of other results."""
        for record in self.files.list("stages"):
            self.files.delete(f"stages/{record}")

    def write_audit(self, unit: Unit, record: AuditRecord) -> None:
        """Store the second opinion on a unit."""
        self.write_sealed(self._audit(unit.name), asdict(record))

    def read_audits(self, plan: Plan) -> list[AuditRecord]:
        """The second opinions that are stored and sound; the others have to be given again."""
        names = {name.removesuffix(".json") for name in self.files.list("audits")}
        audited = (plan.units[index] for index in plan.audited)
        records = (self._read_audit(unit) for unit in audited if unit.name in names)
        return [record for record in records if record is not None]

    def _read_audit(self, unit: Unit) -> AuditRecord | None:
        fields = self.read_sealed(self._audit(unit.name))
        try:
            record = AuditRecord(**(fields or {}))
        except TypeError:
            return None
        return record if record.unit == unit.index else None

    # --- progress, events, artefacts --------------------------------------------------------------

    def write_json(self, path: str, value: Any) -> None:
        """Publish JSON that people may read: sorted keys, two blanks."""
        text = json.dumps(value, sort_keys=True, indent=2) + "\n"
        self.files.write(path, text.encode())

    def read_json(self, path: str) -> dict[str, Any] | None:
        """The fields of a published JSON object, or None if it is missing or illegible."""
        try:
            return read_object(self.files.read(path))
        except FileNotFoundError:
            return None

    def write_sealed(self, path: str, fields: Mapping[str, Any]) -> None:
        """Publish a JSON object with its digest, for what the result depends on."""
        self.files.write(path, sealed(fields))

    def read_sealed(self, path: str) -> dict[str, Any] | None:
        """The fields of such an object, or None if it is missing or altered."""
        try:
            return unsealed(self.files.read(path), where=self.files.place(path))
        except (FileNotFoundError, CorruptFileError):
            return None

    def write_events(self, events: Iterable[Mapping[str, Any]]) -> None:
        """Publish the whole list of events, one JSON object a line."""
        lines = [json.dumps(event, sort_keys=True) + "\n" for event in events]
        self.files.write("events.jsonl", "".join(lines).encode())

    def read_events(self) -> list[dict[str, Any]]:
        """All events so far; lines that are none are left out."""
        try:
            lines = self.files.read("events.jsonl").splitlines()
        except FileNotFoundError:
            return []
        return [
            event for event in map(read_object, lines) if event is not None and _is_event(event)
        ]

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

    def _read_unit_file(self, path: str, unit: Unit) -> unitfile.UnitFile:
        place = self.files.place(path)
        file = unitfile.decode(self.files.read(path), where=place)
        if (file.run_id, file.unit) != (self.run_id, unit.name):
            raise CorruptFileError(
                f"{place} belongs to unit {file.unit} of {file.run_id}, not to unit {unit.name} "
                f"of {self.run_id}."
            )
        return file


def _to_be_made_anew(error: CorruptFileError) -> CorruptFileError:
    return CorruptFileError(f"{str(error).removesuffix('.')}; {_ANEW}.")


def _is_event(event: Mapping[str, Any]) -> bool:
    return isinstance(event.get("event"), str) and isinstance(event.get("time"), int | float)
