"""The command as people run it: a terminal, real Ray, Ctrl-C, and the same command again."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
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


@pytest.mark.parametrize("name", ["gcs_server", "raylet"])
def test_sigterm_while_ray_starts_is_one_sentence(tmp_path: Path, name: str) -> None:
    """Ray has handlers of its own then, in Python and in C++."""
    command = [*COMMAND, "book", "build", *JOB, "--store", str(tmp_path)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        while not processes_below(running.pid, name):
            assert running.poll() is None
        running.send_signal(signal.SIGTERM)
        out, err = running.communicate(timeout=120)
    finally:
        running.kill()
    assert running.returncode == 130, err
    assert out == ""
    (sentence,) = [line for line in err.splitlines() if not line.startswith("book-")]
    assert sentence.startswith("plymill: Run book-")
    assert "is stopped; what is finished is kept, and '" in sentence
    assert not processes_below(running.pid, name)


def processes_below(parent: int, name: str) -> list[int]:
    """The children of a process that run a program of this name."""
    shown = subprocess.run(
        ["ps", "-ww", "-o", "pid=", "-o", "args=", "--ppid", str(parent)],
        capture_output=True,
        text=True,
        check=False,  # ps says so if there are none
    ).stdout
    lines = [line.split() for line in shown.splitlines()]
    return [int(words[0]) for words in lines if words[1].endswith(f"/{name}")]


@pytest.mark.parametrize("name", [pytest.param("gcs_server", marks=pytest.mark.long), "raylet"])
def test_a_local_ray_that_falls_apart_is_one_sentence_and_the_same_command_goes_on(
    tmp_path: Path, name: str
) -> None:
    command = [*COMMAND, "book", "build", *JOB, "--store", str(tmp_path), "--json"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        while len(list(tmp_path.glob("*/units/[0-9]*"))) < 3:
            assert running.poll() is None
            time.sleep(0.02)
        (process,) = processes_below(running.pid, name)
        os.kill(process, signal.SIGKILL)
        out, err = running.communicate(timeout=120)
    finally:
        running.kill()
    assert running.returncode == 1, err
    assert out == ""
    sentence = f"The Ray that was started on this machine has lost its {name} (process "
    assert err.splitlines()[-1].startswith(f"plymill: {sentence}")
    (run,) = tmp_path.iterdir()
    progress = json.loads((run / "progress.json").read_text())
    assert progress["state"] == "failed"
    assert progress["message"].startswith(sentence)

    again = subprocess.run(command, capture_output=True, text=True, check=True)
    result = json.loads(again.stdout)
    assert result["complete"]
    assert 30 <= result["items_resumed"] < 986


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
