"""Small JSON files: what was sealed comes back, what was altered does not."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plymill.cluster import CorruptFileError
from plymill.cluster.storage.sealed import read_object, sealed, unsealed

FIELDS = {"unit": 3, "digest": "ab", "files": {"x": {"bytes": 7}}, "rate": 0.25}
DATA = sealed(FIELDS)


def test_what_was_sealed_comes_back() -> None:
    assert unsealed(DATA, where="x") == FIELDS


@given(st.integers(0, len(DATA) * 8 - 1))
def test_a_flipped_bit_never_changes_what_is_read(bit: int) -> None:
    """Most are found; what is left is a blank between fields that is now another blank."""
    changed = bytearray(DATA)
    changed[bit // 8] ^= 1 << bit % 8
    with suppress(CorruptFileError):
        assert unsealed(bytes(changed), where="x") == FIELDS


def test_a_changed_value_is_refused_by_name() -> None:
    with pytest.raises(CorruptFileError, match=r"^x is cut short or altered: its digest does"):
        unsealed(DATA.replace(b"ab", b"ac"), where="x")


@given(st.integers(0, len(DATA) - 3))
def test_a_truncation_is_found(length: int) -> None:
    with pytest.raises(CorruptFileError):
        unsealed(DATA[:length], where="x")


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"5", b'"x"', b"null", b"\xff", b"[" * 100_000, b'{"a": 1} {}']
)
def test_what_is_no_json_object_is_none(data: bytes) -> None:
    assert read_object(data) is None
    with pytest.raises(CorruptFileError):
        unsealed(data, where="x")
