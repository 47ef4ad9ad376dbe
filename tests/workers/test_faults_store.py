"""Real Ray on a store that fails: S3 with errors, slow, and away; disks that are full."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ray.cluster_utils import Cluster

from plymill.cluster import Progress, RunFailedError, RunOptions, RunStore, StoreFullError, load_run
from plymill.cluster.errors import StoreAwayError
from plymill.cluster.storage import leases
from plymill.workers import BookJob, run_job
from tests.faults import FlakyS3, Moments, SmallDisk, cluster_of
from tests.faults.disks import PAGE

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.long]

Artifacts = dict[str, bytes]
ArtifactsOf = Callable[[str, str], Artifacts]

OPTIONS = RunOptions(table_mb=16, report_every=0.5)
QUICK = RunOptions(table_mb=16, report_every=0.05)  # where writing costs next to nothing
SPARE = 8192  # kilobytes of the disk for temporary files


@pytest.fixture(scope="module")
def s3() -> Iterator[FlakyS3]:
    with FlakyS3.met_by_all() as server:
        yield server


@pytest.fixture(scope="module")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallDisk | None]:
    """The disk for the temporary files of all workers and tasks."""
    path = tmp_path_factory.mktemp("temporary")
    with SmallDisk.mounted(path, SPARE) as disk, pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(path))
        patch.setenv("RAY_TMPDIR", "/tmp")  # Ray's own files stay where they always are
        yield disk


@pytest.fixture(scope="module")
def cluster(s3: FlakyS3, temporary: SmallDisk | None) -> Iterator[Cluster]:
    with cluster_of(2) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def quick_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever cannot write cannot give a lease back; the next driver waits until it expires."""
    monkeypatch.setattr(leases, "BEAT", 0.5)
    monkeypatch.setattr(leases, "EXPIRY", 3.0)


@pytest.fixture(scope="module")
def job() -> BookJob:
    """A few units only: each takes a dozen requests, with what is said of it."""
    return BookJob(opening="44444422", unit_size=60, audit_fraction=0.2, validate_sample=20)


@pytest.fixture(scope="module")
def peaceful(in_peace: Callable[[BookJob], Artifacts], job: BookJob) -> Artifacts:
    return in_peace(job)


def nodes_of(cluster: Cluster) -> set[str]:
    head: Any = cluster.head_node
    return {head.node_id, *(node.node_id for node in cluster.worker_nodes)}


def assert_nobody_was_blamed(url: str, run_id: str, cluster: Cluster) -> None:
    """In the last session each node had one worker, in one process; no unit lost an attempt."""
    events = RunStore.open(url, run_id).read_events()
    starts = [i for i, line in enumerate(events) if line["event"] == "session started"]
    events = events[starts[-1] :]
    joined = [line for line in events if line["event"] == "worker joined"]
    assert {line["node"] for line in joined} == nodes_of(cluster)
    assert len({line["pid"] for line in joined}) == len(joined) == 2
    troubles = {"worker lost", "node lost", "requeued", "quarantined", "worker retired"}
    assert not [line for line in events if line["event"] in troubles]


def test_s3_that_fails_every_third_request_and_is_slow_costs_time_only(
    cluster: Cluster, s3: FlakyS3, job: BookJob, peaceful: Artifacts, artifacts_of: ArtifactsOf
) -> None:
    url = f"{s3.url}/flaky"
    s3.fail_every(3, 503)
    slow = Moments().once(lambda _: s3.slow(1.0, requests=12))
    before = s3.failed
    try:
        assert run_job(job, url, options=OPTIONS, on_progress=slow).complete
    finally:
        s3.calm()
    assert s3.failed - before > 20
    assert_nobody_was_blamed(url, job.run_id, cluster)
    assert artifacts_of(url, job.run_id) == peaceful


@pytest.mark.cluster
def sooner_or_later(moments: Moments, leave: Callable[[], None]) -> Callable[[Progress], None]:
    """A progress callback that acts once, at the latest while the run finishes.

    Of a few units a busy machine may finish all between two looks.
    """
    left: list[bool] = []

    def act(progress: Progress) -> None:
        left.append(True)
        leave()

    sooner = moments.once(act)

    def on_progress(progress: Progress) -> None:
        sooner(progress)
        if progress.state == "finishing" and not left:
            act(progress)

    return on_progress


