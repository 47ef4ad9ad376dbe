"""What the linters are shown, and what stands in one place only."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "benchmarks", "chaos")


def test_the_linter_sees_every_python_file() -> None:
    pytest.importorskip("ruff")
    shown = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--show-files", str(ROOT)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    there = {
        str(path)
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*.py")
        if "__pycache__" not in path.parts
    }
    assert there - set(shown) == set()


def test_flags_for_processors_stand_in_the_project_file_only() -> None:
    sources = [ROOT / "setup.py", ROOT / "Makefile", *(ROOT / "benchmarks").glob("*.py")]
    assert [path.name for path in sources if "-march" in path.read_text()] == []
    assert "-march=x86-64-v2" in (ROOT / "pyproject.toml").read_text()
