"""The whole 12-ply layer, extrapolated from units spread over it, solved through the job system.

The layer is cut into units as a job cuts it. Of these, groups of neighbours evenly spread over the
layer are solved by a real run on local Ray with two threads. The first half of a group only warms
the table; the rest is measured, as units in the middle of a stretch are what a whole run consists
of. All scores are compared with the published book. bitbully's figure is extrapolated from a cold
sample of the measured units. Both are processor time.

``--unit 10000`` is the size of a real job's units; ``--store`` keeps the run, to go on with it.
"""

import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from _harness import Comparison, parser, show
from _positions import Bitbully, published_book, scores_of
from plymill.cluster import Coordinator, Plan, Receipt, RunOptions, RunStore, Stage
from plymill.cluster.on_ray.executor import RayExecutor
from plymill.cluster.on_ray.session import ray_session
from plymill.workers import BookJob
from plymill.workers.actor import UnitActor
from plymill.workers.book import BookRun

LAYER = 4_200_899
THREADS = 2


class SampledRun(BookRun):
    """A book job that solves only some groups of neighbouring units, and makes no book."""

    groups = 10
    length = 4

    def plan(self, store: RunStore) -> Plan:
        """The plan of the whole layer, thinned out."""
        whole = super().plan(store)
        last = len(whole.units) - self.length
        firsts = np.linspace(0, last, self.groups, dtype=int)
        chosen = [whole.units[first + i] for first in firsts for i in range(self.length)]
        units, start = [], 0
        for index, unit in enumerate(chosen):
            stop = start + unit.items
            units.append(unit.model_copy(update={"index": index, "start": start, "stop": stop}))
            start = stop
        return whole.model_copy(update={"units": tuple(units), "audited": ()})

    @property
    def stages(self) -> Sequence[Stage]:
        """None: there is no book to make of a sample."""
        return ()

    def page(
        self, store: RunStore, manifest: Mapping[str, Any], provenance: Mapping[str, Any]
    ) -> str:
        """An empty page, as there is no book to show."""
        return ""


def run(job: SampledRun, store: RunStore) -> None:
    with ray_session(None, threads=THREADS):
        executor = RayExecutor(job, store, UnitActor, threads=THREADS)
        Coordinator(job, store, executor).run()


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--groups", type=int, default=10, help="places in the layer")
    options.add_argument("--unit", type=int, default=2_500, help="positions in a unit")
    options.add_argument("--sample", type=int, default=6, help="positions a group for bitbully")
    options.add_argument("--table-mb", type=int, default=512)
    options.add_argument("--store", help="where to keep the run")
    args = options.parse_args()
    spec = BookJob(unit_size=args.unit, audit_fraction=0, seed=args.groups)
    job = SampledRun(spec, RunOptions(threads=THREADS, table_mb=args.table_mb))
    job.groups = args.groups
    with tempfile.TemporaryDirectory() as folder:
        store = RunStore.open(args.store or folder, spec.run_id)
        run(job, store)
        result = measure(job, store, args.sample)
    show(result, as_json=args.json)


def measure(job: SampledRun, store: RunStore, sample: int) -> Comparison:
    """Compares all units with the published book, and extrapolates from the measured ones."""
    plan = store.read_plan()
    assert plan is not None
    book, peer = published_book(), Bitbully()
    ours, theirs, checked = [], [], 0
    for unit in plan.units:
        arrays, receipt = store.read_unit(unit)
        keys, scores = arrays["keys"], arrays["scores"]
        if not np.array_equal(scores, scores_of(keys, book)):
            raise AssertionError(f"unit {unit.name} differs from the published book")
        checked += len(keys)
        if unit.index % job.length < job.length // 2:
            continue
        ours.append(cost(receipt) / len(keys))
        some = keys[:: max(1, len(keys) * (job.length // 2) // sample)]
        answers, seconds = peer.solve(some)
        if not np.array_equal(answers, scores_of(some, book)):
            raise AssertionError(f"bitbully differs in unit {unit.name}")
        theirs.append(seconds / len(some))
    return Comparison(
        claim="The whole 12-ply layer with distances",
        ours=float(np.mean(ours)) * LAYER / 3600,
        peer=float(np.mean(theirs)) * LAYER / 3600,
        unit="core-hours",
        larger_is_better=False,
        checked=checked,
        extra={"ms_a_position": [round(1e3 * seconds, 2) for seconds in ours]},
    )


def cost(receipt: Receipt) -> float:
    """Processor seconds of a unit; of a kept run's receipts that lack them, the wall time."""
    return receipt.seconds if receipt.processor_seconds is None else receipt.processor_seconds


if __name__ == "__main__":
    main()
