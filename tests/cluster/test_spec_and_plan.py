"""Specs name their runs; bad ones are refused in one sentence. Plans cover everything once."""

import math
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, ValidationError

from plymill.cluster import JobSpec, Plan, Round, RunOptions, SpecError, Unit
from plymill.cluster.plan import audit_sample, results_digest
from plymill.errors import PlymillError


class Brew(JobSpec):
    kind: Literal["brew"] = "brew"
    cups: int = Field(default=1, ge=1)
    share: float = 0.5
    names: tuple[str, ...] = ()


def test_equal_specs_have_one_name_and_different_specs_different_names() -> None:
    assert Brew(cups=2).run_id == Brew(cups=2, share=0.5).run_id
    assert Brew(cups=2).run_id != Brew(cups=3).run_id
    assert Brew().run_id.startswith("brew-")


def test_the_name_is_the_same_in_every_process_and_version() -> None:
    assert Brew(cups=2).canonical_json == '{"cups":2,"kind":"brew","names":[],"share":0.5}'
    assert Brew(cups=2).run_id == "brew-" + Brew(cups=2).digest[:12]


def test_a_spec_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        Brew().cups = 3


def test_toml_and_fields_give_the_same_spec(tmp_path: Path) -> None:
    path = tmp_path / "job.toml"
    path.write_text('kind = "brew"\ncups = 4\nshare = 1\nnames = ["x"]\n')
    expected = Brew(cups=4, share=1.0, names=("x",))
    assert Brew.from_toml(path) == expected
    assert Brew.from_toml(path).run_id == expected.run_id
    assert Brew.from_toml(path, cups=5).cups == 5


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"spoons": 1}, "there is no field 'spoons'"),
        ({"cups": "many"}, "cups: .*got 'many'"),
        ({"cups": 0}, "cups: expected at least 1, got 0"),
        ({"kind": "tea"}, "kind: .*'brew', got 'tea'"),
    ],
)
def test_bad_fields_are_named_with_place_and_value(fields: dict[str, Any], expected: str) -> None:
    with pytest.raises(SpecError, match=f"^job.toml: {expected}") as caught:
        Brew.from_fields(fields, where="job.toml")
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, PlymillError)


def test_a_file_that_is_missing_or_no_toml_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"nowhere\.toml: cannot read"):
        Brew.from_toml(tmp_path / "nowhere.toml")
    bad = tmp_path / "bad.toml"
    bad.write_text("cups = = 3")
    with pytest.raises(SpecError, match=r"bad\.toml: expected a TOML file"):
        Brew.from_toml(bad)


def test_options_are_no_part_of_the_spec() -> None:
    assert not set(RunOptions.model_fields) & set(Brew.model_fields)


def unit(index: int, start: int, stop: int) -> Unit:
    return Unit(name=f"{index}", index=index, start=start, stop=stop, input_digest="d", cost=1)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=20))
def test_a_plan_survives_the_trip_through_json(sizes: list[int]) -> None:
    units = []
    start = 0
    for index, size in enumerate(sizes):
        units.append(unit(index, start, start + size))
        start += size
    plan = Plan(run_id="r", item="things", units=tuple(units), audited=(0,))
    assert Plan.model_validate_json(plan.model_dump_json()) == plan
    assert plan.items == sum(sizes)


@pytest.mark.parametrize(
    "units",
    [
        (unit(0, 0, 5), unit(1, 6, 9)),
        (unit(0, 0, 5), unit(1, 4, 9)),
        (unit(1, 0, 5),),
        (unit(0, 0, 0),),
    ],
)
def test_a_plan_with_a_gap_or_an_overlap_is_refused(units: tuple[Unit, ...]) -> None:
    with pytest.raises(ValidationError):
        Plan(run_id="r", item="things", units=units)


@given(st.integers(1, 200), st.floats(0, 1), st.integers(0, 5))
def test_the_audited_units_are_a_fixed_sample_of_the_right_size(
    count: int, fraction: float, seed: int
) -> None:
    units = [unit(i, i, i + 1) for i in range(count)]
    sample = audit_sample("run", units, fraction, seed)
    assert sample == audit_sample("run", units, fraction, seed)
    assert len(set(sample)) == len(sample)
    assert len(sample) == math.ceil(fraction * count)
    assert all(0 <= index < count for index in sample)


def test_the_sample_of_a_later_round_is_of_its_own_units() -> None:
    units = [unit(i, i, i + 1) for i in range(100)]
    later = audit_sample("run", units[50:], 0.2, 0)
    assert len(later) == 10
    assert all(50 <= index < 100 for index in later)
    assert later != tuple(index + 50 for index in audit_sample("run", units[:50], 0.2, 0))


def test_a_plan_stands_as_far_as_the_results_that_it_was_made_from() -> None:
    digests = ["a", "b", "c", "d", "e"]
    plan = Plan(
        run_id="r",
        item="things",
        units=tuple(unit(i, i, i + 1) for i in range(5)),
        audited=(1, 3),
        rounds=(
            Round(units=2, basis=results_digest(digests[:2])),
            Round(units=4, basis=results_digest(digests[:4])),
        ),
    )
    assert plan.standing(digests) == 5
    assert plan.standing(["a", "b", "c", "d", "X"]) == 5
    assert plan.standing(["a", "b", "X", "d", "e"]) == 4
    assert plan.standing(["X", "b", "c", "d", "e"]) == 2
    shorter = plan.first(4)
    assert (shorter.units, shorter.audited, shorter.rounds) == (
        plan.units[:4],
        (1, 3),
        plan.rounds[:1],
    )
    assert plan.first(2).rounds == ()
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


@pytest.mark.parametrize("places", [(5,), (3, 3), (3, 2), (6,)])
def test_a_plan_with_rounds_that_cannot_be_is_refused(places: tuple[int, ...]) -> None:
    units = tuple(unit(i, i, i + 1) for i in range(5))
    with pytest.raises(ValidationError):
        Plan(
            run_id="r",
            item="things",
            units=units,
            rounds=tuple(Round(units=place, basis="x") for place in places),
        )
