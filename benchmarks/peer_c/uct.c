/* UCT on the empty Connect Four board as one writes it in C without further thought: what the engine
 * of plymill.players is measured against.
 *
 * A node for every move that was tried, in a list of its parent's children; the value of each child is
 * computed with log() and sqrt() when a move is selected. The random numbers, and the order in which
 * they are used, are those of the engine, so that both have to visit the same moves equally often.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include "bitboard.h"
#include "random.h"

typedef struct {
    uint64_t own, mask;
    double sum;              /* of the goals of who moved here, 0 to 1 */
    uint32_t visits, children[PLYMILL_WIDTH];
    uint8_t tried, count, moves[PLYMILL_WIDTH];
    int8_t won, over;        /* who moved here has won; the game is over */
} node_t;

static void set_moves(node_t *n)
{
    n->count = 0;
    for (int column = 0; column < PLYMILL_WIDTH; column++)
        if (pm_column(column) & ~n->mask)
            n->moves[n->count++] = (uint8_t)column;
}

static void play(const node_t *from, int column, node_t *to)
{
    uint64_t square = pm_playable(from->mask) & pm_column(column);
    *to = (node_t){.own = from->own ^ from->mask, .mask = from->mask | square};
    to->won = pm_four(from->own | square) != 0;
    to->over = to->won || to->mask == PM_BOARD;
}

/* The goal of who moved to this node. */
static double playout(const node_t *from, random_stream *r)
{
    node_t n = *from, next;
    int ply = 0;
    for (; !n.over; ply++, n = next) {
        set_moves(&n);
        play(&n, n.moves[random_below(r, n.count)], &next);
    }
    return n.won ? (ply % 2 ? 0.0 : 1.0) : 0.5;
}

static node_t *select_child(node_t *nodes, const node_t *n, double c)
{
    node_t *best = NULL;
    double highest = -1, total = log((double)(n->visits - (n != nodes)));
    for (int i = 0; i < n->tried; i++) {
        node_t *child = nodes + n->children[i];
        double value = child->sum / child->visits + c * sqrt(total / child->visits);
        if (value > highest) {
            highest = value;
            best = child;
        }
    }
    return best;
}

static node_t *expand(node_t *nodes, uint32_t *used, node_t *n, random_stream *r)
{
    int chosen = n->tried + (int)random_below(r, (uint32_t)(n->count - n->tried));
    uint8_t move = n->moves[chosen];
    for (; chosen > n->tried; chosen--)
        n->moves[chosen] = n->moves[chosen - 1];
    n->moves[n->tried] = move;
    n->children[n->tried++] = *used;
    play(n, move, nodes + *used);
    set_moves(nodes + *used);
    return nodes + (*used)++;
}

/* Searches from the empty board; writes how often each column was visited. 0 without memory. */
int uct(const uint64_t *seed, uint32_t iterations, double c, uint32_t *visits)
{
    random_stream r = {{seed[0], seed[1], seed[2], seed[3]}};
    node_t *nodes = calloc((size_t)iterations + 1, sizeof *nodes), *path[PM_SQUARES + 1];
    uint32_t used = 1;
    if (!nodes)
        return 0;
    set_moves(nodes);
    for (uint32_t i = 0; i < iterations; i++) {
        node_t *n = nodes;
        int depth = 0;
        path[depth++] = n;
        while (!n->over && n->tried == n->count)
            path[depth++] = n = select_child(nodes, n, c);
        if (!n->over)
            path[depth++] = n = expand(nodes, &used, n, &r);
        double goal = playout(n, &r);
        for (; depth > 0; goal = 1 - goal) {
            path[--depth]->visits++;
            path[depth]->sum += goal;
        }
    }
    for (int i = 0; i < nodes->tried; i++)
        visits[nodes->moves[i]] = nodes[nodes->children[i]].visits;
    free(nodes);
    return 1;
}
