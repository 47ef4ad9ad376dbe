"""Players of a user's own who do what they should not. Run in processes of their own."""

import os
import time
from pathlib import Path
from typing import Any


class First:
    """Plays the first legal move and never fails."""

    def __init__(self, game: Any, side: int, seed: int, **options: str) -> None:
        self.side = side
        self.options = options

    def choose(self, state: Any) -> Any:
        return state.moves(self.side)[0]


class Raises(First):
    def choose(self, state: Any) -> Any:
        raise ValueError("no idea")


class Illegal(First):
    def choose(self, state: Any) -> Any:
        return 63


class Hangs(First):
    def choose(self, state: Any) -> Any:
        time.sleep(3600)


class Crashes(First):
    def choose(self, state: Any) -> Any:
        os._exit(3)


class FailsOnce(First):
    """Raises until the file ``marker`` is there, which it makes itself."""

    def choose(self, state: Any) -> Any:
        marker = Path(self.options["marker"])
        if not marker.exists():
            marker.touch()
            raise ValueError("not yet")
        return super().choose(state)


class Mute:
    """Cannot be asked."""

    def __init__(self, game: Any, side: int, seed: int) -> None:
        pass


class Unmade(First):
    """Cannot be made."""

    def __init__(self, game: Any, side: int, seed: int) -> None:
        raise RuntimeError("no weights")
