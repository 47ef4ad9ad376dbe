"""Charts: the three ways to show one, and that each shows what it says."""

import json
import re
import struct
import subprocess
import sys
from collections import Counter
from typing import Any
from xml.etree import ElementTree

import pytest

from plymill.matches import (
    CellResult,
    EqualStrength,
    Matches,
    Sample,
    charts,
    compare_grids,
    equal_strength,
    grid_cells,
    grid_of_results,
    summarize,
)
from tests.matches.conftest import drawn_grid

SUBJECT: dict[str, Any] = {"game": "connect4-8x6", "sides": ("red", "black")}
COUNTS = [10 << k for k in range(7)]

Grid = tuple[list[CellResult], Matches]


def first_moves(grid: Grid) -> dict[int, Counter[str]]:
    found: dict[int, Counter[str]] = {}
    pairs = zip(grid[1].arrays["cell"].tolist(), grid[1].first_moves().tolist(), strict=True)
    for cell, code in pairs:
        found.setdefault(cell, Counter())[str(code + 1)] += 1
    return found


def chart_of_grid(grid: Grid) -> charts.Chart:
    return charts.grid_chart(grid[0], moves=first_moves(grid), **SUBJECT)


def chart_of_first_moves(grid: Grid) -> charts.Chart:
    counts: dict[int, Counter[str]] = {}
    for cell, moves in first_moves(grid).items():
        counts.setdefault(grid[0][cell].first_iterations or 0, Counter()).update(moves)
    return charts.first_moves_chart(counts, [str(k) for k in range(1, 8)], **SUBJECT)


def chart_of_conditions(grid: Grid) -> charts.Chart:
    cells, first = grid_cells(COUNTS, COUNTS), grid[1].first_moves()
    by_move = {str(c + 1): summarize(cells, grid[1].take(first == c)) for c in range(7)}
    return charts.conditional_chart(by_move, **SUBJECT)


def chart_of_equal_strength(grid: Grid) -> charts.Chart:
    return charts.equal_strength_chart(equal_strength(grid[0]), COUNTS, **SUBJECT)


def chart_of_difference(grid: Grid) -> charts.Chart:
    other, _ = drawn_grid(COUNTS, 60, seed=9, edge=0.2)
    comparison = compare_grids(grid_of_results(grid[0]), grid_of_results(other))
    return charts.difference_chart(comparison, theirs="another", **SUBJECT)


MAKERS = [
    chart_of_grid,
    chart_of_first_moves,
    chart_of_conditions,
    chart_of_equal_strength,
    chart_of_difference,
]


