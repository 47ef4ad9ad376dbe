"""What a run under attack has cost, as a table and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from chaos.bill import Outcome
from plymill.cli.words import plural

_HEAD = ("fault", "at s", "done", "what it hit", "unit s", "whole s", "again", "cpu s", "starts")
_RIGHT = {1, 2, 4, 5, 6, 7, 8}
LEGEND = (
    "unit s: until any unit was finished. whole s: until all workers were back. again: units that "
    "were solved or begun again. cpu s: processor time thrown away. starts: how often a person had "
    "to start the command again. A damaged file is found when it is needed next, so that it "
    "disturbs nobody at first."
)


@dataclass
class Report:
    """All that is told.

    Attributes:
        job: its name.
        size: of the job.
        seed: of the faults.
        undisturbed: seconds of the run in peace, on the same cluster.
        disturbed: seconds of the other run.
        units: how many the job has.
        processor_seconds: what the units of the run in peace have cost.
        starts: how often a person had to start the command again.
        outcomes: of the faults.
        compared: how many artefacts are the same.
        differing: the names of those that are not.
        stuck: why the run did not end; empty if it did.
        left_out: kinds that are not possible here, each with the reason.
    """

    job: str
    size: str
    seed: int
    undisturbed: float = 0.0
    disturbed: float = 0.0
    units: int = 0
    processor_seconds: float = 0.0
    starts: int = 0
    outcomes: list[Outcome] = field(default_factory=list)
    compared: int = 0
    differing: list[str] = field(default_factory=list)
    stuck: str = ""
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Whether anything is not as it should be."""
        missed = any(outcome.missed for outcome in self.outcomes)
        return missed or bool(self.differing) or bool(self.stuck) or not self.compared

    def to_json(self) -> dict[str, Any]:
        """One object with all figures, rounded to milliseconds."""
        fields = asdict(self) | {"failed": self.failed}
        rounded: dict[str, Any] = _rounded(fields)
        return rounded

    def __str__(self) -> str:
        lines = [table(self.outcomes), "", LEGEND, ""]
        lines += [f"Left out: {kind}, as {why}." for kind, why in self.left_out.items()]
        again = sum(outcome.again for outcome in self.outcomes)
        wasted = sum(outcome.processor_seconds for outcome in self.outcomes)
        late = self.starts - sum(outcome.starts for outcome in self.outcomes)
        later = f", {late} of them after the last fault" if late else ""
        lines.append(
            f"{self.size} {self.job}, seed {self.seed}: {self.units} units, "
            f"{self.undisturbed:.0f} s in peace and {self.disturbed:.0f} s with "
            f"{len(self.outcomes)} faults. {again} units were done again; {wasted:.0f} of "
            f"{self.processor_seconds + wasted:.0f} processor seconds were thrown away; "
            f"the command was started again {plural(self.starts, 'time')}{later}."
        )
        return "\n".join([*lines, self._verdict()])

    def _verdict(self) -> str:
        if self.stuck:
            return f"The run did not end: {self.stuck}"
        missed = [outcome.kind for outcome in self.outcomes if outcome.missed]
        if missed:
            return f"Not every fault has hit: {', '.join(missed)}."
        if self.differing:
            return f"Artefacts differ: {', '.join(self.differing)}."
        if not self.compared:
            return "Nothing was compared."
        return f"All {self.compared} artefacts are the same, byte for byte."


def table(outcomes: Sequence[Outcome]) -> str:
    """A line for each fault."""
    rows = [_HEAD, *map(_row, outcomes)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if index in _RIGHT else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _row(outcome: Outcome) -> tuple[str, ...]:
    return (
        outcome.kind,
        f"{outcome.at:.0f}",
        f"{outcome.share:.0%}",
        f"MISSED: {outcome.missed}" if outcome.missed else outcome.victim,
        _seconds(outcome.next_unit),
        _seconds(outcome.recovered),
        str(outcome.again),
        f"{outcome.processor_seconds:.1f}",
        str(outcome.starts),
    )


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _rounded(value: Any) -> Any:
    match value:
        case float():
            return round(value, 3)
        case dict():
            return {name: _rounded(each) for name, each in value.items()}
        case list() | tuple():
            return [_rounded(each) for each in value]
    return value
