"""What can go wrong with matches, each in one sentence that a person can act on."""

from plymill.errors import PlymillError


class MatchError(PlymillError, ValueError):
    """Iteration counts, openings, bounds or published numbers that nothing can be made of."""


class MatchRecordError(PlymillError, ValueError):
    """Arrays that are no records of matches: cut short, contradictory, or with an id twice."""
