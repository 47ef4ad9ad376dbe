"""Who walks where: the units still to be given out, kept as contiguous stretches.

A worker walks its own stretch from the front, so that its table stays warm. When it has come to
the end it takes a stretch that nobody owns, and when there is none, the far half of the longest
stretch that somebody else has still before him: what is furthest from his table.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(slots=True)
class _Stretch:
    start: int
    stop: int
    owner: str | None = None

    def __len__(self) -> int:
        return self.stop - self.start


class Stretches:
    """The units not yet given out, each in exactly one stretch, owned by one worker or by none."""

    def __init__(self, units: Iterable[int]) -> None:
        self._stretches: list[_Stretch] = []
        for unit in sorted(units):
            if self._stretches and self._stretches[-1].stop == unit:
                self._stretches[-1].stop += 1
            else:
                self._stretches.append(_Stretch(unit, unit + 1))
        self._left = sum(len(stretch) for stretch in self._stretches)

    def __len__(self) -> int:
        return self._left  # asked for at every worker's turn

    def take(self, worker: str) -> int | None:
        """The next unit for ``worker``, or None when everything is given out."""
        stretch = self._owned(worker) or self._unowned() or self._far_half()
        if stretch is None:
            return None
        stretch.owner = worker
        unit = stretch.start
        stretch.start += 1
        self._left -= 1
        if not len(stretch):
            self._stretches.remove(stretch)
        return unit

    def give_back(self, unit: int) -> None:
        """Put a unit back; it joins the unowned stretches that it touches."""
        added = _Stretch(unit, unit + 1)
        self._stretches.append(added)
        self._left += 1
        self._join(added)

    def release(self, worker: str) -> None:
        """Let go of what ``worker`` owns: it is gone."""
        stretch = self._owned(worker)
        if stretch is not None:
            stretch.owner = None
            self._join(stretch)

    def _owned(self, worker: str) -> _Stretch | None:
        return next((s for s in self._stretches if s.owner == worker), None)

    def _unowned(self) -> _Stretch | None:
        return max((s for s in self._stretches if s.owner is None), key=len, default=None)

    def _far_half(self) -> _Stretch | None:
        longest = max(self._stretches, key=len, default=None)
        if longest is None:
            return None
        middle = longest.start + len(longest) // 2
        if middle == longest.start:
            return longest
        far = _Stretch(middle, longest.stop)
        longest.stop = middle
        self._stretches.append(far)
        return far

    def _join(self, stretch: _Stretch) -> None:
        for other in [s for s in self._stretches if s.owner is None and s is not stretch]:
            if other.stop == stretch.start:
                stretch.start = other.start
                self._stretches.remove(other)
            elif other.start == stretch.stop:
                stretch.stop = other.stop
                self._stretches.remove(other)
