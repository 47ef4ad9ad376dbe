"""What an opening-book job is asked for."""

from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from plymill.books import LAYOUTS
from plymill.cluster import JobSpec
from plymill.games import Position

Layout = Literal["plymill", "8ply", "12ply", "12ply-dist"]
_PLY_OF = {"8ply": 8, "12ply": 12, "12ply-dist": 12}
_DEEPEST = 14  # plies below the opening: more positions than a task has memory for
_DERIVED = 8  # the other ply that programs in the wild read
assert set(_PLY_OF) | {"plymill"} == set(LAYOUTS)


class BookJob(JobSpec):
    """A book of all undecided positions of one ply that follow an opening.

    Attributes:
        ply: number of stones of every position, at most 14 more than the opening has.
        opening: moves that all positions follow, columns 1 to 7; empty for the whole ply.
        distances: solve for scores; otherwise for outcomes only, which takes half the time.
        audit_fraction: share of the units that are solved again by another worker.
        seed: chooses the audited units and the positions of the final sample.
        layouts: file formats; plymill's own is always made, the others for whole books only.
        derive: lower plies to derive books of; 8 if left out and possible.
        validate_sample: how many random positions of the finished book are solved again.
        unit_size: positions in a unit; half a minute to a minute's worth if left out.
        reference_sha256: digest of a book to compare with, stored with the run.
        reference_layout: the layout of that book.
    """

    kind: Literal["book"] = "book"
    ply: int = Field(default=12, ge=0, le=41)
    opening: str = ""
    distances: bool = True
    audit_fraction: float = Field(default=0.01, ge=0, le=1)
    seed: int = Field(default=0, ge=0)
    layouts: tuple[Layout, ...] = ("plymill",)
    derive: tuple[int, ...] = ()
    validate_sample: int = Field(default=200, ge=0)
    unit_size: int | None = Field(default=None, ge=1)
    reference_sha256: str | None = Field(default=None, pattern="^[0-9a-f]{64}$")
    reference_layout: Layout | None = None

    @model_validator(mode="before")
    @classmethod
    def _derive_by_default(cls, fields: Any) -> Any:
        """Make the default explicit, so that it is part of the hash."""
        if isinstance(fields, dict) and fields.get("derive") is None:
            ply = fields.get("ply", 12)
            opening = fields.get("opening", "")
            possible = (
                isinstance(ply, int) and isinstance(opening, str) and len(opening) <= _DERIVED < ply
            )
            return {**fields, "derive": (_DERIVED,) if possible else ()}
        return fields

    @field_validator("derive", "layouts")
    @classmethod
    def _each_once(cls, entries: tuple[Any, ...]) -> tuple[Any, ...]:
        """Lists in which the same is there twice would make the same job under another name."""
        for place, entry in enumerate(entries):
            if entry in entries[:place]:
                raise ValueError(f"expected each once, got {entry} twice")
        return entries

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        first = self._check_opening()
        for ply in self.derive:
            if not first <= ply < self.ply:
                raise ValueError(
                    f"derive: expected plies from {first} to {self.ply - 1}, got {ply}"
                )
        for layout in self.layouts:
            self._check_layout(layout)
        if (self.reference_sha256 is None) != (self.reference_layout is None):
            raise ValueError("a reference needs both reference_sha256 and reference_layout")
        return self

    def _check_opening(self) -> int:
        """How many stones the opening has."""
        opening = Position(self.opening)
        first = opening.ply
        if opening.is_over():
            raise ValueError(f"the opening '{self.opening}' ends the game: no position follows it")
        if self.ply > first + _DEEPEST:
            raise ValueError(
                f"ply: expected at most {_DEEPEST} stones more than the {first} of the opening, "
                f"got {self.ply}"
            )
        if first > self.ply:
            raise ValueError(
                f"the opening '{self.opening}' has {first} moves, more than the ply {self.ply}"
            )
        return first

    def _check_layout(self, layout: Layout) -> None:
        ply = _PLY_OF.get(layout)
        if ply is not None and self.opening:
            raise ValueError(f"layouts: '{layout}' is for whole books, not for those of an opening")
        if ply is not None and ply not in (self.ply, *self.derive):
            raise ValueError(
                f"layouts: '{layout}' needs a book of ply {ply}, but only "
                f"{', '.join(map(str, (self.ply, *self.derive)))} is made"
            )
        if layout == "12ply-dist" and not self.distances:
            raise ValueError("layouts: '12ply-dist' needs distances")

    def stem(self, ply: int) -> str:
        """The file name, without ending, of this job's book of a ply."""
        distances = "-dist" if self.distances else ""
        opening = f"-after-{self.opening}" if self.opening else ""
        return f"connect4-{ply}ply{distances}{opening}"
