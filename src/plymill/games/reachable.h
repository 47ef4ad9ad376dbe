/* Whether a position can come about in play. See bitboard.h for the picture.
 *
 * Stones are taken back in turns, each from the top of a column, until none is left: it can if
 * that works in some order. What is left is told by the heights of the columns alone, so that every
 * state is tried once, and on most boards very few are. Only the last stone may have made a four;
 * without fours in what is left there are none in anything below it.
 */
#ifndef PLYMILL_REACHABLE_H
#define PLYMILL_REACHABLE_H

#include "bitboard.h"

/* What heights count: a state is the sum of every column's height times its weight. */
struct pm_heights {
    uint64_t weight[PLYMILL_WIDTH];
    uint64_t states; /* how many there are below the position, itself included */
};

static struct pm_heights pm_heights_of(uint64_t mask)
{
    struct pm_heights heights;
    heights.states = 1;
    for (int c = 0; c < PLYMILL_WIDTH; c++) {
        heights.weight[c] = heights.states;
        heights.states *= (uint64_t)pm_popcount(mask & pm_column(c)) + 1;
    }
    return heights;
}

/* The top stones of whoever dropped the last one. `first` are the stones of player 1. */
PM_INLINE uint64_t pm_last_tops(uint64_t first, uint64_t mask)
{
    uint64_t last = pm_popcount(mask) & 1 ? first : first ^ mask;
    return ((mask + PM_BOTTOM) >> 1) & last;
}

PM_INLINE uint64_t pm_lowest(uint64_t squares) { return squares & (~squares + 1); }

PM_INLINE int pm_column_of(uint64_t square) { return __builtin_ctzll(square) / PM_STRIDE; }

/* Take all stones back, from a board without fours. `seen` has a bit for each state. */
static int pm_unwinds(
    uint64_t first, uint64_t mask, const struct pm_heights *heights, uint64_t state, uint8_t *seen)
{
    if (!mask)
        return 1;
    if (seen[state >> 3] >> (state & 7) & 1)
        return 0;
    seen[state >> 3] |= (uint8_t)(1 << (state & 7));
    for (uint64_t tops = pm_last_tops(first, mask); tops; tops &= tops - 1) {
        uint64_t top = pm_lowest(tops);
        uint64_t below = state - heights->weight[pm_column_of(top)];
        if (pm_unwinds(first & ~top, mask ^ top, heights, below, seen))
            return 1;
    }
    return 0;
}

/* The answer; `seen` holds `heights->states` bits, all 0. */
static int pm_reachable(
    uint64_t own, uint64_t mask, const struct pm_heights *heights, uint8_t *seen)
{
    uint64_t first = pm_popcount(mask) & 1 ? own ^ mask : own;
    if (!pm_four(own ^ mask))
        return pm_unwinds(first, mask, heights, heights->states - 1, seen);
    for (uint64_t tops = pm_last_tops(first, mask); tops; tops &= tops - 1) {
        uint64_t top = pm_lowest(tops);
        uint64_t below = heights->states - 1 - heights->weight[pm_column_of(top)];
        if (!pm_four((own ^ mask) & ~top)
            && pm_unwinds(first & ~top, mask ^ top, heights, below, seen))
            return 1;
    }
    return 0;
}

#endif
