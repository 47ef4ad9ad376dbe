"""Shallow nodes: plain recursion over a small private table that stays in the cache."""

from libc.stdint cimport uint64_t

from plymill.games.bitboard cimport pm_column
from plymill.solver.bounds cimport UNDECIDED, Moves, Node, column_of, settle
from plymill.solver.core cimport DEEP, INFINITE, SHALLOWEST, SMALL_TAG_BITS, Core
from plymill.solver.lookahead cimport pm_children, pm_look_ahead, pm_next_column
from plymill.solver.table cimport (
    PM_TAG_SHIFT, pm_entry, pm_hash, pm_lower, pm_prefetch, pm_upper,
)


cdef inline Node after(const Node* node, uint64_t move, uint64_t wins) noexcept nogil:
    """The node after a move that gives the mover these winning squares."""
    cdef Node child
    child.own = node.own ^ node.mask
    child.mask = node.mask | move
    child.own_wins = node.opp_wins & ~move
    child.opp_wins = wins
    child.left = node.left - 1
    child.alpha = -node.alpha - 1
    return child


cdef inline bint follow_forced(
    Core* core, Node* node, Moves* found, pm_children* children, int* sign, int* value
) noexcept nogil:
    """Looks at a node, and plays on as long as a single move is left.

    Returns True with ``value``, from the view of the first node's mover, if that settles it. Else
    ``node``, ``found`` and ``children`` are of the node to search, and ``sign`` is -1 if its mover
    is the other side.
    """
    sign[0] = 1
    while True:
        if node.left < DEEP:
            # Needed, if at all, after all that follows up to the look-up.
            pm_prefetch(core.small + (pm_hash(node.own + node.mask) >> SMALL_TAG_BITS))
        core.nodes += 1
        value[0] = settle(node, found)
        if value[0] != UNDECIDED:
            break
        if pm_look_ahead(node.own, node.mask, found.playable, found.moves, node.own_wins, children):
            value[0] = min(found.upper, (node.left - 1) // 2)
            break
        # The mover's next stone but one does not win.
        found.upper = min(found.upper, (node.left - 3) // 2)
        if node.alpha >= found.upper:
            value[0] = found.upper
            break
        if found.moves & (found.moves - 1):
            return False
        node[0] = after(node, found.moves, children.wins[column_of(found.moves)])
        sign[0] = -sign[0]
    value[0] *= sign[0]
    return True


cdef inline int shallow(Core* core, Node node) noexcept nogil:
    """Fail-soft value of a node with fewer than DEEP empty squares."""
    cdef Moves found
    cdef pm_children children
    cdef int sign, value
    if follow_forced(core, &node, &found, &children, &sign, &value):
        return value
    return sign * shallow_search(core, &node, &found, &children)


cdef inline int shallow_search(
    Core* core, const Node* node, Moves* found, pm_children* children
) noexcept nogil:
    """Fail-soft value of a shallow node with several moves: table, then the children in order."""
    cdef uint64_t hash = pm_hash(node.own + node.mask)
    cdef uint64_t* place = core.small + (hash >> SMALL_TAG_BITS)
    cdef uint64_t entry, nodes_before = core.nodes
    cdef int column, best = -INFINITE
    hash &= (<uint64_t>1 << SMALL_TAG_BITS) - 1
    if node.left >= SHALLOWEST:
        entry = place[0]
        if entry >> PM_TAG_SHIFT == hash and entry:
            found.lower = max(found.lower, pm_lower(entry))
            found.upper = min(found.upper, pm_upper(entry))
            if found.lower > node.alpha:
                return found.lower
            if found.upper <= node.alpha:
                return found.upper
    while best <= node.alpha:
        column = pm_next_column(children.order)
        if column < 0:
            break
        best = max(
            best, -shallow(core, after(node, found.moves & pm_column(column), children.wins[column]))
        )
    if best > node.alpha:
        found.lower = best = min(max(found.lower, best), found.upper)
    else:
        found.upper = best = max(min(found.upper, best), found.lower)
    if node.left >= SHALLOWEST:
        place[0] = pm_entry(hash, found.lower, found.upper, core.nodes - nodes_before)
    return best
