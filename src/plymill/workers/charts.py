"""Small bar charts as inline SVG: no script, no other file, readable in light and dark."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT = 720, 240
_LEFT, _BOTTOM, _TOP = 64, 34, 12


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar. ``kind`` names its colour in the page's style sheet; ``title`` is shown on hover."""

    label: str
    value: float
    kind: str
    title: str


def bar_chart(bars: Sequence[Bar], *, caption: str, unit: str) -> str:
    """A bar chart as a ``<figure>``.

    Args:
        bars: from left to right; labels are thinned out where they would not fit.
        caption: what the chart shows.
        unit: of the values, written at the axis.
    """
    top = max((bar.value for bar in bars), default=0) or 1
    room = (_WIDTH - _LEFT) / max(1, len(bars))
    scale = (_HEIGHT - _BOTTOM - _TOP) / top
    parts = [_axis(top, unit)]
    every = max(1, round(len(bars) / 14))
    for place, bar in enumerate(bars):
        left = _LEFT + place * room
        height = bar.value * scale
        parts.append(
            f'<rect class="{bar.kind}" x="{left + room * 0.1:.1f}" '
            f'y="{_HEIGHT - _BOTTOM - height:.1f}" width="{room * 0.8:.1f}" '
            f'height="{height:.1f}"><title>{escape(bar.title)}</title></rect>'
        )
        if place % every == 0:
            parts.append(
                f'<text x="{left + room / 2:.1f}" y="{_HEIGHT - _BOTTOM + 16}" '
                f'text-anchor="middle">{escape(bar.label)}</text>'
            )
    return (
        f'<figure><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(caption)}">{"".join(parts)}</svg>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _axis(top: float, unit: str) -> str:
    base = _HEIGHT - _BOTTOM
    return (
        f'<line x1="{_LEFT}" y1="{base}" x2="{_WIDTH}" y2="{base}"/>'
        f'<text x="{_LEFT - 6}" y="{_TOP + 10}" text-anchor="end">{top:,.4g}</text>'
        f'<text x="{_LEFT - 6}" y="{base}" text-anchor="end">0</text>'
        f'<text x="4" y="{(_TOP + base) / 2:.0f}">{escape(unit)}</text>'
    )
