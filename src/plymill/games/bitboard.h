/* Bitboards of a four-in-a-row board, its size a compile-time constant.
 *
 * Column-major, one guard bit on top of every column, so that no line wraps round the edge.
 * For 7 columns of 6 rows the squares carry these bits (row 0 at the bottom):
 *
 *     guard   6 13 20 27 34 41 48
 *     row 5   5 12 19 26 33 40 47
 *     row 4   4 11 18 25 32 39 46
 *     row 3   3 10 17 24 31 38 45
 *     row 2   2  9 16 23 30 37 44
 *     row 1   1  8 15 22 29 36 43
 *     row 0   0  7 14 21 28 35 42
 *             a  b  c  d  e  f  g
 *
 * A position is two words: `own`, the stones of the side to move, and `mask`, all stones.
 * Its key is own + mask: in each column the number (1 << height) - 1 + own, which is unique.
 */
#ifndef PLYMILL_BITBOARD_H
#define PLYMILL_BITBOARD_H

#include <stdint.h>

#ifndef PLYMILL_WIDTH
#define PLYMILL_WIDTH 7
#endif
#ifndef PLYMILL_HEIGHT
#define PLYMILL_HEIGHT 6
#endif

#define PM_STRIDE (PLYMILL_HEIGHT + 1)            /* bits a column */
#define PM_SQUARES (PLYMILL_WIDTH * PLYMILL_HEIGHT)
#define PM_KEY_BITS (PLYMILL_WIDTH * PM_STRIDE)

#if PM_KEY_BITS > 63 || PLYMILL_WIDTH < 4 || PLYMILL_WIDTH > 9 || PLYMILL_HEIGHT < 4
#error "the board must have 4 to 9 columns, 4 rows or more and, with guard bits, fit 63 bits"
#endif

#define PM_KEY_MASK ((UINT64_C(1) << PM_KEY_BITS) - 1)
/* Row 0 of every column: ...0001 repeated with the column's stride. */
#define PM_BOTTOM (PM_KEY_MASK / ((UINT64_C(1) << PM_STRIDE) - 1))
#define PM_COLUMN ((UINT64_C(1) << PLYMILL_HEIGHT) - 1)
#define PM_BOARD (PM_BOTTOM * PM_COLUMN)

#define PM_INLINE static inline __attribute__((always_inline))

PM_INLINE uint64_t pm_column(int column) { return PM_COLUMN << (PM_STRIDE * column); }
PM_INLINE int pm_popcount(uint64_t x) { return __builtin_popcountll(x); }

/* The squares on which the next stone of each column lands. */
PM_INLINE uint64_t pm_playable(uint64_t mask) { return (mask + PM_BOTTOM) & PM_BOARD; }

/* Non-zero if `stones` hold four in a row on a board with `stride` bits a column. */
PM_INLINE uint64_t pm_four_of(uint64_t stones, int stride)
{
    uint64_t pairs = stones & (stones >> 1);
    uint64_t found = pairs & (pairs >> 2);
    for (int step = stride - 1; step <= stride + 1; step++) {
        pairs = stones & (stones >> step);
        found |= pairs & (pairs >> (2 * step));
    }
    return found;
}

/* Non-zero if `stones` hold four in a row. */
PM_INLINE uint64_t pm_four(uint64_t stones) { return pm_four_of(stones, PM_STRIDE); }

/* Squares that complete four in a row for `stones`, vertically only on top of three stones.
 * Occupied squares and guard bits are not masked out. */
PM_INLINE uint64_t pm_winning_squares(uint64_t stones)
{
    uint64_t found = (stones << 1) & (stones << 2) & (stones << 3);
    for (int step = PM_STRIDE - 1; step <= PM_STRIDE + 1; step++) {
        uint64_t up1 = stones << step, up2 = stones << (2 * step), up3 = stones << (3 * step);
        uint64_t down1 = stones >> step, down2 = stones >> (2 * step), down3 = stones >> (3 * step);
        found |= up1 & up2 & (up3 | down1);
        found |= down1 & down2 & (down3 | up1);
    }
    return found;
}

/* The columns in reverse order; works on stones, masks and keys alike. Not by PDEP and PEXT: they
 * make no search faster, and much slower on processors that have them in microcode (Zen 1 and 2). */
