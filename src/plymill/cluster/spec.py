"""What a person asks for (`JobSpec`) and how it is to be carried out (`RunOptions`).

A spec holds everything that the result depends on, and nothing else: its hash names the run,
so that submitting the same spec again resumes it. How many threads, how big a table and which
cluster are options; no result depends on them.
"""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from plymill.cluster.errors import SpecError
from plymill.cluster.spec_faults import first_fault
from plymill.errors import not_utf8, told
from plymill.texts import MIB, open_text

HASH_DIGITS = 12


class JobSpec(BaseModel):
    """Base of all kinds of job. Subclasses narrow ``kind`` to one literal and add their fields.

    Types are strict: a file that says ``ply = true`` or ``distances = "no"`` is refused.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    kind: str

    @model_validator(mode="before")
    @classmethod
    def _lists_are_tuples(cls, fields: Any) -> Any:
        """Files know lists only."""
        if not isinstance(fields, dict):
            return fields
        return {k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()}

    @property
    def canonical_json(self) -> str:
        """The spec as JSON with sorted keys and no blanks: equal specs give equal text."""
        return json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON, in hexadecimal."""
        return hashlib.sha256(self.canonical_json.encode()).hexdigest()

    @property
    def run_id(self) -> str:
        """The name of the run that this spec describes: ``<kind>-<first digits of the digest>``."""
        return f"{self.kind}-{self.digest[:HASH_DIGITS]}"

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any], *, where: str = "the job") -> Self:
        """Validate loose fields, as they come from flags or a file.

        Raises:
            SpecError: one sentence that names the first field at fault, its place and its value.
        """
        try:
            return cls.model_validate(dict(fields))
        except ValidationError as error:
            raise SpecError(f"{where}: {first_fault(error)}") from None

    @classmethod
    def from_toml(cls, path: str | Path, **overrides: Any) -> Self:
        """Read a TOML file whose top level holds the fields; ``overrides`` (flags) win.

        Raises:
            SpecError: the file is missing, is not TOML, or describes no valid job.
        """
        return cls.from_fields({**read_toml(path), **overrides}, where=str(path))


def is_named_after(run_id: str, data: bytes) -> bool:
    """Whether these bytes are the canonical JSON of the spec that the run is named after."""
    return run_id.endswith(f"-{hashlib.sha256(data).hexdigest()[:HASH_DIGITS]}")


class RunOptions(BaseModel):
    """How a run is carried out. None of it can change what comes out.

    Attributes:
        threads: solving threads on each node; all of the node's processors when None.
        table_mb: transposition table of each node, in megabytes; chosen by the job when None.
        report_every: seconds between two writes of ``progress.json``.
        weight: the run's share of a cluster, compared with other runs there.
        allow_insecure: join a cluster that asks for no token.
        log_file: where the driver logs, one JSON object a line; beside Ray's logs when None.
        log_level: debug tells every unit, info what happens, warning what a person should know.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    threads: int | None = Field(default=None, ge=1)
    table_mb: int | None = Field(default=None, ge=1)
    report_every: float = Field(default=5.0, gt=0)
    weight: float = Field(default=1.0, gt=0, le=1000)
    allow_insecure: bool = False
    log_file: Path | None = None
    log_level: Literal["debug", "info", "warning"] = "info"


def read_toml(path: str | Path) -> dict[str, Any]:
    """The top level of a TOML file, which may begin with a byte order mark.

    Raises:
        SpecError: the file cannot be read, is empty, or is not TOML in UTF-8.
    """
    try:
        text = open_text(path, most=MIB).read()
        fields = tomllib.loads(text)
    except RecursionError:
        raise SpecError(f"{path}: expected a TOML file, but it is nested too deeply.") from None
    except OSError as error:
        raise SpecError(f"{path}: cannot read the job file: {told(error)}.") from None
    except UnicodeDecodeError as error:
        raise SpecError(f"{path}: expected a TOML file {not_utf8(error)}.") from None
    except ValueError as error:  # tomllib's own; or an integer of more digits than Python reads
        raise SpecError(f"{path}: expected a TOML file, but {_lower_first(str(error))}.") from None
    if not fields:
        raise SpecError(f"{path} is empty, expected the fields of a job, such as ply = 12.")
    return fields


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
