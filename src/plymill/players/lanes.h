/* Whole matches, several in turn in one thread: each lane plays a match of its own.
 *
 * A match has its own random numbers and its own tree, so that it does not depend on what the other
 * lanes do. What is gained is time: while one lane's memory is on its way, others go on.
 */
#ifndef PLYMILL_LANES_H
#define PLYMILL_LANES_H

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
    uint32_t *path;
} uct_lane;

typedef struct {
    const game_rules *rules;
    uct_match *matches;
    size_t count, taken;
    int lane_count;
    int failed;              /* no memory */
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
    s->path = lane->path;
    s->root = 0;
    if (player->options.reuse && lane->roots[side])
        s->root = uct_keep(s->tree, &lane->trees[2], lane->roots[side]);
    uct_begin(s, &lane->state, lane->status, side);
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

/* One iteration of every lane that searches. Returns how many did. */
static inline int uct_round(uct_table *table)
{
    int running = 0;
    for (int i = 0; i < table->lane_count; i++) {
        uct_lane *lane = &table->lanes[i];
        uct_search *s = &lane->search;
        if (!lane->match || !s->left)
            uct_proceed(table, lane);
        if (!lane->match)
            continue;
        uct_run(s, 1);
        table->failed |= s->failed;
        running++;
    }
    return running;
}

#endif
