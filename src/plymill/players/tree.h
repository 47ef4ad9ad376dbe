/* The tree of one search: blocks of statistics in one piece of memory.
 *
 * A block belongs to a node that was visited twice or more; most nodes are leaves, visited once, and
 * exist only as an edge of their parent's block. A block has for each legal move a slot, first the
 * moves that were tried, in the order of their first try, then the others, ascending. It lies in
 * memory as
 *
 *     side     head | moves | children        what a descent reads: one line, up to 8 moves
 *              roots | counts | sums           what the way back reads as well: two lines
 *     side     the second player's, where both move at once
 *     pairs    children by the moves of both
 *     state    the position
 *
 * with as many slots as there are moves, rounded up to 8. A root r is 1 / sqrt(count), so that the
 * value of a slot, its average and k r with k = c sqrt(ln N), is r (sum r + k): no division in the
 * selection, and no place for averages.
 *
 * The choice of the next visit depends only on what the block itself holds. It is made when that
 * changes, on the way back, where the levels do not wait for each other; a descent only follows it.
 */
#ifndef PLYMILL_TREE_H
#define PLYMILL_TREE_H

#include <math.h>
#include <stddef.h>
#include <string.h>
#include "numbers.h"
#include "rules.h"
#include "table.h"
#include "vectors.h"

enum {
    UCT_FIRST = 0, UCT_SECOND = 1, UCT_BOTH = 2, UCT_OVER = -1, /* as in game.pxd */
    UCT_MAX_MOVES = 64, UCT_NO_MOVE = 255,
    UCT_LINE = 64,
    UCT_FIRST_PAGES = 2 << 20,
};

/* What a child can be, in 32 bits: no one was there, was there once, the number of a block (its
 * place in memory in lines), or the end of the game with the goals of both. */
#define UCT_NEW UINT32_C(0)
#define UCT_LEAF UINT32_C(1)
#define UCT_FIRST_BLOCK UINT32_C(2)
#define UCT_END UINT32_C(0x80000000)

typedef struct {
    double k;          /* 100 c sqrt(ln visits) */
    uint32_t visits;   /* sum of the counts */
    uint32_t next;     /* the child of the next visit, UCT_NEW if that tries something */
    uint8_t tried;     /* how many moves were tried */
    uint8_t count;     /* how many there are */
    uint8_t slots;     /* the same, rounded up to 8 */
    uint8_t best;      /* slot of the next visit, if all were tried; during a visit, its slot */
    int8_t mover;      /* whose moves they are, UCT_BOTH for the first side of a double block */
    uint8_t pending;   /* a simultaneous move of the other player that is already settled */
    uint8_t unused[2];
} uct_side;

typedef struct {
    uint8_t *base;
    size_t used, capacity;
} uct_tree;

PM_INLINE uct_side *uct_at(const uct_tree *tree, uint32_t block)
{
    return (uct_side *)(tree->base + (size_t)block * UCT_LINE);
}
PM_INLINE uint32_t uct_is_block(uint32_t child)
{
    return child - UCT_FIRST_BLOCK < UCT_END - UCT_FIRST_BLOCK;
}

PM_INLINE size_t uct_lines(size_t bytes) { return (bytes + UCT_LINE - 1) / UCT_LINE * UCT_LINE; }
PM_INLINE size_t uct_figures(int slots) { return uct_lines(sizeof(uct_side) + 5 * (size_t)slots); }
PM_INLINE size_t uct_side_bytes(int slots) { return uct_figures(slots) + 16 * (size_t)slots; }

PM_INLINE uint8_t *uct_moves(uct_side *side) { return (uint8_t *)(side + 1); }
PM_INLINE uint32_t *uct_children(uct_side *side, int slots)
{
    return (uint32_t *)(uct_moves(side) + slots);
}
PM_INLINE double *uct_inverse_roots(uct_side *side, int slots)
{
    return (double *)((uint8_t *)side + uct_figures(slots));
}
PM_INLINE uint32_t *uct_counts(uct_side *side, int slots)
{
    return (uint32_t *)(uct_inverse_roots(side, slots) + slots);
}
PM_INLINE uint32_t *uct_sums(uct_side *side, int slots) { return uct_counts(side, slots) + slots; }

