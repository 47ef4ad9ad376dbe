"""The guide: it builds, its links and commands are right, its figures are those of the code."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from plymill.cluster import RunOptions
from plymill.workers import BookJob, make_job
from tests.deploy.commands import fault, in_document

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.mark.parametrize("path", [*PAGES, ROOT / "README.md"], ids=lambda path: path.name)
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
