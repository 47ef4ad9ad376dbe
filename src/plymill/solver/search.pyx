"""The search: null-window, fail-soft negamax inside MTD(f), several positions interleaved.

Compiled several times, once for each level of processor; ``dispatch`` picks one at import.

The contract, for a position whose mover has no immediate win and a null window (alpha, alpha + 1):
a result above alpha is a lower bound of the score, any other result an upper bound. MTD(f) asks
until both bounds meet. Whatever the table holds, each of its entries is a true pair of bounds, so
a score does not depend on it; only the number of nodes does.

The search of one node has two parts: ``deep.pxd`` and, with few empty squares, ``shallow.pxd``.
"""

from libc.stdint cimport int8_t, uint64_t
from libc.string cimport memset

from cpython.exc cimport PyErr_CheckSignals

from plymill.games.bitboard cimport (
    PM_BOARD, PM_KEY_BITS, PM_SQUARES, pm_mask, pm_playable, pm_popcount, pm_winning_squares,
)
from plymill.solver.bounds cimport UNDECIDED, Node
from plymill.solver.core cimport DEEP, MAX_LANES, SMALL_BITS, TEAM, Core, Frame, Lane
from plymill.solver.deep cimport advance, enter
from plymill.solver.shallow cimport shallow
from plymill.solver.table cimport Table, pm_pages, pm_pages_free

import numpy as np

from plymill.errors import TableMemoryError

cdef enum:
    TURN = 1 << 12          # rounds of all lanes between two looks for signals: some milliseconds
    STACK_BYTES = 64 << 10  # a lane's frames


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
        lane.value = shallow(core, node)
        return False
    lane.value = enter(core, lane, node, 0, 1)
    return lane.value == UNDECIDED


cdef inline bint narrow(Lane* lane) noexcept nogil:
    """Takes the ended null window into the bounds. True while they have not met."""
    cdef int beta = min(max(lane.guess, lane.lower + 1), lane.upper)
    lane.guess = lane.value
    # Fail-soft: the value may lie beyond the bounds, which are those of an outcome perhaps.
    if lane.value < beta:
        lane.upper = max(lane.value, lane.lower)
    else:
        lane.lower = min(lane.value, lane.upper)
    return lane.lower < lane.upper


cdef class Kernel:
    """One thread's search over a shared table, with a private table of its own.

    Args:
        table: the shared table; kernels of any variant and any number of threads may share it.
        lanes: positions searched in turn, 1 to 8.

    Raises:
        TableMemoryError: the system gives no memory for the private table or the stacks.
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
            raise TableMemoryError(
                "no memory for the solver's private table, expected 1 MiB beside the shared one"
            )
        for i in range(self.lane_count):
            self.lanes[i].frames = <Frame*>pm_pages(STACK_BYTES)
            if self.lanes[i].frames is NULL:
                raise TableMemoryError(
                    f"no memory for the solver's stack, expected {STACK_BYTES >> 10} KiB for each lane"
                )

    def __dealloc__(self):
        cdef int i
        pm_pages_free(self.core.small, sizeof(uint64_t) << SMALL_BITS)
        for i in range(self.lane_count):
            pm_pages_free(self.lanes[i].frames, STACK_BYTES)

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
        """Scores (or outcomes) of the positions, int8, side to move's view. Releases the GIL.

        Each lane has a position of its own; a single position is searched by several lanes together.
        """
        result = np.empty(keys.shape[0], dtype=np.int8)
        cdef int8_t[::1] scores = result
        cdef Py_ssize_t taken = 0
        cdef int last = guess, running = 1
        self.free_lanes()
        if keys.shape[0] == 1:
            if begin(&self.lanes[0], keys[0], outcomes, guess):
                self.solve_together(&self.lanes[0])
            scores[0] = <int8_t>self.lanes[0].lower
            return result
        while running:
            with nogil:
                running = self.turn(keys, &taken, outcomes, scores, &last)
            PyErr_CheckSignals()
        return result

    cdef void free_lanes(self) noexcept nogil:
        cdef int i
        for i in range(self.lane_count):
            self.lanes[i].depth = -1
            self.lanes[i].told = UNDECIDED
        self.core.team_size = 0

    cdef int turn(
        self, const uint64_t[::1] keys, Py_ssize_t* taken, bint outcomes, int8_t[::1] scores, int* last
    ) noexcept nogil:
        """Lets all lanes search for a while. Returns 0 when all positions are solved."""
        cdef int running = 0, i, _
        cdef Lane* lane
        for _ in range(TURN):
            running = 0
            for i in range(self.lane_count):
                lane = &self.lanes[i]
                if lane.depth >= 0 and advance(&self.core, lane):
                    self.settle_lane(lane, scores, last)
                if lane.depth < 0 and taken[0] < keys.shape[0]:
                    self.take(lane, keys, taken, outcomes, scores, last)
                running += lane.depth >= 0
            running += taken[0] < keys.shape[0]
            if running == 0:
                break
        return running

    cdef int solve_together(self, Lane* first) except -1:
        """MTD(f) on the first lane's position, each null window searched by a team of lanes."""
        cdef int i, team = min(self.lane_count, TEAM)
        cdef bint done
        for i in range(1, team):
            self.lanes[i].own, self.lanes[i].mask = first.own, first.mask
            self.lanes[i].left = first.left
        self.core.team = &self.lanes[0]
        self.core.team_size = team
        while True:
            done = True
            for i in range(team):
                self.lanes[i].lower, self.lanes[i].upper = first.lower, first.upper
                self.lanes[i].guess = first.guess
                self.lanes[i].depth = -1
                self.lanes[i].told = UNDECIDED
                done = not ask(&self.core, &self.lanes[i])
                if done:
                    break
            while not done:
                with nogil:
                    done = self.turn_together(first)
                PyErr_CheckSignals()
            if not narrow(first):
                return 0

    cdef bint turn_together(self, Lane* first) noexcept nogil:
        """Lets the team search for a while. True when a lane has the value, then in ``first``."""
        cdef int i, _
        for _ in range(TURN):
            for i in range(self.core.team_size):
                if advance(&self.core, &self.lanes[i]):
                    first.value = self.lanes[i].value
                    return True
        return False

    cdef void settle_lane(self, Lane* lane, int8_t[::1] scores, int* last) noexcept nogil:
        """After a null window has ended: asks the next one, or keeps the score if it is known."""
        while narrow(lane):
            if ask(&self.core, lane):
                return
        scores[lane.index] = <int8_t>lane.lower
        last[0] = lane.lower

    cdef void take(
        self, Lane* lane, const uint64_t[::1] keys, Py_ssize_t* taken, bint outcomes,
        int8_t[::1] scores, int* last
    ) noexcept nogil:
        """Gives a free lane the next position. It is free again if that needs no deep search."""
        # Neighbours score alike; a window next to a draw decides most.
        cdef int guess = 2 if last[0] > 0 else (-2 if last[0] < 0 else 0)
        lane.index = taken[0]
        taken[0] += 1
        if not begin(lane, keys[lane.index], outcomes, guess):
            scores[lane.index] = <int8_t>lane.lower
        elif not ask(&self.core, lane):
            self.settle_lane(lane, scores, last)
