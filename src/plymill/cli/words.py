"""Figures in words, as the command line says them; they are `plymill.words`."""

from plymill.words import duration, plural, rate, size, time_range

__all__ = ["duration", "plural", "rate", "size", "time_range"]
