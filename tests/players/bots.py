"""Players of a user's own, good and bad, for tests; each runs in a process of its own."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from plymill.games.game import Game, State


class Last:
    """Plays the last legal move; ``as_text`` in words, ``value`` with an estimate."""

    def __init__(self, game: Game, side: int, seed: int, **options: str) -> None:
        self.side = side
        self.seed = seed
        self.options = options
        self.seen: list[tuple[int, ...]] = []

    def choose(self, state: State) -> Any:
        move = state.moves(self.side)[-1]
        if "as_text" in self.options:
            return state.move_text(move, self.side)
        return (move, float(self.options["value"])) if "value" in self.options else move

    def observe(self, moves: tuple[int, ...]) -> None:
        self.seen.append(moves)


class Random:
    """Draws from the seed that it was given."""

    def __init__(self, game: Game, side: int, seed: int) -> None:
        import random

        self.side = side
        self.random = random.Random(seed)

    def choose(self, state: State) -> int:
        return self.random.choice(state.moves(self.side))


class Mute(Exception):  # noqa: N818
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        raise ValueError("no words")


class Bad(Last):
    """Plays on until ``ply``, and then does what it is told."""

    def choose(self, state: State) -> Any:
        if len(self.seen) < int(self.options.get("ply", "0")):
            return super().choose(state)
        return getattr(self, "do_" + self.options["do"])()

    def do_raise(self) -> None:
        raise ZeroDivisionError("my own fault")

    def do_number(self) -> int:
        return 99

    def do_none(self) -> None:
        return None

    def do_text(self) -> str:
        return "nonsense"

    def do_true(self) -> bool:
        return True

    def do_huge(self) -> list[int]:
        return [7] * 30_000_000

    def do_huge_number(self) -> int:
        return 10**100_000

    def do_three(self) -> tuple[int, float, str]:
        return 0, 0.5, "and more"

    def do_nan(self) -> tuple[int, float]:
        return 0, float("nan")

    def do_seventeen(self) -> tuple[int, float]:
        return 0, 17.0

    def do_negative(self) -> tuple[int, float]:
        return 0, -0.001

    def do_estimate_text(self) -> tuple[int, str]:
        return 0, "0.5"

    def do_estimate_true(self) -> tuple[int, bool]:
        return 0, True

    def do_fine_estimate(self) -> tuple[int, Any]:
        import numpy as np

        return 0, np.float32(0.25)

    def do_raise_lines(self) -> None:
        raise ValueError("one\ntwo \x1b[31mred \udcff")

    def do_raise_base(self) -> None:
        raise KeyboardInterrupt("not the end of everything")

    def do_raise_mute(self) -> None:
        raise Mute

    def do_close(self) -> int:
        os.closerange(3, 256)
        return 0

    def do_close_and_hang(self) -> None:
        os.closerange(3, 256)
        time.sleep(1000)

    def do_garbage(self) -> int:
        """Writes to whatever it finds open: a message that is too long, and never ends."""
        for descriptor in range(3, 64):
            with contextlib.suppress(OSError):
                os.write(descriptor, b"\x00\xff\xff\xff")
        time.sleep(1000)
        return 0

    def do_binary(self) -> int:
        os.write(1, bytes(range(256)) * 4)
        return 0

    def do_fork(self) -> int:
        """Both halves answer, the new one later."""
        pid = os.fork()
        if pid:
            with Path(self.options["file"]).open("a") as pids:
                pids.write(f"{pid}\n")
        else:
            time.sleep(0.2)
        return 0

    def do_ignore_sigterm(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(1000)

    def do_kill_group(self) -> None:
        os.killpg(0, signal.SIGKILL)

    def do_daemons(self) -> None:
        """A process in a session of its own, one that it leaves behind, and one below that."""
        sleeper = "import time; time.sleep(1000)"
        parent = (
            "import subprocess, sys, os\n"
            f"run = lambda: subprocess.Popen([sys.executable, '-c', {sleeper!r}], "
            "start_new_session=True).pid\n"
            f"open({self.options['file']!r}, 'w').write(f'{{run()}} {{run()}} {{os.getppid()}}')\n"
        )
        subprocess.run([sys.executable, "-c", parent], start_new_session=True, check=True)
        if self.options["end"] == "exit":
            os._exit(5)
        if self.options["end"] == "hang":
            time.sleep(1000)

    def do_leave_daemons(self) -> int:
        self.do_daemons()
        return 0

    def do_exit(self) -> None:
        os._exit(3)

    def do_sys_exit(self) -> None:
        sys.exit(4)

    def do_abort(self) -> None:
        os.kill(os.getpid(), signal.SIGSEGV)

    def do_hang(self) -> None:
        while True:
            pass

    def do_sleep(self) -> None:
        time.sleep(1000)

    def do_hang_with_child(self) -> None:
        child = subprocess.Popen(["sleep", "1000"])
        Path(self.options["file"]).write_text(str(child.pid))
        time.sleep(1000)

    def do_print(self) -> int:
        print('{"move": 5, "value": null}', flush=True)
        return 0


class Unmade:
    """Cannot be made."""

    def __init__(self, game: Game, side: int, seed: int) -> None:
        raise RuntimeError("no weights")


class Unobservant:
    """Raises when told what was played."""

    def __init__(self, game: Game, side: int, seed: int) -> None:
        self.side = side

    def choose(self, state: State) -> int:
        return state.moves(self.side)[0]

    def observe(self, moves: tuple[int, ...]) -> None:
        raise KeyError("lost")
