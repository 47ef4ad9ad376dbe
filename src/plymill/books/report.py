"""What a validation found: checks, their faults, and examples of them."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from plymill.books.examples import EXAMPLES, drawing

Keys = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Example:
    """One position that is at fault, and what is wrong with it."""

    key: int
    note: str

    def __str__(self) -> str:
        return f"key {self.key}, {self.note}{drawing(self.key)}"


@dataclass
class Fault:
    """One kind of fault: how often it was found, and the first examples.

    Attributes:
        kind: ``missing``, ``extra``, ``differing``, ``unsorted`` and the like.
        count: number of positions at fault.
        examples: the first few of them.
    """

    kind: str
    count: int = 0
    examples: list[Example] = field(default_factory=list)
    _keys: list[Keys] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def keys(self) -> Keys:
        """The keys of all positions at fault."""
        return np.concatenate([np.empty(0, dtype=np.uint64), *self._keys])

    def add(self, keys: Keys, note: Callable[[int], str]) -> None:
        """Counts positions; ``note`` tells what is wrong with the one at a place of ``keys``."""
        self.count += len(keys)
        self._keys.append(keys)
        for place in range(min(len(keys), EXAMPLES - len(self.examples))):
            self.examples.append(Example(int(keys[place]), note(place)))

    def as_json(self) -> dict[str, Any]:
        """Kind, count and examples for a JSON object."""
        examples = [asdict(example) for example in self.examples]
        return {"kind": self.kind, "count": self.count, "examples": examples}


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that was checked.

    Attributes:
        name: what was compared with what.
        compared: number of positions looked at.
        faults: the kinds of faults that were looked for, those not found with a count of 0.
    """

    name: str
    compared: int
    faults: list[Fault]

    @property
    def ok(self) -> bool:
        """True if something was compared and no fault was found."""
        return self.compared > 0 and not any(fault.count for fault in self.faults)

    @property
    def verdict(self) -> str:
        """``passed``, ``failed``, or ``nothing compared``."""
        if not self.compared and not any(fault.count for fault in self.faults):
            return "nothing compared"
        return "passed" if self.ok else "failed"

    def count(self, kind: str) -> int:
        """Number of faults of one kind."""
        return next(fault.count for fault in self.faults if fault.kind == kind)

    def __str__(self) -> str:
        found = ", ".join(f"{fault.count:,} {fault.kind}" for fault in self.faults)
        lines = [f"{self.name}: {self.verdict}, {self.compared:,} positions compared, {found}"]
        for fault in self.faults:
            lines += [f"{fault.kind}: {example}" for example in fault.examples]
        return "\n".join(lines)


@dataclass(frozen=True)
class Report:
    """All checks of one book.

    Attributes:
        subject: the book.
        checks: what was checked, in order.
    """

    subject: str
    checks: list[Check]

    @property
    def ok(self) -> bool:
        """True if there was a check and all of them passed."""
        return bool(self.checks) and all(check.ok for check in self.checks)

    @property
    def verdict(self) -> str:
        """``passed``, ``failed``, or ``nothing checked``."""
        if not self.checks:
            return "nothing checked"
        return "passed" if self.ok else "failed"

    def to_json(self) -> str:
        """The report as one JSON object."""
        checks = [
            {
                "name": check.name,
                "compared": check.compared,
                "faults": [fault.as_json() for fault in check.faults],
                "ok": check.ok,
                "verdict": check.verdict,
            }
            for check in self.checks
        ]
        return json.dumps(
            {"subject": self.subject, "ok": self.ok, "verdict": self.verdict, "checks": checks}
        )

    def __str__(self) -> str:
        return "\n".join([f"{self.subject}: {self.verdict}", *map(str, self.checks)])
