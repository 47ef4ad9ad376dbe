"""Random numbers of one match; see ``random.h``."""

from libc.stdint cimport uint32_t, uint64_t


cdef extern from "random.h" nogil:
    ctypedef struct random_stream:
        uint64_t s[4]

    uint64_t random_mix(uint64_t x) noexcept
    void random_start(random_stream *r, uint64_t seed, uint64_t cell, uint64_t match) noexcept
    uint64_t random_next(random_stream *r) noexcept
    uint32_t random_below(random_stream *r, uint32_t n) noexcept


cdef class Stream:
    cdef random_stream data
