/* One search: iterations of UCT from a position, until their number is reached.
 *
 * An iteration is a descent to where the tree ends, one move beyond, a playout from there unless the
 * game is over, and the way back. The parts are functions of their own, so that several searches can
 * take turns: see lanes.h.
 */
#ifndef PLYMILL_SEARCH_H
#define PLYMILL_SEARCH_H

#include "tree.h"

/* More visits than this and a tree is not kept: sums of goals have to fit 31 bits. */
#define UCT_MAX_VISITS UINT32_C(21000000)

typedef struct {
    uint32_t iterations;
    int32_t by_visits;   /* the final move is that with the most visits */
    int32_t reuse;       /* the tree is kept from move to move */
    int32_t playout;     /* most plies of a playout, 0 for no limit */
    int32_t wincheck;    /* playouts make a move that wins at once */
    int32_t sequential;  /* who moves at the same time answers instead */
    double scale;        /* the constant of exploration, for goals of 100 */
} uct_options;

typedef struct {
    const game_rules *rules;
    const uct_options *options;
    uct_tree *tree;
    random_stream *stream;
    uint32_t root;
    uint32_t left;       /* iterations to go */
    uint32_t last;       /* the last block of the visit under way */
    uint32_t grown;      /* a block that this visit made, or 0; then it is the last */
    int side;            /* who searches */
    int failed;          /* no memory */
    int pending;         /* of the leaf: a simultaneous move that is settled */
    int status;          /* of the leaf */
    game_state leaf;
    int goals[2];
} uct_search;

PM_INLINE int uct_legal(const uct_search *s, const game_state *state, int player, uint8_t *moves)
{
    return s->rules->moves(s->rules->board, state, player, moves);
}

/* Plays the moves of the slots in `best` of a block. If they are half of a simultaneous move, the
 * position stays, and the half is pending. */
PM_INLINE void uct_step(uct_search *s, uct_side *side)
{
    int move = uct_moves(side)[side->best];
    int chosen[2] = {UCT_NO_MOVE, UCT_NO_MOVE};
    s->leaf = *uct_state(side);
    s->pending = UCT_NO_MOVE;
    if (side->mover == UCT_BOTH) {
        uct_side *other = uct_other(side);
        chosen[0] = move;
        chosen[1] = uct_moves(other)[other->best];
    } else {
        chosen[side->mover] = move;
        chosen[1 - side->mover] = side->pending;
        if (s->options->sequential && side->pending == UCT_NO_MOVE
            && s->rules->status(s->rules->board, &s->leaf) == UCT_BOTH) {
            s->pending = move;
            s->status = UCT_BOTH;
            return;
        }
    }
    s->status = s->rules->play(s->rules->board, &s->leaf, chosen[0], chosen[1]);
}

/* A block for the position in `leaf`; 0 without memory. */
static inline uint32_t uct_grow(uct_search *s)
{
    uint8_t moves[2][UCT_MAX_MOVES];
    int mover = s->status;
    if (mover == UCT_BOTH && !s->options->sequential) {
        const uint8_t *both[2] = {moves[0], moves[1]};
        int counts[2] = {uct_legal(s, &s->leaf, 0, moves[0]), uct_legal(s, &s->leaf, 1, moves[1])};
        return uct_new_double_block(s->tree, &s->leaf, both, counts);
    }
    if (mover == UCT_BOTH)
        mover = s->pending == UCT_NO_MOVE ? s->side : 1 - s->side;
    int count = uct_legal(s, &s->leaf, mover, moves[0]);
    uint32_t block = uct_new_block(s->tree, &s->leaf, mover, moves[0], count);
    if (block)
        uct_at(s->tree, block)->pending = (uint8_t)s->pending;
    return block;
}

/* ---- beginning and end ---- */

/* Sets a search on a position in which `side` is to move. Without memory `failed` is set. */
static inline void uct_begin(uct_search *s, const game_state *state, int status, int side)
{
    s->side = side;
    s->left = s->options->iterations;
    if (s->root && uct_at(s->tree, s->root)->visits + s->left <= UCT_MAX_VISITS)
        return;
    uct_tree_clear(s->tree);
    s->leaf = *state;
    s->status = status;
    s->pending = UCT_NO_MOVE;
    s->root = uct_grow(s);
    s->failed = !s->root;
}

/* The statistics that the searching player chooses from. */
PM_INLINE uct_side *uct_root_side(const uct_search *s)
{
    uct_side *side = uct_at(s->tree, s->root);
    return side->mover == UCT_BOTH && s->side == UCT_SECOND ? uct_other(side) : side;
}

/* 1, 0, -1: the first of two slots is better, as good, worse. Whole numbers: no rounding. */
PM_INLINE int uct_compare(uct_side *side, int a, int b, int by_visits)
{
    const uint32_t *counts = uct_counts(side, side->slots), *sums = uct_sums(side, side->slots);
    uint64_t x = counts[a], y = counts[b];
    if (!by_visits) {
        x = (uint64_t)sums[a] * counts[b];
        y = (uint64_t)sums[b] * counts[a];
    }
    return (x > y) - (x < y);
}

/* The move to play, among equals at random (one draw in any case, equals ascending by their codes),
 * and its average, 0 to 1. */
