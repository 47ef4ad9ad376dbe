"""Dots and boxes, and its misere form, on a set of lines and a dictionary of boxes."""

from dataclasses import dataclass

from tests.games.reference.slow import Moves, SlowState

Line = tuple[int, int, int, int]


def sides(x: int, y: int) -> list[Line]:
    """The four lines round a box."""
    return [(x, y, x, y + 1), (x, y, x + 1, y), (x + 1, y, x + 1, y + 1), (x, y + 1, x + 1, y + 1)]


@dataclass(frozen=True)
class SlowBoxes(SlowState):
    width: int
    height: int
    misere: bool
    lines: frozenset[Line] = frozenset()
    owners: tuple[tuple[tuple[int, int], int], ...] = ()
    control: int = 0

    @classmethod
    def start(cls, width: int, height: int, *, misere: bool = False) -> "SlowBoxes":
        return cls(width, height, misere)

    def boxes(self) -> list[tuple[int, int]]:
        return [(x, y) for x in range(1, self.width + 1) for y in range(1, self.height + 1)]

    def undrawn(self) -> list[Line]:
        return sorted({line for box in self.boxes() for line in sides(*box)} - self.lines)

    def legal(self, player: int) -> list[str]:
        if player != self.control:
            return []
        return [f"( draw {' '.join(str(n) for n in line)} )" for line in self.undrawn()]

    def key(self) -> tuple[object, ...]:
        return (self.lines, self.counts(), self.control)

    def counts(self) -> tuple[int, int]:
        first = sum(owner == 0 for _, owner in self.owners)
        return (first, len(self.owners) - first)

    def after(self, moves: Moves) -> "SlowBoxes":
        move = moves[self.control]
        assert move is not None
        x1, y1, x2, y2 = (int(n) for n in move.split()[2:6])
        lines = self.lines | {(x1, y1, x2, y2)}
        owned = dict(self.owners)
        formed = [b for b in self.boxes() if b not in owned and lines.issuperset(sides(*b))]
        owners = (*self.owners, *((box, self.control) for box in formed))
        control = self.control if formed else 1 - self.control
        return SlowBoxes(self.width, self.height, self.misere, lines, owners, control)

    def over(self) -> bool:
        return not self.undrawn()

    def goals(self) -> tuple[int, int]:
        mine, others = self.counts()
        first_wins = mine > others  # equally many are the second player's
        return (100, 0) if first_wins != self.misere else (0, 100)
