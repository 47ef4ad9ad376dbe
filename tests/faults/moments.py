"""Moments that nobody has chosen, and that can be chosen again."""

import os
import random
from collections.abc import Callable

from plymill.cluster import Progress

SEED = "PLYMILL_FAULT_SEED"


class Moments:
    """Draws when a fault happens, and to whom.

    Prints its seed, which pytest shows when a test fails; the same number in the environment as
    ``PLYMILL_FAULT_SEED`` draws the same again.

    Args:
        seed: a number; the one in the environment, or a new one, when None.
    """

    def __init__(self, seed: int | None = None) -> None:
        given = os.environ.get(SEED)
        drawn = int(given) if given else random.SystemRandom().randrange(2**32)
        self.seed = drawn if seed is None else seed
        self.random = random.Random(self.seed)
        print(f"faults: {SEED}={self.seed}")

    def once(
        self,
        act: Callable[[Progress], None],
        *,
        share: tuple[float, float] = (0.1, 0.6),
        workers: int = 1,
    ) -> Callable[[Progress], None]:
        """A progress callback that acts once, at a random moment while units are solved.

        Args:
            act: does the damage.
            share: of the units that are finished at that moment, from and to; drawn between.
            workers: so many must be there, each with something finished and something in flight.
        """
        moment = self.random.uniform(*share)
        print(f"faults: at {moment:.0%} of the units")
        done: list[bool] = []

        def on_progress(progress: Progress) -> None:
            busy = [w for w in progress.workers if w.units and w.in_flight]
            late = progress.units_total and progress.units_done >= moment * progress.units_total
            if not done and progress.state == "solving" and late and len(busy) >= workers:
                done.append(True)
                act(progress)

        return on_progress
