"""Merging any number of sorted sources of positions into one sorted stream."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field

import numpy as np
import numpy.typing as npt

from plymill.books.book import Block, Keys, Values
from plymill.books.errors import BookContentError
from plymill.books.examples import EXAMPLES, drawing
from plymill.books.packed import BookWriter
from plymill.books.scope import Scope
from plymill.books.sorted_keys import difference

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Contradiction:
    """One position that two sources give different values.

    Attributes:
        key: the position's key.
        values: the sources that hold it, each with its value.
    """

    key: int
    values: list[tuple[str, int]]

    def __str__(self) -> str:
        said = ", ".join(f"{value} in {source}" for source, value in self.values)
        return f"key {self.key} has the value {said}{drawing(self.key)}"


@dataclass
class MergeReport:
    """What a merge came across; complete when its stream has ended.

    Attributes:
        sources: number of sources.
        positions: positions in the merged stream.
        duplicates: repeated positions, of equal value, that were dropped.
        overlaps: for each pair of sources, how many positions they share; a source that is
            paired with itself repeated its own.
        contradictions: number of positions with different values; the first source counts.
        missing: number of expected positions that no source has.
        unexpected: number of positions that nobody expected.
        contradiction_examples, missing_examples, unexpected_examples: the first ones, by key.
    """

    sources: int
    positions: int = 0
    duplicates: int = 0
    overlaps: dict[tuple[str, str], int] = field(default_factory=dict)
    contradictions: int = 0
    missing: int = 0
    unexpected: int = 0
    contradiction_examples: list[Contradiction] = field(default_factory=list)
    missing_examples: list[int] = field(default_factory=list)
    unexpected_examples: list[int] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """True without contradictions, missing and unexpected positions."""
        return not (self.contradictions or self.missing or self.unexpected)

    def require_ok(self) -> None:
        """Raises `BookContentError` that names the first faults, if there are any."""
        if not self.ok:
            raise BookContentError(str(self))

    def to_json(self) -> str:
        """The report as one JSON object."""
        figures = asdict(self) | {"ok": self.ok}
        figures["overlaps"] = [[*pair, count] for pair, count in self.overlaps.items()]
        return json.dumps(figures)

    def __str__(self) -> str:
        lines = [f"{self.positions} positions merged from {self.sources} sources"]
        for (one, other), count in self.overlaps.items():
            lines.append(
                f"{one} holds {count} positions more than once"
                if one == other
                else f"{one} and {other} share {count} positions"
            )
        if self.contradictions:
            lines.append(f"{self.contradictions} positions have different values:")
            lines += [str(example) for example in self.contradiction_examples]
        for name, count, keys in (
            ("missing", self.missing, self.missing_examples),
            ("unexpected", self.unexpected, self.unexpected_examples),
        ):
            if count:
                lines.append(f"{count} positions are {name}, the first keys are {keys}")
        return "\n".join(lines)


class Merge:
    """A k-way merge: iterate over it for the merged blocks, then look at `report`.

    Memory is bounded by one block of every source, however many blocks there are. Equal positions
    with equal values become one and are counted; different values are a contradiction, which the
    report names, and the value of the first source is passed on.

    Args:
        sources: by name, streams of blocks (keys, values), ascending by key.
        expected: a stream of arrays of ascending keys, exactly those that should come out.

    Raises:
        BookContentError: while iterating, a source or the expected keys are not ascending.
    """

    def __init__(
        self,
        sources: Mapping[str, Iterable[Block]],
        *,
        expected: Iterable[Keys] | None = None,
    ) -> None:
        self.report = MergeReport(sources=len(sources))
        self._inputs = [_Source(name, iter(blocks)) for name, blocks in sources.items()]
        self._expected = None
        if expected is not None:
            stream = ((keys, np.zeros(len(keys), dtype=np.int8)) for keys in expected)
            self._expected = _Source("the expected positions", stream)

    def __iter__(self) -> Iterator[Block]:
        while (bound := self._bound()) is not None:
            parts = [source.take(bound) for source in self._inputs]
            keys, values = self._join(parts)
            self.report.positions += len(keys)
            if self._expected is not None:
                self._compare(keys, self._expected.take(bound)[0])
            yield keys, values
        while self._expected is not None and (last := self._expected.last_key()) is not None:
            self._compare(np.empty(0, dtype=np.uint64), self._expected.take(last)[0])

    def _bound(self) -> int | None:
        """The greatest key up to which all that the sources hold is at hand; None at the end."""
        ends = [source.last_key() for source in self._inputs]
        return min((end for end in ends if end is not None), default=None)

    def _join(self, parts: list[Block]) -> Block:
        keys = np.concatenate([part[0] for part in parts])
        values = np.concatenate([part[1] for part in parts])
        order = np.argsort(keys, kind="stable")  # of equal keys the first source's comes first
        keys, values = keys[order], values[order]
        first = np.ones(len(keys), dtype=np.bool_)
        np.not_equal(keys[1:], keys[:-1], out=first[1:])
        if not first.all():
            origins = np.repeat(np.arange(len(parts)), [len(part[0]) for part in parts])[order]
            self._count_repeats(keys, values, origins, first)
        return keys[first], values[first]

    def _count_repeats(
        self, keys: Keys, values: Values, origins: npt.NDArray[np.intp], first: Mask
    ) -> None:
        leaders = np.flatnonzero(first)[np.cumsum(first) - 1]  # of each entry the first of its key
        clashing = np.zeros(len(keys), dtype=np.bool_)
        clashing[leaders[values != values[leaders]]] = True
        report = self.report
        report.duplicates += int(np.count_nonzero(~first & ~clashing[leaders]))
        report.contradictions += int(np.count_nonzero(clashing))
        for place in np.flatnonzero(clashing)[: EXAMPLES - len(report.contradiction_examples)]:
            same = np.flatnonzero(leaders == place)
            said = [(self._inputs[origins[i]].name, int(values[i])) for i in same]
            report.contradiction_examples.append(Contradiction(int(keys[place]), said))
        repeats = np.flatnonzero(~first)
        pairs = Counter(
            zip(origins[leaders[repeats]].tolist(), origins[repeats].tolist(), strict=True)
        )
        for (one, other), count in pairs.items():
            names = (self._inputs[one].name, self._inputs[other].name)
            report.overlaps[names] = report.overlaps.get(names, 0) + count

    def _compare(self, keys: Keys, expected: Keys) -> None:
        missing, unexpected = difference(expected, keys), difference(keys, expected)
        report = self.report
        report.missing += len(missing)
        report.unexpected += len(unexpected)
        report.missing_examples += missing[: EXAMPLES - len(report.missing_examples)].tolist()
        room = EXAMPLES - len(report.unexpected_examples)
        report.unexpected_examples += unexpected[:room].tolist()


def merge_to_file(
    path: str | os.PathLike[str],
    scope: Scope,
    sources: Mapping[str, Iterable[Block]],
    *,
    expected: Iterable[Keys] | None = None,
) -> MergeReport:
    """Merges sources into one book in plymill's own format, which appears only if all is well.

    Args:
        path: the file to write.
        scope: what the book holds.
        sources: by name, streams of blocks (keys, values), ascending by key.
        expected: a stream of arrays of ascending keys, exactly those that the book should hold.

    Raises:
        BookContentError: a source is not sorted, positions do not fit the scope, or there are
            contradictions, missing or unexpected positions; the message is the report.
    """
    merged = Merge(sources, expected=expected)
    with BookWriter(path, scope) as writer:
        for keys, values in merged:
            writer.append(keys, values)
        merged.report.require_ok()
    return merged.report


class _Source:
    """One source: the rest of its current block, and the blocks to come."""

    def __init__(self, name: str, blocks: Iterator[Block]) -> None:
        self.name = name
        self._blocks = blocks
        self._keys: Keys = np.empty(0, dtype=np.uint64)
        self._values: Values = np.empty(0, dtype=np.int8)
        self._greatest = -1

    def last_key(self) -> int | None:
        """The greatest key at hand, after reading on where nothing is; None at the end."""
        while not len(self._keys):
            block = next(self._blocks, None)
            if block is None:
                return None
            self._keys, self._values = block
            self._check()
        return self._greatest

    def take(self, bound: int) -> Block:
        """Removes and returns all entries with keys up to the bound."""
        taken: list[Block] = [(self._keys[:0], self._values[:0])]
        while self.last_key() is not None and int(self._keys[0]) <= bound:
            cut = int(np.searchsorted(self._keys, np.uint64(bound), side="right"))
            taken.append((self._keys[:cut], self._values[:cut]))
            self._keys, self._values = self._keys[cut:], self._values[cut:]
        return np.concatenate([t[0] for t in taken]), np.concatenate([t[1] for t in taken])

    def _check(self) -> None:
        keys = self._keys
        if not len(keys):
            return
        if len(keys) != len(self._values):
            raise BookContentError(
                f"{self.name} has {len(keys)} keys with {len(self._values)} values"
            )
        falls = np.flatnonzero(keys[1:] < keys[:-1])
        at = None
        if int(keys[0]) < self._greatest:
            at = (int(keys[0]), self._greatest)
        elif len(falls):
            at = (int(keys[falls[0] + 1]), int(keys[falls[0]]))
        if at is not None:
            raise BookContentError(
                f"{self.name} is not sorted: key {at[0]} comes after {at[1]}, "
                "expected ascending keys"
            )
        self._greatest = int(keys[-1])
