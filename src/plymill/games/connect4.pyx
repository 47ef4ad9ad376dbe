"""Connect Four: positions. Whole arrays of them are in ``arrays.pyx``.

The picture of the bitboard stands in ``bitboard.h``. A position's *key* is ``own + mask``: the
stones of the side to move plus all stones, a number of 49 bits on the 7x6 board. Its *canonical
key* is the smaller of its own key and its mirror image's.
"""

cimport cython
from libc.stdint cimport uint8_t, uint64_t
from libc.stdlib cimport calloc, free

from plymill.games cimport bitboard as bb

from operator import index

import numpy as np

from plymill.errors import IllegalMoveError, InvalidPositionError

cdef extern from "reachable.h" nogil:
    cdef struct pm_heights:
        uint64_t states

    pm_heights pm_heights_of(uint64_t mask) noexcept
    bint pm_reachable(uint64_t own, uint64_t mask, const pm_heights* heights, uint8_t* seen) noexcept

WIDTH = bb.PLYMILL_WIDTH
HEIGHT = bb.PLYMILL_HEIGHT
SQUARES = bb.PM_SQUARES
#: Most stones that a Huffman key of 64 bits can hold.
HUFFMAN_MAX_PLY = (63 - bb.PLYMILL_WIDTH) // 2

_STONES = ".XO"


