"""The envelope of everything that a run computes or reads in units.

Layout, integers little-endian::

    bytes 0-3    magic "PMU1"
    bytes 4-7    length of the header, unsigned
    header       JSON: what the file belongs to, its arrays, the digest of the result, provenance
    payload      the arrays' bytes one after the other, as one zstd frame with checksum
    last 32      SHA-256 of all that comes before

The digest of the result covers the names, types, lengths and bytes of the arrays and nothing else:
two workers that solve the same unit get the same digest, whatever their speed, host or version of
zstd. Everything that may differ is in ``provenance``.
"""

import hashlib
import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import zstandard

from plymill.cluster.errors import CorruptFileError

MAGIC = b"PMU1"
LEVEL = 6
_PREFIX = struct.Struct("<4sI")
_SHA_BYTES = 32

Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class UnitFile:
    """One decoded file.

    Attributes:
        run_id: the run that it belongs to.
        unit: the unit's name.
        input_digest: SHA-256 of what the unit was computed from; empty for an input file.
        digest: SHA-256 of the arrays.
        arrays: the one-dimensional arrays by name.
        provenance: who computed it, when, how long: nothing that the result depends on.
    """

    run_id: str
    unit: str
    input_digest: str
    digest: str
    arrays: dict[str, npt.NDArray[Any]]
    provenance: dict[str, Any]


def arrays_digest(arrays: Arrays) -> str:
    """SHA-256 over the arrays in the order of their names."""
    sha = hashlib.sha256()
    for name in sorted(arrays):
        array = _little_endian(arrays[name])
        sha.update(f"{name} {array.dtype.str} {len(array)}\n".encode())
        sha.update(array.data)
    return sha.hexdigest()


def encode(
    *,
    run_id: str,
    unit: str,
    arrays: Arrays,
    input_digest: str = "",
    provenance: Mapping[str, Any] | None = None,
) -> bytes:
    """The bytes of a file."""
    ordered = {name: _little_endian(arrays[name]) for name in sorted(arrays)}
    header = {
        "run_id": run_id,
        "unit": unit,
        "input_digest": input_digest,
        "arrays": [[name, array.dtype.str, len(array)] for name, array in ordered.items()],
        "digest": arrays_digest(ordered),
        "provenance": dict(provenance or {}),
    }
    text = json.dumps(header, sort_keys=True).encode()
    payload = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compress(
        b"".join(array.tobytes() for array in ordered.values())
    )
    body = _PREFIX.pack(MAGIC, len(text)) + text + payload
    return body + hashlib.sha256(body).digest()


def decode(data: bytes, *, where: str) -> UnitFile:
    """Check and open the bytes of a file.

    Args:
        data: the whole file.
        where: the name to give it in an error.

    Raises:
        CorruptFileError: the file is cut short, altered, or no unit file at all.
    """
    if len(data) < _PREFIX.size + _SHA_BYTES or data[:4] != MAGIC:
        raise CorruptFileError(f"{where} is not a unit file ({len(data)} bytes).")
    body, sha = data[:-_SHA_BYTES], data[-_SHA_BYTES:]
    if hashlib.sha256(body).digest() != sha:
        raise CorruptFileError(f"{where} is cut short or altered: its checksum does not match.")
    try:
        return _open(body)
    except (ValueError, KeyError, TypeError, zstandard.ZstdError) as error:
        raise CorruptFileError(f"{where} does not hold what its header says: {error}.") from error


def _open(body: bytes) -> UnitFile:
    _, length = _PREFIX.unpack_from(body)
    header = json.loads(body[_PREFIX.size : _PREFIX.size + length])
    raw = zstandard.ZstdDecompressor().decompress(body[_PREFIX.size + length :])
    arrays: dict[str, npt.NDArray[Any]] = {}
    offset = 0
    for name, dtype, count in header["arrays"]:
        arrays[name] = np.frombuffer(raw, dtype=dtype, count=count, offset=offset)
        offset += arrays[name].nbytes
    if offset != len(raw) or arrays_digest(arrays) != header["digest"]:
        raise ValueError("the arrays have another digest")
    return UnitFile(
        run_id=header["run_id"],
        unit=header["unit"],
        input_digest=header["input_digest"],
        digest=header["digest"],
        arrays=arrays,
        provenance=header["provenance"],
    )


def _little_endian(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
