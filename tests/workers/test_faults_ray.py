"""Real Ray: wrong answers, and clocks that are wrong and jump."""

import json
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ray.cluster_utils import Cluster

from plymill.cluster import Progress, RunStore, load_run
from plymill.workers import BookJob, resume_run
from tests.faults import Moments, cluster_of, jumping_clock_environment, set_clock
from tests.faults.nodes import NODE
from tests.workers.faulty_runs import (
    OPTIONS,
    WrongRun,
    drive,
    events,
    node_ids,
    start_driver,
    wait_for_units,
)

pytestmark = [pytest.mark.ray, pytest.mark.slow]

Artifacts = dict[str, bytes]
ArtifactsOf = Callable[[str, str], Artifacts]

HOUR = 3600.0


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


def test_all_that_a_worker_did_that_computes_wrongly_is_solved_again(
    odd_cluster: tuple[Cluster, str],
    tmp_path: Path,
    many: BookJob,
    run_in_process: Callable[..., Any],
    artifacts_of: ArtifactsOf,
) -> None:
    cluster, _ = odd_cluster
    moments = Moments()
    faulty: str = moments.random.choice(sorted(node_ids(cluster)))
    notes = tmp_path / "notes"
    notes.mkdir()
    # Every unit is audited: else it would be a matter of luck that one of the wrong ones is.
    spec = many.model_copy(update={"audit_fraction": 1.0})
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
    discarded = {line["unit"] for line in events(url, spec.run_id, "discarded")}
    requeued = {line["unit"] for line in events(url, spec.run_id, "requeued")}
    assert wrong <= discarded <= wrong | requeued
    right_url = str(tmp_path / "right")
    assert run_in_process(spec, right_url).complete
    assert artifacts_of(url, spec.run_id) == artifacts_of(right_url, spec.run_id)


def test_clocks_that_are_wrong_and_jump_change_neither_result_nor_sign(
    odd_cluster: tuple[Cluster, str],
    clocks: Path,
    tmp_path: Path,
    small: BookJob,
    undisturbed: Artifacts,
    artifacts_of: ArtifactsOf,
) -> None:
    """The driver's clock jumps an hour forth and two back, a node's is hours off and jumps, too."""
    cluster, third = odd_cluster
    moments = Moments()
    mine = tmp_path / "clock"
    url = str(tmp_path / "store")
    store = RunStore.open(url, small.run_id)
    driver = start_driver(small, url, cluster.address, jumping_clock_environment(mine))
    seen: list[Progress] = []
    jumps = sorted(moments.random.sample(range(2, 24), 2))
    for units, offset in zip(jumps, (HOUR, -HOUR), strict=True):
        wait_for_units(driver, store, units)
        set_clock(mine, offset)
        set_clock(clocks, 5 * offset)
    while driver.poll() is None:
        progress = load_run(url, small.run_id).progress
        if progress is not None:
            seen.append(progress)
        time.sleep(0.05)
    assert driver.returncode == 0, driver.communicate()[0]

    last = load_run(url, small.run_id).progress
    assert last is not None
    assert last.updated < time.time() - 0.9 * HOUR, "the clock has jumped"
    for progress in (*seen, last):
        assert progress.seconds >= 0
        assert 0 <= progress.rate < 1e6
        assert progress.eta is None or all(0 <= t < math.inf for t in progress.eta)
        times = [moment for moment, _ in progress.history]
        assert times == sorted(times)
    node_of = {line["worker"]: line["node"] for line in events(url, small.run_id, "worker joined")}
    units = json.loads(store.files.read("provenance.json"))["units"]
    theirs = [unit for unit in units if node_of[unit["worker"]] == third]
    assert theirs
    assert any(abs(unit["finished"] - time.time()) > 4 * HOUR for unit in theirs)
    assert all(unit["seconds"] >= 0 for unit in units)
    assert not events(url, small.run_id, "worker lost")
    assert artifacts_of(url, small.run_id) == undisturbed
    # The lease was given back, whatever the clocks say: a second driver need not wait.
    assert resume_run(small.run_id, url, options=OPTIONS).progress.items_resumed == last.items_total
