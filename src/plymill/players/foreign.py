"""Players of the user's own: a class in a process of its own, which may raise, crash or hang.

The process runs ``child.py``. It is started with the first match, kept for the following ones, and
killed with all its children after any failure: the next match starts another.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import weakref
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from plymill.players.errors import PlayerHung, PlayerIllegal, PlayerRaised
from plymill.players.player import Choice

if TYPE_CHECKING:
    from plymill.games.game import Game, State, Stream
    from plymill.players.spec import PythonSpec

#: Seconds to start Python and import the player's module, if its own limit is not longer.
START_LIMIT = 60.0
_PROGRAM = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from plymill.players.child import main; main(int(sys.argv[2]), int(sys.argv[3]))"
)


class ForeignPlayer:
    """A class of the user's own.

    Args:
        game: the game.
        spec: module, class, limit and options.
    """

    def __init__(self, game: "Game", spec: "PythonSpec") -> None:
        self.game = game
        self.spec = spec
        self._process: _Process | None = None

    @property
    def pid(self) -> int | None:
        """The number of the player's process; None while there is none."""
        return self._process.pid if self._process else None

    def begin(self, side: int, stream: "Stream") -> None:
        """A new match; the player's own random numbers are seeded from the match's.

        Raises:
            PlayerFailure: the class cannot be imported or made.
        """
        self._side = side
        if self._process is None:
            self._process = _Process()
        what = (self.spec.module, self.spec.name, dict(self.spec.options))
        self._ask(
            max(self.spec.limit, START_LIMIT), ("begin", what, self.game, side, stream.next64())
        )

    def choose(self, state: "State") -> Choice:
        """The move of the user's class.

        Raises:
            PlayerRaised: it raised an error, or its process ended.
            PlayerIllegal: it gave no legal move.
            PlayerHung: it gave no move within its limit.
        """
        answer = self._ask(self.spec.limit, ("choose", state))
        if "illegal" in answer:
            self.close()
            moves = ", ".join(str(move) for move in state.moves(self._side))
            raise PlayerIllegal(
                f"Player '{self.spec}' gave {answer['illegal']}, expected one of the moves {moves}"
            )
        return Choice(answer["move"], answer["value"])

    def observe(self, moves: tuple[int, ...]) -> None:
        """Tells the user's class, if it wants to know.

        Raises:
            PlayerFailure: as for `choose`.
        """
        self._ask(self.spec.limit, ("observe", moves))

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process = None

    def _ask(self, limit: float, message: tuple[Any, ...]) -> dict[str, Any]:
        if self._process is None:
            raise PlayerRaised(f"Player '{self.spec}' has failed before in this match")
        try:
            answer = self._process.ask(message, limit)
        except TimeoutError:
            self.close()
            raise PlayerHung(
                f"Player '{self.spec}' gave no answer for {limit:g} seconds, its limit"
            ) from None
        except (EOFError, OSError):
            ending = self._process.ending()
            self.close()
            raise PlayerRaised(f"Player '{self.spec}' ended its process with {ending}") from None
        if "error" in answer:
            self.close()
            raise PlayerRaised(f"Player '{self.spec}' raised {answer['error']}", answer["details"])
        return answer


class _Process:
    """A process of its own session, so that it and what it starts can be killed together."""

    def __init__(self) -> None:
        here, there = socket.socketpair()
        end, self._lifeline = os.pipe()
        folders = [os.getcwd(), *(folder or os.getcwd() for folder in sys.path)]  # noqa: PTH109
        descriptors = (there.fileno(), end)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, json.dumps(folders), *map(str, descriptors)],
            stdin=subprocess.DEVNULL,
            stdout=2,  # what the player prints must not mix with our own output
            pass_fds=descriptors,
            start_new_session=True,
            # Sets of strings then have the same order in every process.
            env={"PYTHONHASHSEED": "0"} | dict(os.environ),
        )
        there.close()
        os.close(end)
        self._connection = Connection(here.detach())
        self.pid = self._process.pid
        self._killed = weakref.finalize(
            self, _kill, self._process, self._connection, self._lifeline
        )

    def ask(self, message: tuple[Any, ...], limit: float) -> dict[str, Any]:
        """Sends a message and waits for the answer.

        Raises:
            TimeoutError: it did not come in time.
            EOFError: the process has ended; so may an OSError tell.
        """
        deadline = time.monotonic() + limit
        self._connection.send(message)
        if not self._connection.poll(max(0.0, deadline - time.monotonic())):
            raise TimeoutError
        answer: dict[str, Any] = json.loads(self._connection.recv_bytes())
        return answer

    def ending(self) -> str:
        """How the process ended, in words; waits a moment for it."""
        if not hasattr(os, "waitid"):  # macOS before Python 3.13
            return "no answer"
        # Not wait(): the process has to stay a zombie until its group is killed, as its number
        # could belong to another process afterwards.
        for _ in range(100):
            if ended := os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                code = ended.si_status
                exited = ended.si_code == os.CLD_EXITED
                return f"exit code {code}" if exited else signal.Signals(code).name
            time.sleep(0.01)
        return "its messages closed"

    def kill(self) -> None:
        """Ends the process and all of its group; what left the group lives on."""
        self._killed()


def _kill(process: "subprocess.Popen[bytes]", connection: Connection, lifeline: int) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    connection.close()
    os.close(lifeline)
