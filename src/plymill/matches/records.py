"""Records of matches: one as a value, many as flat arrays that a unit's file can hold.

The arrays are one-dimensional and have one entry a match, but for ``moves`` and ``values``, which
hold those of all matches one after the other; ``length`` says how many belong to each match:

=============  =====  ==========================================================================
cell           u32    which pair of players
match          u32    number of the match within its cell, from 0
first_goal     i16    goal of the first player, 0 to 100; -1 if the match was not played to its end
second_goal    i16    goal of the second player, likewise
plies          u16    joint moves, those of the opening included
status         u8     see `Status`
length         u16    bytes of the match in ``moves``
moves          u8     move codes, from the initial position on; two a ply where both players move
values         u16    beside each move the mover's estimate, see `value_code`
=============  =====  ==========================================================================
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from plymill.matches.errors import MatchRecordError

COLUMNS: Mapping[str, str] = {
    "cell": "<u4",
    "match": "<u4",
    "first_goal": "<i2",
    "second_goal": "<i2",
    "plies": "<u2",
    "status": "<u1",
    "length": "<u2",
}
FLAT: Mapping[str, str] = {"moves": "<u1", "values": "<u2"}
TYPES = {**COLUMNS, **FLAT}

#: The entry in ``values`` of a move that came without an estimate: one of an opening, say.
NO_VALUE = 65535
_VALUE_SCALE = 10_000

Array = npt.NDArray[Any]


class Status(IntEnum):
    """How a match ended: with goals, or by the fault of a player."""

    PLAYED = 0
    FIRST_RAISED = 1
    SECOND_RAISED = 2
    FIRST_ILLEGAL = 3
    SECOND_ILLEGAL = 4
    FIRST_HUNG = 5
    SECOND_HUNG = 6

    @property
    def text(self) -> str:
        """In words, as tables show it: ``played``, ``first player raised``, ..."""
        if self is Status.PLAYED:
            return "played"
        side, fault = self.name.lower().split("_")
        return f"{side} player {_FAULTS[fault]}"


_FAULTS = {"raised": "raised", "illegal": "moved illegally", "hung": "hung"}


def value_code(value: float | None) -> int:
    """The entry in ``values`` of an estimate: ten-thousandths, or `NO_VALUE` for None.

    Raises:
        MatchRecordError: it is not a number from 0 to 1.
    """
    if value is None:
        return NO_VALUE
    if not 0 <= value <= 1:
        raise MatchRecordError(f"estimate: expected a number from 0 to 1, got {value}.")
    return round(_VALUE_SCALE * value)


@dataclass(frozen=True, slots=True)
class MatchRecord:
    """One match.

    Attributes:
        cell: which pair of players.
        match: number of the match within its cell.
        first_goal: goal of the first player, -1 if the match was not played to its end.
        second_goal: goal of the second player, likewise.
        plies: joint moves, those of the opening included.
        status: how it ended.
        moves: move codes from the initial position on.
        values: beside each move the mover's estimate, see `value_code`.
    """

    cell: int
    match: int
    first_goal: int
    second_goal: int
    plies: int
    status: Status
    moves: bytes
    values: tuple[int, ...]

    @property
    def id(self) -> str:
        """``CELL:MATCH``."""
        return f"{self.cell}:{self.match}"


class Matches:
    """Any number of matches as arrays, checked when they are put together.

    Attributes:
        arrays: the arrays by name, as they go into a unit's file; read only.
    """

    __slots__ = ("arrays",)

    def __init__(self, arrays: Mapping[str, Array], *, where: str = "the matches") -> None:
        """Takes arrays of the layout above.

        Raises:
            MatchRecordError: they are not consistent; the message begins with ``where``.
        """
        fault = _fault(arrays)
        if fault:
            raise MatchRecordError(f"{where}: {fault}.")
        self.arrays: dict[str, Array] = {
            name: _read_only(arrays[name], dtype) for name, dtype in TYPES.items()
        }

    @classmethod
    def of(cls, records: Sequence[MatchRecord]) -> Self:
        """The arrays of some records, in their order."""
        columns: dict[str, Array] = {
            name: np.array([getattr(record, name) for record in records], dtype=COLUMNS[name])
            for name in COLUMNS
            if name != "length"
        }
        columns["length"] = np.array([len(record.moves) for record in records], dtype="<u2")
        columns["moves"] = np.frombuffer(b"".join(r.moves for r in records), dtype=np.uint8)
        columns["values"] = np.array([v for r in records for v in r.values], dtype="<u2")
        return cls(columns)

    @classmethod
    def concatenated(cls, parts: Iterable["Matches"]) -> Self:
        """All matches of the parts, in their order."""
        arrays = [part.arrays for part in parts]
        return cls(
            {
                name: np.concatenate([np.empty(0, dtype), *(part[name] for part in arrays)])
                for name, dtype in TYPES.items()
            }
        )

    def sorted(self) -> "Matches":
        """The matches by cell, and within a cell by number.

        Raises:
            MatchRecordError: two of them have the same id.
        """
        order = np.lexsort((self.arrays["match"], self.arrays["cell"]))
        result = self.take(order)
        cell, match = result.arrays["cell"], result.arrays["match"]
        twice = np.flatnonzero((cell[1:] == cell[:-1]) & (match[1:] == match[:-1]))
        if len(twice):
            place = twice[0]
            raise MatchRecordError(f"The match {cell[place]}:{match[place]} is there twice.")
        return result

    def take(self, order: npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> "Matches":
        """Some of the matches: those at the places given, or those that a mask is true for."""
        arrays = {name: self.arrays[name][order] for name in COLUMNS}
        length = self.arrays["length"].astype(np.int64)
        begins = (np.cumsum(length) - length)[order]
        taken = length[order]
        within = np.arange(int(taken.sum())) - np.repeat(np.cumsum(taken) - taken, taken)
        places = np.repeat(begins, taken) + within
        return Matches(arrays | {name: self.arrays[name][places] for name in FLAT})

    @property
    def ids(self) -> npt.NDArray[np.uint64]:
        """One number for each match that orders by cell, then by number."""
        cell = self.arrays["cell"].astype(np.uint64)
        return cell << np.uint64(32) | self.arrays["match"].astype(np.uint64)

    @property
    def played(self) -> npt.NDArray[np.bool_]:
        """Which matches came to their end."""
        mask: npt.NDArray[np.bool_] = self.arrays["status"] == Status.PLAYED
        return mask

    @property
    def outcomes(self) -> npt.NDArray[np.int8]:
        """1 where the first player has the higher goal, 0 for a draw, -1 where the second has it.

        Means nothing for matches that were not played.
        """
        difference = self.arrays["first_goal"] - self.arrays["second_goal"]
        signs: npt.NDArray[np.int8] = np.sign(difference).astype(np.int8)
        return signs

    def first_moves(self) -> npt.NDArray[np.int16]:
        """The first byte of each match's moves, -1 where there is none."""
        length = self.arrays["length"].astype(np.int64)
        begins = np.cumsum(length) - length
        moves = np.full(len(self), -1, dtype=np.int16)
        some = length > 0
        moves[some] = self.arrays["moves"][begins[some]]
        return moves

    def __len__(self) -> int:
        return len(self.arrays["cell"])

    def __iter__(self) -> Iterator[MatchRecord]:
        columns = [self.arrays[name].tolist() for name in COLUMNS]
        moves, values = self.arrays["moves"].tobytes(), self.arrays["values"].tolist()
        begin = 0
        for cell, match, first, second, plies, status, length in zip(*columns, strict=True):
            end = begin + length
            yield MatchRecord(
                cell,
                match,
                first,
                second,
                plies,
                Status(status),
                moves[begin:end],
                tuple(values[begin:end]),
            )
            begin = end

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Matches):
            return NotImplemented
        return all(np.array_equal(self.arrays[name], other.arrays[name]) for name in TYPES)

    __hash__ = None  # type: ignore[assignment]  # holds arrays

    def __repr__(self) -> str:
        return f"<Matches: {len(self)}>"