static inline int uct_choose(uct_search *s, double *value)
{
    uct_side *side = uct_root_side(s);
    const uint8_t *moves = uct_moves(side);
    int best = 0;
    uint64_t equal = 0;
    for (int slot = 0; slot < side->tried; slot++) {
        int order = slot ? uct_compare(side, slot, best, s->options->by_visits) : 1;
        if (order > 0) {
            best = slot;
            equal = 0;
        }
        if (order >= 0)
            equal |= UINT64_C(1) << moves[slot];
    }
    for (uint32_t skip = random_below(s->stream, (uint32_t)pm_popcount(equal)); skip; skip--)
        equal &= equal - 1;
    int move = __builtin_ctzll(equal);
    for (int slot = 0; slot < side->tried; slot++)
        if (moves[slot] == move)
            *value = (double)uct_sums(side, side->slots)[slot]
                / (100.0 * (double)uct_counts(side, side->slots)[slot]);
    return move;
}

/* ---- one iteration ---- */

PM_INLINE void uct_take_goals(uct_search *s, uint32_t end)
{
    s->goals[0] = (int)(end >> 8 & 255);
    s->goals[1] = (int)(end & 255);
}

/* Goes one move beyond the last block. True if a playout is needed; otherwise the goals are known. */
PM_INLINE int uct_extend(uct_search *s, uint32_t next)
{
    uct_side *side = uct_at(s->tree, s->last);
    s->grown = 0;
    if (next & UCT_END) {
        uct_take_goals(s, next);
        return 0;
    }
    if (next == UCT_LEAF) {
        uct_step(s, side);
        s->grown = uct_grow(s);
        if (!s->grown) {
            s->failed = 1;
            return 0;
        }
        *uct_child(uct_at(s->tree, s->last)) = s->grown;
        s->last = s->grown;
        side = uct_at(s->tree, s->grown);
    }
    uct_try(side, s->stream);
    if (side->mover == UCT_BOTH)
        uct_try(uct_other(side), s->stream);
    uct_step(s, side);
    if (s->status != UCT_OVER) {
        *uct_child(side) = UCT_LEAF;
        return 1;
    }
    s->rules->goals(s->rules->board, &s->leaf, s->goals);
    *uct_child(side) = UCT_END | (uint32_t)s->goals[0] << 8 | (uint32_t)s->goals[1];
    return 0;
}

/* A random move of a player; if asked for, the first one that wins at once instead. */
static inline int uct_playout_move(uct_search *s, int player)
{
    uint8_t moves[UCT_MAX_MOVES];
    int count = uct_legal(s, &s->leaf, player, moves);
    if (s->options->wincheck && s->status != UCT_BOTH)
        for (int i = 0; i < count; i++) {
            game_state after = s->leaf;
            int goals[2], first = player == UCT_FIRST ? moves[i] : UCT_NO_MOVE;
            int second = player == UCT_SECOND ? moves[i] : UCT_NO_MOVE;
            if (s->rules->play(s->rules->board, &after, first, second) != UCT_OVER)
                continue;
            s->rules->goals(s->rules->board, &after, goals);
            if (goals[player] == 100)
                return moves[i];
        }
    return moves[random_below(s->stream, (uint32_t)count)];
}

static inline void uct_playout_ply(uct_search *s)
{
    int chosen[2] = {UCT_NO_MOVE, UCT_NO_MOVE};
    if (s->pending != UCT_NO_MOVE)
        chosen[s->side] = s->pending;
    for (int player = 0; player < 2; player++)
        if ((s->status == player || s->status == UCT_BOTH) && chosen[player] == UCT_NO_MOVE)
            chosen[player] = uct_playout_move(s, player);
    s->status = s->rules->play(s->rules->board, &s->leaf, chosen[0], chosen[1]);
    s->pending = UCT_NO_MOVE;
}

/* Whether playouts are those of the game itself. */
PM_INLINE int uct_plain(const uct_search *s)
{
    return !s->options->playout && !s->options->wincheck;
}

/* Plays from the leaf to the end of the game, or as far as the options say. */
PM_INLINE void uct_playout(uct_search *s)
{
    if (s->pending != UCT_NO_MOVE)
        uct_playout_ply(s);
    if (uct_plain(s)) {
        s->rules->playout(s->rules->board, &s->leaf, s->stream);
    } else {
        for (int ply = 0; s->status != UCT_OVER; ply++) {
            if (s->options->playout && ply == s->options->playout) {
                s->goals[0] = s->goals[1] = 50;
                return;
            }
            uct_playout_ply(s);
        }
    }
    s->rules->goals(s->rules->board, &s->leaf, s->goals);
}

/* ---- the way back ---- */

/* A block on the way of a search. */
typedef struct {
    uct_search *search;
    uint32_t block;
} uct_visit;

static inline void uct_back(const uct_visit *visits, int number)
{
    for (int i = 0; i < number; i++) {
        const uct_search *s = visits[i].search;
        uct_visited(uct_at(s->tree, visits[i].block), s->goals, s->options->scale);
    }
}

/* One iteration; `path` has room for two blocks each ply, and two. */
PM_INLINE void uct_iterate(uct_search *s, uct_visit *path)
{
    uint32_t next = s->root;
    int depth = 0;
    do {
        s->last = next;
        path[depth++] = (uct_visit){s, next};
        next = uct_at(s->tree, next)->next;
    } while (uct_is_block(next));
    if (uct_extend(s, next))
        uct_playout(s);
    if (s->failed)
        return;
    if (s->grown)
        path[depth++] = (uct_visit){s, s->grown};
    uct_back(path, depth);
    s->left--;
}

/* Iterations one after the other, at most so many. */
static inline void uct_run(uct_search *s, uct_visit *path, uint32_t most)
{
    for (; most && s->left && !s->failed; most--)
        uct_iterate(s, path);
}

#endif
