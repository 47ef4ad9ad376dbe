"""Players of the user's own: a class in a process of its own, which may raise, crash or hang.

The process runs ``guard.py``. It is started with the first match, kept for the following ones, and
killed with all that comes of it after any failure: the next match starts another.
"""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
import weakref
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plymill.players.errors import (
    PlayerError,
    PlayerFailure,
    PlayerHung,
    PlayerIllegal,
    PlayerRaised,
)
from plymill.players.player import Choice

if TYPE_CHECKING:
    from plymill.games.game import Game, State, Stream
    from plymill.players.spec import PythonSpec

#: Seconds to start Python and import the player's module, if its own limit is not longer.
START_LIMIT = 60.0
_PROGRAM = str(Path(__file__).with_name("guard.py"))
_LONGEST_ANSWER = 1 << 20
#: Seconds in which an answer, once it has begun, has to be there, and a question to be taken.
_MESSAGE_SECONDS = 10
#: Seconds in which the guard is to have killed the rest; then its group is killed with it.
_GUARD_SECONDS = 10.0


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
            PlayerIllegal: it gave no legal move, or an estimate that is none.
            PlayerHung: it gave no move within its limit.
        """
        answer = self._ask(self.spec.limit, ("choose", state))
        if "illegal" in answer:
            self.close()
            moves = ", ".join(str(move) for move in state.moves(self._side))
            raise PlayerIllegal(
                f"Player '{self.spec}' gave {answer['illegal']}, expected one of the moves {moves}"
            )
        if "no estimate" in answer:
            self.close()
            raise PlayerIllegal(
                f"Player '{self.spec}' gave {answer['no estimate']} as its estimate, expected a "
                "number from 0 to 1, or None"
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
            whose = "its limit" if limit == self.spec.limit else "the time to start in"
            raise PlayerHung(
                f"Player '{self.spec}' gave no answer for {limit:g} seconds, {whose}"
            ) from None
        except (EOFError, OSError):
            ending = self._process.ending()
            self.close()
            raise PlayerRaised(f"Player '{self.spec}' {ending}") from None
        if "error" in answer:
            self.close()
            raise PlayerRaised(f"Player '{self.spec}' raised {answer['error']}", answer["details"])
        return answer


def try_out(game: "Game", spec: "PythonSpec") -> None:
    """Import the module of a player and make an object of its class, as for a match.

    Raises:
        PlayerError: that is not possible; the sentence says why.
    """
    from plymill.games import Stream

    player = ForeignPlayer(game, spec)
    try:
        player.begin(0, Stream(0))
    except PlayerFailure as failure:
        raise PlayerError(
            f"{failure} (tried out before the first match; expected a class that can be imported "
            "and made where the matches are played)"
        ) from None
    finally:
        player.close()


class _Process:
    """The guard of a player, in a session of its own, so that it can be killed with its group."""

    def __init__(self) -> None:
        here, there = socket.socketpair()
        for direction in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            here.setsockopt(socket.SOL_SOCKET, direction, struct.pack("ll", _MESSAGE_SECONDS, 0))
        end, self._lifeline = os.pipe()
        folders = [os.getcwd(), *(folder or os.getcwd() for folder in sys.path)]  # noqa: PTH109
        descriptors = (there.fileno(), end)
        self._process = subprocess.Popen(
            # -P: the folder of the program itself is no place to import from.
            [sys.executable, "-P", _PROGRAM, json.dumps(folders), *map(str, descriptors)],
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
            EOFError: the process has ended; so may an OSError tell, or that it sent something else.
        """
        deadline = time.monotonic() + limit
        self._connection.send(message)
        if not self._connection.poll(max(0.0, deadline - time.monotonic())):
            raise TimeoutError
        try:
            answer = json.loads(self._connection.recv_bytes(_LONGEST_ANSWER))
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise OSError("no answer of ours")
        return answer

    def ending(self) -> str:
        """How the process ended, in words; waits a moment for it."""
        ended = _ended(self.pid, seconds=2.0)
        if ended is None:
            return "closed or misused the connection on which it is asked"
        exited = ended.si_code == os.CLD_EXITED
        how = f"exit code {ended.si_status}" if exited else _signal_name(ended.si_status)
        return f"ended its process with {how}"

    def kill(self) -> None:
        """Ends the process and all that comes of it."""
        self._killed()


def _kill(process: "subprocess.Popen[bytes]", connection: Connection, lifeline: int) -> None:
    os.close(lifeline)  # now the guard kills what there is, and ends
    _ended(process.pid, seconds=_GUARD_SECONDS)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    connection.close()


def _ended(pid: int, *, seconds: float) -> Any | None:
    """How a child process ended, if it does within so many seconds; it stays a zombie.

    Its number could belong to another process afterwards.
    """
    if not hasattr(os, "waitid"):  # macOS before Python 3.13
        return None
    deadline, pause = time.monotonic() + seconds, 0.0005
    while not (ended := os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)):
        if time.monotonic() > deadline:
            return None
        time.sleep(pause)
        pause = min(0.01, 2 * pause)
    return ended


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time one
        return f"signal {number}"
