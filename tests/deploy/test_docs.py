"""The guide: it builds, its links and commands are right, its figures are those of the code."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from plymill import Position
from plymill.books.scores import plies_to_end
from plymill.cluster import RunOptions
from plymill.matches.published import of_game, read_published
from plymill.workers import BookJob, make_job, spec_from_toml
from tests.deploy.commands import fault, in_document

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
TEXTS = [*PAGES, ROOT / "README.md"]
CLUSTER = (DOCS / "cluster.md").read_text(encoding="utf-8")
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_commands_in_a_page_are_those_that_plymill_has(path: Path) -> None:
    assert [said for words in in_document(path) if (said := fault(words))] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_and_files_named_in_a_page_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for link in LINK.findall(text):
        if "://" not in link and not link.startswith("#"):
            assert (path.parent / link.partition("#")[0]).exists(), link
    for name in re.findall(r"\b((?:deploy|benchmarks)/[\w./-]+\w)", text):
        assert (ROOT / name).exists(), name


def blocks(path: Path, language: str) -> list[str]:
    """What stands in a page in blocks of a language."""
    text = path.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_files_of_jobs_in_a_page_are_those_that_submit_takes(path: Path, tmp_path: Path) -> None:
    for number, text in enumerate(blocks(path, "toml")):
        job = tmp_path / f"{number}.toml"
        job.write_text(text, encoding="utf-8")
        assert spec_from_toml(job).run_id


def test_readme_guide_and_match_jobs_show_a_file_of_a_job() -> None:
    assert {"README.md", "cluster.md", "match-jobs.md"} <= {
        path.name for path in TEXTS if blocks(path, "toml")
    }


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_what_is_downloaded_goes_where_nothing_of_the_checkout_is_and_git_ignores_it(
    path: Path,
) -> None:
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    for words in in_document(path):
        if words[0] == "download" or words[:2] == ["run", "download"]:
            assert not (ROOT / words[-1]).is_symlink(), words
            assert f"/{words[-1]}/" in ignored, words


def test_what_the_guide_says_to_write_secrets_into_is_ignored_by_git() -> None:
    assert "$ cp deploy/kuberay/store.env.example store.env\n" in CLUSTER
    assert "/store.env" in (ROOT / ".gitignore").read_text().splitlines()


def test_no_block_of_the_guide_goes_on_after_a_command_that_stays_open() -> None:
    stay = ("ray attach", "kubectl port-forward", "plymill serve")
    for block in blocks(DOCS / "cluster.md", "console"):
        lines = [line.removeprefix("$ ") for line in block.splitlines()]
        assert not any(line.startswith(stay) for line in lines[:-1]), block


def test_nothing_is_taken_down_in_a_block_that_does_something_else() -> None:
    downs = [block for block in blocks(DOCS / "cluster.md", "console") if "ray down" in block]
    assert downs == ["$ ray down deploy/aws.yaml\n"]


def test_each_cluster_that_needs_a_token_from_here_is_made_one_before_it_starts() -> None:
    ups = [block for block in blocks(DOCS / "cluster.md", "console") if "ray up" in block]
    assert len(ups) == 2
    for block in ups:
        assert block.index("ray get-auth-token --generate") < block.index("ray up")


def test_the_guide_names_the_python_of_the_image() -> None:
    base = (ROOT / "deploy" / "Dockerfile").read_text()
    (python,) = re.findall(r"^ARG BASE=python:(3\.\d+)", base, re.MULTILINE)
    assert f"The image has Python {python}" in CLUSTER
    assert set(re.findall(r"Python (3\.\d+)", CLUSTER)) == {python, "3.11"}  # the least there is


def test_builders_of_the_image_may_copy_the_pinned_versions() -> None:
    """And no other file says so as well: builders differ in which of two they read."""
    assert "!deploy/constraints.txt" in (ROOT / ".dockerignore").read_text().splitlines()
    assert not (ROOT / "deploy" / "Dockerfile.dockerignore").exists()


def test_positions_asked_of_the_page_are_in_the_demos_book_and_its_figures_fit() -> None:
    text = (DOCS / "page.md").read_text(encoding="utf-8")
    (asked,) = re.findall(r"-d '(\{.*\})'", text)
    positions = json.loads(asked)["positions"]
    (opening,) = re.findall(r"book build --opening (\d+)", (ROOT / "Makefile").read_text())
    assert opening in positions
    assert all(moves.startswith(opening) for moves in positions)
    ((moves, score, plies),) = re.findall(r'\((\d+): `"score": (\d+), "plies": (\d+)`', text)
    assert moves in positions
    assert plies_to_end(int(score), 42 - Position(moves).ply) == int(plies)


def test_tables_of_published_numbers_in_the_guide_can_be_read() -> None:
    tables = blocks(DOCS / "match-jobs.md", "csv")
    assert len(tables) == 2
    for table in tables:
        grids = read_published(table.splitlines(), where="match-jobs.md")
        assert set(of_game(grids, "connect4-8x6", where="match-jobs.md")) == {(10, 10), (10, 20)}


def test_contributing_names_the_rooms_of_the_job_system_and_agrees_with_the_readme() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rooms = {path.parent.name for path in ROOT.glob("src/plymill/cluster/*/__init__.py")}
    assert set(re.findall(r"^\| `cluster/(\w+)` \|", text, re.MULTILINE)) == rooms
    assert "ray_*" not in text
    for said in (text, (ROOT / "README.md").read_text(encoding="utf-8")):
        assert "ten to twenty minutes on two cores" in said


def test_the_guide_has_commands_of_all_ways_to_run_something() -> None:
    commands = {words[0] for path in PAGES for words in in_document(path)}
    assert {"book", "submit", "jobs", "status", "logs", "download", "serve"} <= commands


def test_the_guide_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("material")
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        check=True,
    )
    page = (tmp_path / "cluster.html").read_text(encoding="utf-8")
    assert "local-cluster.sh" in page
    assert not re.search(r"(?:src|href)=\"https?://(?:fonts|cdn|unpkg)", page)


def test_the_table_of_memory_is_what_workers_ask_for() -> None:
    text = (DOCS / "sizing.md").read_text(encoding="utf-8")
    (threads,) = re.findall(r"^\| job \| table.*?\|(.*)\|$", text, re.MULTILINE)
    counts = [int(number) for number in re.findall(r"(\d+) threads", threads)]
    for opening, table in (("", "1,024 MB"), ("444444", "256 MB")):
        (row,) = re.findall(rf"^\| .*? \| {table} \|(.*)\|$", text, re.MULTILINE)
        job = make_job(BookJob(opening=opening), RunOptions())
        told = [float(size) for size in re.findall(r"([\d.]+) GB", row)]
        assert told == [round(job.worker_memory(count) / 2**30, 1) for count in counts]
