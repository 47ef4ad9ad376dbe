"""Whole arrays of Connect Four positions, given by their keys: uint64 in, as long an array out.

A key is ``own + mask``, see ``connect4.pyx``; the picture of the bitboard stands in ``bitboard.h``.
"""

from libc.stdint cimport uint8_t, uint64_t

from plymill.games cimport bitboard as bb

from operator import index
from reprlib import repr as shortened

import numpy as np

from plymill.errors import IllegalMoveError, InvalidPositionError
from plymill.games.connect4 import WIDTH


def key_array(keys):
    """Keys as a contiguous uint64 array: numbers that are no whole ones are not rounded to some.

    Raises:
        InvalidPositionError: not one dimension of whole numbers from 0 to 2**64 - 1.
    """
    if not isinstance(keys, np.ndarray):
        try:
            numbers = [index(key) for key in keys]
        except TypeError:
            numbers = [-1]
        if not all(0 <= number < 1 << 64 for number in numbers):
            raise InvalidPositionError(
                f"{shortened(keys)} holds no keys, expected whole numbers from 0 to 2**64 - 1"
            )
        keys = np.array(numbers, dtype=np.uint64)
    if keys.ndim != 1:
        raise InvalidPositionError(f"keys have shape {keys.shape}, expected one dimension")
    if keys.size and (keys.dtype.kind not in "iu" or keys.dtype.kind == "i" and keys.min() < 0):
        raise InvalidPositionError(
            f"an array of {keys.dtype} that begins with {keys[0]} holds no keys, "
            "expected whole numbers from 0 to 2**64 - 1"
        )
    return np.ascontiguousarray(keys, dtype=np.uint64)


def mirror_keys(keys):
    """The keys of the mirror images; uint64 array of the same length."""
    cdef const uint64_t[::1] source = key_array(keys)
    result = np.empty(source.shape[0], dtype=np.uint64)
    cdef uint64_t[::1] target = result
    cdef Py_ssize_t i
    with nogil:
        for i in range(source.shape[0]):
            target[i] = bb.pm_mirror(source[i])
    return result


def canonical_keys(keys):
    """The smaller of each key and its mirror image's; uint64 array of the same length."""
    cdef const uint64_t[::1] source = key_array(keys)
    result = np.empty(source.shape[0], dtype=np.uint64)
    cdef uint64_t[::1] target = result
    cdef Py_ssize_t i
    with nogil:
        for i in range(source.shape[0]):
            target[i] = bb.pm_canonical(source[i])
    return result


def boards(keys):
    """Splits keys into two uint64 arrays ``(own, mask)`` of the same length."""
    cdef const uint64_t[::1] source = key_array(keys)
    masks = np.empty(source.shape[0], dtype=np.uint64)
    cdef uint64_t[::1] target = masks
    cdef Py_ssize_t i
    with nogil:
        for i in range(source.shape[0]):
            target[i] = bb.pm_mask(source[i])
    return np.asarray(source) - masks, masks


def plies(keys):
    """The number of stones of each position; uint8 array of the same length."""
    cdef const uint64_t[::1] source = key_array(keys)
    result = np.empty(source.shape[0], dtype=np.uint8)
    cdef uint8_t[::1] target = result
    cdef Py_ssize_t i
    with nogil:
        for i in range(source.shape[0]):
            target[i] = bb.pm_popcount(bb.pm_mask(source[i]))
    return result


def balanced(keys):
    """True where a key has no overfull column and sides of the right size; bool array."""
    cdef const uint64_t[::1] source = key_array(keys)
    result = np.empty(source.shape[0], dtype=np.uint8)
    cdef uint8_t[::1] target = result
    cdef Py_ssize_t i
    with nogil:
        for i in range(source.shape[0]):
            target[i] = bb.pm_balanced(source[i])
    return result.view(np.bool_)


def immediate_wins(keys):
    """True where the side to move can win at once; bool array of the same length."""
    cdef const uint64_t[::1] source = key_array(keys)
    result = np.empty(source.shape[0], dtype=np.uint8)
    cdef uint8_t[::1] target = result
    cdef uint64_t mask
    cdef Py_ssize_t i
    with nogil:
        for i in range(source.shape[0]):
            mask = bb.pm_mask(source[i])
            target[i] = (bb.pm_winning_squares(source[i] - mask) & bb.pm_playable(mask)) != 0
    return result.view(np.bool_)


def decided(keys):
    """True where a player already has four in a row; bool array of the same length."""
    cdef const uint64_t[::1] source = key_array(keys)
    result = np.empty(source.shape[0], dtype=np.uint8)
    cdef uint8_t[::1] target = result
    cdef uint64_t own, mask
    cdef Py_ssize_t i
    with nogil:
        for i in range(source.shape[0]):
            mask = bb.pm_mask(source[i])
            own = source[i] - mask
            target[i] = (bb.pm_four(own) | bb.pm_four(own ^ mask)) != 0
    return result.view(np.bool_)


def play_all(keys, column):
    """The keys after a stone in ``column`` (1 to 7) of each position, 0 where the column is full.

    Whether the game had ended before is not looked at: see :func:`decided`.
    """
    column = index(column)
    if not 1 <= column <= WIDTH:
        raise IllegalMoveError(f"column {column} is off the board, expected 1 to {WIDTH}", 1)
    cdef const uint64_t[::1] source = key_array(keys)
    result = np.empty(source.shape[0], dtype=np.uint64)
    cdef uint64_t[::1] target = result
    cdef uint64_t mask, square, file = bb.pm_column(column - 1)
    cdef Py_ssize_t i
    with nogil:
        for i in range(source.shape[0]):
            mask = bb.pm_mask(source[i])
            square = bb.pm_playable(mask) & file
            # The opponent moves next: his stones are mask - own, and mask gains the square.
            target[i] = (2 * mask - source[i] + mask + square) if square else 0
    return result
