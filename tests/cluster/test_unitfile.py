"""The envelope of unit files: what goes in comes out, and nothing damaged is trusted."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from plymill.cluster import CorruptFileError
from plymill.cluster.storage.unitfile import arrays_digest, decode, encode

ARRAYS: dict[str, Any] = {
    "keys": np.arange(300, dtype=np.uint64),
    "scores": np.arange(300).astype(np.int8),
}


def sample(**changes: Any) -> bytes:
    fields: dict[str, Any] = {
        "run_id": "book-1",
        "unit": "00007",
        "arrays": ARRAYS,
        "input_digest": "abc",
        "provenance": {"host": "here"},
    }
    return encode(**(fields | changes))


arrays: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(["keys", "scores", "more"]),
    hnp.arrays(
        st.sampled_from([np.dtype(name) for name in ("uint64", "int8", "float32", ">i4")]),
        st.integers(0, 50),
        elements={"allow_nan": False},
    ),
    min_size=1,
)


@given(arrays)
def test_arrays_come_out_as_they_went_in(content: dict[str, Any]) -> None:
    file = decode(encode(run_id="r", unit="u", arrays=content), where="f")
    assert set(file.arrays) == set(content)
    for name, array in content.items():
        np.testing.assert_array_equal(file.arrays[name], array)
        assert file.arrays[name].dtype.itemsize == array.dtype.itemsize


def test_header_comes_out_as_it_went_in() -> None:
    file = decode(sample(), where="f")
    assert (file.run_id, file.unit, file.input_digest) == ("book-1", "00007", "abc")
    assert file.provenance == {"host": "here"}
    assert file.digest == arrays_digest(ARRAYS)


def test_the_digest_covers_the_result_and_nothing_else() -> None:
    one = decode(sample(), where="f")
    other = decode(sample(provenance={"host": "there"}, run_id="book-2"), where="f")
    assert one.digest == other.digest
    scores = ARRAYS["scores"].copy()
    scores[5] += 1
    assert arrays_digest(ARRAYS | {"scores": scores}) != one.digest
    assert arrays_digest({"a": ARRAYS["keys"]}) != arrays_digest({"b": ARRAYS["keys"]})


def test_the_digest_is_the_same_on_machines_of_either_byte_order() -> None:
    big = {"keys": ARRAYS["keys"].astype(">u8"), "scores": ARRAYS["scores"]}
    assert arrays_digest(big) == arrays_digest(ARRAYS)


@given(st.integers(0, len(sample()) * 8 - 1))
def test_any_flipped_bit_is_found(bit: int) -> None:
    data = bytearray(sample())
    data[bit // 8] ^= 1 << bit % 8
    with pytest.raises(CorruptFileError, match="units/7"):
        decode(bytes(data), where="units/7")


@given(st.integers(0, len(sample()) - 1))
def test_any_truncation_is_found(length: int) -> None:
    with pytest.raises(CorruptFileError, match="units/7"):
        decode(sample()[:length], where="units/7")


@pytest.mark.parametrize("data", [b"", b"hello", b"\x00" * 1000, b"PMU1" + b"\xff" * 100])
def test_a_foreign_file_is_refused(data: bytes) -> None:
    with pytest.raises(CorruptFileError):
        decode(data, where="units/7")
