"""The board's primitives, for every extension that needs them. See bitboard.h for the picture."""

from libc.stdint cimport uint64_t

cdef extern from "bitboard.h" nogil:
    const int PLYMILL_WIDTH
    const int PLYMILL_HEIGHT
    const int PM_STRIDE
    const int PM_SQUARES
    const int PM_KEY_BITS
    const uint64_t PM_KEY_MASK
    const uint64_t PM_BOTTOM
    const uint64_t PM_COLUMN
    const uint64_t PM_BOARD

    uint64_t pm_column(int column) noexcept
    int pm_popcount(uint64_t x) noexcept
    uint64_t pm_playable(uint64_t mask) noexcept
    uint64_t pm_four(uint64_t stones) noexcept
    uint64_t pm_winning_squares(uint64_t stones) noexcept
    uint64_t pm_mirror(uint64_t x) noexcept
    uint64_t pm_canonical(uint64_t key) noexcept
    uint64_t pm_mask(uint64_t key) noexcept
    bint pm_balanced(uint64_t key) noexcept
    bint pm_last_stone_won(uint64_t stones, uint64_t mask) noexcept
    bint pm_ended_in_time(uint64_t own, uint64_t mask) noexcept
    uint64_t pm_huffman(uint64_t own, uint64_t mask) noexcept
    uint64_t pm_unhuffman(uint64_t code, int ply) noexcept
