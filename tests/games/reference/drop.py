"""Connect Four and its misere form as lists of columns, each a list of stones from the bottom."""

from dataclasses import dataclass

from tests.games.reference.slow import Moves, SlowState

DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))


@dataclass(frozen=True)
class SlowDrop(SlowState):
    height: int
    misere: bool
    columns: list[list[int]]
    control: int = 0

    @classmethod
    def start(cls, width: int, height: int, *, misere: bool = False) -> "SlowDrop":
        return cls(height, misere, [[] for _ in range(width)])

    def legal(self, player: int) -> list[str]:
        if player != self.control:
            return []
        return [f"( drop {x + 1} )" for x, c in enumerate(self.columns) if len(c) < self.height]

    def after(self, moves: Moves) -> "SlowDrop":
        move = moves[self.control]
        assert move is not None
        x = int(move.split()[2]) - 1
        columns = [list(column) for column in self.columns]
        columns[x].append(self.control)
        return SlowDrop(self.height, self.misere, columns, 1 - self.control)

    def key(self) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(column) for column in self.columns)

    def stones(self) -> dict[tuple[int, int], int]:
        return {(x, y): s for x, column in enumerate(self.columns) for y, s in enumerate(column)}

    def line(self, player: int) -> bool:
        stones = self.stones()
        return any(
            all(stones.get((x + i * dx, y + i * dy)) == player for i in range(4))
            for x, y in stones
            for dx, dy in DIRECTIONS
        )

    def over(self) -> bool:
        full = all(len(column) == self.height for column in self.columns)
        return full or self.line(0) or self.line(1)

    def goals(self) -> tuple[int, int]:
        for player in (0, 1):
            if self.line(player):
                winner = 1 - player if self.misere else player
                return (100, 0) if winner == 0 else (0, 100)
        return (50, 50)
