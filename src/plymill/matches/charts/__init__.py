"""Charts of matches, each as an interactive page, SVG and PNG; the first one loads altair."""

from plymill.matches.charts.difference import difference_chart
from plymill.matches.charts.equal import equal_strength_chart
from plymill.matches.charts.grid import grid_chart
from plymill.matches.charts.moves import conditional_chart, first_moves_chart
from plymill.matches.charts.render import Figure, library, page, png, specification, svg
from plymill.matches.charts.theme import Chart

__all__ = [
    "Chart",
    "Figure",
    "conditional_chart",
    "difference_chart",
    "equal_strength_chart",
    "first_moves_chart",
    "grid_chart",
    "library",
    "page",
    "png",
    "specification",
    "svg",
]
