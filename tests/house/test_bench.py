"""``make bench``: every script is run, and one that fails or checks nothing is not passed over."""

import shutil
import subprocess
import sys
from pathlib import Path

RUN_ALL = Path(__file__).parents[2] / "benchmarks" / "_run_all.py"
GOOD = """
import sys
assert sys.argv[1:] == ["--json"]
print('{"ratio": 4.0, "peer": 8, "ours": 2, "unit": "seconds", "checked": 1000}')
"""


def run_all(folder: Path, **scripts: str) -> subprocess.CompletedProcess[str]:
    """Put these scripts beside a copy of the runner, and run it."""
    shutil.copy(RUN_ALL, folder)
    for name, text in scripts.items():
        (folder / f"{name}.py").write_text(text)
    return subprocess.run(
        [sys.executable, str(folder / RUN_ALL.name)], capture_output=True, text=True, check=False
    )


def test_all_scripts_but_the_shared_modules_are_in_one_table(tmp_path: Path) -> None:
    done = run_all(tmp_path, speed=GOOD, size=GOOD, _shared="raise SystemExit(1)")
    head, *rows = [line.split() for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert head == ["benchmark", "ours", "peer", "unit", "ratio", "checked"]
    assert rows == [
        ["size", "2", "8", "seconds", "4", "1,000"],
        ["speed", "2", "8", "seconds", "4", "1,000"],
    ]


def test_a_script_that_fails_or_checks_nothing_is_named_and_the_rest_is_run(tmp_path: Path) -> None:
    done = run_all(
        tmp_path,
        broken="raise SystemExit(3)",
        idle=GOOD.replace("1000", "0"),
        speed=GOOD,
        wordy="print('no JSON')",
    )
    assert done.returncode == 1
    for name in ("broken", "idle", "wordy"):
        assert f"{name}.py failed" in done.stderr
    assert "speed.py failed" not in done.stderr
    assert "1,000" in done.stdout
