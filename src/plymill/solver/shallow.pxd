"""Shallow nodes: plain recursion over a small private table that stays in the cache."""

from libc.stdint cimport uint64_t

from plymill.games.bitboard cimport pm_column
from plymill.solver.bounds cimport UNDECIDED, Moves, Node, settle
from plymill.solver.core cimport INFINITE, SHALLOWEST, SMALL_TAG_BITS, Core
from plymill.solver.lookahead cimport pm_children, pm_look_ahead, pm_next_column
from plymill.solver.table cimport (
    PM_TAG_SHIFT, pm_entry, pm_hash, pm_lower, pm_prefetch, pm_upper,
)


cdef inline int shallow(
    Core* core, uint64_t own, uint64_t mask, uint64_t own_wins, uint64_t opp_wins, int left, int alpha
) noexcept nogil:
    """Fail-soft value of a node with fewer than DEEP empty squares."""
    cdef Node node
    cdef Moves found
    cdef pm_children children
    cdef uint64_t hash = pm_hash(own + mask)
    cdef uint64_t* place = core.small + (hash >> SMALL_TAG_BITS)
    cdef uint64_t move, entry, nodes_before = core.nodes
    cdef int value, column, best = -INFINITE
    cdef bint remember = left >= SHALLOWEST
    if remember:
        pm_prefetch(place)  # needed, if at all, after all that follows up to the look-up
    core.nodes += 1
    node.own = own
    node.mask = mask
    node.own_wins = own_wins
    node.opp_wins = opp_wins
    node.left = left
    node.alpha = alpha
    value = settle(&node, &found)
    if value != UNDECIDED:
        return value
    if pm_look_ahead(own, mask, found.playable, found.moves, own_wins, &children):
        return min(found.upper, (left - 1) // 2)
    found.upper = min(found.upper, (left - 3) // 2)  # no win with the next stone but one
    if alpha >= found.upper:
        return found.upper
    remember = remember and found.moves & (found.moves - 1)
    if remember:
        hash &= (<uint64_t>1 << SMALL_TAG_BITS) - 1
        entry = place[0]
        if entry >> PM_TAG_SHIFT == hash and entry:
            found.lower = max(found.lower, pm_lower(entry))
            found.upper = min(found.upper, pm_upper(entry))
            if found.lower > alpha:
                return found.lower
            if found.upper <= alpha:
                return found.upper
    while best <= alpha:
        column = pm_next_column(children.order)
        if column < 0:
            break
        move = found.moves & pm_column(column)
        value = -shallow(
            core, own ^ mask, mask | move, opp_wins & ~move, children.wins[column], left - 1, -alpha - 1
        )
        best = max(best, value)
    if best > alpha:
        found.lower = best = min(max(found.lower, best), found.upper)
    else:
        found.upper = best = max(min(found.upper, best), found.lower)
    if remember:
        place[0] = pm_entry(hash, found.lower, found.upper, core.nodes - nodes_before)
    return best
