"""What a run tells a monitoring system follows from the run itself."""

from collections import defaultdict
from collections.abc import Callable, Mapping

from plymill.cluster import Coordinator, LocalExecutor, MemoryFiles, Progress, RunStore, Unit
from plymill.cluster.machine import events as e
from plymill.cluster.metrics import (
    AUDITS,
    COUNTED,
    DISCARDED,
    FLIGHT_AGE,
    ITEMS,
    LOSSES,
    METRICS,
    QUEUE_AGE,
    RETRIES,
    SHARE,
    THREADS,
    UNIT_SECONDS,
    UNITS,
    WORKERS,
    Kind,
    Metering,
    Metric,
)
from tests.cluster.conftest import SquaresJob

MakeJob = Callable[..., SquaresJob]


class Kept:
    """A sink that adds up counters and keeps the last value of gauges, by name and tags."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, frozenset[tuple[str, str]]], float] = defaultdict(float)
        self.observed: list[float] = []

    def __call__(self, metric: Metric, value: float, tags: Mapping[str, str]) -> None:
        assert metric in METRICS
        assert set(tags) == {"run", *metric.tags}
        key = metric.name, frozenset(tags.items())
        if metric.kind is Kind.HISTOGRAM:
            self.observed.append(value)
        elif metric.kind is Kind.COUNTER:
            assert value > 0  # Ray raises otherwise
            self.values[key] += value
        else:
            self.values[key] = value

    def value(self, metric: Metric, run: str, **tags: str) -> float:
        return self.values[metric.name, frozenset((tags | {"run": run}).items())]


def carry_out(job: SquaresJob, memory: MemoryFiles, nodes: dict[str, int]) -> Kept:
    store = RunStore(memory, job.spec.run_id)
    kept = Kept()
    watchers = (Metering(job.spec.run_id, kept),)
    Coordinator(job, store, LocalExecutor(job, store, nodes), watchers=watchers).run()
    return kept


def test_items_counters_and_units_of_a_whole_run(make_job: MakeJob, memory: MemoryFiles) -> None:
    job = make_job(count=200)
    kept, run = carry_out(job, memory, {"here": 2}), job.spec.run_id
    assert kept.value(ITEMS, run, item="numbers") == 200
    assert kept.value(COUNTED, run, counter="squares") == 200
    assert kept.value(UNITS, run, state="done") == 20
    assert kept.value(UNITS, run, state="waiting") == 0
    assert kept.value(UNITS, run, state="in_flight") == 0
    assert kept.value(SHARE, run) == 1
    assert kept.value(WORKERS, run) == 1
    assert kept.value(THREADS, run) == 2
    assert kept.observed == [0.5] * 20
    assert kept.value(RETRIES, run) == 0


def test_a_second_session_counts_only_what_it_solves(
    make_job: MakeJob, memory: MemoryFiles
) -> None:
    job = make_job(count=200)
    carry_out(job, memory, {"here": 2})
    store = RunStore(memory, job.spec.run_id)
    plan = store.read_plan()
    assert plan is not None
    store.discard_unit(plan.units[3])
    kept = carry_out(job, memory, {"here": 2})
    assert kept.value(ITEMS, job.spec.run_id, item="numbers") == 10


def test_retries_and_audits_of_a_worker_that_computes_wrongly(
    make_job: MakeJob, memory: MemoryFiles
) -> None:
    failed: set[str] = set()

    def misbehave(worker: str, unit: Unit, audit: bool) -> None:
        del worker
        if unit.index == 5 and not audit and unit.name not in failed:
            failed.add(unit.name)
            raise ValueError("once")

    job = make_job(count=200, audit_fraction=1.0, wrong=frozenset({"bad"}), misbehave=misbehave)
    kept = carry_out(job, memory, {"good": 1, "bad": 1, "fine": 1})
    run = job.spec.run_id
    assert kept.value(RETRIES, run) >= 1
    assert kept.value(AUDITS, run, result="agreed") >= 20
    assert kept.value(AUDITS, run, result="disagreed") >= 1
    assert kept.value(DISCARDED, run) >= 1
    assert kept.value(UNITS, run, state="done") == 20


def test_losses_are_told_by_cause() -> None:
    kept = Kept()
    Metering("squares-1", kept).happened("worker lost", {"cause": e.LossCause.OUT_OF_MEMORY})
    assert kept.value(LOSSES, "squares-1", cause="it ran out of memory") == 1


def test_ages_are_those_of_the_oldest_and_a_longer_plan_begins_anew() -> None:
    kept = Kept()
    timer = 0.0
    metering = Metering("squares-1", kept, timer=lambda: timer)

    def at(now: float, unit_map: str) -> tuple[float, float]:
        nonlocal timer
        timer = now
        jumping = 7200.0 * (len(unit_map) % 2)  # the clock of the machine says nothing of an age
        metering.progressed(
            Progress(
                run_id="squares-1",
                state="solving",
                started=0,
                updated=now + jumping,
                unit_map=unit_map,
            )
        )
        return kept.value(QUEUE_AGE, "squares-1"), kept.value(FLIGHT_AGE, "squares-1")

    assert at(10, "...") == (0, 0)
    assert at(15, "w..") == (5, 0)
    assert at(18, "ww.") == (8, 3)
    assert at(20, "d.w") == (0, 0)
    assert at(25, "ddw") == (0, 5)
    assert at(30, "ddd") == (0, 0)
    assert at(40, "ddd..") == (0, 0)
    assert at(41, "dddw.") == (1, 0)


def test_names_are_those_that_prometheus_allows_and_stand_once() -> None:
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    for metric in METRICS:
        assert metric.name.startswith("plymill_")
        assert not metric.name.endswith("_total")
        assert UNIT_SECONDS.exported == "ray_plymill_unit_seconds"
        assert ITEMS.exported == "ray_plymill_items_total"
