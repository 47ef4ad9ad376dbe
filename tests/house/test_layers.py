"""Imports point downwards, in Cython too: import-linter sees neither it nor compiled modules."""

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "plymill"
#: Lowest first; rooms of one layer do not import each other.
LAYERS = (
    ("_version",),
    ("errors", "words", "texts"),
    ("games",),
    ("solver", "books"),
    ("players",),
    ("matches", "learning"),
    ("cluster",),
    ("workers",),
    ("web",),
    ("cli",),
)
RANK = {room: rank for rank, layer in enumerate(LAYERS) for room in layer}
IMPORTED = re.compile(r"^\s*(?:from|import|cimport)\s+plymill\.(\w+)", re.MULTILINE)
SOURCES = [
    path
    for path in sorted(PACKAGE.rglob("*"))
    if path.suffix in {".py", ".pyx", ".pxd", ".pyi"} and path.parent != PACKAGE
]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_from_its_own_room_and_those_below(path: Path) -> None:
    own = path.relative_to(PACKAGE).parts[0]
    for room in IMPORTED.findall(path.read_text()):
        assert room == own or RANK[room] < RANK[own], f"{path} imports plymill.{room}"


def test_the_job_system_knows_no_game() -> None:
    rooms = {
        room
        for path in SOURCES
        if path.relative_to(PACKAGE).parts[0] == "cluster"
        for room in IMPORTED.findall(path.read_text())
    }
    assert rooms == {"cluster", "errors", "texts", "words", "_version"}
