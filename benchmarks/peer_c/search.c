/* The search of plymill.solver, written in C: what the Cython version is measured against.
 *
 * Same algorithm, same tables, same order of moves, one position at a time, and so the same nodes
 * one for one; deep nodes are plain recursion here. It shares the solver's three headers.
 */
#include "bitboard.h"
#include "lookahead.h"
#include "table.h"

enum { DEEP = 12, PEEK = 14, SHALLOWEST = 7, SMALL_BITS = 17, SMALL_TAG_BITS = PM_KEY_BITS - SMALL_BITS };
enum { UNDECIDED = 127, INFINITE = 100 };

typedef struct { uint64_t own, mask, own_wins, opp_wins; int left, alpha; } node_t;
typedef struct { uint64_t playable, moves; int lower, upper; } moves_t;
typedef struct { uint64_t *table, *small, tag_mask, nodes; int shift; } core_t;

static inline int min(int a, int b) { return a < b ? a : b; }
static inline int max(int a, int b) { return a > b ? a : b; }
static inline int column_of(uint64_t square) { return __builtin_ctzll(square) / PM_STRIDE; }

#define ODD_ROWS (PM_BOTTOM * 0x15 & PM_BOARD)
#define EVEN_ROWS (PM_BOTTOM * 0x2A & PM_BOARD)

static inline int opponent_follows_up(const node_t *n, int upper)
{
    uint64_t empty = PM_BOARD ^ n->mask, threats = n->opp_wins & EVEN_ROWS;
    int latest = n->left;
    if (pm_four(n->own | (empty & ODD_ROWS)))
        return upper;
    if (!threats)
        return n->alpha < 0 && pm_four((n->own ^ n->mask) | (empty & EVEN_ROWS)) ? -1 : 0;
    for (; threats; threats &= threats - 1) {
        uint64_t square = threats & -threats, column = empty & pm_column(column_of(square));
        latest = min(latest, n->left - pm_popcount(column & ~(square - 1)) + 1);
    }
    return -((n->left - latest) / 2 + 1);
}

static inline int odd_threat(const node_t *n, uint64_t odd_square, int upper)
{
    uint64_t empty = PM_BOARD ^ n->mask, column = empty & pm_column(column_of(odd_square));
    uint64_t threat = n->opp_wins & ODD_ROWS & column, below;
    if (!threat || n->alpha < -(n->left / 2))
        return upper;
    below = column & ((threat & -threat) - 1);
    if (pm_four(n->own | ((empty ^ column) & ODD_ROWS) | (below & EVEN_ROWS)))
        return upper;
    return -((n->left - pm_popcount(empty ^ column) - pm_popcount(below) - 1) / 2 + 1);
}

static inline int follow_up(const node_t *n, uint64_t playable, uint64_t moves, moves_t *out)
{
    uint64_t odd = playable & EVEN_ROWS;
    int upper = out->upper;
    if (!(n->left & 1)) {
        if (!odd)
            upper = opponent_follows_up(n, upper);
    } else if (!(odd & (odd - 1))) {
        upper = odd_threat(n, odd, upper);
        if (upper > n->alpha && n->alpha < 0 && moves & odd
            && !pm_four((n->own ^ n->mask) | ((PM_BOARD ^ n->mask ^ odd) & ODD_ROWS)))
            return 0;
    }
    if (upper <= n->alpha)
        return upper;
    out->upper = min(out->upper, upper);
    return UNDECIDED;
}

static inline int settle(const node_t *n, moves_t *out)
{
    uint64_t playable = pm_playable(n->mask), moves = playable, forced = playable & n->opp_wins;
    int value;
    if (forced) {
        if (forced & (forced - 1))
            return -(n->left / 2);
        moves = forced;
    }
    moves &= ~(n->opp_wins >> 1);
    if (!moves)
        return -(n->left / 2);
    if (n->left <= 2)
        return 0;
    out->lower = -((n->left - 2) / 2);
    out->upper = (n->left - 1) / 2;
    if (n->alpha < out->lower)
        return out->lower;
    if (n->alpha >= out->upper)
        return out->upper;
    if (moves & n->own_wins >> 1 & n->own_wins >> 2)
        return out->upper;
    if (!pm_four((n->alpha >= 0 ? n->own : n->own ^ n->mask) | (PM_BOARD ^ n->mask)))
        return 0;
    value = follow_up(n, playable, moves, out);
    if (value != UNDECIDED)
        return value;
    out->playable = playable;
    out->moves = moves;
    return UNDECIDED;
}

