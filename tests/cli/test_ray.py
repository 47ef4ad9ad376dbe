"""The command as people run it: a terminal, real Ray, Ctrl-C, and the same command again."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.helpers import Plymill

pytestmark = [pytest.mark.ray, pytest.mark.slow]

COMMAND = [sys.executable, "-m", "plymill"]
#: 986 positions in 99 units: some seconds, so that there is something to interrupt.
JOB = ["--opening", "4444443", "--unit-size", "10", "--validate-sample", "20", "--table-mb", "16"]


def read_until(screen: int, pattern: str) -> str:
    """What appears on a terminal up to some words, or up to its end."""
    text = ""
    while not re.search(pattern, text):
        try:
            data = os.read(screen, 4096)
        except OSError:  # the last process that had the terminal has ended
            return text
        if not data:
            return text
        text += data.decode(errors="replace")
    return text


def test_ctrl_c_stops_a_live_run_and_the_same_command_goes_on(tmp_path: Path) -> None:
    command = [*COMMAND, "book", "build", *JOB, "--store", str(tmp_path)]
    screen, terminal = pty.openpty()
    running = subprocess.Popen(
        command, stdout=terminal, stderr=terminal, env={**os.environ, "TERM": "xterm"}
    )
    os.close(terminal)
    try:
        shown = read_until(screen, r" [1-9]\d* of 99 units")
        running.send_signal(signal.SIGINT)
        shown += read_until(screen, "goes on")
        code = running.wait()
    finally:
        running.kill()
        os.close(screen)
    assert code == 130, shown
    assert "time left" in shown
    (run,) = tmp_path.iterdir()
    assert f"plymill run resume {run.name} --store" in " ".join(shown.split())
    finished = len(list((run / "units").iterdir()))
    assert 0 < finished < 99

    again = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    result = json.loads(again.stdout)
    assert result["complete"]
    assert result["run_id"] == run.name
    assert result["items"] == 986
    assert result["items_resumed"] >= 10 * (finished - 1)


def test_a_cluster_that_is_not_there_is_one_sentence(plymill_: Plymill, tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "book", "build", *JOB, "--store", str(tmp_path), "--address", "127.0.0.1:1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "Cannot reach the Ray cluster at '127.0.0.1:1'" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
