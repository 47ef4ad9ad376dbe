/* What every game gives to players, as C sees it: game.pxd tells what the functions do. */

#ifndef PLYMILL_RULES_H
#define PLYMILL_RULES_H

#include <stdint.h>
#include "random.h"

typedef struct {
    uint64_t words[4];
} game_state;

typedef struct {
    const void *board;
    int (*start)(const void *board, game_state *state);
    int (*status)(const void *board, const game_state *state);
    int (*moves)(const void *board, const game_state *state, int player, uint8_t *moves);
    int (*play)(const void *board, game_state *state, int first, int second);
    void (*goals)(const void *board, const game_state *state, int *goals);
    void (*playout)(const void *board, game_state *state, random_stream *stream);
} game_rules;

#endif
