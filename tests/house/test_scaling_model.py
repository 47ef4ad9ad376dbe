"""The simulated cluster of the scaling curve keeps to laws that hold whatever the figures are."""

import importlib
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def model() -> ModuleType:
    return importlib.import_module("benchmarks._cluster_model")


def test_one_thread_takes_the_sum_of_all_units(model: ModuleType) -> None:
    work = model.Work([3.0, 5.0, 7.0], positions=10, excess=0.0, fading=100.0)
    free = model.Costs(start=0.0, unit=0.0, report=0.0)
    outcome = model.Cluster(work, nodes=1, costs=free).run()
    assert outcome.busy == pytest.approx(15.0)
    assert outcome.seconds == pytest.approx(15.0, abs=0.1)  # decisions take real time


def test_a_table_is_cold_at_first_and_after_a_jump_only(model: ModuleType) -> None:
    work = model.Work([10.0] * 4, positions=100, excess=1.0, fading=100.0)
    cold, next_one = work.seconds(0, 0), work.seconds(1, 100)
    assert 10.0 < next_one < cold < 20.0
    assert work.seconds(3, 10_000) == pytest.approx(10.0)
    # Whatever is cut how: the excess of a stretch is the same.
    halves = model.Work([5.0] * 8, positions=50, excess=1.0, fading=100.0)
    assert halves.seconds(0, 0) + halves.seconds(1, 50) == pytest.approx(cold)


@pytest.mark.parametrize("threads", [1, 4])
def test_many_threads_are_quicker_and_never_more_than_ideal(
    model: ModuleType, threads: int
) -> None:
    work = model.Work([10.0] * 200, positions=100, excess=0.5, fading=200.0)
    alone = model.Cluster(work, nodes=1).run()
    many = model.Cluster(work, nodes=8, threads=threads).run()
    assert many.seconds < alone.seconds / 4
    # Of threads that share a table each does the positions that another one has warmed it for.
    assert many.busy >= alone.busy * 0.99
    assert alone.seconds / many.thread_seconds <= 1.01


def test_lost_nodes_cost_time_and_no_unit(model: ModuleType) -> None:
    work = model.Work([30.0] * 300, positions=100, excess=0.5, fading=200.0)
    safe = model.Cluster(work, nodes=10, audited=tuple(range(0, 300, 50))).run()
    costs = model.Costs(losses=5.0, replaced=60.0)
    lossy = model.Cluster(work, nodes=10, costs=costs, audited=tuple(range(0, 300, 50))).run()
    assert lossy.lost > 0
    assert lossy.seconds > safe.seconds
