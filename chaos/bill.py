"""What faults cost, and which of them pays for a unit that was done again."""

from collections.abc import Sequence
from dataclasses import dataclass

from chaos.kinds import Strike
from chaos.watch import Finished


@dataclass
class Outcome:
    """A fault and its price. Times are seconds.

    Attributes:
        kind: its name.
        at: when it hit, from the start of the run.
        share: how many of the units were finished then, from 0 to 1.
        victim: what died, stopped or was altered.
        missed: why it does not count; empty if it has hit.
        next_unit: until any unit was finished.
        recovered: until units were finished by as many workers as before; None if never.
        again: units that were solved again, or begun again, because of it.
        processor_seconds: processor time thrown away: results that did not stand, and what dead
            workers had begun.
        starts: how often the person had to start the command again.
    """

    kind: str
    at: float
    share: float
    victim: str = ""
    missed: str = ""
    next_unit: float | None = None
    recovered: float | None = None
    again: int = 0
    processor_seconds: float = 0.0
    starts: int = 0


def bill(
    finished: Sequence[Finished],
    strikes: Sequence[tuple[float, Strike]],
    outcomes: Sequence[Outcome],
) -> None:
    """Charge every result that came again, or late, to the fault that it is owed to.

    Args:
        finished: all results, in the order in which they were seen.
        strikes: the faults, with the moment (monotonic clock) when each began.
        outcomes: of these; ``again`` and ``processor_seconds`` are added to.
    """
    cost: dict[str, float] = {}
    owed = [set(strike.owed) for _, strike in strikes]
    for each in finished:
        in_vain = cost.get(each.unit)
        cost[each.unit] = each.processor_seconds
        before = [index for index, (began, _) in enumerate(strikes) if began < each.seen]
        owing = [index for index in before if each.unit in owed[index]]
        if not owing and (in_vain is None or not before):
            continue
        payer = owing[0] if owing else before[-1]
        owed[payer].discard(each.unit)
        outcomes[payer].again += 1
        outcomes[payer].processor_seconds += in_vain or 0.0
