"""What becomes of a run when the Ray that it has started falls apart. Real processes are killed."""

import logging
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import ray
from ray._private import worker as ray_worker

from plymill.cluster import RunFailedError
from plymill.cluster.on_ray.health import Head, keep_off_standard_output, require_own_ray

#: A task during which its own Ray dies, and which would never end.
SCRIPT = """
import os, signal, sys
from plymill.cluster import RunFailedError
from plymill.cluster.on_ray.session import ray_session

def die(pid):
    os.kill(pid, signal.SIGKILL)
    signal.pause()

class Nobody:
    pass

with ray_session(None, threads=1):
    from ray._private import worker
    from plymill.cluster.on_ray.executor import RayExecutor
    (needed,) = worker._global_node.all_processes[sys.argv[1]]
    try:
        RayExecutor(None, None, Nobody, threads=1).call(die, needed.process.pid, memory=None)
    except RunFailedError as error:
        print(error)
"""


class Ended:
    """A process that may have ended."""

    pid = 77

    def __init__(self, code: int | None) -> None:
        self.code = code

    def poll(self) -> int | None:
        return self.code


def started(monkeypatch: pytest.MonkeyPatch, **codes: int | None) -> None:
    """Let this process have started a Ray whose processes have ended with these codes."""
    processes = {name: [SimpleNamespace(process=Ended(code))] for name, code in codes.items()}
    node: Any = SimpleNamespace(all_processes=processes)
    monkeypatch.setattr(ray_worker, "_global_node", node)


@pytest.mark.parametrize("name", ["gcs_server", "raylet"])
def test_a_process_that_is_needed_and_gone_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    started(monkeypatch, gcs_server=None, raylet=None, log_monitor=-9)
    require_own_ray()
    started(monkeypatch, **{"gcs_server": None, "raylet": None, name: -9})
    with pytest.raises(RunFailedError, match=rf"has lost its {name} \(process 77\).*run the same"):
        require_own_ray()


def test_of_a_cluster_that_others_started_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_worker, "_global_node", None)
    require_own_ray()
    started(monkeypatch)
    require_own_ray()


def test_what_ray_reports_is_logged_and_not_printed(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(ray_worker, "print_to_stdstream", ray_worker.print_to_stdstream)
    keep_off_standard_output()
    with caplog.at_level(logging.INFO):
        ray_worker.print_to_stdstream(
            {"lines": ["A worker died."], "pid": "raylet", "is_err": False}, ignore_prefix=False
        )
    assert capsys.readouterr() == ("", "")
    assert caplog.messages == ["Ray (raylet): A worker died."]


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.parametrize("name", ["gcs_server", "raylet"])
def test_a_task_does_not_wait_for_a_ray_that_is_gone(name: str) -> None:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("RAY_")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, name],
        env=clean,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"The Ray that was started on this machine has lost its {name}")
    assert len(done.stdout.splitlines()) == 1


class Timer:
    """Seconds as the test says."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def listening(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """Something that listens, and that Ray says is the head."""
    with socket.create_server(("127.0.0.1", 0)) as head:
        context = SimpleNamespace(gcs_address=f"127.0.0.1:{head.getsockname()[1]}")
        monkeypatch.setattr(ray, "is_initialized", lambda: True)
        monkeypatch.setattr(ray, "get_runtime_context", lambda: context)
        yield head


def test_a_head_that_is_away_is_seen_and_after_most_of_a_minute_the_run_ends(
    listening: socket.socket,
) -> None:
    timer = Timer()
    head = Head(timer)
    for timer.now in range(100, 400, 3):
        head.require()
        assert not head.gone
    listening.close()
    head.require()
    assert not head.gone, "it was asked a moment ago"
    head.require(at_once=True)
    assert head.gone
    for timer.now in range(400, 440, 3):
        head.require()
    timer.now = 450
    with pytest.raises(
        RunFailedError, match=r"head of the cluster does not answer any more at 127"
    ):
        head.require()


def test_a_head_that_comes_back_is_used_on(listening: socket.socket) -> None:
    timer = Timer()
    head = Head(timer)
    head.require()
    place = listening.getsockname()
    listening.close()
    for timer.now in range(103, 130, 3):
        head.require()
    assert head.gone
    with socket.create_server(place):
        timer.now = 140
        head.require()
        assert not head.gone
    timer.now = 170
    head.require()
    assert head.gone
