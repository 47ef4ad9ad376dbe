"""The jobs that are disturbed, in three sizes."""

from plymill.cluster import JobSpec
from plymill.workers import BookJob, GridJob

AUDIT_FRACTION = 0.2  # so that a liar is found out while the run lasts

#: Opening and positions in a unit: some half, two and four minutes of a processor.
_BOOKS = {"small": ("444444", 10), "medium": ("444441", 20), "large": ("44444", 40)}
#: Matches in each cell, and seconds in a unit.
_GRIDS = {"small": (40, 0.2), "medium": (130, 0.25), "large": (250, 0.3)}
_ITERATIONS = (1000, 2000, 4000, 8000, 16000)

JOBS = ("book", "grid")
SIZES = tuple(_BOOKS)


def job(name: str, size: str) -> JobSpec:
    """The book of the positions with 12 stones after an opening, or UCT against UCT.

    Args:
        name: one of `JOBS`.
        size: one of `SIZES`; the larger, the more faults find room in it.
    """
    if name == "book":
        opening, positions = _BOOKS[size]
        return BookJob(
            opening=opening,
            unit_size=positions,
            audit_fraction=AUDIT_FRACTION,
            validate_sample=20,
        )
    samples, seconds = _GRIDS[size]
    return GridJob(
        game="connect4",
        first=_ITERATIONS,
        second=_ITERATIONS,
        samples=samples,
        unit_seconds=seconds,
        audit_fraction=AUDIT_FRACTION,
    )
