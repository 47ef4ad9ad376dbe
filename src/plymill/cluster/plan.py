"""Units of work and the plan that lists them.

A unit is a slice of the job's items, in the order that keeps neighbours alike, and takes one core
half a minute to a minute. What it computes is a function of the spec and the unit alone.
"""

import math
import random
from collections.abc import Sequence
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Unit(BaseModel):
    """One immutable piece of work.

    Attributes:
        name: names the unit's files in the store.
        index: place in the plan, from 0; neighbours share most of their work.
        start: first item of the unit in the job's order.
        stop: one past the last item.
        input_digest: SHA-256 of what the unit reads.
        cost: estimated seconds of one core.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    index: int = Field(ge=0)
    start: int = Field(ge=0)
    stop: int
    input_digest: str
    cost: float = Field(ge=0)

    @property
    def items(self) -> int:
        """How many items the unit covers."""
        return self.stop - self.start


class Plan(BaseModel):
    """All units of a run, in locality order, and which of them are audited.

    Attributes:
        run_id: the run that the plan belongs to.
        item: what one item is called, in the plural ("positions").
        units: every unit, by index.
        audited: indices of the units that a second worker solves again.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    run_id: str
    item: str
    units: tuple[Unit, ...]
    audited: tuple[int, ...] = ()

    @property
    def items(self) -> int:
        """How many items the whole plan covers."""
        return sum(unit.items for unit in self.units)

    @model_validator(mode="after")
    def _covers_everything_once(self) -> Self:
        expected = 0
        for index, unit in enumerate(self.units):
            if unit.index != index or unit.start != expected or unit.stop <= unit.start:
                raise ValueError(f"unit {unit.name} is not the next slice of the plan")
            expected = unit.stop
        if any(not 0 <= index < len(self.units) for index in self.audited):
            raise ValueError("an audited unit is not in the plan")
        return self


def audit_sample(run_id: str, units: Sequence[Unit], fraction: float, seed: int) -> tuple[int, ...]:
    """Which units to audit: ``fraction`` of them, at least one unless it is 0, ascending.

    The choice depends on the run's name and the seed only, never on who solved what.
    """
    count = min(len(units), math.ceil(fraction * len(units)))
    # random.Random on a string is seeded through SHA-512, alike in every process.
    chooser = random.Random(f"audit/{run_id}/{seed}")
    return tuple(sorted(chooser.sample(range(len(units)), count)))