/* The second player's side of a double block. */
PM_INLINE uct_side *uct_other(uct_side *side)
{
    return (uct_side *)((uint8_t *)side + uct_side_bytes(side->slots));
}
PM_INLINE uint32_t *uct_pairs(uct_side *side)
{
    uct_side *other = uct_other(side);
    return (uint32_t *)((uint8_t *)other + uct_side_bytes(other->slots));
}
PM_INLINE size_t uct_pair_bytes(int slots, int other) { return uct_lines(4 * (size_t)(slots * other)); }
PM_INLINE game_state *uct_state(uct_side *side)
{
    if (side->mover != UCT_BOTH)
        return (game_state *)((uint8_t *)side + uct_side_bytes(side->slots));
    return (game_state *)((uint8_t *)uct_pairs(side)
                          + uct_pair_bytes(side->slots, uct_other(side)->slots));
}
/* Where the block keeps the child of the visit under way. */
PM_INLINE uint32_t *uct_child(uct_side *side)
{
    if (side->mover != UCT_BOTH)
        return uct_children(side, side->slots) + side->best;
    uct_side *other = uct_other(side);
    return uct_pairs(side) + side->best * other->slots + other->best;
}
PM_INLINE size_t uct_block_bytes(uct_side *side)
{
    return (size_t)((uint8_t *)uct_state(side) - (uint8_t *)side) + uct_lines(sizeof(game_state));
}

/* Sends for what a visit of a block needs. */
PM_INLINE void uct_prefetch(const uct_tree *tree, uint32_t block)
{
    const uint8_t *line = (const uint8_t *)uct_at(tree, block);
    pm_prefetch(line);
    pm_prefetch(line + UCT_LINE);
    pm_prefetch(line + 2 * UCT_LINE);
    pm_prefetch(line + 3 * UCT_LINE);
}

/* ---- memory ---- */

static inline void uct_tree_free(uct_tree *tree)
{
    pm_pages_free(tree->base, tree->capacity);
    memset(tree, 0, sizeof *tree);
}

static inline void uct_tree_clear(uct_tree *tree) { tree->used = UCT_FIRST_BLOCK * UCT_LINE; }

/* Room for so many more bytes; 0 if the system has none. What was taken moves, so that pointers
 * into the tree are void, and numbers of blocks are not. */
static inline int uct_tree_room(uct_tree *tree, size_t bytes)
{
    size_t capacity = tree->capacity ? tree->capacity : UCT_FIRST_PAGES;
    if (tree->used + bytes <= tree->capacity)
        return 1;
    while (capacity < tree->used + bytes)
        capacity *= 2;
    uint8_t *base = capacity / UCT_LINE < UCT_END ? (uint8_t *)pm_pages(capacity) : NULL;
    if (!base)
        return 0;
    if (tree->base)
        memcpy(base, tree->base, tree->used);
    pm_pages_free(tree->base, tree->capacity);
    tree->base = base;
    tree->capacity = capacity;
    return 1;
}

/* ---- making blocks ---- */

PM_INLINE void uct_side_init(uct_side *side, int mover, const uint8_t *moves, int count)
{
    int slots = (count + 7) & ~7;
    memset(side, 0, uct_side_bytes(slots));
    side->count = (uint8_t)count;
    side->slots = (uint8_t)slots;
    side->mover = (int8_t)mover;
    side->pending = UCT_NO_MOVE;
    memcpy(uct_moves(side), moves, (size_t)count);
}

/* A block of one player's moves; 0 without memory. */
static inline uint32_t uct_new_block(
    uct_tree *tree, const game_state *state, int mover, const uint8_t *moves, int count)
{
    int slots = (count + 7) & ~7;
    size_t bytes = uct_side_bytes(slots) + uct_lines(sizeof(game_state));
    if (!uct_tree_room(tree, bytes))
        return 0;
    uint32_t block = (uint32_t)(tree->used / UCT_LINE);
    uct_side *side = uct_at(tree, block);
    tree->used += bytes;
    uct_side_init(side, mover, moves, count);
    *uct_state(side) = *state;
    return block;
}

/* A block of simultaneous moves; 0 without memory. */
static inline uint32_t uct_new_double_block(
    uct_tree *tree, const game_state *state, const uint8_t *moves[2], const int count[2])
{
    int slots = (count[0] + 7) & ~7, other = (count[1] + 7) & ~7;
    size_t pairs = uct_pair_bytes(slots, other);
    size_t bytes = uct_side_bytes(slots) + uct_side_bytes(other) + pairs
        + uct_lines(sizeof(game_state));
    if (!uct_tree_room(tree, bytes))
        return 0;
    uint32_t block = (uint32_t)(tree->used / UCT_LINE);
    uct_side *side = uct_at(tree, block);
    tree->used += bytes;
    uct_side_init(side, UCT_BOTH, moves[0], count[0]);
    uct_side_init(uct_other(side), UCT_SECOND, moves[1], count[1]);
    memset(uct_pairs(side), 0, pairs);
    *uct_state(side) = *state;
    return block;
}

/* ---- statistics ---- */

#if VEC_WORDS

/* Whole vectors are written, as they are read again soon: a single number within one would have to
 * reach the cache before the vector could be read. */
