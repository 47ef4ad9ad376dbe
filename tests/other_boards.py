"""plymill compiled for another board."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
#: The last is tall: more odd rows than the standard board has.
OTHER_SIZES = [(6, 5), (8, 6), (9, 6), (5, 8)]
ROOMS = ("games", "solver", "books")  # those that are meant for any board


def size_name(size: tuple[int, int]) -> str:
    """What a test on a board of this size is called: columns, then rows."""
    return f"{size[0]}x{size[1]}"


class OtherBoard:
    """plymill built for another board, in a folder of its own.

    Args:
        folder: an empty folder.
        width: columns.
        height: rows.
    """

    def __init__(self, folder: Path, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.source = folder / "src"
        for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, folder)
        package = ROOT / "src" / "plymill"
        for path in package.glob("*.py*"):
            (self.source / "plymill").mkdir(parents=True, exist_ok=True)
            shutil.copy(path, self.source / "plymill")
        for room in ROOMS:
            shutil.copytree(
                package / room,
                self.source / "plymill" / room,
                ignore=shutil.ignore_patterns("*.so", "__pycache__"),
            )
        flags = f"-DPLYMILL_WIDTH={width} -DPLYMILL_HEIGHT={height}"
        subprocess.run(
            [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"],
            cwd=folder,
            env={**os.environ, "CFLAGS": f"{os.environ.get('CFLAGS', '')} {flags}"},
            check=True,
            capture_output=True,
        )

    def ask(self, script: str, asked: dict[str, Any]) -> Any:
        """What a script prints as JSON in an interpreter that sees this board.

        Args:
            script: reads ``asked`` as JSON from its standard input.
            asked: what it is to find out.
        """
        done = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONPATH": str(self.source)},
            input=json.dumps(asked),
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
