"""Sheep and wolf on a dictionary of pieces: squares (x, y), 1 for c1 to 8 for c8."""

from dataclasses import dataclass

from tests.games.reference.slow import Moves, SlowState

Square = tuple[int, int]
WOLF, SHEEP = 0, 1
STEPS = {WOLF: [(-1, -1), (1, -1), (1, 1), (-1, 1)], SHEEP: [(1, 1), (-1, 1)]}


@dataclass(frozen=True)
class SlowSheep(SlowState):
    pieces: dict[Square, int]
    control: int = WOLF

    @classmethod
    def start(cls) -> "SlowSheep":
        return cls({(1, 1): SHEEP, (3, 1): SHEEP, (5, 1): SHEEP, (7, 1): SHEEP, (4, 8): WOLF})

    def moveable(self, player: int) -> list[tuple[Square, Square]]:
        """The steps that a side's pieces could make, whoever's turn it is."""
        return [
            ((x, y), (x + dx, y + dy))
            for (x, y), owner in self.pieces.items()
            if owner == player
            for dx, dy in STEPS[player]
            if 1 <= x + dx <= 8 and 1 <= y + dy <= 8 and (x + dx, y + dy) not in self.pieces
        ]

    def legal(self, player: int) -> list[str]:
        if player != self.control:
            return []
        return [f"( move c{x} c{y} c{u} c{v} )" for (x, y), (u, v) in self.moveable(player)]

    def key(self) -> tuple[object, ...]:
        return (frozenset(self.pieces.items()), self.control)

    def after(self, moves: Moves) -> "SlowSheep":
        move = moves[self.control]
        assert move is not None
        x, y, u, v = (int(word[1]) for word in move.split()[2:6])
        pieces = dict(self.pieces)
        pieces[u, v] = pieces.pop((x, y))
        return SlowSheep(pieces, 1 - self.control)

    def wolf_behind_sheep(self) -> bool:
        (wolf_row,) = [y for (_, y), owner in self.pieces.items() if owner == WOLF]
        return not any(y < wolf_row for (_, y), owner in self.pieces.items() if owner == SHEEP)

    def over(self) -> bool:
        return self.wolf_behind_sheep() or not self.moveable(WOLF) or not self.moveable(SHEEP)

    def goals(self) -> tuple[int, int]:
        return (100, 0) if self.moveable(WOLF) else (0, 100)