def size(png: bytes) -> tuple[int, int]:
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def texts(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    return ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("make", MAKERS)
def test_a_chart_is_one_specification_that_does_not_change(make: Any, grid: Grid) -> None:
    first, second = charts.specification(make(grid)), charts.specification(make(grid))
    assert first == second
    assert "url" not in json.loads(first).get("data", {})
    assert '"url"' not in first


@pytest.mark.parametrize("make", MAKERS)
def test_a_picture_is_as_large_as_its_drawing(make: Any, grid: Grid) -> None:
    chart = make(grid)
    drawing = ElementTree.fromstring(charts.svg(chart))
    width, height = float(drawing.attrib["width"]), float(drawing.attrib["height"])
    assert width > 300
    assert height > 200
    once, twice = size(charts.png(chart, scale=1)), size(charts.png(chart))
    assert once == pytest.approx((width, height), abs=1.5)
    assert twice == pytest.approx((2 * width, 2 * height), abs=2)
    # A picture of one colour would be very small.
    assert len(charts.png(chart, scale=1)) > 10_000


@pytest.mark.parametrize("make", MAKERS)
def test_titles_and_axes_are_in_words(make: Any, grid: Grid) -> None:
    said = " ".join(texts(charts.svg(make(grid))))
    assert "Connect Four 8x6" in said
    assert "first player (red)" in said
    assert "640" in said


@pytest.mark.parametrize(
    ("game", "title"),
    [
        ("connect4-suicide-8x6", "Connect Four Suicide 8x6"),
        ("boxes-5x5", "Dots and Boxes 5x5"),
        ("tictactoe", "Tic-Tac-Toe"),
        ("connect400", "connect400"),
        ("my-game", "my-game"),
    ],
)
def test_titles_have_the_names_of_games(game: str, title: str) -> None:
    results, _ = drawn_grid([10, 20], 5)
    spec = json.loads(charts.specification(charts.grid_chart(results, game=game)))
    assert spec["title"]["text"] == f"{title}: mean goal of the first player"


def test_the_grid_shows_every_cell_with_its_mean(grid: Grid) -> None:
    results = grid[0]
    svg = charts.svg(charts.grid_chart(results, **SUBJECT))
    said = texts(svg)
    for result in results:
        assert f"{result.mean_goal:.0f}" in said or f"{(result.mean_goal or 0) + 0.01:.0f}" in said
    cells = re.findall(r'aria-label="([^"]*mean goal[^"]*)"', svg)
    for result in results:
        expected = (
            f"iterations, first player (red): {result.first_iterations}; "
            f"iterations, second player (black): {result.second_iterations}; "
            f"mean goal: {result.mean_goal:.1f}; "
            f"95% interval (Wilson): {result.low:.1f} to {result.high:.1f}; "
            f"wins / draws / losses: {result.wins} / {result.draws} / {result.losses}; "
            f"matches: {result.matches}"
        )
        assert any(expected in cell for cell in cells), expected


def test_more_iterations_are_higher_and_farther_to_the_right(grid: Grid) -> None:
    spec = json.loads(charts.specification(charts.grid_chart(grid[0], **SUBJECT)))
    encoding = spec["layer"][0]["encoding"]
    assert encoding["x"]["sort"] == [f"{count:,}" for count in COUNTS]
    assert encoding["y"]["sort"] == [f"{count:,}" for count in reversed(COUNTS)]
    assert encoding["color"]["scale"] == {"domain": [0, 100], "scheme": "redblue"}


def test_a_click_chooses_the_cell_whose_first_moves_are_shown(grid: Grid) -> None:
    spec = json.loads(charts.specification(chart_of_grid(grid)))
    (param,) = spec["params"]
    assert param["select"]["fields"] == ["first", "second"]
    bars = spec["hconcat"][1]
    assert bars["layer"][0]["transform"][0] == {"filter": {"param": "cell"}}
    assert sum(row["count"] for row in bars["data"]["values"]) == sum(
        result.matches for result in grid[0]
    )


def test_first_moves_are_in_their_natural_order() -> None:
    results, _ = drawn_grid([10, 20], 5)
    moves = {0: {"10": 1, "9": 2, "a b 2": 1}, 1: {"1": 2, "a b 11": 3}}
    spec = charts.specification(charts.grid_chart(results, moves=moves, **SUBJECT))
    assert '"domain":["1","9","10","a b 2","a b 11"]' in spec


def test_many_first_moves_are_cut_down_to_those_played_most() -> None:
    results, _ = drawn_grid([10, 20], 5)
    moves = {0: {f"m{k}": 100 - k for k in range(60)}}
    spec = json.loads(charts.specification(charts.grid_chart(results, moves=moves, **SUBJECT)))
    shown = spec["hconcat"][1]["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert shown == [f"m{k}" for k in range(24)]


def test_a_grid_of_one_row_and_one_without_a_match_are_drawn() -> None:
    cells = grid_cells((10,), (10, 20, 40))
    results = summarize(cells, Matches.of([]))
    assert size(charts.png(charts.grid_chart(results, game="tictactoe")))[0] > 200
    results, matches = drawn_grid([10], 5)
    assert len(matches) == 5
    assert "5 matches a cell" in charts.svg(charts.grid_chart(results, game="tictactoe"))


def test_the_page_needs_nothing_from_elsewhere(grid: Grid) -> None:
    text = "5 < 6 & </script><b>"
    html = charts.page(
        text, [charts.Figure(make(grid), text) for make in MAKERS], text="A paragraph."
    )
    # What a browser would load: elements with an address, imports, style sheets with addresses.
    outside = html.replace(charts.library(), "")
    assert not re.search(r"<(?:link|img|iframe|object|embed)\b|\bsrc=|@import|url\(", outside)
    assert not re.search(r"https?://(?!vega\.github\.io/schema/)", outside)
    assert "default-src 'none'" in html
    # Nothing ends a script early: as many ends as begins, and the text stays text.
    assert html.count("</script>") == html.count("<script>") == 2
    assert "5 &lt; 6 &amp; &lt;/script&gt;" in html
    assert html.count("draw('chart") == len(MAKERS)


def test_the_library_knows_how_to_draw() -> None:
    library = charts.library()
    assert "window.vegaEmbed=" in library
    assert "</script" not in library


def test_marks_of_significance() -> None:
    ours = {(10, 10): Sample(100, 0.9, 0.0), (10, 20): Sample(100, 0.5, 0.0)}
    theirs = {(10, 10): Sample(100, 0.1, 0.0), (10, 20): Sample(100, 0.3, 0.0)}
    comparison = compare_grids(ours, theirs)
    said = texts(charts.svg(charts.difference_chart(comparison, game="tictactoe")))
    title = " ".join(said)
    assert "+80" in said
    assert "+20" in said
    assert "Dot: differs at 5% taken alone (2 of 2 cells" in title
    assert "Frame: stands out among all (2)." in title


def test_a_line_beyond_the_grid_has_arrowheads() -> None:
    line = [
        EqualStrength(10, 15.0, 11.0, 20.0, None),
        EqualStrength(20, 35.0, None, None, None),
        EqualStrength(40, None, 30.0, None, "first"),
    ]
    chart = charts.equal_strength_chart(line, [10, 20, 40], game="tictactoe")
    said = texts(charts.svg(chart))
    assert "Arrowheads: it goes on beyond the grid." in " ".join(said)
    assert {"1/4", "1/2", "1", "2", "4"} <= set(said)
    closed = charts.equal_strength_chart(line[:1], [10, 20, 40], game="tictactoe")
    assert "Arrowheads" not in charts.svg(closed)


def test_altair_is_loaded_by_the_first_chart_only() -> None:
    code = (
        "import sys, plymill.matches, plymill.matches.charts, plymill.matches.tables;"
        "print([m for m in ('altair', 'vl_convert', 'scipy', 'choix', 'ray') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
