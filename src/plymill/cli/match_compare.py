"""``plymill match compare``: a grid against published numbers, or against another run."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from plymill.cli.failures import UsageError
from plymill.cli.options import DEFAULT_STORE, Force, Json, RunId, Store

if TYPE_CHECKING:
    from plymill.matches.compare import CellComparison, GridComparison
    from plymill.matches.published import Grid
    from plymill.workers.match_look import PlayedRun

_SHOWN = 10
_WIDEST = 16  # columns of a table that fits a terminal


def compare(
    run: RunId,
    other: Annotated[
        str | None, Parameter(name="OTHER", help="Another run of the same game to compare with.")
    ] = None,
    /,
    *,
    published: Annotated[
        Path | None,
        Parameter(
            help="A CSV file of published numbers: the columns game, first_iters, second_iters, "
            "samples, and avg_goal_first or wins_first, draws, wins_second."
        ),
    ] = None,
    game: Annotated[
        str | None, Parameter(help="What the game is called in that file, if not as here.")
    ] = None,
    chart: Annotated[
        Path | None,
        Parameter(help="Draw the differences to this file: .svg, .png or .html."),
    ] = None,
    force: Force = False,
    store: Store = DEFAULT_STORE,
    json: Json = False,
) -> int:
    """Compare a grid cell by cell: z of each, chi-squared over all, what stands out."""
    from plymill.cli.output import say, say_json
    from plymill.cli.patience import patience
    from plymill.cli.sources import require_free, require_store
    from plymill.matches.compare import compare_grids

    require_store(store, there=True)
    if (other is None) == (published is None):
        raise UsageError("Expected either another run or --published FILE to compare with")
    if chart is not None:
        require_free(chart, force=force)
        _require_kind(chart)
    ours = _open_grid(store, run)
    with patience(f"Comparing {run}"):
        theirs, name = (
            _published(ours, published, game)
            if published is not None
            else _other(ours, _open_grid(store, str(other)))
        )
        comparison = compare_grids(_grid(ours), theirs)
        if chart is not None:
            _draw(comparison, ours, name, chart)
    if json:
        say_json(_as_json(ours, name, comparison))
    else:
        _show(ours, name, comparison)
        if chart is not None:
            say(f"Chart of the differences: {chart}")
    return 0


def _open_grid(store: str, run: str) -> "PlayedRun":
    from plymill.cli.output import note
    from plymill.cli.words import plural
    from plymill.workers import GridJob
    from plymill.workers.match_look import open_run

    found = open_run(store, run)
    if not isinstance(found.spec, GridJob):
        raise UsageError(f"Run {run} is a {found.spec.kind}, expected a grid")
    if len(found.units) < found.planned:
        units = plural(found.planned, "unit")
        note(f"plymill: {len(found.units):,} of {units} of {run} are finished.")
    return found


def _grid(run: "PlayedRun") -> "Grid":
    from plymill.matches.compare import grid_of_results

    return grid_of_results(run.results())


def _published(run: "PlayedRun", path: Path, game: str | None) -> tuple["Grid", str]:
    from plymill.matches.published import of_game, read_published
    from plymill.texts import open_text

    with open_text(path) as lines:
        tables = read_published(lines, where=str(path))
    return of_game(tables, game or run.spec.game, where=str(path)), path.name


def _other(ours: "PlayedRun", theirs: "PlayedRun") -> tuple["Grid", str]:
    if ours.spec.game != theirs.spec.game:
        raise UsageError(
            f"Run {theirs.spec.run_id} is of {theirs.spec.game}, expected {ours.spec.game} as in "
            f"{ours.spec.run_id}"
        )
    grid = _grid(theirs)  # a damaged file is told first
    shared = _shared_cells(ours, theirs)
    if shared:
        raise UsageError(
            f"Runs {ours.spec.run_id} and {theirs.spec.run_id} are of the same seed "
            f"{ours.spec.seed}, and the matches of {shared:,} cells are the same in both: expected "
            "runs that are independent, so play one of them with another --seed"
        )
    return grid, theirs.spec.run_id


def _shared_cells(ours: "PlayedRun", theirs: "PlayedRun") -> int:
    """In how many cells the matches of both are the same: same players, same random numbers."""
    if ours.spec.seed != theirs.spec.seed:
        return 0
    return len(_streams(ours) & _streams(theirs))


def _streams(run: "PlayedRun") -> set[tuple[int, str, str]]:
    sides = ((cell.index, run.spec.sides(cell)) for cell in run.spec.cells)
    return {(index, str(first), str(second)) for index, (first, second) in sides}


def _require_kind(path: Path) -> None:
    if path.suffix not in (".svg", ".png", ".html"):
        raise UsageError(f"{path}: expected a name that ends in .svg, .png or .html")


def _draw(comparison: "GridComparison", run: "PlayedRun", name: str, path: Path) -> None:
    from plymill.cluster.storage.leftovers import write_whole
    from plymill.matches.charts import Figure, difference_chart, page, png, svg

    drawn = difference_chart(
        comparison,
        game=run.spec.game,
        ours=run.spec.run_id,
        theirs=name,
        sides=run.spec.rules.players,
    )
    if path.suffix == ".svg":
        write_whole(path, svg(drawn).encode())
    elif path.suffix == ".png":
        write_whole(path, png(drawn))
    else:
        title = f"{run.spec.run_id} against {name}"
        write_whole(path, page(title, [Figure(drawn)]).encode())


def _show(run: "PlayedRun", name: str, comparison: "GridComparison") -> None:
    from plymill.cli.output import say, say_table

    say(f"{run.spec.run_id} against {name}, {run.spec.game}")
    say()
    columns = sorted({cell.column for cell in comparison.cells})
    if len(columns) <= _WIDEST:
        say("z of each cell (rows: first player, columns: second; ! stands out, . says nothing):")
        _show_z(comparison, columns)
        say()
    shown = comparison.outstanding or sorted(
        (cell for cell in comparison.cells if cell.informative), key=lambda cell: cell.p
    )
    say("Cells that stand out:" if comparison.outstanding else "No cell stands out; the farthest:")
    rows = [_row(cell) for cell in shown[:_SHOWN]]
    head = ("first", "second", "ours", "theirs", "difference", "z", "p")
    say_table(head, rows, right="rrrrrrr")
    if comparison.outstanding[_SHOWN:]:
        say(f"and {len(comparison.outstanding) - _SHOWN} more")
    say()
    say(comparison.verdict)
    if comparison.left_out:
        say(f"{comparison.left_out:,} cells are in one of the grids only and left out.")


def _show_z(comparison: "GridComparison", columns: Sequence[int]) -> None:
    from plymill.cli.output import say_table

    cells = {(cell.row, cell.column): cell for cell in comparison.cells}
    rows = [
        (f"{row:,}", *(_z(cells.get((row, column))) for column in columns))
        for row in sorted({cell.row for cell in comparison.cells})
    ]
    say_table(("", *(f"{column:,}" for column in columns)), rows, right="r" * (len(columns) + 1))


def _z(cell: "CellComparison | None") -> str:
    if cell is None:
        return ""
    if not cell.informative:
        return ". "
    return f"{cell.z:+.1f}" + ("!" if cell.stands_out else " ")


def _row(cell: "CellComparison") -> tuple[str, ...]:
    return (
        f"{cell.row:,}",
        f"{cell.column:,}",
        f"{100 * cell.ours.mean:.1f} in {cell.ours.matches:,}",
        f"{100 * cell.theirs.mean:.1f} in {cell.theirs.matches:,}",
        f"{100 * cell.difference:+.1f}",
        f"{cell.z:+.2f}",
        f"{cell.p:.2g}",
    )


def _as_json(run: "PlayedRun", name: str, comparison: "GridComparison") -> dict[str, Any]:
    return {
        "run_id": run.spec.run_id,
        "against": name,
        "game": run.spec.game,
        "agreement": comparison.agreement.value,
        "verdict": comparison.verdict,
        "chi_squared": comparison.chi_squared,
        "chi_squared_per_cell": comparison.chi_squared_per_cell,
        "cells_compared": comparison.informative,
        "p": comparison.p,
        "mean_difference": 100 * comparison.bias,
        "mean_difference_z": comparison.bias_z,
        "left_out": comparison.left_out,
        "cells": [
            {
                "first": cell.row,
                "second": cell.column,
                "ours": {"matches": cell.ours.matches, "mean_goal": 100 * cell.ours.mean},
                "theirs": {"matches": cell.theirs.matches, "mean_goal": 100 * cell.theirs.mean},
                "z": cell.z,
                "p": cell.p,
                "informative": cell.informative,
                "stands_out": cell.stands_out,
            }
            for cell in comparison.cells
        ],
    }
