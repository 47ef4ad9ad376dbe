/* Keeping what is still of use of a tree after moves were played. */
#ifndef PLYMILL_REUSE_H
#define PLYMILL_REUSE_H

#include "search.h"

/* Finds the slot of a move that was tried, and leaves it in `best`; 0 if it was not. */
PM_INLINE int uct_follow_side(uct_side *side, int move)
{
    for (int slot = 0; slot < side->tried; slot++)
        if (uct_moves(side)[slot] == move) {
            side->best = (uint8_t)slot;
            return 1;
        }
    return 0;
}

/* The block after these moves of both (UCT_NO_MOVE of who did not move); 0 if there is none. The
 * block before is of no use any more. */
static inline uint32_t uct_follow(const uct_tree *tree, uint32_t block, const int played[2])
{
    uct_side *side = uct_at(tree, block);
    int player = side->mover == UCT_BOTH ? UCT_FIRST : side->mover;
    if (!uct_follow_side(side, played[player]))
        return 0;
    if (side->mover == UCT_BOTH && !uct_follow_side(uct_other(side), played[UCT_SECOND]))
        return 0;
    uint32_t child = *uct_child(side);
    if (!uct_is_block(child))
        return 0;
    int answers = side->mover != UCT_BOTH && side->pending == UCT_NO_MOVE
        && played[1 - player] != UCT_NO_MOVE;
    return answers ? uct_follow(tree, child, played) : child;
}

PM_INLINE uint32_t uct_copy_block(uct_tree *to, const uct_tree *from, uint32_t block)
{
    uct_side *side = uct_at(from, block);
    size_t bytes = uct_block_bytes(side);
    uint32_t copy = (uint32_t)(to->used / UCT_LINE);
    memcpy(to->base + to->used, side, bytes);
    to->used += bytes;
    return copy;
}

/* Copies the blocks below `root`, and it, to the front of `spare`, and exchanges both trees. The new
 * number of the root; 0 without memory, and then the tree is as it was. */
static inline uint32_t uct_keep(uct_tree *tree, uct_tree *spare, uint32_t root)
{
    uct_tree_clear(spare);
    if (!uct_tree_room(spare, tree->used))
        return 0;
    size_t at = spare->used;
    uint32_t kept = uct_copy_block(spare, tree, root);
    while (at < spare->used) {
        uct_side *side = (uct_side *)(spare->base + at);
        int both = side->mover == UCT_BOTH;
        uint32_t *children = both ? uct_pairs(side) : uct_children(side, side->slots);
        int count = both ? side->slots * uct_other(side)->slots : side->tried;
        for (int i = 0; i < count; i++)
            if (uct_is_block(children[i]))
                children[i] = uct_copy_block(spare, tree, children[i]);
        if (side->next != UCT_NEW)
            side->next = *uct_child(side);
        at += uct_block_bytes(side);
    }
    uct_tree whole = *tree;
    *tree = *spare;
    *spare = whole;
    return kept;
}

#endif
