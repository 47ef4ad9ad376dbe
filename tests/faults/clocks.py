"""A clock that jumps, in processes that have not been asked.

A process whose environment is that of `jumping_clock_environment` reads ``time.time`` with an
offset that a file holds; `set_clock` writes it. Its monotonic clock goes on as ever, as a system's
does when somebody sets its clock.
"""

from pathlib import Path

_OFFSET = "PLYMILL_TEST_CLOCK"

_CUSTOMIZE = f"""
import os, time
_true, _path = time.time, os.environ.get("{_OFFSET}")

def _jumping():
    try:
        with open(_path) as stream:
            return _true() + float(stream.read() or 0)
    except (OSError, ValueError):
        return _true()

if _path:
    time.time = _jumping
"""


def jumping_clock_environment(folder: Path, seconds: float = 0.0) -> dict[str, str]:
    """What the environment of a process needs so that its clock can be set.

    Args:
        folder: an empty one; files are put there that the process reads.
        seconds: by which its clock is off at first.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sitecustomize.py").write_text(_CUSTOMIZE, encoding="utf-8")
    set_clock(folder, seconds)
    return {"PYTHONPATH": str(folder), _OFFSET: str(folder / "offset")}


def set_clock(folder: Path, seconds: float) -> None:
    """Let the clock of these processes be off by so many seconds from now on."""
    new = folder / "offset.new"
    new.write_text(str(seconds), encoding="ascii")
    new.replace(folder / "offset")
