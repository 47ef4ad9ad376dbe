/* Whole matches, several in turn in one thread: each lane plays a match of its own.
 *
 * A match has its own random numbers and its own tree, so that it does not depend on what the other
 * lanes do. What is gained is time: while one lane's memory is on its way, others go on.
 */
#ifndef PLYMILL_LANES_H
#define PLYMILL_LANES_H

#include "drops.h"
#include "reuse.h"

enum { UCT_MAX_LANES = 32 };
enum { PLAYER_UCT = 0, PLAYER_RANDOM = 1, PLAYER_FIRST = 2 };
#define UCT_NO_VALUE 65535

typedef struct {
    int32_t kind;
    uct_options options;
} uct_player;

/* A match to be played, and where its record goes. */
typedef struct {
    random_stream stream;
    const uct_player *players[2];
    const uint8_t *opening;  /* codes, two a ply where both move */
    uint32_t opening_bytes;
    uint8_t *moves;          /* room for two each ply */
    uint16_t *values;
    uint32_t bytes;          /* moves written */
    uint32_t plies;
    int goals[2];
    uint64_t iterations;
} uct_match;

typedef struct {
    uct_match *match;        /* NULL: the lane is idle */
    uct_search search;
    game_state state;
    int status;
    int chosen[2];
    uint32_t roots[2];       /* of the trees that are kept */
    uct_tree trees[3];       /* those of players who keep it, and one for all others */
} uct_lane;

typedef struct {
    const game_rules *rules;
    const drop_board *drops; /* the board, if the game is Connect Four or its kin */
    uct_match *matches;
    size_t count, taken;
    int lane_count;
    int failed;              /* no memory */
    uct_visit *visits;       /* room for two blocks each ply, and two, for every lane */
    uct_lane lanes[UCT_MAX_LANES];
} uct_table;

PM_INLINE void uct_note(uct_match *match, int move, int value)
{
    match->moves[match->bytes] = (uint8_t)move;
    match->values[match->bytes++] = (uint16_t)value;
}

static inline int uct_random_move(uct_lane *lane, const game_rules *rules, int side, int kind)
{
    uint8_t moves[UCT_MAX_MOVES];
    int count = rules->moves(rules->board, &lane->state, side, moves);
    return moves[kind == PLAYER_RANDOM ? random_below(&lane->match->stream, (uint32_t)count) : 0];
}

/* Begins the next decision of a player. True if that is a search, false if it is made. */
static inline int uct_think(uct_table *table, uct_lane *lane, int side)
{
    const uct_player *player = lane->match->players[side];
    if (player->kind != PLAYER_UCT) {
        lane->chosen[side] = uct_random_move(lane, table->rules, side, player->kind);
        uct_note(lane->match, lane->chosen[side], UCT_NO_VALUE);
        return 0;
    }
    uct_search *s = &lane->search;
    s->rules = table->rules;
    s->options = &player->options;
    s->tree = &lane->trees[player->options.reuse ? side : 2];
    s->stream = &lane->match->stream;
    s->root = 0;
    if (player->options.reuse && lane->roots[side]) {
        s->root = uct_keep(s->tree, &lane->trees[2], lane->roots[side]);
        if (!s->root) { /* to go on without would be another match */
            table->failed = 1;
            return 1;
        }
    }
    uct_begin(s, &lane->state, lane->status, side);
    table->failed |= s->failed;
    lane->match->iterations += s->left;
    return 1;
}

static inline void uct_decide(uct_lane *lane)
{
    uct_search *s = &lane->search;
    double value = 0;
    int side = s->side, move = uct_choose(s, &value);
    lane->chosen[side] = move;
    lane->roots[side] = s->options->reuse ? s->root : 0;
    uct_note(lane->match, move, (int)rint(10000 * value));
}

/* Plays what was chosen. */
static inline void uct_play(uct_table *table, uct_lane *lane)
{
    for (int side = 0; side < 2; side++)
        if (lane->roots[side])
            lane->roots[side] = uct_follow(&lane->trees[side], lane->roots[side], lane->chosen);
    lane->status = table->rules->play(
        table->rules->board, &lane->state, lane->chosen[0], lane->chosen[1]);
    lane->match->plies++;
    lane->chosen[0] = lane->chosen[1] = UCT_NO_MOVE;
}

static inline void uct_play_opening(uct_table *table, uct_lane *lane)
{
    for (uint32_t i = 0; i < lane->match->opening_bytes; uct_play(table, lane))
        for (int side = 0; side < 2; side++)
            if (lane->status == side || lane->status == UCT_BOTH) {
                lane->chosen[side] = lane->match->opening[i++];
                uct_note(lane->match, lane->chosen[side], UCT_NO_VALUE);
            }
}