def _read_only(array: Array, dtype: str) -> Array:
    view = np.ascontiguousarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view


def _fault(arrays: Mapping[str, Array]) -> str | None:
    """What is wrong with the arrays, in words."""
    if set(arrays) != set(TYPES):
        return f"expected the arrays {', '.join(TYPES)}, got {', '.join(sorted(arrays))}"
    for name, dtype in TYPES.items():
        array = arrays[name]
        if array.ndim != 1 or not np.can_cast(array.dtype, dtype):
            return f"{name}: expected one dimension of {np.dtype(dtype)}, got {array.dtype}"
    size = len(arrays["cell"])
    for name in COLUMNS:
        if len(arrays[name]) != size:
            return f"{name}: expected {size} entries as in cell, got {len(arrays[name])}"
    total = int(arrays["length"].sum(dtype=np.int64))
    for name in FLAT:
        if len(arrays[name]) != total:
            return f"{name}: expected {total} entries, the sum of length, got {len(arrays[name])}"
    return _bad_entry(arrays)


def _bad_entry(arrays: Mapping[str, Array]) -> str | None:
    status, length, plies = (arrays[name] for name in ("status", "length", "plies"))
    first, second, values = (arrays[name] for name in ("first_goal", "second_goal", "values"))
    played = status == Status.PLAYED
    in_range = (first >= 0) & (first <= 100) & (second >= 0) & (second <= 100)
    rules = (
        ("a status from 0 to 6", status <= max(Status)),
        ("goals from 0 to 100 if it was played, or else -1 and -1",
         np.where(played, in_range, (first == -1) & (second == -1))),
        ("one or two moves a ply", (plies <= length) & (length <= 2 * plies.astype(np.int64))),
    )  # fmt: skip
    for rule, good in rules:
        if not good.all():
            place = int(np.flatnonzero(~good)[0])
            match_id = f"{arrays['cell'][place]}:{arrays['match'][place]}"
            return f"match {match_id}: expected {rule}"
    if not ((values <= _VALUE_SCALE) | (values == NO_VALUE)).all():
        return f"values: expected 0 to {_VALUE_SCALE}, or {NO_VALUE} for none"
    return None
