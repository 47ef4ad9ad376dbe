/* Four in a row on a board of any size that fits 64 bits, its size known at run time.
 *
 * The bits are those of bitboard.h: column by column from the left, in each the rows from the bottom,
 * and one guard bit on top. For 5 columns of 4 rows:
 *
 *     guard   4  9 14 19 24
 *     row 3   3  8 13 18 23
 *     row 2   2  7 12 17 22
 *     row 1   1  6 11 16 21
 *     row 0   0  5 10 15 20
 *
 * A state's words are: `own`, the stones of the side to move (or that would be); `mask`, all stones;
 * how the game ended; and 0. Who moves follows from the number of stones.
 */
#ifndef PLYMILL_DROP_H
#define PLYMILL_DROP_H

#include "bitboard.h"
#include "rules.h"

#define DROP_COLUMNS 32 /* more columns do not fit 64 bits, be they one row high */

enum { DROP_GOES_ON = 0, DROP_FOUR = 1, DROP_FULL = 2 };

typedef struct {
    uint64_t bottom, top, board; /* row 0, the highest row, and all squares */
    int width, height, stride;   /* stride: bits a column */
    int misere;                  /* who makes a four loses */
} drop_board;

PM_INLINE uint64_t drop_column(const drop_board *board, int column)
{
    return ((UINT64_C(1) << board->height) - 1) << (board->stride * column);
}

PM_INLINE int drop_status(const game_state *state)
{
    return state->words[2] != DROP_GOES_ON ? -1 : pm_popcount(state->words[1]) & 1;
}

PM_INLINE int drop_moves(const drop_board *board, const game_state *state, uint8_t *moves)
{
    uint64_t square = board->top & (~board->top + 1); /* of column 0 */
    int count = 0;
    for (int column = 0; column < board->width; column++, square <<= board->stride) {
        moves[count] = (uint8_t)column;
        count += !(state->words[1] & square);
    }
    return count;
}

PM_INLINE int drop_play(const drop_board *board, game_state *state, int column)
{
    uint64_t own = state->words[0], mask = state->words[1];
    uint64_t square = (mask + board->bottom) & drop_column(board, column);
    state->words[0] = own ^ mask;
    state->words[1] = mask | square;
    if (pm_four_of(own | square, board->stride))
        state->words[2] = DROP_FOUR;
    else if ((mask | square) == board->board)
        state->words[2] = DROP_FULL;
    return drop_status(state);
}

/* The squares of each column that is not full, from the left; how many columns these are. */
PM_INLINE unsigned drop_open(const drop_board *board, uint64_t mask, uint64_t *open)
{
    uint64_t column = drop_column(board, 0);
    unsigned count = 0;
    for (int i = 0; i < board->width; i++, column <<= board->stride) {
        open[count] = column;
        count += (column & ~mask) != 0;
    }
    return count;
}

/* Random moves to the end. The columns that are not full are kept in a list, from which the move is
 * read with no loop; to take out one of them is rare, and moves eight of its followers at once, which
 * on most boards is all. `stride` is board->stride: a constant of the compiler for the common boards. */
PM_INLINE void drop_playout_of(const drop_board *board, game_state *state, random_stream *stream,
                               int stride)
{
    uint64_t open[DROP_COLUMNS + 8];
    uint64_t own = state->words[0], mask = state->words[1], end = state->words[2];
    const uint64_t bottom = board->bottom, top = board->top;
    random_stream r = *stream;
    unsigned count = drop_open(board, mask, open);
    while (end == DROP_GOES_ON) {
        unsigned chosen = random_below(&r, count);
        uint64_t square = (mask + bottom) & open[chosen];
        uint64_t moved = own | square;
        own ^= mask;
        mask |= square;
        if (square & top) {
            for (unsigned i = chosen; i + 1 < count; i += 8)
                __builtin_memmove(open + i, open + i + 1, 8 * sizeof *open);
            if (--count == 0)
                end = DROP_FULL;
        }
        if (pm_four_of(moved, stride))
            end = DROP_FOUR;
    }
    state->words[0] = own;
    state->words[1] = mask;
    state->words[2] = end;
    *stream = r;
}

PM_INLINE void drop_playout(const drop_board *board, game_state *state, random_stream *stream)
{
    if (board->stride == 7)
        drop_playout_of(board, state, stream, 7);
    else
        drop_playout_of(board, state, stream, board->stride);
}

#endif
