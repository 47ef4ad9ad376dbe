"""Deep nodes: an explicit stack for each lane, and the big table that all threads share.

A lane stops where it has prefetched the table's lines of a node and of its children, so that
another lane's search goes on while memory answers.

Lanes may also work on one position together. Then a lane leaves moves that another is searching
for later, except the first move of a node that one move is expected to settle; and who settles a
node tells the others that are still below it. (After T. Kerrigan's simplified ABDADA; there for
threads, here for lanes of one thread, so that nothing depends on timing.)
"""

from libc.stdint cimport uint64_t

from plymill.games.bitboard cimport pm_column
from plymill.solver.bounds cimport UNDECIDED, Moves, Node, column_of, lowest_bit
from plymill.solver.core cimport (
    DEEP, INFINITE, PEEK, SHARE, Core, Frame, Lane, bucket, deep_hash,
)
from plymill.solver.lookahead cimport PM_NO_MOVE, pm_next_column
from plymill.solver.shallow cimport after, follow_forced, shallow, shallow_search
from plymill.solver.table cimport pm_entry, pm_lower, pm_prefetch, pm_probe, pm_replace, pm_upper


cdef inline int enter(Core* core, Lane* lane, Node node, uint64_t hash, int sign) noexcept nogil:
    """Looks at a deep node. Returns its value, as seen from its parent with ``sign`` -1.

    Forced moves are followed at once. If the value needs a search, pushes a frame, prefetches its
    lines of the table and returns UNDECIDED.
    """
    cdef Moves found
    cdef Frame* frame = &lane.frames[lane.depth + 1]
    cdef int value, forced, left = node.left
    if follow_forced(core, &node, &found, &frame.children, &forced, &value):
        return sign * value
    sign *= forced
    if node.left < DEEP:
        return sign * shallow_search(core, &node, &found, &frame.children)
    if node.left < left:
        hash = 0  # of a node that a forced move has left behind
    frame.node = node
    frame.hash = hash if hash else deep_hash(node.own, node.mask)
    frame.moves = found.moves
    frame.lower = found.lower
    frame.upper = found.upper
    frame.sign = sign
    frame.column = -1
    frame.deferred = 0
    frame.expect_cut = expects_cut(lane, &node, sign)
    pm_prefetch(bucket(core, frame.hash))
    prefetch_children(core, frame)
    lane.depth += 1
    return UNDECIDED


cdef inline bint expects_cut(const Lane* lane, const Node* node, int sign) noexcept nogil:
    """Whether one good move should settle a node about to be pushed: it alternates with the side."""
    cdef bint above
    if lane.depth < 0:
        above = (node.alpha if sign > 0 else -node.alpha - 1) < lane.guess
    else:
        above = lane.frames[lane.depth].expect_cut
    return above if sign > 0 else not above


cdef inline void prefetch_children(Core* core, Frame* frame) noexcept nogil:
    cdef uint64_t moves = frame.moves, move
    cdef uint64_t opponent = frame.node.own ^ frame.node.mask
    cdef int column
    if frame.node.left < PEEK:
        return
    while moves:
        move = moves & (~moves + 1)
        moves ^= move
        column = column_of(move)
        frame.hashes[column] = deep_hash(opponent, frame.node.mask | move)
        pm_prefetch(bucket(core, frame.hashes[column]))


cdef inline int look_up(Core* core, Frame* frame) noexcept nogil:
    """Bounds of the node from the table: its own entry, then its children's. Value or UNDECIDED."""
    cdef uint64_t entry = pm_probe(bucket(core, frame.hash), frame.hash & core.tag_mask)
    cdef int alpha = frame.node.alpha
    core.probes += 1
    if entry:
        core.hits += 1
        frame.lower = max(frame.lower, pm_lower(entry))
        frame.upper = min(frame.upper, pm_upper(entry))
        if frame.lower > alpha:
            return frame.lower
        if frame.upper <= alpha:
            return frame.upper
    frame.nodes_before = core.nodes
    frame.best = -INFINITE
    if frame.node.left < PEEK:
        return UNDECIDED
    return enhanced_cutoff(core, frame)


cdef inline int enhanced_cutoff(Core* core, Frame* frame) noexcept nogil:
    """Enhanced transposition cutoff (Plaat et al., 1996), and moves known to fail taken out."""
    cdef uint64_t moves = frame.moves, entry
    cdef int alpha = frame.node.alpha, column, bound, upper = -INFINITE
    while moves:
        column = column_of(moves)
        moves &= moves - 1
        entry = pm_probe(bucket(core, frame.hashes[column]), frame.hashes[column] & core.tag_mask)
        bound = (frame.node.left - 1) // 2  # no child scores less than minus this
        if entry:
            if -pm_upper(entry) > alpha:
                return -pm_upper(entry)
            bound = min(bound, -pm_lower(entry))
            if bound <= alpha:
                frame.children.order[column] = PM_NO_MOVE
                frame.best = max(frame.best, bound)
        upper = max(upper, bound)
    frame.upper = min(frame.upper, upper)
    return frame.upper if frame.upper <= alpha else UNDECIDED


