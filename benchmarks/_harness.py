"""What the benchmark scripts share: timing, the command line, one way to print a result."""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One measured claim.

    Attributes:
        claim: what was measured, as the beginning of a sentence.
        ours: plymill's figure.
        peer: the other's figure, measured in the same run on the same input.
        unit: of both figures.
        larger_is_better: True for rates, False for times and sizes.
        checked: how many answers were compared, all of them equal.
        extra: further figures for the JSON object.
    """

    claim: str
    ours: float
    peer: float
    unit: str
    larger_is_better: bool
    checked: int
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        """Ours over the peer's, so that larger is better."""
        return self.ours / self.peer if self.larger_is_better else self.peer / self.ours

    def to_json(self) -> str:
        """One JSON object."""
        figures = {
            "ratio": round(self.ratio, 3),
            "peer": self.peer,
            "ours": self.ours,
            "unit": self.unit,
            "checked": self.checked,
        }
        return json.dumps(figures | self.extra)

    def __str__(self) -> str:
        sentence = (
            f"{self.claim}: {self.ours:.4g} {self.unit} against the peer's {self.peer:.4g}, "
            f"{self.ratio:.3g} times better, {self.checked:,} answers checked."
        )
        further = [f"  {name}: {value}" for name, value in self.extra.items()]
        return "\n".join([sentence, *further])


def seconds(function: Callable[[], object], repeat: int = 5) -> float:
    """The shortest time that a call took: the least disturbed one."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


def parser(description: str | None) -> argparse.ArgumentParser:
    """A command line with ``--json``; scripts add their own options."""
    command = argparse.ArgumentParser(description=description)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    return command


def show(result: Comparison, *, as_json: bool) -> None:
    """Prints the result as one JSON object or as sentences."""
    print(result.to_json() if as_json else result)
