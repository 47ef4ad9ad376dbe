"""Real Ray, a cluster each: memory that runs out, a GCS that starts anew, a head that is lost."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import ray

from plymill.cluster import Progress, RunStore, load_run
from plymill.workers import BookJob, resume_run, run_job
from tests.faults import (
    Moments,
    all_pids,
    cluster_of,
    kill,
    kill_nodes,
    restart_gcs,
    running,
    start_cluster,
    wait_until_gone,
)
from tests.faults.nodes import HEALTH
from tests.workers.faulty_runs import (
    OPTIONS,
    HungryRun,
    drive,
    events,
    node_ids,
    start_driver,
    wait_for_units,
)

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.long]

Artifacts = dict[str, bytes]
ArtifactsOf = Callable[[str, str], Artifacts]

MB = 2**20


def memory() -> tuple[int, int]:
    """All of this machine's memory, and what of it is free; bytes."""
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    fields = {
        name: int(rest.split()[0]) * 1024 for name, _, rest in (x.partition(":") for x in lines)
    }
    return fields["MemTotal"], fields["MemAvailable"]


def test_a_worker_that_runs_out_of_memory_is_replaced_and_its_unit_done_again(
    tmp_path: Path, many: BookJob, peaceful: Artifacts, artifacts_of: ArtifactsOf
) -> None:
    total, free = memory()
    if free < 5000 * MB:
        pytest.skip("needs 5 GB of free memory, so that nothing else is in danger")
    moments = Moments()
    limit = 1 - (free - 1500 * MB) / total
    run = HungryRun(
        many,
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
        lost = events(url, many.run_id, "worker lost")
        assert {line["cause"] for line in lost} == {"it ran out of memory"}
        assert {line["node"] for line in lost} == {head.node_id}
        joined = events(url, many.run_id, "worker joined")
        pids = [line["pid"] for line in joined]
        assert len(set(pids)) == len(lost) + 1
        assert not any(running(pid) for pid in pids[:-1])
    assert (tmp_path / "hungry").exists()
    assert artifacts_of(url, many.run_id) == peaceful


@pytest.mark.cluster
def test_a_gcs_that_keeps_its_state_is_killed_and_started_again_under_a_run(
    tmp_path: Path, many: BookJob, peaceful: Artifacts, artifacts_of: ArtifactsOf
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
        result = run_job(many, url, options=OPTIONS, on_progress=moment)
        assert running(second[0])
        nodes = node_ids(cluster)
        state: Any = ray
        assert {node["NodeID"] for node in state.nodes() if node["Alive"]} == nodes
    assert result.complete
    assert not running(first)
    assert first not in second
    assert {line["node"] for line in events(url, many.run_id, "worker joined")} == nodes
    assert artifacts_of(url, many.run_id) == peaceful


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
        driver = start_driver(small, url, old.address, {})
        wait_for_units(driver, store, moments.random.randrange(3, 50))
        killed = kill_nodes([old.head_node, *old.worker_nodes])
        assert {*pids["gcs_server"], *pids["raylet"]} <= set(killed)
        driver.communicate(timeout=120)
        assert driver.returncode == 1
        info = load_run(url, small.run_id)
        assert not info.manifest
        assert info.state == "failed", "the driver has told what became of it"
        assert info.progress is not None
        assert "head of the cluster does not answer any more" in info.progress.message
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