/* Follows forced moves from `n`. Returns 1 with *value the node's value in the caller's view, or 0
 * with `n`, `found` and `children` those of a node that has to be searched. */
static inline int follow_forced(core_t *core, node_t *n, moves_t *found, pm_children *children,
                                int *sign, int *value)
{
    for (*sign = 1;; *sign = -*sign) {
        uint64_t move;
        if (n->left < DEEP)
            pm_prefetch(core->small + (pm_hash(n->own + n->mask) >> SMALL_TAG_BITS));
        core->nodes++;
        *value = settle(n, found);
        if (*value != UNDECIDED)
            return 1;
        *value = min(found->upper, (n->left - 1) / 2);
        if (pm_look_ahead(n->own, n->mask, found->playable, found->moves, n->own_wins, children))
            return 1;
        *value = found->upper = min(found->upper, (n->left - 3) / 2);
        if (n->alpha >= found->upper)
            return 1;
        move = found->moves;
        if (move & (move - 1))
            return 0;
        *n = (node_t){n->own ^ n->mask, n->mask | move, n->opp_wins & ~move,
                      children->wins[column_of(move)], n->left - 1, -n->alpha - 1};
    }
}

static int shallow(core_t *core, node_t n);

static int shallow_search(core_t *core, const node_t *n, moves_t *found, pm_children *children)
{
    uint64_t hash = pm_hash(n->own + n->mask), *place = core->small + (hash >> SMALL_TAG_BITS);
    uint64_t before = core->nodes, entry;
    int column, best = -INFINITE;
    hash &= (UINT64_C(1) << SMALL_TAG_BITS) - 1;
    if (n->left >= SHALLOWEST) {
        entry = *place;
        if (entry >> PM_TAG_SHIFT == hash && entry) {
            found->lower = max(found->lower, pm_lower(entry));
            found->upper = min(found->upper, pm_upper(entry));
            if (found->lower > n->alpha)
                return found->lower;
            if (found->upper <= n->alpha)
                return found->upper;
        }
    }
    while (best <= n->alpha && (column = pm_next_column(children->order)) >= 0) {
        uint64_t move = found->moves & pm_column(column);
        node_t child = {n->own ^ n->mask, n->mask | move, n->opp_wins & ~move,
                        children->wins[column], n->left - 1, -n->alpha - 1};
        best = max(best, -shallow(core, child));
    }
    if (best > n->alpha)
        found->lower = best = min(max(found->lower, best), found->upper);
    else
        found->upper = best = max(min(found->upper, best), found->lower);
    if (n->left >= SHALLOWEST)
        *place = pm_entry(hash, found->lower, found->upper, core->nodes - before);
    return best;
}

static int shallow(core_t *core, node_t n)
{
    moves_t found;
    pm_children children;
    int value, sign;
    if (follow_forced(core, &n, &found, &children, &sign, &value))
        return sign * value;
    return sign * shallow_search(core, &n, &found, &children);
}

static inline uint64_t deep_hash(uint64_t own, uint64_t mask) { return pm_hash(pm_canonical(own + mask)); }
static inline uint64_t *bucket(const core_t *core, uint64_t hash)
{
    return core->table + (hash >> core->shift) * PM_WAYS;
}

