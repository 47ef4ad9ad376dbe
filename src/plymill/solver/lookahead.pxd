"""The children of a node all at once. See lookahead.h."""

from libc.stdint cimport uint16_t, uint64_t

cdef extern from "lookahead.h" nogil:
    const int PM_LANES
    const int PM_NO_MOVE

    ctypedef struct pm_children:
        uint64_t* wins
        uint16_t* order

    bint pm_look_ahead(
        uint64_t own, uint64_t mask, uint64_t playable, uint64_t moves, uint64_t own_wins,
        pm_children* children
    ) noexcept
    int pm_next_column(uint16_t* order) noexcept
