"""The difference of two grids, with what is more than chance."""

from typing import Any

from plymill.matches.charts.grid import Axes, cell_size
from plymill.matches.charts.theme import (
    DIFFERENCE_SCHEME,
    EMPTY,
    INK,
    Chart,
    Subject,
    altair,
    count_text,
    dressed,
    heading,
    iterations_axis,
    values,
)
from plymill.matches.compare import CellComparison, GridComparison

_SINGLE = 0.05

#: What the two grids are called.
Names = tuple[str, str]


def difference_chart(
    comparison: GridComparison,
    *,
    game: str,
    sides: tuple[str, str] | None = None,
    ours: str = "ours",
    theirs: str = "theirs",
) -> Chart:
    """Difference of the mean goals in every cell.

    A dot marks cells that differ at 5% taken alone, of which there are some by chance; a frame
    those that stand out among all of the grid.

    Args:
        comparison: the two grids.
        game: name of the game.
        sides: names of the first and the second player, if they have any.
        ours: what the first grid is called.
        theirs: what the second grid is called.
    """
    alt = altair()
    subject = Subject(game, sides)
    axes = (
        sorted({cell.row for cell in comparison.cells}),
        sorted({cell.column for cell in comparison.cells}),
    )
    size, names = cell_size(axes), (ours, theirs)
    base = _base(_data(comparison), axes, subject, names)
    largest = max(10.0, *(100 * abs(cell.difference) for cell in comparison.cells))
    colour = _colour(largest, names, min(200, size * len(axes[0]) - 30))
    number = base.mark_text(fontSize=11).encode(
        text="text:N",
        color=alt.condition(
            f"abs(datum.difference) > {0.65 * largest}", alt.value("white"), alt.value(INK)
        ),
    )
    chart = alt.layer(base.mark_rect().encode(color=colour), number, *_marks(base, size))
    return dressed(
        chart.properties(
            width=size * len(axes[1]),
            height=size * len(axes[0]),
            view={"fill": EMPTY},
            title=_title(comparison, subject, names),
        )
    )


def _base(data: list[dict[str, Any]], axes: Axes, subject: Subject, names: Names) -> Chart:
    """Where the cells lie, and what is told of each."""
    alt = altair()
    return alt.Chart(values(data)).encode(
        x=iterations_axis("x", "second", axes[1], f"iterations a move, {subject.second}"),
        y=iterations_axis("y", "first", axes[0], f"iterations a move, {subject.first}"),
        tooltip=[
            alt.Tooltip("first:N", title=f"iterations, {subject.first}"),
            alt.Tooltip("second:N", title=f"iterations, {subject.second}"),
            alt.Tooltip("difference:Q", title="difference of goals", format="+.1f"),
            alt.Tooltip("ours:N", title=names[0]),
            alt.Tooltip("theirs:N", title=names[1]),
            alt.Tooltip("z:Q", format="+.2f"),
            alt.Tooltip("p:Q", format=".2g"),
        ],
    )


def _colour(largest: float, names: Names, length: int) -> Any:
    alt = altair()
    return alt.Color(
        "difference:Q",
        scale=alt.Scale(scheme=DIFFERENCE_SCHEME, domain=[-largest, largest]),
        legend=alt.Legend(
            title=["mean goal,", f"{names[0]} less {names[1]}"],
            gradientLength=length,
            format="+.0f",
        ),
    )


def _marks(base: Chart, size: int) -> tuple[Chart, Chart]:
    """The dot of cells that differ taken alone, and the frame of those that stand out."""
    dot = base.transform_filter("datum.alone").mark_circle(
        size=24, color=INK, opacity=1, xOffset=size / 2 - 6, yOffset=6 - size / 2
    )
    frame = base.transform_filter("datum.stands_out").mark_rect(
        fill=None, stroke=INK, strokeWidth=2.5
    )
    return dot, frame


def _title(comparison: GridComparison, subject: Subject, names: Names) -> Any:
    alone = sum(_differs_alone(cell) for cell in comparison.cells)
    return heading(
        f"{subject.title}: mean goal of the {subject.first}, {names[0]} less {names[1]}",
        *comparison.verdict.replace("; ", ";\n").splitlines(),
        f"Dot: differs at 5% taken alone ({alone} of {comparison.informative} cells, about "
        f"{_SINGLE * comparison.informative:.0f} by chance). "
        f"Frame: stands out among all ({len(comparison.outstanding)}).",
    )


def _data(comparison: GridComparison) -> list[dict[str, Any]]:
    return [
        {
            "first": count_text(cell.row),
            "second": count_text(cell.column),
            "difference": 100 * cell.difference,
            "text": _signed(100 * cell.difference),
            "ours": f"{100 * cell.ours.mean:.1f} in {cell.ours.matches:,} matches",
            "theirs": f"{100 * cell.theirs.mean:.1f} in {cell.theirs.matches:,} matches",
            "z": cell.z,
            "p": cell.p,
            "alone": _differs_alone(cell),
            "stands_out": cell.stands_out,
        }
        for cell in comparison.cells
    ]


def _differs_alone(cell: CellComparison) -> bool:
    return cell.informative and cell.p <= _SINGLE


def _signed(difference: float) -> str:
    rounded = round(difference)
    return f"{rounded:+d}".replace("-", "\N{MINUS SIGN}") if rounded else "0"
