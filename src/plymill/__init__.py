"""plymill: opening books and game experiments, solved exactly, on a laptop or a cluster.

>>> import plymill
>>> plymill.solve("4444")
1
"""

from importlib import import_module
from typing import TYPE_CHECKING

from plymill._version import __version__

if TYPE_CHECKING:
    from plymill.books import Book, open_book
    from plymill.games import Position
    from plymill.solver import Solver, enumerate_ply, solve

#: Where each public name lives. They are loaded at first use, so that a machine that only submits
#: jobs loads no solver.
_HOMES = {
    "Book": "plymill.books",
    "Position": "plymill.games",
    "Solver": "plymill.solver",
    "enumerate_ply": "plymill.solver",
    "open_book": "plymill.books",
    "solve": "plymill.solver",
}

__all__ = [
    "Book",
    "Position",
    "Solver",
    "__version__",
    "enumerate_ply",
    "open_book",
    "solve",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'plymill' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
