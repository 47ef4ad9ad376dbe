"""A player of the user's own, in its process, which ``guard.py`` starts for it.

It is sent pickled tuples and answers each with one line of JSON: ``foreign.py``, at the other end,
never unpickles what comes from here.
"""

import json
import os
import reprlib
import traceback
from importlib import import_module
from multiprocessing.connection import Connection
from operator import index
from typing import TYPE_CHECKING, Any

from plymill.errors import IllegalMoveError

if TYPE_CHECKING:
    from plymill.games.game import Game, State


#: Characters of a sentence and of a traceback that are handed on.
_LONGEST, _LONGEST_TRACE = 1000, 20_000
_SHOWN = 200


def answer(messages: int) -> None:
    """Answers messages until the parent hangs up.

    Args:
        messages: file descriptor of the socket to the parent.
    """
    seat, own = _Seat(), os.getpid()
    with Connection(messages) as connection:
        while True:
            try:
                name, *arguments = connection.recv()
            except EOFError:
                return
            told = _answer(seat, name, arguments)
            if os.getpid() != own:  # the player forked, and let both return
                os._exit(0)
            connection.send_bytes(json.dumps(told).encode())


class _Seat:
    """The user's player, and what it is asked."""

    def begin(
        self, what: tuple[str, str, dict[str, str]], game: "Game", side: int, seed: int
    ) -> dict[str, Any]:
        module, name, options = what
        self._side = side
        self._player = getattr(import_module(module), name)(game, side, seed, **options)
        if not callable(getattr(self._player, "choose", None)):
            raise TypeError(f"'{name}' object has no method 'choose'")
        return {}

    def choose(self, state: "State") -> dict[str, Any]:
        found = self._player.choose(state)
        pair = isinstance(found, tuple) and len(found) == 2
        move, value = found if pair else (found, None)
        code = self._code(state, move)
        if code is None:
            return {"illegal": _shown(move)}
        try:
            estimate = None if value is None else _estimate(value)
        except (TypeError, ValueError, OverflowError):
            return {"no estimate": _shown(value)}
        return {"move": code, "value": estimate}

    def _code(self, state: "State", move: object) -> int | None:
        """The code of a legal move, or None for what is none."""
        if isinstance(move, bool):  # Python has it that they are numbers
            return None
        try:
            code = state.move_code(move, self._side) if isinstance(move, str) else index(move)  # type: ignore[arg-type]
        except (TypeError, IllegalMoveError):
            return None
        return code if code in state.moves(self._side) else None

    def observe(self, moves: tuple[int, ...]) -> dict[str, Any]:
        if hasattr(self._player, "observe"):
            self._player.observe(moves)
        return {}


def _answer(seat: _Seat, name: str, arguments: list[Any]) -> dict[str, Any]:
    try:
        found: dict[str, Any] = getattr(seat, name)(*arguments)
    except (SystemExit, GeneratorExit):  # it wants its process to end
        raise
    except BaseException as error:
        return _told(error)
    return found


def _told(error: BaseException) -> dict[str, Any]:
    """What went wrong, of an error that may not even be able to say so."""
    try:
        return {
            "error": _line(f"{type(error).__name__}: {error}", _LONGEST),
            "details": _encodable("".join(traceback.format_exception(error))[-_LONGEST_TRACE:]),
        }
    except Exception as another:
        words = f"{type(error).__name__}, whose text raises {type(another).__name__}"
        return {"error": _line(words, _LONGEST), "details": ""}


def _estimate(value: Any) -> float:
    """A number from 0 to 1.

    Raises:
        TypeError, ValueError, OverflowError: it is none.
    """
    if isinstance(value, bool | str | bytes):  # which float() takes
        raise TypeError
    number = float(value)
    if not 0 <= number <= 1:
        raise ValueError
    return number


def _shown(value: object) -> str:
    """What was given instead, in a few words; a huge thing is not written out."""
    try:
        return _line(_short.repr(value), _SHOWN)
    except ValueError:  # a number of thousands of digits
        return f"a huge {type(value).__name__}"


def _line(text: str, most: int) -> str:
    """A text of the user's own as a part of a sentence: one line that every terminal can show."""
    words = " ".join(_encodable(text[: 10 * most]).split())
    return "".join(c if c.isprintable() else "?" for c in words)[:most]


def _encodable(text: str) -> str:
    return text.encode(errors="replace").decode()


_short = reprlib.Repr()
_short.maxstring = _short.maxother = 100
