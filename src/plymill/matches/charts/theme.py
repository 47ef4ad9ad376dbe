"""What all charts share: colours, axes and their words.

Colours are told apart by everybody: the diverging schemes are ColorBrewer's, of red and blue and of
purple and green, whose ends differ in hue and whose middle is the lightest.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

#: A chart or a part of one; altair is loaded when the first is made.
Chart = Any

FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif"
INK = "#222222"
FAINT = "#777777"
EMPTY = "#f3f3f3"

#: From the second player's win over even to the first player's.
GOALS_SCHEME = "redblue"
#: From less to more than the other grid.
DIFFERENCE_SCHEME = "purplegreen"
SHARE_SCHEME = "blues"


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
    channel: str, field: str, counts: Sequence[int], title: str, **axis: Any
) -> Any:
    """A logarithmic axis of iterations, one band for each number.

    Args:
        channel: ``x`` or ``y``.
        field: where the data have the text of the number.
        counts: all numbers that the axis shows, ascending.
        title: what the axis is of.
        axis: further settings of the axis.
    """
    alt = altair()
    order = [count_text(count) for count in counts]
    if channel == "y":
        order.reverse()  # more is higher
    make = alt.X if channel == "x" else alt.Y
    angle = {"labelAngle": -45} if channel == "x" else {}
    return make(f"{field}:O", sort=order, scale=alt.Scale(domain=order, paddingInner=0.02)).axis(
        title=title, domain=False, ticks=False, labelPadding=4, **(angle | axis)
    )


def goals_colour(title: str, **legend: Any) -> Any:
    """The colour of a mean goal of the first player: red for 0, white for 50, blue for 100."""
    alt = altair()
    return alt.Color(
        "mean:Q",
        scale=alt.Scale(domain=[0, 50, 100], scheme=GOALS_SCHEME, domainMid=None),
        legend=alt.Legend(
            title=title,
            gradientLength=legend.pop("length", 200),
            values=[0, 25, 50, 75, 100],
            **legend,
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
            labelFontSize=11, titleFontSize=11, titleFontWeight="normal", titleLimit=240
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
        .configure_header(labelFontSize=12, titleFontSize=12)
    )
