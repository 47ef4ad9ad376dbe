"""Real Ray: wrong answers, memory that runs out, clocks that jump, a head that is lost."""

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import ray
from ray.cluster_utils import Cluster

from plymill.cluster import Coordinator, Progress, RunOptions, RunStore, load_run
from plymill.cluster.ray_executor import RayExecutor
from plymill.workers import BookJob, resume_run, run_job
from plymill.workers.actor import UnitActor
from tests.faults import (
    Moments,
    all_pids,
    cluster_of,
    jumping_clock_environment,
    kill,
    kill_node,
    restart_gcs,
    running,
    set_clock,
    start_cluster,
    wait_until_gone,
)
from tests.faults.nodes import HEALTH, NODE
from tests.workers.faulty_runs import HungryRun, WrongRun, sent_along

pytestmark = [pytest.mark.ray, pytest.mark.slow]

Artifacts = dict[str, bytes]
ArtifactsOf = Callable[[str, str], Artifacts]

OPTIONS = RunOptions(table_mb=16, report_every=0.05)
MB = 2**20
HOUR = 3600.0

DRIVER = """
import sys
from plymill.cluster import RunOptions
from plymill.workers import resume_run
run_id, url, address = sys.argv[1:]
resume_run(run_id, url, address=address, options=RunOptions(
    table_mb=16, report_every=0.05, allow_insecure=True))
"""


