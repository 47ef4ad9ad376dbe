"""Whether nodes and driver see the same store; nodes are other folders here."""

from pathlib import Path

import pytest

from plymill.cluster import RunStore, StoreError
from plymill.cluster.probe import Answer, StoreProbe, answer, probing

NODE = "0123456789abcdef"


def test_a_shared_store_is_fine_and_left_as_it_was(tmp_path: Path) -> None:
    store = RunStore.open(str(tmp_path), "book-1")
    with probing(store) as probe:
        assert probe.fault(NODE, answer(probe.parcel, NODE)) == ""
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_node_with_a_store_of_its_own_is_named(tmp_path: Path) -> None:
    here = StoreProbe(RunStore.open(str(tmp_path / "here"), "book-1"))
    there = StoreProbe(RunStore.open(str(tmp_path / "there"), "book-1"))
    here.begin()
    parcel = (there.parcel[0], *here.parcel[1:])
    fault = here.fault(NODE, answer(parcel, NODE))
    assert fault.startswith("Node 01234567 (")
    assert f"cannot use the store {tmp_path}/here/book-1: what the driver writes is not" in fault
    assert fault.endswith("expected a store that all nodes read and write.")


def test_a_node_that_writes_elsewhere_is_named(tmp_path: Path) -> None:
    probe = StoreProbe(RunStore.open(str(tmp_path), "book-1"))
    probe.begin()
    fault = probe.fault(NODE, Answer("b", 1))
    assert "Node 01234567 (b) writes to a store" in fault


def test_a_node_that_may_not_write_is_named(tmp_path: Path) -> None:
    store = RunStore.open(str(tmp_path), "book-1")
    probe = StoreProbe(store)
    probe.begin()
    folder = probe.parcel[1]
    (tmp_path / "book-1" / folder / NODE).mkdir()  # what is to be a file is a folder
    fault = probe.fault(NODE, answer(probe.parcel, NODE))
    assert "cannot use the store" in fault
    assert "Cannot write" in fault


def test_a_store_that_cannot_even_be_opened_there_is_a_fault_as_well(tmp_path: Path) -> None:
    found = answer((b"nonsense", "probe/x", "secret"), NODE)
    assert found.fault
    probe = StoreProbe(RunStore.open(str(tmp_path), "book-1"))
    assert "cannot use the store" in probe.fault(NODE, found)


def test_a_driver_that_cannot_write_says_so(tmp_path: Path) -> None:
    (tmp_path / "book-1").write_text("a file, no folder")
    with (
        pytest.raises(StoreError, match="Cannot write"),
        probing(RunStore.open(str(tmp_path), "book-1")),
    ):
        pass
