"""``plymill book query`` and ``info``: what a book holds."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from plymill.cli.options import BookArgument, BookLayout, Json, Moves, TableMb

if TYPE_CHECKING:
    from plymill.books import Book


def query(
    book: BookArgument,
    moves: Moves = "",
    /,
    *,
    layout: BookLayout = None,
    table_mb: TableMb = None,
    json: Json = False,
) -> int:
    """Show a position and the value of each of its moves, in words.

    Positions with fewer stones than the book's are answered from the book alone; what it cannot
    answer is solved, and the last line says so.
    """
    from plymill.cli.solve import solve

    return solve(moves, book=book, layout=layout, table_mb=table_mb, json=json)


def info(book: BookArgument, /, *, layout: BookLayout = None, json: Json = False) -> int:
    """Tell what a book holds: layout, ply, opening, number of positions and their values."""
    from plymill.cli.output import say, say_json, say_table
    from plymill.cli.sources import locate, open_named

    path = locate(book, layout)[0]
    with open_named(book, layout) as opened:
        facts = _facts(opened, path)
    if json:
        say_json(facts)
        return 0
    say(f"{facts['path']}")
    rows = [
        ("layout", facts["layout"]),
        ("positions", f"{facts['positions']:,} of {facts['ply']} stones"),
        ("opening", facts["opening"] or "none: the whole ply"),
        ("values", "scores, with distances" if facts["distances"] else "win, draw or loss"),
        *((name, f"{count:,}") for name, count in facts["outcomes"].items()),
        ("size", f"{facts['bytes']:,} bytes"),
        ("digest", facts["sha256"] or "none in this layout"),
    ]
    if facts["first_wins_omitted"]:
        rows.append(("left out", "positions that player 1 wins"))
    say_table(("", ""), rows)
    return 0


def _facts(book: "Book", path: Path) -> dict[str, Any]:
    from plymill.books import PackedBook

    counts = count_values(book)
    wins = sum(count for value, count in counts.items() if value > 0)
    losses = sum(count for value, count in counts.items() if value < 0)
    first, second = (wins, losses) if book.scope.to_move == 1 else (losses, wins)
    return {
        "path": str(path),
        "layout": book.layout,
        "ply": book.ply,
        "opening": book.opening,
        "distances": book.distances,
        "positions": len(book),
        "outcomes": {"player 1 wins": first, "draws": counts.get(0, 0), "player 2 wins": second},
        "values": {str(value): count for value, count in counts.items()},
        "first_wins_omitted": book.scope.first_wins_omitted,
        "bytes": path.stat().st_size,
        "sha256": book.digest if isinstance(book, PackedBook) else None,
    }


def count_values(book: "Book") -> dict[int, int]:
    """How many positions have each value, side to move's view, by value."""
    import numpy as np

    counts = np.zeros(256, dtype=np.int64)
    for _, values in book.blocks():
        counts += np.bincount(values.view(np.uint8), minlength=256)
    signed = np.arange(256, dtype=np.uint8).view(np.int8)
    return {int(signed[i]): int(counts[i]) for i in np.argsort(signed) if counts[i]}