static int deep(core_t *core, node_t n, uint64_t hash)
{
    moves_t found;
    pm_children children;
    uint64_t hashes[16], before, entry, moves;
    int value, sign, column, best = -INFINITE, left = n.left, alpha;
    if (follow_forced(core, &n, &found, &children, &sign, &value))
        return sign * value;
    if (n.left < DEEP)
        return sign * shallow_search(core, &n, &found, &children);
    if (n.left < left)
        hash = 0;
    alpha = n.alpha;
    hash = hash ? hash : deep_hash(n.own, n.mask);
    pm_prefetch(bucket(core, hash));
    if (n.left >= PEEK)
        for (moves = found.moves; moves; moves &= moves - 1) {
            column = column_of(moves);
            hashes[column] = deep_hash(n.own ^ n.mask, n.mask | (moves & -moves));
            pm_prefetch(bucket(core, hashes[column]));
        }
    entry = pm_probe(bucket(core, hash), hash & core->tag_mask);
    if (entry) {
        found.lower = max(found.lower, pm_lower(entry));
        found.upper = min(found.upper, pm_upper(entry));
        if (found.lower > alpha)
            return sign * found.lower;
        if (found.upper <= alpha)
            return sign * found.upper;
    }
    before = core->nodes;
    if (n.left >= PEEK) {
        int upper = -INFINITE;
        for (moves = found.moves; moves; moves &= moves - 1) {
            int bound = (n.left - 1) / 2;
            column = column_of(moves);
            entry = pm_probe(bucket(core, hashes[column]), hashes[column] & core->tag_mask);
            if (entry) {
                if (-pm_upper(entry) > alpha)
                    return sign * -pm_upper(entry);
                bound = min(bound, -pm_lower(entry));
                if (bound <= alpha) {
                    children.order[column] = PM_NO_MOVE;
                    best = max(best, bound);
                }
            }
            upper = max(upper, bound);
        }
        found.upper = min(found.upper, upper);
        if (found.upper <= alpha)
            return sign * found.upper;
    }
    while (best <= alpha && (column = pm_next_column(children.order)) >= 0) {
        uint64_t move = found.moves & pm_column(column);
        node_t child = {n.own ^ n.mask, n.mask | move, n.opp_wins & ~move, children.wins[column],
                        n.left - 1, -alpha - 1};
        value = child.left < DEEP ? shallow(core, child)
                                  : deep(core, child, n.left >= PEEK ? hashes[column] : 0);
        best = max(best, -value);
    }
    if (best > alpha)
        found.lower = best = min(max(found.lower, best), found.upper);
    else
        found.upper = best = max(min(found.upper, best), found.lower);
    pm_replace(bucket(core, hash),
               pm_entry(hash & core->tag_mask, found.lower, found.upper, core->nodes - before));
    return sign * best;
}

static int score(core_t *core, uint64_t key, int guess)
{
    uint64_t mask = pm_mask(key), own = key - mask;
    int left = PM_SQUARES - pm_popcount(mask), lower = -(left / 2), upper = (left - 1) / 2;
    if (pm_winning_squares(own) & pm_playable(mask))
        return (left + 1) / 2;
    while (lower < upper) {
        int beta = min(max(guess, lower + 1), upper);
        node_t root = {own, mask, pm_winning_squares(own) & (PM_BOARD ^ mask),
                       pm_winning_squares(own ^ mask) & (PM_BOARD ^ mask), left, beta - 1};
        guess = deep(core, root, 0);
        if (guess < beta)
            upper = guess;
        else
            lower = guess;
    }
    return lower;
}

/* Scores of `count` positions, one after the other, with a table of 1 << index_bits buckets.
 * Returns the number of nodes, or 0 if there is no memory. */
uint64_t solve(const uint64_t *keys, long count, int8_t *scores, int index_bits)
{
    core_t core = {0};
    size_t bytes = (sizeof(uint64_t) * PM_WAYS) << index_bits, small = sizeof(uint64_t) << SMALL_BITS;
    int last = 0;
    core.table = pm_pages(bytes);
    core.small = pm_pages(small);
    core.shift = PM_KEY_BITS - index_bits;
    core.tag_mask = (UINT64_C(1) << core.shift) - 1;
    if (core.table && core.small)
        for (long i = 0; i < count; i++)
            last = scores[i] = (int8_t)score(&core, keys[i], last > 0 ? 2 : last < 0 ? -2 : 0);
    pm_pages_free(core.table, bytes);
    pm_pages_free(core.small, small);
    return core.nodes;
}
