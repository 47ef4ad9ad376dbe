"""What walking in stretches gains: how often a worker's next unit is not the one after its last."""

from collections import defaultdict
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plymill.cluster.machine.stretches import Stretches

UNITS = 420


def walk(workers: int, random: Random, choose: str) -> dict[str, list[int]]:
    """Which units each worker gets, in order, when units take random times of 1 to 4."""
    stretches = Stretches(range(UNITS))
    shuffled = random.sample(range(UNITS), UNITS)
    free_at = {f"w{i}": 0.0 for i in range(workers)}
    walks: dict[str, list[int]] = defaultdict(list)
    for _ in range(UNITS):
        worker = min(free_at, key=lambda name: free_at[name])
        unit = stretches.take(worker) if choose == "stretches" else shuffled.pop()
        assert unit is not None
        walks[worker].append(unit)
        free_at[worker] += random.uniform(1, 4)
    return walks


def jumps(walks: dict[str, list[int]]) -> int:
    """How often a worker starts somewhere new, with a table that knows another region."""
    return sum(
        1 + sum(after != before + 1 for before, after in pairwise(walk)) for walk in walks.values()
    )


@pytest.mark.parametrize("workers", [1, 2, 8, 32])
@pytest.mark.parametrize("seed", range(5))
def test_stretches_jump_a_few_times_a_worker_where_random_assignment_jumps_every_time(
    workers: int, seed: int
) -> None:
    local = jumps(walk(workers, Random(seed), "stretches"))
    scattered = jumps(walk(workers, Random(seed), "random"))
    assert local <= workers * 6
    assert scattered >= UNITS * 0.95
    assert UNITS / local >= 2 * UNITS / scattered, "stretches are at least twice as long"


def test_one_worker_walks_straight_through() -> None:
    assert walk(1, Random(0), "stretches") == {"w0": list(range(UNITS))}


def test_a_newcomer_takes_the_far_half_of_the_longest_stretch() -> None:
    stretches = Stretches(range(100))
    assert stretches.take("first") == 0
    assert stretches.take("second") == 50
    assert stretches.take("third") == 25
    assert [stretches.take("first"), stretches.take("second")] == [1, 51]


def test_what_a_lost_worker_leaves_is_one_stretch_again() -> None:
    stretches = Stretches(range(10))
    assert [stretches.take("lost") for _ in range(4)] == [0, 1, 2, 3]
    for unit in (3, 1, 2):
        stretches.give_back(unit)
    stretches.release("lost")
    assert [stretches.take("next") for _ in range(9)] == list(range(1, 10))
    assert stretches.take("next") is None


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["take", "back", "release"]))))
def test_no_unit_is_lost_or_doubled_whatever_happens(steps: list[tuple[str, str]]) -> None:
    stretches = Stretches(range(20))
    taken: dict[str, list[int]] = defaultdict(list)
    for worker, step in steps:
        if step == "take":
            unit = stretches.take(worker)
            if unit is not None:
                taken[worker].append(unit)
        elif step == "back" and taken[worker]:
            stretches.give_back(taken[worker].pop(0))
        elif step == "release":
            stretches.release(worker)
    out = [unit for units in taken.values() for unit in units]
    assert len(out) == len(set(out))
    rest = [stretches.take("last") for _ in range(len(stretches))]
    assert stretches.take("last") is None
    assert sorted([*out, *(unit for unit in rest if unit is not None)]) == list(range(20))
