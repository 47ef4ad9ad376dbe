"""Ctrl-C and SIGTERM: one sentence and exit code 130, whenever they come."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from plymill.cli.stopping import Stopping
from tests.cli.helpers import Plymill

SENTENCE = "plymill: Stopped; nothing half-written is left behind.\n"
SIGNALS = [signal.SIGINT, signal.SIGTERM]

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts plymill in a process of its own, with modules of ours before all others."""
    running: list[subprocess.Popen[str]] = []

    def begin(*words: str, **modules: str) -> "subprocess.Popen[str]":
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(text)
        process = subprocess.Popen(
            [sys.executable, "-m", "plymill", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            text=True,
        )
        running.append(process)
        return process

    yield begin
    for process in running:
        process.kill()
        process.communicate()


def stopped(process: "subprocess.Popen[str]", number: signal.Signals) -> tuple[int, str]:
    """Exit code and words of a process that is sent a signal once it has written a line."""
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    return process.returncode, err


@pytest.mark.parametrize("number", SIGNALS)
def test_a_stop_during_the_first_import_is_one_sentence(
    start: Start, number: signal.Signals
) -> None:
    waiting = "import time\nprint('here', flush=True)\ntime.sleep(600)\n"
    assert stopped(start("solve", "44", cyclopts=waiting), number) == (130, SENTENCE)


def test_a_stop_that_an_import_turns_into_another_error_is_still_a_stop(start: Start) -> None:
    turning = (
        "import time\nprint('here', flush=True)\n"
        "try:\n    time.sleep(600)\nexcept KeyboardInterrupt:\n    raise ImportError('odd')\n"
    )
    assert stopped(start("solve", "44", cyclopts=turning), signal.SIGINT) == (130, SENTENCE)


def test_an_error_of_an_import_without_a_stop_keeps_its_traceback(start: Start) -> None:
    _, err = start("solve", "44", cyclopts="raise ImportError('odd')").communicate(timeout=30)
    assert err.endswith("ImportError: odd\n")


def test_a_stop_where_errors_are_lost_comes_again(start: Start) -> None:
    """As in a callback of the garbage collector, from which Python passes nothing on."""
    losing = (
        "import time\n"
        "class Odd:\n"
        "    def __del__(self):\n"
        "        print('here', flush=True)\n"
        "        time.sleep(600)\n"
        "odd = Odd()\ndel odd\ntime.sleep(600)\n"
    )
    assert stopped(start("solve", "44", cyclopts=losing), signal.SIGINT) == (130, SENTENCE)


def test_a_stop_that_the_caller_ignores_stays_ignored(tmp_path: Path) -> None:
    """As with ``nohup``, and of commands that a script starts behind itself."""
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN);"
        "from plymill.cli.stopping import Stopping\n"
        "with Stopping(for_good=True): signal.raise_signal(signal.SIGINT)\n"
        "print('went on')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout == "went on\n"


@pytest.mark.parametrize("number", SIGNALS)
def test_a_second_stop_does_not_disturb_the_first(
    plymill_: Plymill, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    in_order: list[str] = []

    def answer(*_: object, **__: object) -> None:
        try:
            signal.raise_signal(number)
        finally:
            signal.raise_signal(number)
            in_order.append("tidied up")

    before = [signal.getsignal(other) for other in SIGNALS]
    monkeypatch.setattr("plymill.players.answers.answer", answer)
    done = plymill_("solve", "44")
    assert (done.code, done.out, done.err) == (130, "", SENTENCE)
    assert in_order == ["tidied up"]
    assert [signal.getsignal(other) for other in SIGNALS] == before


def test_a_third_stop_ends_at_once() -> None:
    code = (
        "import signal\nfrom plymill.cli.stopping import Stopping\n"
        "with Stopping(for_good=False):\n"
        "    try:\n        signal.raise_signal(signal.SIGINT)\n"
        "    except KeyboardInterrupt:\n"
        "        signal.raise_signal(signal.SIGINT)\n"
        "        print('still here', flush=True)\n"
        "        signal.raise_signal(signal.SIGINT)\n"
        "        print('never', flush=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (130, "still here\n")
    assert done.stderr == (
        "\nplymill: Stopped at once, as asked for again and again; what is finished is kept.\n"
    )


def test_a_stop_while_the_interpreter_ends_is_silent(start: Start) -> None:
    """Ray, for one, has things to do then."""
    late = (
        "import atexit, signal\n"
        "atexit.register(lambda: signal.raise_signal(signal.SIGINT))\n"
        "raise SystemExit(0)\n"
    )
    process = start("solve", "44", cyclopts=late)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, "")


def test_what_is_heard_outside_of_the_main_thread_is_left_alone() -> None:
    from concurrent.futures import ThreadPoolExecutor

    def enter() -> bool:
        before = signal.getsignal(signal.SIGINT)
        with Stopping(for_good=False):
            return signal.getsignal(signal.SIGINT) is before

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(enter).result()
