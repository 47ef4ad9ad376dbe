"""The search: null-window, fail-soft negamax inside MTD(f), several positions interleaved.

Compiled several times, once for each level of processor; ``dispatch`` picks one at import.

The contract, for a position whose mover has no immediate win and a null window (alpha, alpha + 1):
a result above alpha is a lower bound of the score, any other result an upper bound. MTD(f) asks
until both bounds meet. Whatever the table holds, each of its entries is a true pair of bounds, so
a score does not depend on it; only the number of nodes does.

A search has two parts:

* *deep* nodes, with DEEP or more empty squares, live in the big shared table, which is far larger
  than any cache. They are walked with an explicit stack: a lane prefetches the table's lines of a
  node and of all its children, and then another lane's search goes on while memory answers.
* *shallow* nodes are plain recursion, with a small private table that stays in the cache.
"""

from libc.stdint cimport int8_t, uint64_t
from libc.string cimport memset

from cpython.exc cimport PyErr_CheckSignals

from plymill.games.bitboard cimport (
    PM_BOARD, PM_KEY_BITS, PM_SQUARES, pm_column, pm_mask, pm_mirror, pm_playable, pm_popcount,
    pm_winning_squares,
)
from plymill.solver.bounds cimport UNDECIDED, Moves, Node, column_of, settle
from plymill.solver.lookahead cimport pm_children, pm_look_ahead, pm_next_column
from plymill.solver.table cimport (
    PM_TAG_SHIFT, PM_WAYS, Table, pm_entry, pm_hash, pm_lower, pm_pages, pm_pages_free, pm_prefetch,
    pm_probe, pm_replace, pm_upper,
)

import numpy as np

cdef enum:
    DEEP = 12             # empty squares from which on a node belongs to the shared table
    PEEK = 16             # empty squares from which on a node looks at its children's entries
    SHALLOWEST = 7        # with fewer empty squares a look-up costs more than the search
    SMALL_BITS = 17       # log2 of the private table's entries: 1 MiB
    SMALL_TAG_BITS = PM_KEY_BITS - SMALL_BITS
    MAX_LANES = 8
    TURN = 1 << 14        # switches between two looks for signals: some tens of milliseconds
    INFINITE = 100

cdef struct Frame:
    Node node
    pm_children children
    uint64_t hashes[16]   # of the children, by column
    uint64_t hash
    uint64_t moves
    uint64_t nodes_before
    int lower
    int upper
    int best
    int sign              # -1 if an odd number of forced moves lies between the parent and this node
    int column            # the move being searched

cdef struct Lane:
    Frame* frames
    int depth             # index of the top frame, -1 if none
    Py_ssize_t index      # which position it works on
    uint64_t own
    uint64_t mask
    int left
    int lower             # MTD(f): bounds known so far
    int upper
    int guess
    int value             # result of the null window that has just ended

cdef struct Core:
    uint64_t* table
    int table_shift       # hash >> table_shift is the bucket's number
    uint64_t tag_mask
    uint64_t* small
    uint64_t nodes
    uint64_t probes
    uint64_t hits


cdef inline uint64_t deep_hash(uint64_t own, uint64_t mask) noexcept nogil:
    """The hash of the canonical key: mirror images share one entry."""
    cdef uint64_t key = own + mask
    cdef uint64_t mirrored = pm_mirror(own) + pm_mirror(mask)
    return pm_hash(mirrored if mirrored < key else key)


cdef inline uint64_t* bucket(const Core* core, uint64_t hash) noexcept nogil:
    return core.table + (hash >> core.table_shift) * PM_WAYS


# --- shallow nodes: recursion and the private table ------------------------------------------


