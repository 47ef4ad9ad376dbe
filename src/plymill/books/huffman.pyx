"""Huffman keys of whole arrays of positions, the keys of the published opening books.

Columns a to g, in each the stones from the bottom up: ``10`` for player 1, ``11`` for player 2,
``0`` after every column and one more at the end: ``2 * ply + 8`` bits on seven columns.
"""

from libc.stdint cimport uint64_t

from plymill.games cimport bitboard as bb

from operator import index

import numpy as np

from plymill.errors import InvalidPositionError
from plymill.games.arrays import key_array
from plymill.games.connect4 import HUFFMAN_MAX_PLY


def huffman_keys(keys):
    """The Huffman keys of positions given by their keys (``own + mask``).

    Args:
        keys: n keys of positions; they are taken as they are, not made canonical.

    Returns:
        uint64 array of length n, in the same order.

    Raises:
        InvalidPositionError: a key is no position, or has more stones than fit 64 bits; the
            message names the first such key and its index.
    """
    cdef const uint64_t[::1] source = key_array(keys)
    result = np.empty(source.shape[0], dtype=np.uint64)
    cdef uint64_t[::1] target = result
    cdef uint64_t mask
    cdef Py_ssize_t i, bad = -1
    cdef int most = HUFFMAN_MAX_PLY
    with nogil:
        for i in range(source.shape[0]):
            mask = bb.pm_mask(source[i])
            if not bb.pm_balanced(source[i]) or bb.pm_popcount(mask) > most:
                bad = i
                break
            target[i] = bb.pm_huffman(source[i] - mask, mask)
    if bad >= 0:
        raise InvalidPositionError(
            f"key {source[bad]} at index {bad} is no position of at most {most} stones, "
            "which is what a Huffman key holds"
        )
    return result


def keys_from_huffman(codes, ply):
    """The keys (``own + mask``) of positions given by their Huffman keys.

    Args:
        codes: n Huffman keys, as unsigned numbers.
        ply: number of stones of every one of the positions.

    Returns:
        uint64 array of length n, in the same order; not made canonical.

    Raises:
        InvalidPositionError: the bits of a code describe no position of ``ply`` stones, or one
            in which play went on after its end; the message names the first such code and its
            index.
    """
    cdef const uint64_t[::1] source = key_array(codes)
    result = np.empty(source.shape[0], dtype=np.uint64)
    cdef uint64_t[::1] target = result
    cdef Py_ssize_t i, bad = -1
    cdef int stones = min(max(index(ply), -1), HUFFMAN_MAX_PLY + 1)  # neither end has a code
    with nogil:
        for i in range(source.shape[0]):
            target[i] = bb.pm_unhuffman(source[i], stones)
            if target[i] > bb.PM_KEY_MASK or not _ended_in_time(target[i]):
                bad = i
                break
    if bad >= 0:
        raise InvalidPositionError(
            f"Huffman key {source[bad]:#x} at index {bad} is no position of {ply} stones"
        )
    return result


cdef inline bint _ended_in_time(uint64_t key) noexcept nogil:
    cdef uint64_t mask = bb.pm_mask(key)
    return bb.pm_ended_in_time(key - mask, mask)
