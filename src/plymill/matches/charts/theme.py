"""What all charts share: colours, axes and their words.

Colours are told apart by everybody: the diverging schemes are ColorBrewer's, of red and blue and of
purple and green, whose ends differ in hue and whose middle is the lightest.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: A chart or a part of one; altair is loaded when the first is made.
Chart = Any

FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif"
INK = "#222222"
FAINT = "#777777"
EMPTY = "#f1f1f1"
LINE = "#2166ac"

#: From the second player's win over even to the first player's.
GOALS_SCHEME = "redblue"
#: From less to more than the other grid.
DIFFERENCE_SCHEME = "purplegreen"
#: From none to the most: ColorBrewer's blues, which vega cuts off at the light end.
SHARE_COLOURS = ["#f7fbff", "#deebf7", "#9ecae1", "#4292c6", "#2171b5", "#08306b"]


#: Games by the beginning of their names; the rest of a name is the size of the board.
_TITLES = {
    "connect4-suicide": "Connect Four Suicide",
    "connect4": "Connect Four",
    "tictactoe": "Tic-Tac-Toe",
    "bidding-tictactoe": "Bidding Tic-Tac-Toe",
    "boxes-suicide": "Dots and Boxes Suicide",
    "boxes": "Dots and Boxes",
    "sheep-and-wolf": "Sheep and Wolf",
}


@dataclass(frozen=True, slots=True)
class Subject:
    """What a chart is about, in the words of its title and axes.

    Attributes:
        game: the name of the game.
        sides: names of the first and the second player, if they have any.
    """

    game: str
    sides: tuple[str, str] | None = None

    @property
    def title(self) -> str:
        """The game as a title has it: ``Connect Four 8x6``."""
        for name, title in _TITLES.items():
            rest = self.game.removeprefix(name)
            if rest != self.game and rest[:1] in ("", "-"):
                return f"{title} {rest[1:]}".strip()
        return self.game

    @property
    def first(self) -> str:
        """The first player: ``first player (red)``."""
        return "first player" + (f" ({self.sides[0]})" if self.sides else "")

    @property
    def second(self) -> str:
        """The second player."""
        return "second player" + (f" ({self.sides[1]})" if self.sides else "")


def step(count: int, *, width: int, least: int, most: int) -> int:
    """Pixels of each of so many cells that together are about so wide."""
    return max(least, min(most, width // max(1, count)))


def altair() -> Any:
    """The library, loaded late: nothing but charts needs it."""
    import altair

    return altair


def values(rows: Iterable[Mapping[str, Any]]) -> Any:
    """Rows as data that goes into the specification itself."""
    return altair().Data(values=list(rows))


def count_text(count: int) -> str:
    """A number of iterations on an axis: ``640``, ``1,280``, ``81,920``."""
    return f"{count:,}"


def iterations_axis(
    channel: str,
    field: str,
    counts: Sequence[int],
    title: str,
    *,
    bands: bool = True,
    **axis: Any,
) -> Any:
    """A logarithmic axis of iterations, with a step for each number.

    Args:
        channel: ``x`` or ``y``.
        field: where the data have the text of the number.
        counts: all numbers that the axis shows, ascending.
        title: what the axis is of; empty for no title.
        bands: whether the marks fill their steps, but for a thin gap.
        axis: further settings of the axis.
    """
    alt = altair()
    order = [count_text(count) for count in counts]
    if channel == "y":
        order.reverse()  # more is higher
    make = alt.X if channel == "x" else alt.Y
    angle = {"labelAngle": -45} if channel == "x" else {}
    gap = {"paddingInner": 0.02} if bands else {}
    return make(f"{field}:O", sort=order, scale=alt.Scale(domain=order, **gap)).axis(
        title=title or None, domain=False, ticks=False, labelPadding=6, **(angle | axis)
    )


def cell_tooltip(subject: Subject) -> list[Any]:
    """What is told of a cell when the mouse is over it."""
    alt = altair()
    return [
        alt.Tooltip("first:N", title=f"iterations, {subject.first}"),
        alt.Tooltip("second:N", title=f"iterations, {subject.second}"),
        alt.Tooltip("mean:Q", title="mean goal", format=".1f"),
        alt.Tooltip("interval:N", title="95% interval (Wilson)"),
        alt.Tooltip("record:N", title="wins / draws / losses"),
        alt.Tooltip("matches:Q", title="matches", format=","),
    ]


def goals_colour(length: int = 200) -> Any:
    """The colour of a mean goal of the first player: red for 0, white for 50, blue for 100."""
    alt = altair()
    return alt.Color(
        "mean:Q",
        scale=alt.Scale(domain=[0, 100], scheme=GOALS_SCHEME),
        legend=alt.Legend(
            title="mean goal",
            gradientLength=length,
            values=[0, 25, 50, 75, 100],
            labelExpr="datum.value + (datum.value == 100 ? ' first wins' : "
            "datum.value == 50 ? ' even' : datum.value == 0 ? ' second wins' : '')",
        ),
    )


def heading(title: str, *lines: str) -> Any:
    """A title with lines of explanation below it."""
    return altair().TitleParams(text=title, subtitle=[line for line in lines if line])


def dressed(chart: Chart) -> Chart:
    """The chart with the settings that all have in common."""
    return (
        chart.configure(font=FONT, background="white", padding=16)
        .configure_view(stroke=None)
        .configure_axis(
            grid=False,
            labelFontSize=11,
            titleFontSize=12,
            titleFontWeight="normal",
            titlePadding=10,
            labelColor=INK,
            titleColor=INK,
        )
        .configure_legend(
            labelFontSize=11,
            titleFontSize=12,
            titleFontWeight="normal",
            titlePadding=8,
            titleLimit=260,
            labelColor=INK,
            titleColor=INK,
        )
        .configure_title(
            anchor="start",
            fontSize=16,
            fontWeight=600,
            subtitleFontSize=12,
            subtitleColor=FAINT,
            subtitlePadding=5,
            offset=14,
            color=INK,
        )
    )