def test_s3_that_is_away_ends_a_run_without_patience(
    cluster: Cluster,
    s3: FlakyS3,
    job: BookJob,
    peaceful: Artifacts,
    artifacts_of: ArtifactsOf,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    del cluster
    url = f"{s3.url}/away"
    with monkeypatch.context() as patch:
        patch.setattr("plymill.workers.run.PATIENCE", 0.0)
        with pytest.raises(StoreAwayError, match="Could not connect") as caught:
            run_job(job, url, options=OPTIONS, on_progress=sooner_or_later(Moments(), s3.gone))
    assert "\n" not in str(caught.value)
    s3.back()
    assert RunStore.open(url, job.run_id).finished_units()
    assert run_job(job, url, options=OPTIONS).complete
    assert artifacts_of(url, job.run_id) == peaceful


def test_s3_that_is_away_for_a_minute_holds_up_a_run_that_has_patience(
    cluster: Cluster,
    s3: FlakyS3,
    job: BookJob,
    peaceful: Artifacts,
    artifacts_of: ArtifactsOf,
) -> None:
    url = f"{s3.url}/away-for-a-minute"
    gone: list[float] = []

    def leave_for_a_minute() -> None:
        gone.append(time.monotonic())
        s3.gone()
        threading.Timer(60, s3.back).start()

    returning = sooner_or_later(Moments(), leave_for_a_minute)
    assert run_job(job, url, options=OPTIONS, on_progress=returning).complete
    assert time.monotonic() - gone[0] > 60
    assert_nobody_was_blamed(url, job.run_id, cluster)
    assert artifacts_of(url, job.run_id) == peaceful


def test_a_store_whose_disk_is_full_ends_the_run_and_with_more_room_it_goes_on(
    cluster: Cluster,
    many: BookJob,
    run_in_process: Callable[..., Any],
    artifacts_of: ArtifactsOf,
    tmp_path: Path,
) -> None:
    del cluster
    with SmallDisk.mounted(tmp_path / "store", 10240) as disk:
        if disk is None:
            pytest.skip("mounting a file system needs root, and is not allowed here")
        url = str(disk.path)
        fill = Moments().once(lambda _: disk.fill())
        with pytest.raises(StoreFullError, match=r"^The disk of the store is full: ") as caught:
            run_job(many, url, options=QUICK, on_progress=fill)
        assert "\n" not in str(caught.value)
        done = RunStore.open(url, many.run_id).finished_units()
        assert 0 < len(done) < 28
        assert disk.leftovers() == []
        disk.free()
        result = run_job(many, url, options=QUICK)
        assert result.complete
        assert result.progress.items_resumed > 0
        right = str(tmp_path / "right")
        assert run_in_process(many, right).complete
        assert artifacts_of(url, many.run_id) == artifacts_of(right, many.run_id)


@pytest.mark.parametrize("which", ["the store's disk", "the disk for temporary files"])
def test_a_disk_that_is_full_in_a_stage_is_told_and_with_more_room_the_stage_is_done(
    which: str,
    cluster: Cluster,
    temporary: SmallDisk | None,
    job: BookJob,
    peaceful: Artifacts,
    artifacts_of: ArtifactsOf,
    tmp_path: Path,
) -> None:
    del cluster
    with SmallDisk.mounted(tmp_path / "store", 10240) as store_disk:
        if temporary is None or store_disk is None:
            pytest.skip("mounting a file system needs root, and is not allowed here")
        url = str(store_disk.path)
        disk = store_disk if which == "the store's disk" else temporary

        def on_progress(progress: Progress) -> None:
            if progress.state == "finishing":  # on the other disk two files are one too many
                disk.fill(leave=0 if disk is store_disk else PAGE)

        expected = {
            store_disk: r"^The disk of the store is full: cannot write ",
            temporary: rf"^The disk of {temporary.path} on .* is full, where stages put their temp",
        }
        with pytest.raises((StoreFullError, RunFailedError), match=expected[disk]) as caught:
            run_job(job, url, options=OPTIONS, on_progress=on_progress)
        assert "\n" not in str(caught.value)
        assert load_run(url, job.run_id).manifest is None
        assert store_disk.leftovers() == []
        assert temporary.leftovers() == []
        disk.free()
        result = run_job(job, url, options=OPTIONS)
        assert result.complete
        assert result.progress.items_resumed == result.progress.items_total
        assert artifacts_of(url, job.run_id) == peaceful
        assert temporary.leftovers() == []
