"""The estimate of what is left weighs units by what they cost, and grows with the plan."""

from dataclasses import replace

import pytest

from plymill.cluster import Plan, Progress, Receipt, Unit
from plymill.cluster.progress import Meter


def plan_of(*costs: float) -> Plan:
    units = tuple(
        Unit(name=str(i), index=i, start=10 * i, stop=10 * i + 10, input_digest="d", cost=cost)
        for i, cost in enumerate(costs)
    )
    return Plan(run_id="r", item="things", units=units)


def receipt(unit: int, seconds: float) -> Receipt:
    return Receipt(unit=unit, digest="d", worker="w", seconds=seconds, finished=0, host="h", pid=1)


def test_time_left_follows_the_cost_of_the_units_not_their_number() -> None:
    meter = Meter(plan_of(1, 1, 1000, 1000))
    for unit in (0, 1):
        meter.finished(receipt(unit, 2.0), now=unit)
    assert meter.eta(1) == pytest.approx((4000, 4000))
    assert meter.eta(4) == pytest.approx((1000, 1000))
    assert meter.work_done == 2


def test_units_that_miss_their_estimates_make_the_range_wide() -> None:
    meter = Meter(plan_of(10, 10, 10, 10))
    meter.finished(receipt(0, 5.0), now=1)
    assert meter.eta(1) is None, "one unit says nothing"
    meter.finished(receipt(1, 15.0), now=2)
    low, high = meter.eta(1) or (0, 0)
    assert low < 20 < high


def test_a_longer_plan_leaves_more_to_do_and_a_replaced_part_does_not_count_as_done() -> None:
    meter = Meter(plan_of(1, 1))
    for unit in (0, 1):
        meter.finished(receipt(unit, 1.0), now=unit)
    assert meter.eta(1) == (0, 0)
    meter.go_on(plan_of(1, 1, 3), 2, [])
    assert meter.eta(1) == pytest.approx((3, 3))
    assert meter.done == 20
    meter.go_on(plan_of(1, 5, 5), 1, [receipt(2, 5.0)])
    assert (meter.done, meter.resumed, meter.work_done) == (20, 10, 6)
    assert meter.eta(1) == pytest.approx((5, 5))


def test_the_share_that_is_done_is_of_the_work_where_that_is_known() -> None:
    nothing = Progress(run_id="r", state="solving", started=0, updated=1)
    assert nothing.share is None
    counted = nothing.model_copy(update={"items_total": 10, "items_done": 5})
    assert counted.share == 0.5
    weighed = counted.model_copy(update={"work_total": 100, "work_done": 1})
    assert weighed.share == 0.01


def test_items_that_failed_are_counted_until_their_unit_is_discarded() -> None:
    meter = Meter(plan_of(1, 1, 1))
    assert meter.failed == 0
    for unit, count in enumerate((0, 3, 4)):
        meter.finished(replace(receipt(unit, 1.0), counters={"failed": count}), now=unit)
    assert meter.failed == 7
    meter.discarded(1)
    assert meter.failed == 4


class Timer:
    def __init__(self) -> None:
        self.now = 500.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("jump", [-3600.0, 3600.0, -1e9])
def test_a_clock_that_jumps_changes_no_rate_and_no_order(jump: float) -> None:
    timer = Timer()
    meter = Meter(plan_of(1, 1, 1, 1), timer)
    timer.now += 10
    meter.finished(receipt(0, 1.0), now=1e9)
    timer.now += 10
    meter.finished(receipt(1, 1.0), now=1e9 + jump)
    timer.now += 5
    assert meter.rate() == pytest.approx(20 / 25)
    assert meter.history == ((1e9, 10), (1e9 + 10, 20))
    timer.now += 70
    assert meter.rate() == 0


def test_a_session_has_not_taken_less_than_no_time() -> None:
    assert Progress(run_id="r", state="solving", started=7200, updated=3600).seconds == 0
    assert Progress(run_id="r", state="solving", started=7200, updated=7260).seconds == 60
