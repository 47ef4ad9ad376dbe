"""Charts of matches, each as an interactive page, SVG and PNG; the first one loads altair."""

from plymill.matches.charts.difference import difference_chart
from plymill.matches.charts.equal import equal_strength_chart
from plymill.matches.charts.grid import grid_chart
from plymill.matches.charts.moves import conditional_chart, first_moves_chart
from plymill.matches.charts.render import Figure, page, png, specification, svg

__all__ = [
    "Figure",
    "conditional_chart",
    "difference_chart",
    "equal_strength_chart",
    "first_moves_chart",
    "grid_chart",
    "page",
    "png",
    "specification",
    "svg",
]
