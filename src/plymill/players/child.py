"""The process in which a player of the user's own lives; the other end is in ``foreign.py``.

It is sent pickled tuples and answers each with one line of JSON: the parent never unpickles what
comes from here.
"""

import json
import os
import signal
import threading
import traceback
from importlib import import_module
from multiprocessing.connection import Connection
from operator import index
from typing import TYPE_CHECKING, Any

from plymill.errors import IllegalMoveError

if TYPE_CHECKING:
    from plymill.games.game import Game, State


def main(messages: int, lifeline: int) -> None:
    """Answers messages until the parent hangs up.

    Args:
        messages: file descriptor of the socket to the parent.
        lifeline: file descriptor of a pipe that ends with the parent.
    """
    threading.Thread(target=_end_with_parent, args=(lifeline,), daemon=True).start()
    seat = _Seat()
    with Connection(messages) as connection:
        while True:
            try:
                name, *arguments = connection.recv()
            except EOFError:
                return
            connection.send_bytes(json.dumps(_answer(seat, name, arguments)).encode())


class _Seat:
    """The user's player, and what it is asked."""

    def begin(
        self, what: tuple[str, str, dict[str, str]], game: "Game", side: int, seed: int
    ) -> dict[str, Any]:
        module, name, options = what
        self._side = side
        self._player = getattr(import_module(module), name)(game, side, seed, **options)
        return {}

    def choose(self, state: "State") -> dict[str, Any]:
        answer = self._player.choose(state)
        move, value = answer if isinstance(answer, tuple) else (answer, None)
        try:
            code = state.move_code(move, self._side) if isinstance(move, str) else index(move)
        except (TypeError, IllegalMoveError):
            code = -1
        if code not in state.moves(self._side):
            return {"illegal": repr(move)[:200]}
        return {"move": code, "value": None if value is None else float(value)}

    def observe(self, moves: tuple[int, ...]) -> dict[str, Any]:
        if hasattr(self._player, "observe"):
            self._player.observe(moves)
        return {}


def _answer(seat: _Seat, name: str, arguments: list[Any]) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = getattr(seat, name)(*arguments)
    except Exception as error:
        return {
            "error": f"{type(error).__name__}: {error}"[:1000],
            "details": "".join(traceback.format_exception(error))[-20000:],
        }
    return answer


def _end_with_parent(lifeline: int) -> None:
    """Kills this process and those that the player has started when the parent is gone."""
    os.read(lifeline, 1)
    os.killpg(0, signal.SIGKILL)
