"""The artefacts and the page of finished match runs: whole, and the same bytes again."""

import json

import pytest

from plymill.cluster import MemoryFiles
from plymill.workers import DuelJob, GridJob, MatchJob, PoolJob
from tests.workers.match_runs import artifacts, play, store_of
from tests.workers.pages import Tags

GRID = GridJob(game="tictactoe", first=(10, 20, 40), second=(10, 20, 40), samples=20)
DUEL = DuelJob(game="tictactoe", player_a="uct:40", player_b="random")
POOL = PoolJob(game="tictactoe", players=("uct:40", "random", "first-legal"), samples=10)


def page_of(spec: MatchJob, files: MemoryFiles) -> str:
    return store_of(spec, files).files.read("report.html").decode()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "charts"),
    [
        (GRID, ["grid", "first-moves", "conditional", "equal-strength"]),
        (DUEL, ["llr"]),
        (POOL, ["ratings"]),
    ],
    ids=["grid", "duel", "pool"],
)
def test_charts_and_page_are_whole_and_the_same_whoever_played(
    spec: MatchJob, charts: list[str]
) -> None:
    files, again = MemoryFiles(), MemoryFiles()
    result = play(spec, files)
    play(spec, again, {"a": 1, "b": 2})
    made = artifacts(spec, files)
    assert made == artifacts(spec, again)
    assert result.stages["charts"] == {"charts": charts}
    for name in charts:
        assert made[f"{name}.svg"].startswith(b"<svg")
        assert made[f"{name}.png"].startswith(b"\x89PNG")
    assert b"vegaEmbed" in made["charts.html"]
    page = page_of(spec, files)
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert all(link.startswith("data:") for link in tags.links)
    assert len(tags.links) == len(charts)
    manifest = json.loads(made["manifest.json"])
    for name, entry in manifest["files"].items():
        assert name in page
        assert entry["sha256"] in page
    for line in result.stages["summary"]["lines"]:
        assert spec.kind == "pool" or line in page
        assert line in made["summary.txt"].decode()
    assert "processor seconds" in page


@pytest.mark.usefixtures("without_charts")
def test_the_page_of_a_run_without_charts_is_whole() -> None:
    files = MemoryFiles()
    play(POOL, files)
    tags = Tags()
    tags.feed(page_of(POOL, files))
    assert tags.open == []
    assert "Ratings" in page_of(POOL, files)
