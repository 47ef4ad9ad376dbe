"""Alpha-beta search from positions down to a layer of which every value is known.

The contract of ``search``: a position in which nobody has won, seen from the side to move, has
the value v. Where alpha < v < beta it returns v; else a bound: v or more up to alpha, v or less
from beta on. At the layer a value is looked up by binary search, which is what takes the time;
so the search looks up as few as it can, where induction over whole layers takes them all.
"""

from libc.stdint cimport int8_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free

from plymill.games cimport bitboard as bb

import numpy as np

from plymill.books.induction import win_value
from plymill.games.arrays import key_array, plies
from plymill.games.connect4 import SQUARES

cdef enum:
    INFINITE = 127
    MOST_SLOT_BITS = 18
    EXACT = 1
    AT_LEAST = 2
    AT_MOST = 3

cdef struct Slot:
    uint64_t key
    int8_t value
    uint8_t bound

cdef struct Search:
    const uint64_t *keys  # of the layer, ascending
    const int8_t *values  # beside them
    Py_ssize_t count
    const int8_t *wins    # by ply: the value where the side to move wins at once
    int ply               # stones of the layer's positions
    bint mirrored         # the layer holds both mirror images
    bint wins_omitted     # it lacks positions with an immediate win
    bint others_omitted   # it lacks those of one more value
    int omitted           # which is this one
    Slot *slots           # transposition table; always replaced
    int slot_bits
    bint failed           # the layer lacks a position that should be there


def values_above(keys, values, scope, roots):
    """The values of positions, found from those of a layer below them.

    Args:
        keys: ascending keys of the layer.
        values: the int8 value of each.
        scope: which positions the layer holds, and which it leaves out.
        roots: keys of positions of one ply, the layer's or less, in which nobody has won.

    Returns:
        An int8 array with the value of each root, or None if the layer lacks a position that is
        needed.

    Raises:
        ValueError: the roots have more stones than the layer.
        MemoryError: there is no room for a transposition table.
    """
    cdef const uint64_t[::1] layer = key_array(keys)
    cdef const int8_t[::1] known = np.ascontiguousarray(values, dtype=np.int8)
    cdef const uint64_t[::1] asked = key_array(roots)
    cdef const int8_t[::1] wins = np.array(
        [win_value(ply, distances=scope.distances) for ply in range(SQUARES + 1)] + [0],
        dtype=np.int8,
    )
    result = np.zeros(asked.shape[0], dtype=np.int8)
    if not asked.shape[0]:
        return result
    cdef int depth = scope.ply - int(plies(roots)[0])
    if depth < 0 or layer.shape[0] != known.shape[0]:
        raise ValueError(f"the roots lie {-depth} plies below the layer, expected them above it")
    cdef int8_t[::1] target = result
    cdef Search s
    s.count = layer.shape[0]
    s.keys = &layer[0] if s.count else NULL
    s.values = &known[0] if s.count else NULL
    s.wins = &wins[0]
    s.ply = scope.ply
    s.mirrored = scope.mirrored
    s.wins_omitted = not scope.immediate_wins
    s.others_omitted = scope.first_wins_omitted
    s.omitted = 1 if scope.to_move == 1 else -1
    s.failed = False
    s.slot_bits = min(3 * depth + 4, MOST_SLOT_BITS)
    s.slots = <Slot *>calloc(<size_t>1 << s.slot_bits, sizeof(Slot))
    if s.slots == NULL:
        raise MemoryError("no room for the transposition table of a look ahead")
    cdef Py_ssize_t i
    cdef uint64_t mask
    with nogil:
        for i in range(asked.shape[0]):
            mask = bb.pm_mask(asked[i])
            target[i] = search(&s, asked[i] - mask, mask, -INFINITE, INFINITE)
        free(s.slots)
    return None if s.failed else result


cdef int search(Search *s, uint64_t own, uint64_t mask, int alpha, int beta) noexcept nogil:
    """The value of a position within the window, by the contract above."""
    cdef int ply = bb.pm_popcount(mask)
    if ply == s.ply:
        return look_up(s, own, mask)
    cdef uint64_t playable = bb.pm_playable(mask)
    if bb.pm_winning_squares(own) & playable:
        return s.wins[ply]
    if mask == bb.PM_BOARD:
        return 0
    cdef uint64_t moves = playable
    cdef uint64_t threats = bb.pm_winning_squares(own ^ mask) & playable
    if threats:
        if threats & (threats - 1):
            return -s.wins[ply + 1]  # the other side wins on one of the two
        moves = threats
    # The soonest win from here on takes three plies.
    if ply + 2 < bb.PM_SQUARES and s.wins[ply + 2] < beta:
        beta = s.wins[ply + 2]
        if alpha >= beta:
            return beta
    cdef uint64_t key = bb.pm_canonical(own + mask)
    cdef Slot *slot = s.slots + ((key * <uint64_t>0x9E3779B97F4A7C15) >> (64 - s.slot_bits))
    if slot.key == key and slot.bound:
        if slot.bound == EXACT or (slot.value >= beta if slot.bound == AT_LEAST
                                   else slot.value <= alpha):
            return slot.value
    cdef int best = best_of(s, own, mask, moves, alpha, beta)
    slot.key = key
    slot.value = best
    slot.bound = AT_LEAST if best >= beta else AT_MOST if best <= alpha else EXACT
    return best


cdef int best_of(
    Search *s, uint64_t own, uint64_t mask, uint64_t moves, int alpha, int beta
) noexcept nogil:
    """The best value of these moves, the middle columns first; it stops at one from beta on."""
    cdef int best = -INFINITE, value, floor, i, column
    cdef uint64_t square
    for i in range(bb.PLYMILL_WIDTH):
        column = bb.PLYMILL_WIDTH // 2 + ((i + 1) // 2 if i & 1 else -(i // 2))
        if column == bb.PLYMILL_WIDTH:  # an even number of columns has no middle one
            column = 0
        square = moves & bb.pm_column(column)
        if not square:
            continue
        floor = max(alpha, best)
        if best == -INFINITE or beta - floor == 1:
            value = -search(s, own ^ mask, mask | square, -beta, -floor)
        else:  # rarely better: a null window shows it sooner
            value = -search(s, own ^ mask, mask | square, -floor - 1, -floor)
            if floor < value < beta:
                value = -search(s, own ^ mask, mask | square, -beta, -value)
        if s.failed:
            return 0
        if value > best:
            best = value
            if best >= beta:
                break
    return best


cdef int look_up(Search *s, uint64_t own, uint64_t mask) noexcept nogil:
    """The value of a position of the layer, stored or left out by the layer's rules."""
    cdef uint64_t key = own + mask
    cdef uint64_t wanted = key if s.mirrored else bb.pm_canonical(key)
    cdef const uint64_t *first = s.keys
    cdef Py_ssize_t left = s.count, half
    while left > 1:  # no branch to mispredict: the compiler makes it a conditional move
        half = left // 2
        first = first + half if first[half] <= wanted else first
        left -= half
    if left and first[0] == wanted:
        return s.values[first - s.keys]
    if s.wins_omitted and bb.pm_winning_squares(own) & bb.pm_playable(mask):
        return s.wins[s.ply]
    if s.others_omitted:
        return s.omitted
    s.failed = True
    return 0