PM_INLINE void uct_add(uint32_t *numbers, int slot, uint32_t number)
{
    const __m256i places = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    __m256i *vector = (__m256i *)(numbers + slot / 8 * 8);
    __m256i here = _mm256_cmpeq_epi32(places, _mm256_set1_epi32(slot % 8));
    __m256i added = _mm256_and_si256(here, _mm256_set1_epi32((int)number));
    _mm256_store_si256(vector, _mm256_add_epi32(_mm256_load_si256(vector), added));
}

PM_INLINE void uct_set(double *numbers, int slot, double number)
{
    double *vector = numbers + slot / VEC_WORDS * VEC_WORDS;
    real_store(vector, real_with(real_load(vector), slot % VEC_WORDS, number));
}

/* The first slot of the highest value. No value is below 0, that of slots without a move. */
PM_INLINE int uct_highest(const double *roots, const uint32_t *sums, int slots, double k)
{
    vec_real values[UCT_MAX_MOVES / VEC_WORDS], highest = real_all(0);
    for (int slot = 0; slot < slots; slot += VEC_WORDS) {
        vec_real r = real_load(roots + slot), sum = real_from(sums + slot);
        vec_real value = real_mul(r, real_add(real_mul(sum, r), real_all(k)));
        values[slot / VEC_WORDS] = value;
        highest = real_max(highest, value);
    }
    highest = real_all(real_highest(highest));
    uint64_t equal = 0;
    for (int slot = 0; slot < slots; slot += VEC_WORDS)
        equal |= (uint64_t)real_equal(values[slot / VEC_WORDS], highest) << slot;
    return __builtin_ctzll(equal);
}

#else

PM_INLINE void uct_add(uint32_t *numbers, int slot, uint32_t number) { numbers[slot] += number; }
PM_INLINE void uct_set(double *numbers, int slot, double number) { numbers[slot] = number; }

PM_INLINE int uct_highest(const double *roots, const uint32_t *sums, int slots, double k)
{
    int best = 0;
    double highest = -1;
    for (int slot = 0; slot < slots; slot++) {
        double value = roots[slot] * ((double)(int32_t)sums[slot] * roots[slot] + k);
        best = value > highest ? slot : best;
        highest = value > highest ? value : highest;
    }
    return best;
}

#endif

/* Takes in the result of a visit of the slot `best`, and settles the slot of the next one. */
PM_INLINE void uct_count(uct_side *side, int slots, uint32_t goal, double scale)
{
    int slot = side->best;
    double *roots = uct_inverse_roots(side, slots);
    uint32_t *sums = uct_sums(side, slots), count = ++uct_counts(side, slots)[slot];
    uct_add(sums, slot, goal);
    uct_set(roots, slot, uct_inverse_root(count));
    side->k = scale * uct_log_root(++side->visits);
    if (side->tried == side->count)
        side->best = (uint8_t)uct_highest(roots, sums, slots, side->k);
}

/* One more visit of a block, with its result. */
PM_INLINE void uct_visited(uct_side *side, const int *goals, double scale)
{
    if (side->mover != UCT_BOTH) {
        uint32_t goal = (uint32_t)goals[side->mover];
        if (side->slots == 8)
            uct_count(side, 8, goal, scale);
        else
            uct_count(side, side->slots, goal, scale);
        side->next = side->tried == side->count ? *uct_child(side) : UCT_NEW;
        return;
    }
    uct_side *other = uct_other(side);
    uct_count(side, side->slots, (uint32_t)goals[UCT_FIRST], scale);
    uct_count(other, other->slots, (uint32_t)goals[UCT_SECOND], scale);
    int all = side->tried == side->count && other->tried == other->count;
    side->next = all ? *uct_child(side) : UCT_NEW;
}

/* Takes out the move at `from` and puts it in before those from `to` on, which move up. */
PM_INLINE void uct_bring_forward(uint8_t *moves, int slots, int from, int to)
{
    if (slots == 8) { /* all in one word: no loop, whose end could not be foreseen */
        uint64_t word, before = (UINT64_C(1) << 8 * to) - 1, to_from = (UINT64_C(1) << 8 * from) - 1;
        memcpy(&word, moves, 8);
        word = (word & before) | (word >> 8 * from & 255) << 8 * to
            | (word & to_from & ~before) << 8 | (word & ~(to_from << 8 | 255));
        memcpy(moves, &word, 8);
        return;
    }
    uint8_t move = moves[from];
    memmove(moves + to + 1, moves + to, (size_t)(from - to));
    moves[to] = move;
}

/* Takes an untried move at random, if there is one, as the slot of this visit; else the one that
 * was settled stays. */
PM_INLINE void uct_try(uct_side *side, random_stream *stream)
{
    int tried = side->tried, left = side->count - tried;
    if (!left)
        return;
    int chosen = tried + (int)random_below(stream, (uint32_t)left);
    uct_bring_forward(uct_moves(side), side->slots, chosen, tried);
    side->best = (uint8_t)tried;
    side->tried = (uint8_t)(tried + 1);
}

#endif
