/* Playouts of Connect Four and its kin, several at once: one in each word of a vector.
 *
 * Each is, bit for bit, what drop_playout of drop.h gives for the same position and the same random
 * numbers: every word has a board and a generator of its own, which stop when its game is over.
 */
#ifndef PLYMILL_DROPS_H
#define PLYMILL_DROPS_H

#include "drop.h"
#include "search.h"
#include "vectors.h"

#if VEC_WORDS
enum {
    DROPS_BITS = 7,        /* of an entry in the list of open columns */
    DROPS_MAX_WIDTH = 9,   /* so many entries fit a word */
};

/* The games; `start` is who moves first, 0 or 1, and what follows is as it was when a game ended. */
typedef struct {
    vec own, mask, open, count, s[4];
    vec end_s[4], end_ply;
    uint64_t start[VEC_WORDS];
} drops;

PM_INLINE void drops_load(drops *d, uct_search *const *searches, int number)
{
    uint64_t words[6][VEC_WORDS];
    for (int i = 0; i < VEC_WORDS; i++) {
        const uct_search *s = searches[i < number ? i : 0];
        words[0][i] = s->leaf.words[0];
        words[1][i] = s->leaf.words[1];
        for (int j = 0; j < 4; j++)
            words[2 + j][i] = s->stream->s[j];
        d->start[i] = (uint64_t)pm_popcount(s->leaf.words[1]) & 1;
    }
    d->own = vec_load(words[0]);
    d->mask = vec_load(words[1]);
    for (int j = 0; j < 4; j++)
        d->s[j] = d->end_s[j] = vec_load(words[2 + j]);
    d->end_ply = vec_all(0);
}

/* Lists the columns that are not full, from the left: each as the number of bits by which column 0 is
 * shifted to get there. */
PM_INLINE void drops_list(drops *d, const drop_board *board)
{
    vec at = vec_all(0);
    d->open = d->count = vec_all(0);
    for (int column = 0; column < board->width; column++) {
        uint64_t shift = (uint64_t)(column * board->stride);
        uint64_t top = UINT64_C(1) << (board->height - 1) << shift;
        vec_mask open = vec_is_zero(vec_and(d->mask, vec_all(top)));
        d->open = vec_where(open, d->open, vec_or(d->open, vec_shl(vec_all(shift), at)));
        d->count = vec_where(open, d->count, vec_add(d->count, vec_all(1)));
        at = vec_where(open, at, vec_add(at, vec_all(DROPS_BITS)));
    }
}

/* Gives the searches their goals, and their random numbers back. */
PM_INLINE void drops_store(
    const drops *d, const drop_board *board, vec_mask won, uct_search *const *searches, int number)
{
    uint64_t words[6][VEC_WORDS];
    for (int j = 0; j < 4; j++)
        vec_store(words[j], d->end_s[j]);
    vec_store(words[4], d->end_ply);
    vec_store(words[5], vec_where(won, vec_all(50), vec_all(board->misere ? 0 : 100)));
    for (int i = 0; i < number; i++) {
        uct_search *s = searches[i];
        int last = (int)((d->start[i] + words[4][i]) & 1);
        s->goals[last] = (int)words[5][i];
        s->goals[1 - last] = 100 - (int)words[5][i];
        for (int j = 0; j < 4; j++)
            s->stream->s[j] = words[j][i];
    }
}

/* random_next of random.h. */
PM_INLINE vec drops_random(vec *s)
{
    vec result = vec_add(vec_rotl_by(vec_add(s[0], s[3]), 23), s[0]);
    vec t = vec_shl_by(s[1], 17);
    s[2] = vec_xor(s[2], s[0]);
    s[3] = vec_xor(s[3], s[1]);
    s[1] = vec_xor(s[1], s[2]);
    s[0] = vec_xor(s[0], s[3]);
    s[2] = vec_xor(s[2], t);
    s[3] = vec_rotl_by(s[3], 45);
    return result;
}

PM_INLINE vec drops_line(vec found, vec stones, uint64_t step)
{
    vec pairs = vec_and(stones, vec_shr(stones, vec_all(step)));
    return vec_or_and(found, pairs, vec_shr(pairs, vec_all(2 * step)));
}

/* One move of every game, those that are over too: what they do then is not read any more. Returns
 * which have four in a row, and in `stuck` which have no column left. */
PM_INLINE vec_mask drops_ply(drops *d, const drop_board *board, uint64_t stride, vec_mask *stuck)
{
    const vec column = vec_all(drop_column(board, 0)), ones = vec_all(~UINT64_C(0));
    vec place = vec_shr_by(vec_mul32(vec_shr_by(drops_random(d->s), 32), d->count), 32);
    vec at = vec_sub(vec_shl_by(place, 3), place); /* DROPS_BITS times place */
    vec entry = vec_and(vec_shr(d->open, at), vec_all((1 << DROPS_BITS) - 1));
    vec square = vec_and(vec_add(d->mask, vec_all(board->bottom)), vec_shl(column, entry));
    vec moved = vec_or(d->own, square);
    d->own = vec_xor(d->own, d->mask);
    d->mask = vec_or(d->mask, square);
    /* Full columns leave the list. */
    vec_mask full = vec_test(square, vec_all(board->top));
    vec above = vec_shl(ones, at);
    vec shorter = vec_or(vec_and(vec_shr_by(d->open, DROPS_BITS), above),
                         vec_and(d->open, vec_xor(above, ones)));
    d->open = vec_where(full, d->open, shorter);
    d->count = vec_where(full, d->count, vec_sub(d->count, vec_all(1)));
    *stuck = vec_is_zero(d->count);
    vec found = drops_line(vec_all(0), moved, 1);
    found = drops_line(found, moved, stride - 1);
    found = drops_line(found, moved, stride);
    found = drops_line(found, moved, stride + 1);
    return vec_test(found, found);
}

PM_INLINE void drops_play(drops *d, const drop_board *board, uint64_t stride, vec_mask *won)
{
    vec_mask going = vec_first(VEC_WORDS);
    vec ply = vec_all(0);
    *won = vec_first(0);
    do {
        vec_mask stuck, four = drops_ply(d, board, stride, &stuck);
        vec_mask ended = vec_both(going, vec_either(four, stuck));
        for (int j = 0; j < 4; j++)
            d->end_s[j] = vec_where(ended, d->end_s[j], d->s[j]);
        d->end_ply = vec_where(ended, d->end_ply, ply);
        *won = vec_either(*won, vec_both(ended, four));
        going = vec_without(going, ended);
        ply = vec_add(ply, vec_all(1));
    } while (vec_any(going));
}

/* Playouts from the leaves of up to VEC_WORDS searches, with their goals. The common height has code
 * of its own, with constants in it. */
static inline void drops_playout(const drop_board *board, uct_search *const *searches, int number)
{
    drops d;
    vec_mask won;
    drops_load(&d, searches, number);
    drops_list(&d, board);
    if (board->stride == 7)
        drops_play(&d, board, 7, &won);
    else
        drops_play(&d, board, (uint64_t)board->stride, &won);
    drops_store(&d, board, won, searches, number);
}
#endif

#endif
