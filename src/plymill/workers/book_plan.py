"""From an opening-book job to its units."""

import math
from concurrent.futures import ThreadPoolExecutor

from plymill.cluster import Plan, RunStore, SpecError, Unit
from plymill.cluster.plan import audit_sample
from plymill.solver import enumerate_ply, locality_order
from plymill.workers.book_spec import BookJob

UNIT_SECONDS = 45.0
SMALLEST_UNIT = 32
FEW_UNITS = 64
_SECONDS_AT_12_PLY = 4.5e-3  # a position, with a warm table
_HARDER_BY_PLY = 2.3
_WRITERS = 8


def seconds_per_position(ply: int) -> float:
    """A rough estimate for one core with a warm table."""
    return _SECONDS_AT_12_PLY * _HARDER_BY_PLY ** (12 - ply)


def unit_size(spec: BookJob, positions: int) -> int:
    """How many positions a unit gets: so many that it takes ``UNIT_SECONDS``.

    A small job is cut finer, so that several threads have something to share.
    """
    if spec.unit_size is not None:
        return spec.unit_size
    full = math.ceil(UNIT_SECONDS / seconds_per_position(spec.ply))
    shared = math.ceil(positions / FEW_UNITS)
    return min(full, max(shared, min(SMALLEST_UNIT, full)))


def make_plan(spec: BookJob, store: RunStore) -> Plan:
    """Enumerate the positions, order them for locality, and write each unit's input.

    Raises:
        SpecError: no undecided position follows the opening.
    """
    keys = enumerate_ply(spec.ply, spec.opening)
    if not len(keys):
        raise SpecError(
            f"opening: no undecided position with {spec.ply} stones follows '{spec.opening}'."
        )
    ordered = keys[locality_order(keys)]
    size = unit_size(spec, len(ordered))
    starts = range(0, len(ordered), size)
    width = max(5, len(str(len(starts))))

    def write(index: int) -> Unit:
        start, stop = index * size, min((index + 1) * size, len(ordered))
        name = f"{index:0{width}d}"
        return Unit(
            name=name,
            index=index,
            start=start,
            stop=stop,
            input_digest=store.write_input(name, {"keys": ordered[start:stop]}),
            cost=(stop - start) * seconds_per_position(spec.ply),
        )

    with ThreadPoolExecutor(_WRITERS) as pool:
        units = tuple(pool.map(write, range(len(starts))))
    return Plan(
        run_id=spec.run_id,
        item="positions",
        units=units,
        audited=audit_sample(spec.run_id, units, spec.audit_fraction, spec.seed),
    )
