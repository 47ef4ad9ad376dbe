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

typedef struct {
    vec own, mask, end, open, count;
    vec s[4];
} drops;

/* The columns that are not full, from the left, as numbers of bits by which to shift column 0. */
PM_INLINE uint64_t drops_open(const drop_board *board, uint64_t mask, uint64_t *count)
{
    uint64_t open = 0;
    int entries = 0;
    for (int column = 0; column < board->width; column++)
        if (drop_column(board, column) & ~mask)
            open |= (uint64_t)(column * board->stride) << (DROPS_BITS * entries++);
    *count = (uint64_t)entries;
    return open;
}

PM_INLINE void drops_load(drops *d, const drop_board *board, uct_search *const *searches, int number)
{
    uint64_t words[8][VEC_WORDS] = {{0}};
    for (int i = 0; i < number; i++) {
        const uct_search *s = searches[i];
        words[0][i] = s->leaf.words[0];
        words[1][i] = s->leaf.words[1];
        words[2][i] = drops_open(board, s->leaf.words[1], &words[3][i]);
        for (int j = 0; j < 4; j++)
            words[4 + j][i] = s->stream->s[j];
    }
    d->own = vec_load(words[0]);
    d->mask = vec_load(words[1]);
    d->open = vec_load(words[2]);
    d->count = vec_load(words[3]);
    d->end = vec_all(DROP_GOES_ON);
    for (int j = 0; j < 4; j++)
        d->s[j] = vec_load(words[4 + j]);
}

PM_INLINE void drops_store(const drops *d, uct_search *const *searches, int number)
{
    uint64_t words[7][VEC_WORDS];
    vec_store(words[0], d->own);
    vec_store(words[1], d->mask);
    vec_store(words[2], d->end);
    for (int j = 0; j < 4; j++)
        vec_store(words[3 + j], d->s[j]);
    for (int i = 0; i < number; i++) {
        uct_search *s = searches[i];
        for (int j = 0; j < 3; j++)
            s->leaf.words[j] = words[j][i];
        for (int j = 0; j < 4; j++)
            s->stream->s[j] = words[3 + j][i];
    }
}

/* random_next of random.h; the state moves on where the game does. */
PM_INLINE vec drops_random(vec *s, vec_mask going)
{
    vec result = vec_add(vec_rotl_by(vec_add(s[0], s[3]), 23), s[0]);
    vec t = vec_shl_by(s[1], 17);
    vec s2 = vec_xor(s[2], s[0]), s3 = vec_xor(s[3], s[1]);
    s[1] = vec_where(going, s[1], vec_xor(s[1], s2));
    s[0] = vec_where(going, s[0], vec_xor(s[0], s3));
    s[2] = vec_where(going, s[2], vec_xor(s2, t));
    s[3] = vec_where(going, s[3], vec_rotl_by(s3, 45));
    return result;
}

PM_INLINE vec drops_four(vec stones, uint64_t stride)
{
    vec pairs = vec_and(stones, vec_shr_by(stones, 1));
    vec found = vec_and(pairs, vec_shr_by(pairs, 2));
    for (uint64_t step = stride - 1; step <= stride + 1; step++) {
        pairs = vec_and(stones, vec_shr(stones, vec_all(step)));
        found = vec_or_and(found, pairs, vec_shr(pairs, vec_all(2 * step)));
    }
    return found;
}

/* One move of every game that goes on. */
PM_INLINE vec_mask drops_ply(drops *d, const drop_board *board, vec_mask going)
{
    const vec column = vec_all(drop_column(board, 0)), ones = vec_all(~UINT64_C(0));
    vec random = drops_random(d->s, going);
    vec place = vec_shr_by(vec_mul32(vec_shr_by(random, 32), d->count), 32);
    vec at = vec_sub(vec_shl_by(place, 3), place); /* DROPS_BITS times place */
    vec entry = vec_and(vec_shr(d->open, at), vec_all((1 << DROPS_BITS) - 1));
    vec square = vec_and(vec_add(d->mask, vec_all(board->bottom)), vec_shl(column, entry));
    vec moved = vec_or(d->own, square);
    d->own = vec_where(going, d->own, vec_xor(d->own, d->mask));
    d->mask = vec_where(going, d->mask, vec_or(d->mask, square));
    /* Full columns leave the list. */
    vec_mask full = vec_both(going, vec_test(square, vec_all(board->top)));
    vec above = vec_shl(ones, at);
    vec shorter = vec_or(vec_and(vec_shr_by(d->open, DROPS_BITS), above),
                         vec_and(d->open, vec_xor(above, ones)));
    d->open = vec_where(full, d->open, shorter);
    d->count = vec_where(full, d->count, vec_sub(d->count, vec_all(1)));
    vec fours = drops_four(moved, (uint64_t)board->stride);
    vec_mask won = vec_both(going, vec_test(fours, fours));
    vec_mask stuck = vec_both(going, vec_is_zero(d->count));
    d->end = vec_where(stuck, d->end, vec_all(DROP_FULL));
    d->end = vec_where(won, d->end, vec_all(DROP_FOUR));
    return vec_without(going, vec_either(won, stuck));
}

/* Playouts from the leaves of up to VEC_WORDS searches; their goals are left to be read. */
static inline void drops_playout(const drop_board *board, uct_search *const *searches, int number)
{
    drops d;
    drops_load(&d, board, searches, number);
    for (vec_mask going = vec_first(number); vec_any(going);)
        going = drops_ply(&d, board, going);
    drops_store(&d, searches, number);
}
#endif

#endif
