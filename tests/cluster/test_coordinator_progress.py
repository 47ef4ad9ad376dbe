"""What a run in one process tells of itself while it goes on."""

from collections.abc import Callable
from typing import Any

import pytest

from plymill.cluster import (
    LocalExecutor,
    MemoryFiles,
    Progress,
    RunStore,
)
from plymill.cluster.errors import RunTakenError
from tests.cluster.in_memory import MakeJob, run


def test_the_first_figures_of_a_resumed_run_count_its_units_and_items_alike(
    make_job: MakeJob, memory: MemoryFiles
) -> None:
    job = make_job()
    run(job, memory)
    seen: list[Progress] = []
    run(make_job(), memory, on_progress=seen.append)
    first = next(progress for progress in seen if progress.units_total)
    assert (first.units_done, first.items_done, first.items_resumed) == (20, 200, 200)
    assert first.unit_map == "d" * 20


def test_progress_is_written_and_tells_rate_and_a_range_of_time_left(
    make_job: MakeJob, memory: MemoryFiles
) -> None:
    now = [1000.0]

    def clock() -> float:
        now[0] += 0.25
        return now[0]

    seen: list[Progress] = []
    job = make_job()
    run(job, memory, clock=clock, on_progress=seen.append)
    half = next(p for p in seen if 8 <= p.units_done <= 12)
    assert half.eta is not None
    low, high = half.eta
    assert 0 < low <= high
    # Every unit of ten says half a second: what is left takes that long with one thread.
    assert low == pytest.approx((20 - half.units_done) * 0.5)
    assert half.rate > 0
    assert half.workers[0].units == half.units_done
    written = RunStore(memory, job.spec.run_id).read_json("progress.json")
    assert Progress.model_validate(written).state == "done"


class PatientExecutor(LocalExecutor):
    """Each task waits for a node for ten minutes, and then takes as long; it looks twice a second.

    Args:
        clock: what these minutes pass on.
        look: what happens at each look.
    """

    def __init__(self, *args: Any, clock: list[float], look: Callable[[], None]) -> None:
        super().__init__(*args)
        self._clock = clock
        self._look = look

    def call(
        self, function: Callable[..., Any], *args: Any, memory: int | None, meanwhile: Any = None
    ) -> Any:
        for waits_for in ("waiting for a node", ""):
            for _ in range(1200):
                self._clock[0] += 0.5
                meanwhile(waits_for)
                self._look()
        return super().call(function, *args, memory=memory)


def test_a_run_is_heard_of_while_its_tasks_wait_and_run(
    make_job: MakeJob, memory: MemoryFiles
) -> None:
    now = [1000.0]
    job = make_job(count=30, rounds=1)
    store = RunStore(memory, job.spec.run_id)
    silences: list[float] = []
    seen: set[tuple[str, str, str]] = set()

    def look() -> None:
        written = Progress.model_validate(store.read_json("progress.json"))
        silences.append(now[0] - written.updated)
        if not silences[-1]:
            seen.add((written.state, written.stage, written.message))

    executor = PatientExecutor(job, store, clock=now, look=look)
    result = run(job, memory, executor, clock=lambda: now[0])
    assert result.complete
    assert max(silences) < 10
    stages = [("planning", ""), ("solving", ""), *(("finishing", s) for s in ("sum", "text", ""))]
    assert seen == {(*at, said) for at in stages for said in ("waiting for a node", "")}
    assert result.progress.message == ""


def test_a_driver_whose_run_is_taken_while_a_task_runs_ends_it_and_writes_nothing_more(
    make_job: MakeJob, memory: MemoryFiles
) -> None:
    now, left = [1000.0], [700]
    job = make_job()
    store = RunStore(memory, job.spec.run_id)

    def look() -> None:
        left[0] -= 1
        if not left[0]:
            store.write_json("progress.json", {"written": "by another"})

    executor = PatientExecutor(job, store, clock=now, look=look)
    with pytest.raises(RunTakenError):
        run(job, memory, executor, clock=lambda: now[0], mine=lambda: left[0] > 0)
    assert left == [0]
    assert store.read_json("progress.json") == {"written": "by another"}
    assert job.solved == []