PM_INLINE uint64_t pm_mirror(uint64_t x)
{
    const uint64_t column = (UINT64_C(1) << PM_STRIDE) - 1;
    uint64_t mirrored = 0;
    for (int c = 0; c < PLYMILL_WIDTH; c++)
        mirrored |= ((x >> (PM_STRIDE * c)) & column) << (PM_STRIDE * (PLYMILL_WIDTH - 1 - c));
    return mirrored;
}

PM_INLINE uint64_t pm_canonical(uint64_t key)
{
    uint64_t mirrored = pm_mirror(key);
    return mirrored < key ? mirrored : key;
}

/* All stones of the position with this key. One more in every column puts the top set bit of
 * a column at its height; smeared downwards and shifted by one it is the column's stones. */
PM_INLINE uint64_t pm_mask(uint64_t key)
{
    uint64_t x = key + PM_BOTTOM;
    for (int step = 1; step <= PLYMILL_HEIGHT; step *= 2)
        x |= (x >> step) & (PM_BOTTOM * ((UINT64_C(1) << (PM_STRIDE - step)) - 1));
    return (x >> 1) & PM_BOARD;
}

/* True if the key has no overfull column, and the stones of both sides are as many as they can be
 * when the sides take turns. Says nothing about fours. */
PM_INLINE int pm_balanced(uint64_t key)
{
    if (key & ~PM_KEY_MASK)
        return 0;
    for (int c = 0; c < PLYMILL_WIDTH; c++)
        if (((key >> (PM_STRIDE * c)) & ((UINT64_C(1) << PM_STRIDE) - 1)) == 2 * PM_COLUMN + 1)
            return 0;
    uint64_t mask = pm_mask(key);
    return pm_popcount(key - mask) == pm_popcount(mask) / 2;
}

/* True if `stones`, which hold four in a row, got their first four by one last stone: without
 * it, on top of its column, there is none. */
PM_INLINE int pm_last_stone_won(uint64_t stones, uint64_t mask)
{
    uint64_t tops = ((mask + PM_BOTTOM) >> 1) & stones;
    for (; tops; tops &= tops - 1)
        if (!pm_four(stones ^ (tops & (~tops + 1))))
            return 1;
    return 0;
}

/* False if play went on after its end: the side to move has four in a row, or the other side has
 * fours that no single last stone made. */
PM_INLINE int pm_ended_in_time(uint64_t own, uint64_t mask)
{
    return !pm_four(own) && (!pm_four(own ^ mask) || pm_last_stone_won(own ^ mask, mask));
}

/* Huffman key: columns a to g, stones from the bottom up, 10 for player 1 and 11 for player 2,
 * 0 after each column and one 0 at the end. Only for positions of at most
 * (63 - PLYMILL_WIDTH) / 2 stones: more do not fit a word. */
PM_INLINE uint64_t pm_huffman(uint64_t own, uint64_t mask)
{
    uint64_t second = pm_popcount(mask) & 1 ? own : own ^ mask; /* stones of player 2 */
    uint64_t code = 0;
    for (int c = 0; c < PLYMILL_WIDTH; c++) {
        for (uint64_t square = UINT64_C(1) << (PM_STRIDE * c); mask & square; square <<= 1)
            code = code << 2 | (second & square ? 3 : 2);
        code <<= 1;
    }
    return code << 1;
}

/* The key of the position that a Huffman key of `ply` stones describes; UINT64_MAX if none. */
PM_INLINE uint64_t pm_unhuffman(uint64_t code, int ply)
{
    uint64_t mask = 0, second = 0;
    if (ply < 0 || ply > (63 - PLYMILL_WIDTH) / 2)
        return UINT64_MAX;
    int left = 2 * ply + PLYMILL_WIDTH + 1;
    if (left < 64 && code >> left)
        return UINT64_MAX;
    for (int c = 0; c < PLYMILL_WIDTH; c++) {
        uint64_t square = UINT64_C(1) << (PM_STRIDE * c);
        for (int row = 0; left > 1 && code >> (left - 1) & 1; row++, square <<= 1) {
            if (row == PLYMILL_HEIGHT)
                return UINT64_MAX;
            mask |= square;
            second |= code >> (left - 2) & 1 ? square : 0;
            left -= 2;
        }
        if (--left < 1)
            return UINT64_MAX;
    }
    if (left != 1 || code & 1 || pm_popcount(mask) != ply || pm_popcount(second) != ply / 2)
        return UINT64_MAX;
    return (ply & 1 ? second : second ^ mask) + mask;
}

#endif
