"""Drawing faults: the same seed gives the same faults, each at the same share of the run."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

FROM, TO = 0.05, 0.85  # shares of the run between which faults hit


@dataclass(frozen=True, slots=True)
class Planned:
    """A fault that is to come.

    Attributes:
        kind: its name.
        share: how many of the units are to be finished before it hits, from 0 to 1.
        seed: chooses the victim.
    """

    kind: str
    share: float
    seed: int


def draw(kinds: Sequence[str], count: int, seed: int) -> list[Planned]:
    """Draw faults as from a pack of cards: none comes again before all others have come.

    Each hits at a random moment of its own part of the run, so that there is time for the others.

    Args:
        kinds: what may be drawn.
        count: how many faults.
        seed: all follows from it.
    """
    random = Random(seed)
    drawn: list[str] = []
    while len(drawn) < count:
        drawn += random.sample(sorted(kinds), len(kinds))
    part = (TO - FROM) / count
    shares = [FROM + part * (place + random.random()) for place in range(count)]
    return [
        Planned(kind, share, random.getrandbits(32))
        for kind, share in zip(drawn[:count], shares, strict=True)
    ]
