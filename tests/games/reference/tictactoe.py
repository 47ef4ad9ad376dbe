"""Tic-tac-toe, and the form in which the turns are bid for, on a dictionary of cells."""

from dataclasses import dataclass, replace

from tests.games.reference.slow import Moves, SlowState

Cell = tuple[int, int]
LINES = [
    *([(row, column) for column in (1, 2, 3)] for row in (1, 2, 3)),
    *([(row, column) for row in (1, 2, 3)] for column in (1, 2, 3)),
    [(1, 1), (2, 2), (3, 3)],
    [(1, 3), (2, 2), (3, 1)],
]


def empty() -> dict[Cell, int | None]:
    return {(row, column): None for row in (1, 2, 3) for column in (1, 2, 3)}


@dataclass(frozen=True)
class SlowMarks(SlowState):
    """What both games share: marks, lines, the end."""

    cells: dict[Cell, int | None]

    def line(self, player: int) -> bool:
        return any(all(self.cells[cell] == player for cell in line) for line in LINES)

    def open_cells(self) -> list[Cell]:
        return [cell for cell, mark in self.cells.items() if mark is None]

    def over(self) -> bool:
        return self.line(0) or self.line(1) or not self.open_cells()

    def goals(self) -> tuple[int, int]:
        if self.line(0):
            return (100, 0)
        return (0, 100) if self.line(1) else (50, 50)

    def mark_moves(self) -> list[str]:
        return [f"( mark {row} {column} )" for row, column in self.open_cells()]

    def marked(self, player: int, move: str | None) -> dict[Cell, int | None]:
        assert move is not None
        _, word, row, column, _ = move.split()
        assert word == "mark"
        assert self.cells[int(row), int(column)] is None
        return {**self.cells, (int(row), int(column)): player}


@dataclass(frozen=True)
class SlowTicTacToe(SlowMarks):
    control: int = 0

    @classmethod
    def start(cls) -> "SlowTicTacToe":
        return cls(empty())

    def legal(self, player: int) -> list[str]:
        return self.mark_moves() if player == self.control else []

    def key(self) -> tuple[int | None, ...]:
        return tuple(self.cells.values())

    def after(self, moves: Moves) -> "SlowTicTacToe":
        return SlowTicTacToe(self.marked(self.control, moves[self.control]), 1 - self.control)


@dataclass(frozen=True)
class SlowBidding(SlowMarks):
    coins: tuple[int, int] = (3, 3)
    tiebreaker: int = 0
    control: int | None = None  # nobody's while bids are made

    @classmethod
    def start(cls) -> "SlowBidding":
        return cls(empty())

    def legal(self, player: int) -> list[str]:
        if self.control is not None:
            return self.mark_moves() if player == self.control else []
        kinds = ["no_tiebreaker"] + (["with_tiebreaker"] if player == self.tiebreaker else [])
        return [f"( bid {b} {kind} )" for b in range(self.coins[player] + 1) for kind in kinds]

    def key(self) -> tuple[object, ...]:
        return (*self.cells.values(), self.coins, self.tiebreaker, self.control)

    def after(self, moves: Moves) -> "SlowBidding":
        if self.control is not None:
            cells = self.marked(self.control, moves[self.control])
            return replace(self, cells=cells, control=None)
        bids = [self.read_bid(move) for move in moves]
        winner = self.winner(bids)
        paid, added = bids[winner]
        coins = list(self.coins)
        coins[winner] -= paid
        coins[1 - winner] += paid
        return replace(
            self,
            coins=(coins[0], coins[1]),
            tiebreaker=1 - winner if added else self.tiebreaker,
            control=winner,
        )

    def winner(self, bids: list[tuple[int, bool]]) -> int:
        for player, other in ((0, 1), (1, 0)):
            (bid, added), (against, other_added) = bids[player], bids[other]
            if bid > against:
                return player
            if bid == against and added and not other_added:
                return player
            if bid == against and not added and not other_added and self.tiebreaker == other:
                return player
        raise AssertionError(f"nobody wins the bidding {bids}")

    @staticmethod
    def read_bid(move: str | None) -> tuple[int, bool]:
        assert move is not None
        _, word, bid, kind, _ = move.split()
        assert word == "bid"
        return int(bid), kind == "with_tiebreaker"