@pytest.fixture(scope="module")
def clocks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the clock of one node, which is five hours behind."""
    return tmp_path_factory.mktemp("clock") / "node"


@pytest.fixture(scope="module")
def odd_cluster(clocks: Path) -> Iterator[tuple[Cluster, str]]:
    """Three nodes, and the name of the third, whose clock is wrong."""
    with cluster_of(2) as cluster, pytest.MonkeyPatch.context() as patch:
        for name, value in jumping_clock_environment(clocks, -5 * HOUR).items():
            patch.setenv(name, value)
        yield cluster, cluster.add_node(**NODE).node_id


@pytest.fixture(scope="module")
def job() -> BookJob:
    """279 positions in 28 units."""
    return BookJob(opening="44444422", unit_size=10, audit_fraction=0.2, validate_sample=20)


@pytest.fixture(scope="module")
def peaceful(
    tmp_path_factory: pytest.TempPathFactory,
    job: BookJob,
    run_in_process: Callable[..., Any],
    artifacts_of: ArtifactsOf,
) -> Artifacts:
    url = str(tmp_path_factory.mktemp("peaceful"))
    assert run_in_process(job, url).complete
    return artifacts_of(url, job.run_id)


def node_ids(cluster: Cluster) -> set[str]:
    head: Any = cluster.head_node
    return {head.node_id, *(node.node_id for node in cluster.worker_nodes)}


def events(url: str, run_id: str, name: str) -> list[dict[str, Any]]:
    return [line for line in RunStore.open(url, run_id).read_events() if line["event"] == name]


def drive(run: Any, url: str) -> Any:
    """Carry out a job of our own on the cluster that this process is connected to."""
    store = RunStore.open(url, run.spec.run_id)
    with sent_along():
        executor = RayExecutor(run, store, UnitActor, threads=None)
        return Coordinator(run, store, executor, options=OPTIONS).run()


def start_driver(
    job: BookJob, url: str, address: str, environment: dict[str, str]
) -> subprocess.Popen[str]:
    RunStore.open(url, job.run_id).write_spec(job)
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, job.run_id, url, address],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def wait_for_units(driver: subprocess.Popen[str], store: RunStore, count: int) -> None:
    deadline = time.monotonic() + 120
    while len(store.finished_units()) < count:
        assert driver.poll() is None, f"the driver has ended early: {driver.communicate()[0]}"
        assert time.monotonic() < deadline, "the driver does not come to work"
        time.sleep(0.01)


def test_all_that_a_worker_did_that_computes_wrongly_is_solved_again(
    odd_cluster: tuple[Cluster, str],
    tmp_path: Path,
    job: BookJob,
    run_in_process: Callable[..., Any],
    artifacts_of: ArtifactsOf,
) -> None:
    cluster, _ = odd_cluster
    moments = Moments()
    faulty: str = moments.random.choice(sorted(node_ids(cluster)))
    notes = tmp_path / "notes"
    notes.mkdir()
    # Every unit is audited: else it would be a matter of luck that one of the wrong ones is.
    spec = job.model_copy(update={"audit_fraction": 1.0})
    right = moments.random.randrange(4)
    run = WrongRun(spec, OPTIONS, node=faulty[:8], right=right, notes=notes, crowd=3)
    url = str(tmp_path / "store")
    assert drive(run, url).complete

    node_of = {line["worker"]: line["node"] for line in events(url, spec.run_id, "worker joined")}
    retired = {line["worker"] for line in events(url, spec.run_id, "worker retired")}
    assert {node_of[worker] for worker in retired} == {faulty}
    did = [path.name.split() for path in notes.glob("* *")]
    wrong = {unit for worker, unit in did if node_of[worker] == faulty}
    assert wrong
    provenance = load_run(url, spec.run_id).provenance
    assert provenance is not None
    solvers = {unit["name"]: node_of[unit["worker"]] for unit in provenance["units"]}
    assert faulty not in solvers.values()
    assert wrong == {unit for unit in wrong if [u for _, u in did].count(unit) >= 2}
    discarded = {line["unit"] for line in events(url, spec.run_id, "discarded")}
    assert discarded <= wrong
    assert discarded
    right_url = str(tmp_path / "right")
    assert run_in_process(spec, right_url).complete
    assert artifacts_of(url, spec.run_id) == artifacts_of(right_url, spec.run_id)


def test_clocks_that_are_wrong_and_jump_change_neither_result_nor_sign(
    odd_cluster: tuple[Cluster, str],
    clocks: Path,
    tmp_path: Path,
    job: BookJob,
    peaceful: Artifacts,
    artifacts_of: ArtifactsOf,
) -> None:
    """The driver's clock jumps an hour forth and two back, a node's is hours off and jumps, too."""
    cluster, third = odd_cluster
    moments = Moments()
    mine = tmp_path / "clock"
    url = str(tmp_path / "store")
    store = RunStore.open(url, job.run_id)
    driver = start_driver(job, url, cluster.address, jumping_clock_environment(mine))
    seen: list[Progress] = []
    jumps = sorted(moments.random.sample(range(2, 24), 2))
    for units, offset in zip(jumps, (HOUR, -HOUR), strict=True):
        wait_for_units(driver, store, units)
        set_clock(mine, offset)
        set_clock(clocks, 5 * offset)
    while driver.poll() is None:
        progress = load_run(url, job.run_id).progress
        if progress is not None:
            seen.append(progress)
        time.sleep(0.05)
    assert driver.returncode == 0, driver.communicate()[0]

    last = load_run(url, job.run_id).progress
    assert last is not None
    assert last.updated < time.time() - 0.9 * HOUR, "the clock has jumped"
    for progress in (*seen, last):
        assert progress.seconds >= 0
        assert 0 <= progress.rate < 1e6
        assert progress.eta is None or all(0 <= t < math.inf for t in progress.eta)
        times = [moment for moment, _ in progress.history]
        assert times == sorted(times)
    node_of = {line["worker"]: line["node"] for line in events(url, job.run_id, "worker joined")}
    units = json.loads(store.files.read("provenance.json"))["units"]
    theirs = [unit for unit in units if node_of[unit["worker"]] == third]
    assert theirs
    assert any(abs(unit["finished"] - time.time()) > 4 * HOUR for unit in theirs)
    assert all(unit["seconds"] >= 0 for unit in units)
    assert not events(url, job.run_id, "worker lost")
    assert artifacts_of(url, job.run_id) == peaceful
    # The lease was given back, whatever the clocks say: a second driver need not wait.
    assert resume_run(job.run_id, url, options=OPTIONS).progress.items_resumed == 279


def memory() -> tuple[int, int]:
    """All of this machine's memory, and what of it is free; bytes."""
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    fields = {
        name: int(rest.split()[0]) * 1024 for name, _, rest in (x.partition(":") for x in lines)
    }
    return fields["MemTotal"], fields["MemAvailable"]


