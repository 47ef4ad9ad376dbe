"""One specification, three ways to show it: an interactive page, SVG and PNG.

The page holds the library that draws it (vega, vega-lite and vega-embed, out of `vl-convert`), so
that it works without a network; its policy forbids the browser to load anything at all.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape

from plymill.matches.charts.theme import Chart

#: Pixels of the PNG for one of the chart.
SCALE = 2

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'unsafe-inline'; img-src data: blob:"
)
_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;color:#222;background:#fff;margin:2rem auto;
max-width:78rem;padding:0 1rem}
figure{margin:2rem 0;overflow-x:auto}
figcaption{color:#555;max-width:46rem}
"""


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart on a page.

    Attributes:
        chart: the chart.
        caption: how to read it, below it.
    """

    chart: Chart
    caption: str = ""


def specification(chart: Chart) -> str:
    """The chart as a Vega-Lite specification in JSON; equal charts give equal text."""
    return json.dumps(chart.to_dict(), sort_keys=True, separators=(",", ":"))


def svg(chart: Chart) -> str:
    """The chart as SVG; equal charts give equal text."""
    import vl_convert

    return _numbered_from_zero(str(vl_convert.vegalite_to_svg(specification(chart))))


def _numbered_from_zero(text: str) -> str:
    """The library numbers gradients and clips on and on, over all charts of a process."""
    names: dict[str, str] = {}
    for name in re.findall(r'id="((?:gradient|clip)_?\d+)"', text):
        names.setdefault(name, f"{name.rstrip('0123456789')}{len(names)}")
    return re.sub(
        r'(id="|url\(#)((?:gradient|clip)_?\d+)', lambda m: m[1] + names.get(m[2], m[2]), text
    )


def png(chart: Chart, scale: float = SCALE) -> bytes:
    """The chart as PNG, with so many pixels for each one of the chart."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(specification(chart), scale=scale))


@cache
def library() -> str:
    """The JavaScript that draws charts: it makes ``vegaEmbed`` known to a page."""
    import vl_convert

    # Its stub wants text, but without any it gives all of the three libraries.
    text = vl_convert.javascript_bundle(None)  # type: ignore[arg-type]
    # Text in it that would end the script for a browser; in a string both are the same.
    return text.replace("</script", "<\\/script")


def page(title: str, figures: Sequence[Figure], *, text: str = "") -> str:
    """An interactive page of charts that needs nothing else.

    Args:
        title: its heading.
        figures: the charts, one below the other.
        text: a paragraph below the heading.
    """
    body = [f"<h1>{escape(title)}</h1>"] + ([f"<p>{escape(text)}</p>"] if text else [])
    for place, figure in enumerate(figures):
        body.append(
            f'<figure><div id="chart{place}"></div>'
            f"<figcaption>{escape(figure.caption)}</figcaption></figure>"
        )
    calls = "".join(
        f"draw('chart{place}',{_in_script(specification(figure.chart))});"
        for place, figure in enumerate(figures)
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>"
        f"<body>{''.join(body)}"
        "<noscript><p>These charts need JavaScript, which is part of this page.</p></noscript>"
        f"<script>{library()}</script>"
        f"<script>{_DRAW}{calls}</script></body></html>\n"
    )


_DRAW = """
function draw(id, spec) {
  const options = {actions: {export: true, source: false, compiled: false, editor: false}};
  vegaEmbed(document.getElementById(id), spec, options);
}
"""


def _in_script(text: str) -> str:
    """JSON that no tag in it can end the script early."""
    return text.replace("<", "\\u003c")
