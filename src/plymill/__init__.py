"""plymill: opening books and game experiments, solved exactly, on a laptop or a cluster."""

from plymill._version import __version__

__all__ = ["__version__"]
