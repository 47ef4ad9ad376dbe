"""Sending runs to a cluster: names, what is shipped, where drivers go. The cluster is a fake."""

import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from plymill.cluster import ClusterError, MemoryFiles, RunOptions, RunStore, SpecError, StoreError
from plymill.cluster.sending import wheels as wheels_module
from plymill.cluster.sending.look import ClusterLook, driver_labels, driver_python
from plymill.cluster.sending.look_script import describe, is_there
from plymill.cluster.sending.submissions import Submission, next_name, require_attempt
from plymill.cluster.sending.submit import (
    Sent,
    Shipment,
    cancel,
    delete_run,
    is_cancelled,
    note_owner,
    owner_of,
    read_order,
    submit,
    take_up,
)
from plymill.cluster.sending.wheels import Wheel, installed_wheel, misfit, open_wheel, require_fit
from tests.cluster.conftest import SquaresSpec
from tests.cluster.fake_jobs import PYTHON, FakeJobs, node

SPEC = SquaresSpec(count=20)
RUN = SPEC.run_id
STORE = "s3://bucket/runs"


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A small wheel of plymill for the fake's nodes."""
    return make_wheel(tmp_path / "plymill-0.1.0-cp311-cp311-manylinux_2_28_x86_64.whl")


def make_wheel(path: Path, requires: tuple[str, ...] = ("zstandard>=0.22", "ray>=2.59")) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("plymill/__init__.py", "")
        archive.writestr("plymill/solver/search.so", "machine code")
        lines = ["Name: plymill", *(f"Requires-Dist: {r}" for r in requires)]
        lines.append('Requires-Dist: pytest>=8; extra == "test"')
        archive.writestr("plymill-0.1.0.dist-info/METADATA", "\n".join(lines))
    return path


def send(jobs: FakeJobs, wheel: Path, store: str = STORE, **fields: Any) -> Sent:
    options = RunOptions(weight=2.0, threads=3)
    shipment = Shipment(owner="ann", wheel=wheel, **fields)
    return submit(jobs, SPEC, store, options=options, shipment=shipment)


# --- names ----------------------------------------------------------------------------------------


def test_sending_twice_is_harmless(wheel: Path) -> None:
    jobs = FakeJobs()
    assert send(jobs, wheel) == Sent(RUN, new=True)
    assert send(jobs, wheel) == Sent(RUN, new=False)
    assert len(jobs.orders) == 1
    assert jobs.looks == 1, "a run that runs is not looked into"


def test_what_has_ended_is_tried_again_under_another_name(wheel: Path) -> None:
    jobs = FakeJobs()
    for attempt in (RUN, f"{RUN}-2", f"{RUN}-3"):
        assert send(jobs, wheel) == Sent(attempt, new=True)
        jobs.end(attempt, "FAILED")
    assert require_attempt(jobs, RUN).name == f"{RUN}-3"


def test_two_people_at_the_same_moment_start_one_driver(
    wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = FakeJobs()
    send(jobs, wheel)
    monkeypatch.setattr(jobs, "submissions", list)  # as it was a moment ago
    assert send(jobs, wheel) == Sent(RUN, new=False)


def test_the_same_run_for_another_store_is_told_apart(wheel: Path) -> None:
    jobs = FakeJobs()
    send(jobs, wheel)
    with pytest.raises(StoreError, match=f"already, for the store {STORE}; expected that one"):
        send(jobs, wheel, "s3://other/runs")


@pytest.mark.parametrize(
    ("names", "expected"),
    [([], "r-1a"), (["r-1a"], "r-1a-2"), (["r-1a", "r-1a-2", "r-1a-10"], "r-1a-11")],
)
def test_names_count_up(names: list[str], expected: str) -> None:
    earlier = [Submission(name=name, run_id="r-1a", status="FAILED") for name in names]
    assert next_name(earlier, "r-1a") == expected


def test_a_run_that_the_cluster_does_not_know_is_told_with_those_that_it_knows(
    wheel: Path,
) -> None:
    jobs = FakeJobs()
    with pytest.raises(ClusterError, match="knows no run 'x'; it knows no runs of plymill"):
        require_attempt(jobs, "x")
    send(jobs, wheel)
    with pytest.raises(ClusterError, match=f"knows no run 'x'; it knows {RUN}"):
        require_attempt(jobs, "x")


# --- what is sent ---------------------------------------------------------------------------------


def test_the_order_holds_spec_store_and_options_by_value(wheel: Path, tmp_path: Path) -> None:
    import json

    jobs = FakeJobs()
    send(jobs, wheel, environment={"AWS_ENDPOINT_URL": "http://s3"})
    (order,) = jobs.orders
    assert order.entrypoint == f"exec {PYTHON} -m plymill run drive job.json"
    assert order.environment == {"AWS_ENDPOINT_URL": "http://s3"}
    assert jobs.jobs[RUN].owner == "ann"
    assert jobs.jobs[RUN].kind == "squares"
    assert jobs.jobs[RUN].weight == 2.0
    assert "plymill/solver/search.so" in jobs.unpacked
    path = tmp_path / "job.json"
    path.write_text(json.dumps(jobs.order_file))
    fields, store, options = read_order(path)
    assert SquaresSpec.from_fields(fields) == SPEC
    assert store == STORE
    assert options == RunOptions(weight=2.0, threads=3)
    here = RunStore(MemoryFiles(), RUN)
    assert owner_of(here) is None
    note_owner(here, path)
    assert owner_of(here) == "ann"


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"spec": 1, "store": 2, "options": 3}'])
def test_an_order_that_is_none_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "job.json"
    path.write_text(text)
    with pytest.raises(SpecError, match=r"is no order of 'plymill submit'\."):
        read_order(path)


