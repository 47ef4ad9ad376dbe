"""Exact scores of Connect Four positions, and the positions of a ply."""

from plymill.games.connect4 import Position
from plymill.solver.dispatch import variants
from plymill.solver.layer import enumerate_ply, locality_order
from plymill.solver.solver import BookOfValues, Counters, Solver, solve
from plymill.solver.table import Table

__all__ = [
    "BookOfValues",
    "Counters",
    "Position",
    "Solver",
    "Table",
    "enumerate_ply",
    "locality_order",
    "solve",
    "variants",
]