def test_a_worker_that_runs_out_of_memory_is_replaced_and_its_unit_done_again(
    tmp_path: Path, job: BookJob, peaceful: Artifacts, artifacts_of: ArtifactsOf
) -> None:
    total, free = memory()
    if free < 5000 * MB:
        pytest.skip("needs 5 GB of free memory, so that nothing else is in danger")
    moments = Moments()
    limit = 1 - (free - 1500 * MB) / total
    run = HungryRun(
        job,
        OPTIONS,
        unit=moments.random.randrange(28),
        marker=tmp_path / "hungry",
        most=4000 * MB,
    )
    url = str(tmp_path / "store")
    settings = HEALTH | {"memory_usage_threshold": limit, "memory_monitor_refresh_ms": 100}
    with cluster_of(1, settings) as cluster:
        head: Any = cluster.head_node
        assert drive(run, url).complete
        lost = events(url, job.run_id, "worker lost")
        assert {line["cause"] for line in lost} == {"it ran out of memory"}
        assert {line["node"] for line in lost} == {head.node_id}
        joined = events(url, job.run_id, "worker joined")
        pids = [line["pid"] for line in joined]
        assert len(set(pids)) == len(lost) + 1
        assert not any(running(pid) for pid in pids[:-1])
    assert (tmp_path / "hungry").exists()
    assert artifacts_of(url, job.run_id) == peaceful


@pytest.mark.cluster
def test_a_gcs_that_keeps_its_state_is_killed_and_started_again_under_a_run(
    tmp_path: Path, job: BookJob, peaceful: Artifacts, artifacts_of: ArtifactsOf
) -> None:
    """Ray's own store for that, RocksDB, is new and called alpha; with Redis it is the same."""
    kept = tmp_path / "gcs"
    kept.mkdir()
    settings = HEALTH | {"gcs_storage": "rocksdb", "gcs_storage_path": str(kept)}
    url = str(tmp_path / "store")
    with cluster_of(2, settings) as cluster:
        head: Any = cluster.head_node
        (first,) = all_pids(head)["gcs_server"]

        second: list[int] = []

        def replace_gcs(progress: Progress) -> None:
            # In this thread, with whose end the processes end that it has started.
            kill(first)
            wait_until_gone([first])
            time.sleep(1)
            second.append(restart_gcs(head))

        moment = Moments().once(replace_gcs)
        result = run_job(job, url, options=OPTIONS, on_progress=moment)
        assert running(second[0])
        nodes = node_ids(cluster)
        state: Any = ray
        assert {node["NodeID"] for node in state.nodes() if node["Alive"]} == nodes
    assert result.complete
    assert not running(first)
    assert first not in second
    assert {line["node"] for line in events(url, job.run_id, "worker joined")} == nodes
    assert artifacts_of(url, job.run_id) == peaceful


@pytest.mark.cluster
def test_a_cluster_that_is_lost_whole_is_replaced_by_another_that_goes_on(
    tmp_path: Path, small: BookJob, undisturbed: Artifacts, artifacts_of: ArtifactsOf
) -> None:
    moments = Moments()
    url = str(tmp_path / "store")
    store = RunStore.open(url, small.run_id)
    old: Any = start_cluster(2)
    try:
        head_id, pids = old.head_node.node_id, all_pids(old.head_node)
        quick = {"RAY_gcs_rpc_server_reconnect_timeout_s": "3"}
        driver = start_driver(small, url, old.address, quick)
        wait_for_units(driver, store, moments.random.randrange(3, 50))
        killed = kill_node(old.head_node, whole=True)
        assert {*pids["gcs_server"], *pids["raylet"]} <= set(killed)
        driver.communicate(timeout=120)
        assert driver.returncode != 0
        assert not load_run(url, small.run_id).manifest
    finally:
        old.shutdown()
    wait_until_gone(killed)
    before = store.finished_units()

    with cluster_of(2) as new:
        result = resume_run(small.run_id, url, options=OPTIONS)
        assert result.complete
        assert result.progress.items_resumed > 0
        head: Any = new.head_node
        assert head.node_id != head_id
        assert not set(killed) & {pid for pids in all_pids(head).values() for pid in pids}
    workers = {line["worker"] for line in events(url, small.run_id, "worker joined")}
    assert len(workers) == 4
    assert before <= store.finished_units()
    assert artifacts_of(url, small.run_id) == undisturbed
