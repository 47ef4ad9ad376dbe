"""Matches as Parquet files.

The table of the matches holds what follows from the job alone: equal matches give equal bytes (with
the same version of pyarrow, whose name the format writes into every file). What differs from run
to run, seconds and workers, is a table of its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from plymill.matches.errors import MatchRecordError
from plymill.matches.grids import Cell
from plymill.matches.moves import moves_text
from plymill.matches.openings import Openings
from plymill.matches.records import Matches

if TYPE_CHECKING:
    from plymill.games.game import Game

ROW_GROUP = 65_536

RESULTS = {1: "first", 0: "draw", -1: "second"}

MATCHES_SCHEMA = pa.schema(
    [
        pa.field("game", pa.string(), nullable=False),
        pa.field("cell", pa.uint32(), nullable=False),
        pa.field("match", pa.uint32(), nullable=False),
        pa.field("id", pa.string(), nullable=False),
        pa.field("first", pa.string(), nullable=False),
        pa.field("second", pa.string(), nullable=False),
        pa.field("seed", pa.uint64(), nullable=False),
        pa.field("result", pa.string()),
        pa.field("first_goal", pa.int16()),
        pa.field("second_goal", pa.int16()),
        pa.field("plies", pa.uint16(), nullable=False),
        pa.field("moves", pa.string(), nullable=False),
        pa.field("status", pa.string(), nullable=False),
        pa.field("opening", pa.string(), nullable=False),
    ]
)

TIMES_SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("cell", pa.uint32(), nullable=False),
        pa.field("match", pa.uint32(), nullable=False),
        pa.field("seconds", pa.float64(), nullable=False),
        pa.field("worker", pa.string(), nullable=False),
    ]
)

#: Columns in which the same text stands in many rows.
_REPETITIVE = ["game", "first", "second", "result", "status", "opening"]


@dataclass(frozen=True, kw_only=True)
class MatchTable:
    """What the rows of a table of matches share.

    Attributes:
        game: the rules.
        cells: all cells, by number.
        seed: of the random streams.
        openings: how the matches began.
    """

    game: "Game"
    cells: Sequence[Cell]
    seed: int
    openings: Openings = field(default_factory=Openings)

    def write(self, file: BinaryIO, matches: Matches) -> None:
        """Writes the matches, sorted by id.

        Raises:
            MatchRecordError: an id is there twice, or a cell is not one of the cells.
        """
        rows = matches.sorted()
        if len(rows) and int(rows.arrays["cell"][-1]) >= len(self.cells):
            raise MatchRecordError(
                f"matches: expected cells from 0 to {len(self.cells) - 1}, "
                f"got {rows.arrays['cell'][-1]}."
            )
        with _writer(file, MATCHES_SCHEMA, _REPETITIVE) as writer:
            for start in range(0, len(rows), ROW_GROUP):
                part = rows.take(np.arange(start, min(start + ROW_GROUP, len(rows))))
                writer.write_table(self._table(part), row_group_size=ROW_GROUP)

    def _table(self, rows: Matches) -> pa.Table:
        arrays = rows.arrays
        records = list(rows)
        cells = [self.cells[record.cell] for record in records]
        unplayed = ~rows.played
        results = [
            RESULTS[outcome] if played else None
            for outcome, played in zip(rows.outcomes.tolist(), rows.played.tolist(), strict=True)
        ]
        columns: dict[str, Any] = {
            "game": [self.game.name] * len(rows),
            "cell": arrays["cell"],
            "match": arrays["match"],
            "id": [record.id for record in records],
            "first": [cell.first for cell in cells],
            "second": [cell.second for cell in cells],
            "seed": pa.array([self.seed] * len(rows), pa.uint64()),
            "result": results,
            "first_goal": pa.array(arrays["first_goal"], mask=unplayed),
            "second_goal": pa.array(arrays["second_goal"], mask=unplayed),
            "plies": arrays["plies"],
            "moves": [moves_text(self.game, record.moves) for record in records],
            "status": [record.status.text for record in records],
            "opening": [self._opening(record.match) for record in records],
        }
        return pa.table(columns, schema=MATCHES_SCHEMA)

    def _opening(self, match: int) -> str:
        codes = self.openings.of(match)
        return moves_text(self.game, codes) if codes else ""


def write_times(
    file: BinaryIO,
    *,
    cell: npt.NDArray[np.uint32],
    match: npt.NDArray[np.uint32],
    seconds: npt.NDArray[np.float64],
    workers: Sequence[str],
) -> None:
    """Writes the table of who played each match and how long it took, sorted by id.

    Args:
        file: where to.
        cell: of each match.
        match: of each match.
        seconds: of each match.
        workers: of each match.
    """
    order = np.lexsort((match, cell))
    columns = {
        "id": [f"{cell[i]}:{match[i]}" for i in order],
        "cell": cell[order],
        "match": match[order],
        "seconds": seconds[order],
        "worker": [workers[i] for i in order],
    }
    with _writer(file, TIMES_SCHEMA, ["worker"]) as writer:
        writer.write_table(pa.table(columns, schema=TIMES_SCHEMA), row_group_size=ROW_GROUP)


def read_results(file: str | BinaryIO) -> Iterator[dict[str, Any]]:
    """The rows of a table of matches, one group in memory at a time.

    Raises:
        MatchRecordError: the file is no such table.
    """
    try:
        table = pq.ParquetFile(file)
    except (pa.ArrowException, OSError) as error:
        raise MatchRecordError(f"{file}: expected a Parquet file of matches: {error}") from None
    if not table.schema_arrow.equals(MATCHES_SCHEMA):
        raise MatchRecordError(
            f"{file}: expected the columns {', '.join(MATCHES_SCHEMA.names)} of a table of "
            f"matches, got {', '.join(table.schema_arrow.names)}."
        )
    for batch in table.iter_batches(ROW_GROUP):
        yield from batch.to_pylist()


def _writer(file: BinaryIO, schema: pa.Schema, repetitive: list[str]) -> pq.ParquetWriter:
    """All that may change the bytes is fixed here."""
    return pq.ParquetWriter(
        file,
        schema,
        version="2.6",
        compression="zstd",
        compression_level=9,
        use_dictionary=repetitive,
        data_page_version="1.0",
        data_page_size=1 << 20,
        write_statistics=True,
        write_page_index=False,
    )