def test_what_nodes_lack_is_installed_and_then_the_python_is_the_environments(
    wheel: Path,
) -> None:
    jobs = FakeJobs([node(missing=["zstandard>=0.22"])])
    send(jobs, wheel)
    assert list(jobs.orders[0].packages) == ["zstandard>=0.22"]
    assert jobs.orders[0].entrypoint.startswith("exec python -m plymill")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"python": "3.12.1"}, "runs cpython 3.12.1 on linux x86_64, but this plymill is for"),
        ({"machine": "aarch64"}, "aarch64, but this plymill is for manylinux_2_28_x86_64"),
        ({"system": "darwin", "machine": "arm64"}, "this plymill is for manylinux_2_28_x86_64"),
        ({"libc": "glibc 2.17"}, "needs glibc 2.28 and the node has glibc 2.17"),
        ({"libc": ""}, "needs glibc 2.28 and the node has another C library"),
        ({"implementation": "pypy"}, "this plymill is for Python 3.11"),
        ({"missing": ["ray>=2.59"]}, "runs Ray 2.60.0, expected ray>=2.59"),
    ],
)
def test_a_mismatch_is_one_sentence_and_nothing_is_started(
    wheel: Path, fields: dict[str, Any], words: str
) -> None:
    jobs = FakeJobs([node(), node("bbbb2222", head=False, **fields)])
    with pytest.raises(ClusterError) as refused:
        send(jobs, wheel)
    assert words in str(refused.value)
    assert str(refused.value).count("\n") == 0
    assert not jobs.orders


@pytest.mark.parametrize(
    ("name", "fits"),
    [
        ("plymill-1-cp311-cp311-linux_x86_64.whl", True),
        ("plymill-1-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.whl", True),
        ("plymill-1-cp311-cp311-manylinux1_x86_64.whl", True),
        ("plymill-1-cp311-cp311-manylinux_2_39_x86_64.whl", False),
        ("plymill-1-cp311-cp311-macosx_11_0_arm64.whl", False),
        ("plymill-1-cp310-cp310-linux_x86_64.whl", False),
    ],
)
def test_names_of_wheels_tell_where_they_run(tmp_path: Path, name: str, fits: bool) -> None:
    found = open_wheel(make_wheel(tmp_path / name))
    look = ClusterLook(ray="2.60.0", nodes=[node()])  # type: ignore[arg-type]
    assert (misfit(found, look.nodes[0]) == "") is fits


def test_a_mac_runs_what_is_for_macs(tmp_path: Path) -> None:
    found = open_wheel(make_wheel(tmp_path / "plymill-1-cp311-cp311-macosx_11_0_arm64.whl"))
    fields = node(system="darwin", machine="arm64", libc="")
    look = ClusterLook(ray="2.60.0", nodes=[fields])  # type: ignore[arg-type]
    require_fit(found, look, "http://head:8265")


@pytest.mark.parametrize("name", ["other-1-cp311-cp311-linux_x86_64.whl", "plymill.whl"])
def test_what_is_no_wheel_of_plymill_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(ClusterError, match="is no wheel of plymill"):
        open_wheel(tmp_path / name)


def test_damaged_wheels_are_refused(wheel: Path, tmp_path: Path) -> None:
    wheel.write_bytes(wheel.read_bytes()[:50])
    with pytest.raises(ClusterError, match="cut short or altered"):
        open_wheel(wheel)
    with pytest.raises(ClusterError, match="cannot read the wheel"):
        open_wheel(tmp_path / "plymill-9-cp311-cp311-linux_x86_64.whl")


def test_what_is_installed_here_is_a_wheel_too(tmp_path: Path) -> None:
    found = installed_wheel()
    assert any(text.startswith("pyarrow") for text in found.requires)
    assert not any("pytest" in text for text in found.requires)
    folder = found.unpack(tmp_path)
    assert (folder / "cluster" / "sending" / "submit.py").is_file()
    assert list(folder.rglob("*.so"))
    assert not list(folder.rglob("__pycache__"))
    assert not list(folder.rglob("*.pyx"))