cdef int shallow(
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


# --- deep nodes: explicit stack and the shared table ------------------------------------------


cdef int enter(Core* core, Lane* lane, Node node, uint64_t hash, int sign) noexcept nogil:
    """Looks at a deep node. Returns its value, as seen from its parent with ``sign`` -1.

    Forced moves are followed at once. If the value needs a search, pushes a frame, prefetches its
    lines of the table and returns UNDECIDED.
    """
    cdef Moves found
    cdef Frame* frame = &lane.frames[lane.depth + 1]
    cdef uint64_t move
    cdef int value
    while True:
        core.nodes += 1
        value = settle(&node, &found)
        if value != UNDECIDED:
            return sign * value
        if pm_look_ahead(
            node.own, node.mask, found.playable, found.moves, node.own_wins, &frame.children
        ):
            return sign * min(found.upper, (node.left - 1) // 2)
        if found.moves & (found.moves - 1):
            break
        move = found.moves
        node.own ^= node.mask
        node.mask |= move
        node.own_wins, node.opp_wins = node.opp_wins & ~move, frame.children.wins[column_of(move)]
        node.left -= 1
        node.alpha = -node.alpha - 1
        sign = -sign
        hash = 0
        if node.left < DEEP:
            return sign * shallow(
                core, node.own, node.mask, node.own_wins, node.opp_wins, node.left, node.alpha
            )
    found.upper = min(found.upper, (node.left - 3) // 2)
    if node.alpha >= found.upper:
        return sign * found.upper
    frame.node = node
    frame.hash = hash if hash else deep_hash(node.own, node.mask)
    frame.moves = found.moves
    frame.lower = found.lower
    frame.upper = found.upper
    frame.sign = sign
    pm_prefetch(bucket(core, frame.hash))
    prefetch_children(core, frame)
    lane.depth += 1
    return UNDECIDED


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


cdef int look_up(Core* core, Frame* frame) noexcept nogil:
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
                frame.children.order[column] = 65535
                frame.best = max(frame.best, bound)
        upper = max(upper, bound)
    frame.upper = min(frame.upper, upper)
    return frame.upper if frame.upper <= alpha else UNDECIDED


cdef int leave(Core* core, Frame* frame) noexcept nogil:
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
    return frame.best


cdef int next_child(Core* core, Lane* lane, Frame* frame) noexcept nogil:
    """Searches the next child of the top frame: its value for this node, or UNDECIDED if pushed."""
    cdef Node child
    cdef uint64_t move = frame.moves & pm_column(frame.column)
    cdef uint64_t hash = frame.hashes[frame.column] if frame.node.left >= PEEK else 0
    child.own = frame.node.own ^ frame.node.mask
    child.mask = frame.node.mask | move
    child.own_wins = frame.node.opp_wins & ~move
    child.opp_wins = frame.children.wins[frame.column]
    child.left = frame.node.left - 1
    child.alpha = -frame.node.alpha - 1
    if child.left < DEEP:
        return -shallow(
            core, child.own, child.mask, child.own_wins, child.opp_wins, child.left, child.alpha
        )
    return enter(core, lane, child, hash, -1)


cdef bint advance(Core* core, Lane* lane) noexcept nogil:
    """Goes on from the prefetched top frame to the next prefetch. True when the search has ended."""
    cdef Frame* frame = &lane.frames[lane.depth]
    cdef int value = look_up(core, frame)
    while True:
        while value == UNDECIDED:
            frame.column = pm_next_column(frame.children.order)
            if frame.column < 0:
                value = leave(core, frame)
                break
            value = next_child(core, lane, frame)
            if value == UNDECIDED:
                return False
            frame.best = max(frame.best, value)
            value = leave(core, frame) if frame.best > frame.node.alpha else UNDECIDED
        # The top frame is settled: hand its value to its parent.
        value *= frame.sign
        lane.depth -= 1
        if lane.depth < 0:
            lane.value = value
            return True
        frame -= 1
        frame.best = max(frame.best, value)
        value = leave(core, frame) if frame.best > frame.node.alpha else UNDECIDED


# --- MTD(f) over many positions -----------------------------------------------------------------


cdef bint begin(Lane* lane, uint64_t key, bint outcomes, int guess) noexcept nogil:
    """Sets a lane on a position. False if the score, in ``lane.lower``, needs no search."""
    lane.mask = pm_mask(key)
    lane.own = key - lane.mask
    lane.left = PM_SQUARES - pm_popcount(lane.mask)
    lane.depth = -1
    lane.guess = guess
    lane.lower = -(lane.left // 2)
    lane.upper = (lane.left - 1) // 2
    if pm_winning_squares(lane.own) & pm_playable(lane.mask):
        lane.lower = lane.upper = (lane.left + 1) // 2
    elif lane.left == 0:
        lane.lower = lane.upper = 0
    if outcomes:
        lane.lower = min(max(lane.lower, -1), 1)
        lane.upper = max(min(lane.upper, 1), -1)
    return lane.lower < lane.upper


cdef bint ask(Core* core, Lane* lane) noexcept nogil:
    """Starts the next null window of MTD(f). True if a search is under way, False if it ended."""
    cdef Node node
    cdef int beta = min(max(lane.guess, lane.lower + 1), lane.upper)
    node.own = lane.own
    node.mask = lane.mask
    node.own_wins = pm_winning_squares(lane.own) & (PM_BOARD ^ lane.mask)
    node.opp_wins = pm_winning_squares(lane.own ^ lane.mask) & (PM_BOARD ^ lane.mask)
    node.left = lane.left
    node.alpha = beta - 1
    if node.left < DEEP:
        lane.value = shallow(
            core, node.own, node.mask, node.own_wins, node.opp_wins, node.left, node.alpha
        )
        return False
    lane.value = enter(core, lane, node, 0, 1)
    return lane.value == UNDECIDED


cdef inline bint narrow(Lane* lane) noexcept nogil:
    """Takes the ended null window into the bounds. True while they have not met."""
    cdef int beta = min(max(lane.guess, lane.lower + 1), lane.upper)
    lane.guess = lane.value
    if lane.value < beta:
        lane.upper = lane.value
    else:
        lane.lower = lane.value
    return lane.lower < lane.upper


cdef class Kernel:
    """One thread's search over a shared table, with a private table of its own.

    Args:
        table: the shared table; kernels of any variant and any number of threads may share it.
        lanes: positions searched in turn, 1 to 8.
    """

    cdef Core core
    cdef Lane lanes[MAX_LANES]
    cdef int lane_count
    cdef readonly Table table

    def __cinit__(self, Table table, int lanes=4):
        cdef int i
        self.table = table
        self.lane_count = min(max(lanes, 1), MAX_LANES)
        self.core.table = table.entries
        self.core.table_shift = PM_KEY_BITS - table.index_bits
        self.core.tag_mask = (<uint64_t>1 << self.core.table_shift) - 1
        self.core.small = <uint64_t*>pm_pages(sizeof(uint64_t) << SMALL_BITS)
        if self.core.small is NULL:
            raise MemoryError("no memory for the solver's private table")
        for i in range(self.lane_count):
            self.lanes[i].frames = <Frame*>pm_pages(64 << 10)
            if self.lanes[i].frames is NULL:
                raise MemoryError("no memory for the solver's stack")

    def __dealloc__(self):
        cdef int i
        pm_pages_free(self.core.small, sizeof(uint64_t) << SMALL_BITS)
        for i in range(self.lane_count):
            pm_pages_free(self.lanes[i].frames, 64 << 10)

    @property
    def nodes(self):
        """Nodes searched since the kernel was made."""
        return self.core.nodes

    @property
    def probes(self):
        """Look-ups of deep nodes in the shared table."""
        return self.core.probes

    @property
    def hits(self):
        """Look-ups that found an entry."""
        return self.core.hits

    def clear(self):
        """Forgets the private table; the shared one is cleared by its owner."""
        memset(self.core.small, 0, sizeof(uint64_t) << SMALL_BITS)

    def solve(self, const uint64_t[::1] keys, bint outcomes, int guess=0):
        """Scores (or outcomes) of the positions, int8, side to move's view. Releases the GIL."""
        result = np.empty(keys.shape[0], dtype=np.int8)
        cdef int8_t[::1] scores = result
        cdef Py_ssize_t taken = 0
        cdef int running = 0, i, _
        cdef bint busy[MAX_LANES]
        cdef int last = guess
        for i in range(self.lane_count):
            busy[i] = False
        while True:
            with nogil:
                for _ in range(TURN):
                    running = 0
                    for i in range(self.lane_count):
                        if busy[i]:
                            if advance(&self.core, &self.lanes[i]):
                                busy[i] = self.settle_lane(&self.lanes[i], scores, &last)
                        if not busy[i]:
                            busy[i] = self.take(&self.lanes[i], keys, &taken, outcomes, scores, &last)
                        running += busy[i]
                    if running == 0:
                        break
            if running == 0:
                return result
            PyErr_CheckSignals()

    cdef bint settle_lane(self, Lane* lane, int8_t[::1] scores, int* last) noexcept nogil:
        """After a null window has ended: asks the next, until the score is known. True if searching."""
        while narrow(lane):
            if ask(&self.core, lane):
                return True
        scores[lane.index] = <int8_t>lane.lower
        last[0] = lane.lower
        return False

    cdef bint take(
        self, Lane* lane, const uint64_t[::1] keys, Py_ssize_t* taken, bint outcomes,
        int8_t[::1] scores, int* last
    ) noexcept nogil:
        """Gives a free lane the next position that needs a search. False if there is none."""
        cdef int guess
        while taken[0] < keys.shape[0]:
            lane.index = taken[0]
            taken[0] += 1
            # Neighbours score alike; a window next to a draw decides most.
            guess = 2 if last[0] > 0 else (-2 if last[0] < 0 else 0)
            if begin(lane, keys[lane.index], outcomes, guess):
                if ask(&self.core, lane):
                    return True
                if self.settle_lane(lane, scores, last):
                    return True
            else:
                scores[lane.index] = <int8_t>lane.lower
        return False