@cython.final
cdef class Position:
    """A Connect Four position. Immutable; equal and hashed by its key.

    Args:
        moves: columns ``1`` to ``7`` in the order of play, player 1 first: ``"4453"``.

    Raises:
        IllegalMoveError: a character is no column, a column is full, or the game is over; the
            message names the move's place, which is also the error's ``place``.
    """

    cdef uint64_t _own
    cdef uint64_t _mask
    cdef object _moves

    def __init__(self, str moves=""):
        self._own = self._mask = 0
        self._moves = ""
        for place, move in enumerate(moves, start=1):
            if not ("1" <= move <= chr(48 + bb.PLYMILL_WIDTH)):
                raise IllegalMoveError(
                    f"move {place} of {moves!r} is {move!r}, expected a column from 1 to {WIDTH}", place
                )
            self._drop(ord(move) - 49, place, moves)
        self._moves = moves

    cdef int _drop(self, int column, int place, str moves) except -1:
        cdef uint64_t square = bb.pm_playable(self._mask) & bb.pm_column(column)
        if bb.pm_four(self._own ^ self._mask):
            raise IllegalMoveError(
                f"{_move_name(place, moves)} comes after the end of the game: "
                f"player {2 - bb.pm_popcount(self._mask) % 2} has won before it", place
            )
        if not square:
            raise IllegalMoveError(
                f"{_move_name(place, moves)} is in column {column + 1}, which is full", place
            )
        self._own ^= self._mask
        self._mask |= square
        return 0

    @staticmethod
    cdef Position _of(uint64_t own, uint64_t mask, object moves):
        cdef Position position = Position.__new__(Position)
        position._own = own
        position._mask = mask
        position._moves = moves
        return position

    @staticmethod
    def from_key(key):
        """The position with this key (``own + mask``).

        Raises:
            InvalidPositionError: an overfull column, sides out of balance, or a game that went on
                after its end. Whether play can come to it is not checked: see `is_reachable`.
        """
        key = index(key)
        if not 0 <= key <= bb.PM_KEY_MASK or not bb.pm_balanced(key):
            raise InvalidPositionError(
                f"key {key} is no position of the {WIDTH}x{HEIGHT} board: expected own + mask "
                "with the stones of both sides in balance"
            )
        cdef uint64_t mask = bb.pm_mask(key)
        return _checked(Position._of(<uint64_t>key - mask, mask, None), f"key {key}")

    @staticmethod
    def from_array(rows):
        """The position on an array of 6 rows of 7, top row first: 0 empty, 1 and 2 the players.

        Raises:
            InvalidPositionError: wrong shape or values, a stone in the air, sides out of balance,
                a game that went on after its end, or a board that no order of moves leads to.
        """
        try:
            board = np.asarray(rows)
        except ValueError:
            raise InvalidPositionError(
                f"a board has {HEIGHT} rows of {WIDTH}, top row first; got rows of unequal length"
            ) from None
        if board.shape != (HEIGHT, WIDTH):
            raise InvalidPositionError(
                f"a board has {HEIGHT} rows of {WIDTH}, top row first; got shape {board.shape}"
            )
        cdef uint64_t first = 0, second = 0, square
        cdef int column, height
        for column in range(WIDTH):
            for height in range(HEIGHT):
                stone = board[HEIGHT - 1 - height, column]
                if stone not in (0, 1, 2):
                    raise InvalidPositionError(
                        f"row {HEIGHT - height}, column {column + 1} holds {stone}, "
                        "expected 0 (empty), 1 or 2"
                    )
                square = <uint64_t>1 << (bb.PM_STRIDE * column + height)
                if stone and height and not (first | second) & (square >> 1):
                    raise InvalidPositionError(
                        f"row {HEIGHT - height}, column {column + 1} holds a stone with nothing below it"
                    )
                first |= square if stone == 1 else 0
                second |= square if stone == 2 else 0
        position = _from_stones(first, second)
        if not position.is_reachable():
            raise InvalidPositionError(
                "no order of moves leads to the board: the players, in turns, cannot have dropped "
                "their stones one upon another like this"
            )
        return position

    @staticmethod
    def from_huffman(key, ply):
        """The position of ``ply`` stones with this Huffman key.

        Raises:
            InvalidPositionError: the bits describe no such position.
        """
        cdef uint64_t own_key = bb.PM_KEY_MASK + 1
        key, ply = index(key), index(ply)
        if 0 <= key < 1 << 64 and 0 <= ply <= HUFFMAN_MAX_PLY:
            own_key = bb.pm_unhuffman(key, ply)
        if own_key > bb.PM_KEY_MASK:
            raise InvalidPositionError(f"Huffman key {key:#x} is no position of {ply} stones")
        return Position.from_key(own_key)

    @property
    def own(self):
        """Bitboard of the side to move."""
        return self._own

    @property
    def mask(self):
        """Bitboard of all stones."""
        return self._mask

    @property
    def key(self):
        """``own + mask``, unique among all positions."""
        return self._own + self._mask

    @property
    def canonical_key(self):
        """The smaller of the keys of the position and of its mirror image."""
        return bb.pm_canonical(self._own + self._mask)

    @property
    def huffman_key(self):
        """The Huffman key, ``2 * ply + 8`` bits on seven columns.

        Raises:
            InvalidPositionError: more stones than fit 64 bits.
        """
        if self.ply > HUFFMAN_MAX_PLY:
            raise InvalidPositionError(
                f"a Huffman key holds at most {HUFFMAN_MAX_PLY} stones, this position has {self.ply}"
            )
        return bb.pm_huffman(self._own, self._mask)

    @property
    def ply(self):
        """Number of stones on the board."""
        return bb.pm_popcount(self._mask)

    @property
    def moves_left(self):
        """Number of empty squares."""
        return bb.PM_SQUARES - bb.pm_popcount(self._mask)

    @property
    def to_move(self):
        """1 or 2: the player whose turn it is."""
        return 1 + bb.pm_popcount(self._mask) % 2

    @property
    def moves(self):
        """The moves that led here, or None for a position that came from a key or an array."""
        return self._moves

    def play(self, column):
        """The position after a stone of the side to move in ``column``, 1 to 7.

        Raises:
            IllegalMoveError: no such column, a full column, or a finished game.
        """
        cdef Position after = Position._of(self._own, self._mask, None)
        column, place = index(column), self.ply + 1
        if not 1 <= column <= WIDTH:
            raise IllegalMoveError(f"move {place} is {column}, expected a column from 1 to {WIDTH}", place)
        if self._moves is not None:
            after._moves = f"{self._moves}{column}"
        after._drop(column - 1, place, after._moves)
        return after

    def legal_moves(self):
        """The columns, 1 to 7, that can be played; none when the game is over."""
        if self.is_over():
            return []
        cdef uint64_t playable = bb.pm_playable(self._mask)
        return [column + 1 for column in range(WIDTH) if playable & bb.pm_column(column)]

    def can_win(self, column):
        """True if a stone in ``column`` (1 to 7) is legal and wins at once."""
        column = index(column)
        if not 1 <= column <= WIDTH or self.winner():
            return False
        return (self._winning_moves() & bb.pm_column(column - 1)) != 0

    def has_immediate_win(self):
        """True if the side to move has a move that wins at once."""
        return not self.winner() and self._winning_moves() != 0

    cdef uint64_t _winning_moves(self):
        return bb.pm_winning_squares(self._own) & bb.pm_playable(self._mask)

    def winner(self):
        """1 or 2 if that player has four in a row, else 0."""
        # Only the side that has just moved can have won.
        return 2 - bb.pm_popcount(self._mask) % 2 if bb.pm_four(self._own ^ self._mask) else 0

    def is_over(self):
        """True if a player has won or the board is full."""
        return self._mask == bb.PM_BOARD or self.winner() != 0

    def is_reachable(self):
        """True if some order of moves leads here: a position from a key may be one that none does."""
        if self._moves is not None:
            return True
        cdef pm_heights heights = pm_heights_of(self._mask)
        cdef uint8_t* seen = <uint8_t*>calloc(heights.states // 8 + 1, 1)
        if seen == NULL:
            raise MemoryError("there is no memory for the states below a position")
        cdef bint reachable
        with nogil:
            reachable = pm_reachable(self._own, self._mask, &heights, seen)
        free(seen)
        return reachable

    def mirror(self):
        """The mirror image, column 1 for column 7 and so on."""
        moves = self._moves
        if moves is not None:
            moves = "".join(chr(97 + WIDTH - ord(move)) for move in moves)
        return Position._of(bb.pm_mirror(self._own), bb.pm_mirror(self._mask), moves)

    def to_array(self):
        """The board as an int8 array of 6 rows of 7, top row first: 0 empty, 1 and 2 the players."""
        board = np.zeros((HEIGHT, WIDTH), dtype=np.int8)
        own, opponent = self.to_move, 3 - self.to_move
        for column in range(WIDTH):
            for height in range(HEIGHT):
                square = <uint64_t>1 << (bb.PM_STRIDE * column + height)
                if self._mask & square:
                    board[HEIGHT - 1 - height, column] = own if self._own & square else opponent
        return board

    def __str__(self):
        rows = [" ".join(_STONES[stone] for stone in row) for row in self.to_array()]
        return "\n".join([*rows, " ".join(str(column + 1) for column in range(WIDTH))])

    def __repr__(self):
        if self._moves is not None:
            return f"Position({self._moves!r})"
        return f"Position.from_key({self.key})"

    def __eq__(self, other):
        if not isinstance(other, Position):
            return NotImplemented
        return self.key == other.key

    def __hash__(self):
        return hash(self._own + self._mask)

    def __reduce__(self):
        return (_rebuild, (self._own, self._mask, self._moves))


def _move_name(place, moves):
    return f"move {place}" if moves is None else f"move {place} of {moves!r}"


def _rebuild(own, mask, moves):
    return Position._of(own, mask, moves)


cdef Position _from_stones(uint64_t first, uint64_t second):
    cdef int ones = bb.pm_popcount(first), twos = bb.pm_popcount(second)
    if ones - twos not in (0, 1):
        raise InvalidPositionError(
            f"player 1 has {ones} stones and player 2 has {twos}; player 1 moves first, "
            "so expected as many or one more"
        )
    cdef uint64_t own = first if ones == twos else second
    return _checked(Position._of(own, first | second, None), "the board")


cdef Position _checked(Position position, str name):
    """Refuses games that went on after their end: fours of the side to move, or of two games."""
    if bb.pm_four(position._own):
        raise InvalidPositionError(
            f"{name} has four in a row for player {position.to_move}, who is to move: "
            "the game had ended before"
        )
    if not bb.pm_ended_in_time(position._own, position._mask):
        raise InvalidPositionError(
            f"{name} has fours for player {3 - position.to_move} that no single last stone made"
        )
    return position
