"""What the tests of matches share: records and grids made up."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from plymill.matches import CellResult, Matches, MatchRecord, Status, grid_cells, summarize

Results = Callable[..., list[CellResult]]


def record(
    cell: int, match: int, goal: int = 100, moves: bytes = b"\x00", status: Status = Status.PLAYED
) -> MatchRecord:
    """A record of so many one-byte plies."""
    goals = (goal, 100 - goal) if status is Status.PLAYED else (-1, -1)
    return MatchRecord(
        cell, match, *goals, len(moves), status, moves, tuple(range(100, 100 + len(moves)))
    )


def drawn_grid(
    counts: Sequence[int],
    samples: int,
    *,
    seed: int = 0,
    edge: float = 0.0,
    draws: float = 0.1,
    moves: int = 7,
) -> tuple[list[CellResult], Matches]:
    """A grid in which who has more iterations wins more often; ``edge`` favours the first player.

    The more iterations the first player has, the more often it begins in the middle.
    """
    cells = grid_cells(counts, counts)
    generator = np.random.default_rng(seed)
    records = []
    for cell in cells:
        assert cell.row is not None
        assert cell.column is not None
        lead = edge + 0.9 * np.log2(cell.row / cell.column)
        chance = 1 / (1 + np.exp(-lead))
        centre = 1 / (1 + np.exp(3 - np.log2(cell.row / 10)))
        weights = np.full(moves, (1 - centre) / moves)
        weights[moves // 2] += centre
        for match in range(samples):
            goal = 50 if generator.random() < draws else 100 * int(generator.random() < chance)
            move = int(generator.choice(moves, p=weights))
            length = int(generator.integers(8, 40))
            records.append(record(cell.index, match, goal, bytes([move]) * length))
    matches = Matches.of(records)
    return summarize(cells, matches), matches


@pytest.fixture(scope="session")
def grid() -> tuple[list[CellResult], Matches]:
    """A grid of 10 to 640 iterations on both axes, 60 matches a cell."""
    return drawn_grid([10 << k for k in range(7)], 60, edge=0.6)
