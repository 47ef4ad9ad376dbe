"""Players of a user's own, good and bad, for tests; each runs in a process of its own."""

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

    def do_nan(self) -> tuple[int, float]:
        return 0, float("nan")

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