/* The next match, or none, for a lane. */
static inline int uct_take(uct_table *table, uct_lane *lane)
{
    lane->match = NULL;
    if (table->taken == table->count)
        return 0;
    lane->match = &table->matches[table->taken++];
    lane->roots[0] = lane->roots[1] = 0;
    lane->chosen[0] = lane->chosen[1] = UCT_NO_MOVE;
    lane->status = table->rules->start(table->rules->board, &lane->state);
    uct_play_opening(table, lane);
    return 1;
}

/* Goes on from match to match until the lane has a search to do, or nothing at all. */
static inline void uct_proceed(uct_table *table, uct_lane *lane)
{
    if (lane->match) /* a search has ended */
        uct_decide(lane);
    else if (!uct_take(table, lane))
        return;
    for (;;) {
        while (lane->status == UCT_OVER) {
            table->rules->goals(table->rules->board, &lane->state, lane->match->goals);
            if (!uct_take(table, lane))
                return;
        }
        for (int side = 0; side < 2; side++) {
            int moves = lane->status == side || lane->status == UCT_BOTH;
            if (moves && lane->chosen[side] == UCT_NO_MOVE && uct_think(table, lane, side))
                return;
        }
        uct_play(table, lane);
    }
}

/* Playouts from the leaves of several searches. */
static inline void uct_playouts(const uct_table *table, uct_search **searches, int count)
{
    int vectored = 0;
#if VEC_WORDS
    if (table->drops && table->drops->width <= DROPS_MAX_WIDTH)
        for (int i = 0; i < count; i++)
            if (uct_plain(searches[i])) {
                uct_search *s = searches[i];
                searches[i] = searches[vectored];
                searches[vectored++] = s;
            }
    if (vectored < 3)
        vectored = 0; /* one by one is faster */
    for (int i = 0; i < vectored; i += VEC_WORDS)
        drops_playout(table->drops, searches + i,
                      vectored - i < VEC_WORDS ? vectored - i : VEC_WORDS);
#endif
    for (int i = vectored; i < count; i++)
        uct_playout(searches[i]);
}

/* The lanes that search, after those that had nothing to search have gone on. */
static inline int uct_gather(uct_table *table, uint32_t *lanes)
{
    int running = 0;
    for (int i = 0; i < table->lane_count; i++) {
        uct_lane *lane = &table->lanes[i];
        if (!lane->match || !lane->search.left)
            uct_proceed(table, lane);
        lanes[running] = (uint32_t)i;
        running += lane->match != NULL;
    }
    return running;
}

/* Descents of all these lanes, level by level, so that none waits for its own memory. Notes the
 * blocks on the way, and what each lane finds at the end of it. Returns the number of blocks. */
static inline int uct_descend(uct_table *table, const uint32_t *lanes, int count, uint32_t *found)
{
    uint32_t going[UCT_MAX_LANES];
    int visits = 0;
    for (int i = 0; i < count; i++) {
        going[i] = lanes[i];
        found[lanes[i]] = table->lanes[lanes[i]].search.root;
    }
    while (count) {
        int left = 0;
        for (int i = 0; i < count; i++) {
            uint32_t lane = going[i], block = found[lane];
            uct_search *s = &table->lanes[lane].search;
            table->visits[visits++] = (uct_visit){s, block};
            s->last = block;
            found[lane] = uct_at(s->tree, block)->next;
            int further = uct_is_block(found[lane]);
            uct_prefetch(s->tree, further ? found[lane] : block);
            going[left] = lane;
            left += further;
        }
        count = left;
    }
    return visits;
}

/* Every lane goes one move beyond its last block. Returns how many of them need a playout. */
static inline int uct_extend_all(
    uct_table *table, const uint32_t *lanes, int count, const uint32_t *found, uct_search **leaves,
    int *visits)
{
    int leaf_count = 0;
    for (int i = 0; i < count; i++) {
        uct_search *s = &table->lanes[lanes[i]].search;
        leaves[leaf_count] = s;
        leaf_count += uct_extend(s, found[lanes[i]]);
        table->visits[*visits] = (uct_visit){s, s->grown};
        *visits += s->grown != 0;
        s->left--;
        table->failed |= s->failed;
    }
    return leaf_count;
}

/* One iteration of every lane that searches. Returns how many did. */
static inline int uct_round(uct_table *table)
{
    uint32_t lanes[UCT_MAX_LANES], found[UCT_MAX_LANES];
    uct_search *leaves[UCT_MAX_LANES];
    int running = uct_gather(table, lanes);
    if (table->failed) /* a search has not even a root */
        return 0;
    int visits = uct_descend(table, lanes, running, found);
    int leaf_count = uct_extend_all(table, lanes, running, found, leaves, &visits);
    if (table->failed)
        return 0;
    uct_playouts(table, leaves, leaf_count);
    uct_back(table->visits, visits);
    return running;
}

#endif
