"""The board of three rows of three cells, for the games that are played on it.

A side's marks are nine bits: cell (row, column), counted from 1, is bit 3 * (row - 1) + column - 1,
which is also the code of the move that marks it.

    0 1 2
    3 4 5
    6 7 8
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from plymill.games.bits cimport popcount
from plymill.games.game cimport Game


cdef enum:
    CELLS = 9
    BOARD = 0x1FF


cdef inline bint has_line(uint64_t marks) noexcept nogil:
    """Three marks in a row, a column, or a diagonal."""
    cdef uint64_t rows = marks & (marks >> 1) & (marks >> 2) & 0x49
    cdef uint64_t columns = marks & (marks >> 3) & (marks >> 6) & 0x7
    return (rows | columns) != 0 or (marks & 0x111) == 0x111 or (marks & 0x54) == 0x54


cdef inline int cell_of(const uint8_t *table, uint64_t cells, uint32_t k) noexcept nogil:
    """The k-th of these cells; the table is that of ``bits.pxd``."""
    return 8 if k >= <uint32_t>popcount(cells & 0xFF) else table[8 * <int>(cells & 0xFF) + k]


cdef class TicTacToe(Game):
    pass
