"""The bits of a word that are set: a list of them, and the k-th of them with no walk along the others.

The tables are 2 KiB and each module that needs one has its own.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t


cdef extern from *:
    int popcount "__builtin_popcountll" (uint64_t x) noexcept nogil
    int lowest "__builtin_ctzll" (uint64_t x) noexcept nogil  # of a word that is not 0

cdef enum:
    SELECT_SIZE = 2048


cdef inline int list_bits(uint64_t x, uint8_t *numbers) noexcept nogil:
    """Writes the numbers of the bits that are set, ascending; returns how many."""
    cdef int count = 0
    while x:
        numbers[count] = <uint8_t>lowest(x)
        x &= x - 1
        count += 1
    return count


cdef inline void fill_select(uint8_t *table) noexcept nogil:
    """Fills in the table: ``table[8 * byte + k]`` is the k-th bit of a byte, counted from 0."""
    cdef int byte, bit, k
    for byte in range(256):
        k = 0
        for bit in range(8):
            table[8 * byte + k] = <uint8_t>bit
            k += (byte >> bit) & 1


cdef inline uint64_t byte_counts(uint64_t x) noexcept nogil:
    """In each byte the number of bits of ``x`` in this byte and those below it."""
    x -= (x >> 1) & <uint64_t>0x5555555555555555
    x = (x & <uint64_t>0x3333333333333333) + ((x >> 2) & <uint64_t>0x3333333333333333)
    x = (x + (x >> 4)) & <uint64_t>0x0F0F0F0F0F0F0F0F
    return x * <uint64_t>0x0101010101010101


cdef inline int select(const uint8_t *table, uint64_t x, uint64_t counts, uint32_t k) noexcept nogil:
    """The k-th bit of ``x``, which has more than k; ``counts`` is ``byte_counts(x)``."""
    # A byte's top bit stays set where its count is at most k: so many bytes lie wholly below.
    cdef uint64_t below = (k * <uint64_t>0x0101010101010101 | <uint64_t>0x8080808080808080) - counts
    cdef int shift = 8 * popcount(below & <uint64_t>0x8080808080808080)
    cdef uint32_t rest = k - <uint32_t>((counts << 8) >> shift & 0xFF)
    return shift + table[8 * <int>(x >> shift & 0xFF) + rest]
