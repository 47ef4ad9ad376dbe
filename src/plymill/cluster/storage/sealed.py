"""Small JSON files that carry their own digest, so that what was altered is never believed.

A file is one JSON object; its field ``sha256`` is the digest of all other fields, written with
sorted keys and no blanks. People may read it, and a bit that flips in it is found.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from plymill.cluster.errors import CorruptFileError

SEAL = "sha256"


def sealed(fields: Mapping[str, Any]) -> bytes:
    """The bytes of a file with these fields."""
    text = json.dumps({**fields, SEAL: _digest(fields)}, sort_keys=True, indent=2)
    return f"{text}\n".encode()


def unsealed(data: bytes, *, where: str) -> dict[str, Any]:
    """The fields of a file, without the digest.

    Args:
        data: the whole file.
        where: the name to give it in an error.

    Raises:
        CorruptFileError: the file is no JSON object, or is not what its digest says.
    """
    fields = read_object(data)
    if fields is None or fields.pop(SEAL, None) != _digest(fields):
        raise CorruptFileError(f"{where} is cut short or altered: its digest does not match.")
    return fields


def read_object(data: bytes) -> dict[str, Any] | None:
    """The JSON object in these bytes, or None if they hold something else."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _digest(fields: Mapping[str, Any]) -> str:
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