cdef inline int leave(Core* core, Lane* lane, Frame* frame) noexcept nogil:
    """Stores what the search of a node has found, and returns its value."""
    if frame.best > frame.node.alpha:
        frame.lower = min(max(frame.lower, frame.best), frame.upper)
        frame.best = frame.lower
    else:
        frame.upper = max(min(frame.upper, frame.best), frame.lower)
        frame.best = frame.upper
    pm_replace(
        bucket(core, frame.hash),
        pm_entry(frame.hash & core.tag_mask, frame.lower, frame.upper, core.nodes - frame.nodes_before),
    )
    if core.team_size and frame.node.left >= SHARE:
        tell_team(core, lane, frame)
    return frame.best


cdef inline Frame* frame_at(Lane* lane, int left) noexcept nogil:
    """The frame of a lane's node with so many empty squares, NULL if it has none."""
    cdef int i
    for i in range(lane.depth + 1):
        if lane.frames[i].node.left <= left:
            return &lane.frames[i] if lane.frames[i].node.left == left else NULL
    return NULL


cdef inline void tell_team(Core* core, const Lane* lane, const Frame* frame) noexcept nogil:
    """Ends the other lanes' searches of a node that has been settled."""
    cdef Lane* other
    cdef Frame* same
    cdef int i
    for i in range(core.team_size):
        other = &core.team[i]
        if other == lane:
            continue
        same = frame_at(other, frame.node.left)
        if same is not NULL and same.hash == frame.hash and same.node.alpha == frame.node.alpha:
            other.depth = <int>(same - other.frames)
            other.told = frame.best


cdef inline bint others_search(Core* core, const Lane* lane, const Frame* frame, int column) noexcept nogil:
    """True if another lane is searching the child in this column."""
    cdef Frame* theirs
    cdef int i
    for i in range(core.team_size):
        if &core.team[i] == lane:
            continue
        theirs = frame_at(&core.team[i], frame.node.left)
        if theirs is not NULL and theirs.column >= 0:
            if theirs.hashes[theirs.column] == frame.hashes[column]:
                return True
    return False


cdef inline int next_column(Core* core, const Lane* lane, Frame* frame) noexcept nogil:
    """The next move to search, -1 if there is none."""
    cdef int column
    cdef bint first = frame.column < 0
    while True:
        column = pm_next_column(frame.children.order)
        if column < 0 or not core.team_size or frame.node.left < SHARE:
            break
        if first and frame.expect_cut or not others_search(core, lane, frame, column):
            return column
        frame.deferred |= 1 << column
    if column < 0 and frame.deferred:
        column = lowest_bit(frame.deferred)
        frame.deferred &= frame.deferred - 1
    return column


cdef inline int next_child(Core* core, Lane* lane, Frame* frame) noexcept nogil:
    """Searches the next child of the top frame: its value for this node, or UNDECIDED if pushed."""
    cdef uint64_t hash = frame.hashes[frame.column] if frame.node.left >= PEEK else 0
    cdef Node child = after(
        &frame.node, frame.moves & pm_column(frame.column), frame.children.wins[frame.column]
    )
    if child.left < DEEP:
        return -shallow(core, child)
    return enter(core, lane, child, hash, -1)


cdef inline bint advance(Core* core, Lane* lane) noexcept nogil:
    """Goes on from the prefetched top frame to the next prefetch. True when the search has ended."""
    cdef Frame* frame = &lane.frames[lane.depth]
    cdef int value = lane.told
    lane.told = UNDECIDED
    if value == UNDECIDED:
        value = look_up(core, frame)
    while True:
        while value == UNDECIDED:
            frame.column = next_column(core, lane, frame)
            if frame.column < 0:
                value = leave(core, lane, frame)
                break
            value = next_child(core, lane, frame)
            if value == UNDECIDED:
                return False
            frame.best = max(frame.best, value)
            value = leave(core, lane, frame) if frame.best > frame.node.alpha else UNDECIDED
        # The top frame is settled: hand its value to its parent.
        value *= frame.sign
        lane.depth -= 1
        if lane.depth < 0:
            lane.value = value
            return True
        frame -= 1
        frame.best = max(frame.best, value)
        value = leave(core, lane, frame) if frame.best > frame.node.alpha else UNDECIDED