def test_a_checkout_that_is_not_built_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wheels_module, "_PACKAGE", tmp_path)
    with pytest.raises(ClusterError, match="has no compiled parts"):
        installed_wheel()


def test_a_wheel_without_plymill_in_it_is_refused(wheel: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty" / wheel.name
    empty.parent.mkdir()
    with zipfile.ZipFile(empty, "w") as archive:
        archive.writestr("plymill-0.1.0.dist-info/METADATA", "Name: plymill")
    with pytest.raises(ClusterError, match="holds no plymill"):
        open_wheel(empty).unpack(tmp_path / "there")
    assert isinstance(open_wheel(wheel), Wheel)
    shutil.rmtree(tmp_path / "empty")


# --- the look -------------------------------------------------------------------------------------


def test_this_machine_describes_itself() -> None:
    found = describe(["pyarrow>=1", "no-such-package>=1", "ray[default]>=99"])
    assert found["missing"] == ["no-such-package>=1", "ray[default]>=99"]
    assert found["implementation"] == "cpython"


def test_requirements_for_other_pythons_are_met() -> None:
    assert is_there('no-such-package; python_version < "3"')
    assert not is_there('no-such-package; python_version > "3"')


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("sh: python: not found\n", "its last words were 'sh: python: not found'"),
        ("", "its last words were 'no word'"),
        ("plymill-look {", "answers with nonsense"),
        (
            'plymill-look {"ray": "2.60.0", "nodes": [{"node": "aaaa1111", "error": "it died"}]}',
            "Node aaaa1111 of the cluster at http://head:8265 runs no task: it died",
        ),
    ],
)
def test_a_cluster_that_cannot_be_looked_at(wheel: Path, output: str, words: str) -> None:
    with pytest.raises(ClusterError) as refused:
        send(FakeJobs(look_output=output), wheel)
    assert words in str(refused.value)


def labels(*nodes: dict[str, Any]) -> dict[str, str]:
    return driver_labels(ClusterLook(ray="2.60.0", nodes=nodes))  # type: ignore[arg-type]


def test_a_driver_goes_to_the_head_if_that_computes() -> None:
    assert labels(node(), node("b", head=False)) == {"ray.io/node-id": "aaaa1111"}


def test_a_driver_leaves_a_head_without_processors_alone() -> None:
    head = node(cpus=0.0)
    assert labels(head, node("b", head=False)) == {"ray.io/node-id": "!aaaa1111"}
    assert labels(head) == {"ray.io/node-id": "aaaa1111"}, "there is no other"


def test_a_driver_avoids_machines_that_may_be_taken_away() -> None:
    spot = node("b", head=False, labels={"ray.io/market-type": "spot"})
    own = node("c", head=False, labels={"ray.io/market-type": "on-demand"})
    head = node(cpus=0.0)
    expected = {"ray.io/node-id": "!aaaa1111", "ray.io/market-type": "!spot"}
    assert labels(head, spot, own) == expected
    assert labels(head, spot) == {"ray.io/node-id": "!aaaa1111"}


def test_own_wishes_for_the_driver_win(wheel: Path) -> None:
    jobs = FakeJobs()
    send(jobs, wheel, labels={"disk": "ssd"})
    assert jobs.orders[-1].labels == {"disk": "ssd"}
    jobs.end(RUN, "FAILED")
    send(jobs, wheel, resources={"drivers": 1.0})
    assert jobs.orders[-1].labels == {}
    assert jobs.orders[-1].resources == {"drivers": 1.0}


def test_nodes_with_pythons_in_several_places_use_the_one_of_their_path() -> None:
    nodes = [node(), node("b", head=False, executable="/opt/bin/python")]
    look = ClusterLook(ray="2.60.0", nodes=nodes)  # type: ignore[arg-type]
    assert driver_python(look, installs=False) == "python"


# --- giving up, removing --------------------------------------------------------------------------


def test_a_run_is_given_up_and_taken_up() -> None:
    store = RunStore(MemoryFiles(), RUN)
    assert not is_cancelled(store)
    cancel(store)
    assert is_cancelled(store)
    take_up(store)
    assert not is_cancelled(store)


def test_a_run_is_removed_unless_it_runs(wheel: Path, tmp_path: Path) -> None:
    jobs = FakeJobs()
    store = RunStore.open(str(tmp_path), RUN)
    store.write_spec(SPEC)
    send(jobs, wheel)
    with pytest.raises(ClusterError, match=f"at http://head:8265; 'plymill stop {RUN}' stops it"):
        delete_run(store, jobs)
    jobs.end(RUN, "SUCCEEDED")
    assert delete_run(store, jobs) == 1
    assert not (tmp_path / RUN).exists()
    assert not jobs.jobs
    assert delete_run(store, None) == 0, "twice is harmless"
