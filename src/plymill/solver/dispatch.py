"""Picks the variant of the search that was compiled for this processor.

The same source is compiled for several levels of instruction sets (see ``setup.py``). All give the
same scores; the environment variable ``PLYMILL_VARIANT`` forces one, for tests and comparisons.
"""

import os
from importlib import import_module, util
from typing import Protocol, cast

import numpy as np
import numpy.typing as npt

from plymill.errors import SolverError
from plymill.solver.cpu import supported_levels
from plymill.solver.table import Table

#: Portable builds: the x86-64 baseline, and what other processors get.
BASELINES = ("v2", "generic")


class Kernel(Protocol):
    """One thread's search; see ``search.pyx``."""

    nodes: int
    probes: int
    hits: int

    def clear(self) -> None:
        """Forgets the private table."""

    def solve(
        self, keys: npt.NDArray[np.uint64], outcomes: bool, guess: int = 0
    ) -> npt.NDArray[np.int8]:
        """Scores of the positions with these keys."""


def variants() -> list[str]:
    """The variants that are built and that this processor runs, fastest first."""
    return [
        name
        for name in (*supported_levels(), *BASELINES)
        if util.find_spec(f"plymill.solver._search_{name}") is not None
    ]


def make_kernel(table: Table, *, lanes: int, variant: str | None = None) -> Kernel:
    """A search over ``table``, of the best variant if none is named.

    Raises:
        SolverError: the named variant is not built or does not run on this processor.
    """
    usable = variants()
    wanted = variant or os.environ.get("PLYMILL_VARIANT") or usable[0]
    if wanted not in usable:
        origin = "" if variant else " (from PLYMILL_VARIANT)"
        raise SolverError(
            f"search variant {wanted!r}{origin} does not run here, "
            f"expected one of {', '.join(usable)}"
        )
    module = import_module(f"plymill.solver._search_{wanted}")
    return cast(Kernel, module.Kernel(table, lanes))
