"""Units of work and the plan that lists them.

A unit is a slice of the job's items, in the order that keeps neighbours alike, and takes one core
half a minute to a minute. What it computes is a function of the spec and the unit alone.

A plan may be made longer, round by round, once all its units have a result: what follows depends on
these results. Each round names the digest of the results that it was made from, so that it is known
for certain whether it still follows from them.
"""

import hashlib
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
        avoid: a worker that is not to solve the unit if there is another; empty for none.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    index: int = Field(ge=0)
    start: int = Field(ge=0)
    stop: int
    input_digest: str
    cost: float = Field(ge=0)
    avoid: str = ""

    @property
    def items(self) -> int:
        """How many items the unit covers."""
        return self.stop - self.start


class Round(BaseModel):
    """Where a plan was made longer.

    Attributes:
        units: how many units it had until then.
        basis: digest of their results, from which the units after them follow.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    units: int = Field(ge=1)
    basis: str


class Plan(BaseModel):
    """All units of a run, in locality order, and which of them are audited.

    Attributes:
        run_id: the run that the plan belongs to.
        item: what one item is called, in the plural ("positions").
        units: every unit, by index.
        audited: indices of the units that a second worker solves again.
        rounds: where it was made longer, ascending; empty for a plan that was not.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    run_id: str
    item: str
    units: tuple[Unit, ...]
    audited: tuple[int, ...] = ()
    rounds: tuple[Round, ...] = ()

    @property
    def items(self) -> int:
        """How many items the whole plan covers."""
        return sum(unit.items for unit in self.units)

    @property
    def first_attempts(self) -> tuple[Unit, ...]:
        """The units that equal runs have in common.

        They are all but those that try again elsewhere what failed with one worker: how these are
        cut depends on who failed.
        """
        return tuple(unit for unit in self.units if not unit.avoid)

    @property
    def cost(self) -> float:
        """Estimated seconds of one core for the whole plan."""
        return math.fsum(unit.cost for unit in self.units)

    def standing(self, digests: Sequence[str]) -> int:
        """How many units, from the first on, follow from the results that there are.

        Args:
            digests: of the results of all units, by index.
        """
        for longer in self.rounds:
            if results_digest(digests[: longer.units]) != longer.basis:
                return longer.units
        return len(self.units)

    def first(self, count: int) -> "Plan":
        """The plan of the first ``count`` units."""
        return Plan(
            run_id=self.run_id,
            item=self.item,
            units=self.units[:count],
            audited=tuple(index for index in self.audited if index < count),
            rounds=tuple(longer for longer in self.rounds if longer.units < count),
        )

    def extended(self, units: Sequence[Unit], audited: Sequence[int] = ()) -> "Plan":
        """The plan with these units behind its own; the job system adds the round itself."""
        return Plan(
            run_id=self.run_id,
            item=self.item,
            units=(*self.units, *units),
            audited=(*self.audited, *audited),
            rounds=self.rounds,
        )

    @model_validator(mode="after")
    def _covers_everything_once(self) -> Self:
        expected = 0
        for index, unit in enumerate(self.units):
            if unit.index != index or unit.start != expected or unit.stop <= unit.start:
                raise ValueError(f"unit {unit.name} is not the next slice of the plan")
            expected = unit.stop
        if any(not 0 <= index < len(self.units) for index in self.audited):
            raise ValueError("an audited unit is not in the plan")
        places = [longer.units for longer in self.rounds]
        if places != sorted(set(places)) or (places and places[-1] >= len(self.units)):
            raise ValueError("a round is not where the plan was made longer")
        return self


def results_digest(digests: Sequence[str]) -> str:
    """SHA-256 over the digests of several results, in their order."""
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def audit_sample(run_id: str, units: Sequence[Unit], fraction: float, seed: int) -> tuple[int, ...]:
    """Which units to audit: ``fraction`` of them, at least one unless it is 0, ascending.

    The choice depends on the run's name, the seed and where in the plan the units begin, never on
    who solved what.
    """
    count = min(len(units), math.ceil(fraction * len(units)))
    # random.Random on a string is seeded through SHA-512, alike in every process.
    later = f"/{units[0].index}" if units and units[0].index else ""
    chooser = random.Random(f"audit/{run_id}/{seed}{later}")
    return tuple(sorted(unit.index for unit in chooser.sample(units, count)))
