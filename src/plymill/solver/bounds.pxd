"""What a position's stones alone tell of its score: forced replies, bounds, parity of threats.

All functions are inline, so that each variant of the search compiles them with its own flags.

Conventions: ``left`` is the number of empty squares; the side to move, the *mover*, owns ``own``
and has no immediate win; a win with the d-th stone from now scores ``(left - d) // 2 + 1``.
``alpha`` is the lower end of the null window: the question is whether the score is above it.
"""

from libc.stdint cimport uint64_t

from plymill.games.bitboard cimport (
    PLYMILL_HEIGHT, PM_BOARD, PM_BOTTOM, PM_COLUMN, PM_STRIDE, pm_column, pm_four, pm_playable, pm_popcount,
)

cdef enum:
    UNDECIDED = 127  # no score

cdef struct Node:
    uint64_t own        # stones of the mover
    uint64_t mask       # all stones
    uint64_t own_wins   # empty squares that complete a four for the mover
    uint64_t opp_wins   # ... for the opponent
    int left            # empty squares
    int alpha           # the null window is (alpha, alpha + 1)

cdef struct Moves:
    uint64_t playable   # the next free square of every column
    uint64_t moves      # those among them that do not lose at once
    int lower           # bounds on the score
    int upper


cdef inline uint64_t rows_of_parity(int odd) noexcept nogil:
    """Rows 1, 3, 5 ... counted from 1 at the bottom (odd = 1), or rows 2, 4, 6 ... (odd = 0)."""
    return PM_BOTTOM * (PM_COLUMN & (<uint64_t>0x5555 if odd else <uint64_t>0xAAAA))


cdef inline int settle(const Node* node, Moves* out) noexcept nogil:
    """A bound that decides the null window, or UNDECIDED with ``out`` filled.

    Fail-soft: a result above alpha is a lower bound of the score, any other an upper bound.
    """
    cdef uint64_t playable = pm_playable(node.mask)
    cdef uint64_t moves = playable
    cdef uint64_t forced = playable & node.opp_wins
    cdef int left = node.left, alpha = node.alpha, value
    if forced:
        if forced & (forced - 1):
            return -(left // 2)  # two threats: only one can be met
        moves = forced
    moves &= ~(node.opp_wins >> 1)  # never play right under a threat
    if not moves:
        return -(left // 2)
    if left <= 2:
        return 0
    # Neither the mover's next stone wins, as promised, nor then the opponent's, as just seen.
    out.lower = -((left - 2) // 2)
    out.upper = (left - 1) // 2
    if alpha < out.lower:
        return out.lower
    if alpha >= out.upper:
        return out.upper
    # A winning square on top of another, above a move: the opponent can meet only the first.
    if moves & (node.own_wins >> 1) & (node.own_wins >> 2):
        return out.upper
    value = no_lines_left(node)
    if value != UNDECIDED:
        return value
    if PLYMILL_HEIGHT % 2 == 0:
        value = follow_up(node, playable, moves, out)
        if value != UNDECIDED:
            return value
    out.playable = playable
    out.moves = moves
    return UNDECIDED


cdef inline int no_lines_left(const Node* node) noexcept nogil:
    """0 if the side that would have to win to move the window can make no four any more."""
    cdef uint64_t empty = PM_BOARD ^ node.mask
    cdef uint64_t winner = node.own if node.alpha >= 0 else node.own ^ node.mask
    return UNDECIDED if pm_four(winner | empty) else 0


cdef inline int follow_up(const Node* node, uint64_t playable, uint64_t moves, Moves* out) noexcept nogil:
    """Bounds from answering every move in the same column (Allis, 1988: "follow-up").

    Who follows up in columns of even free height takes all even rows there, and leaves the odd
    ones. May tighten ``out.upper``; returns a deciding bound or UNDECIDED.
    """
    cdef uint64_t odd_columns = playable & rows_of_parity(0)  # an odd number of free squares
    cdef int upper = out.upper
    if not node.left & 1:
        if not odd_columns:
            upper = opponent_follows_up(node, upper)
    elif not odd_columns & (odd_columns - 1):
        upper = odd_threat_in_odd_column(node, odd_columns, upper)
        if upper > node.alpha and node.alpha < 0 and moves & odd_columns:
            # The mover takes the odd square and follows up from there on.
            if not pm_four(node.own ^ node.mask | (PM_BOARD ^ node.mask ^ odd_columns) & rows_of_parity(1)):
                return 0
    if upper <= node.alpha:
        return upper
    out.upper = min(out.upper, upper)
    return UNDECIDED


cdef inline int opponent_follows_up(const Node* node, int upper) noexcept nogil:
    """All columns are even: the opponent can follow up, and the mover gets odd rows only."""
    cdef uint64_t empty = PM_BOARD ^ node.mask
    cdef uint64_t odd = rows_of_parity(1), even = rows_of_parity(0)
    cdef uint64_t threats, square, column
    cdef int latest, plies
    if pm_four(node.own | empty & odd):
        return upper
    threats = node.opp_wins & even
    if not threats:
        return -1 if node.alpha < 0 and pm_four(node.own ^ node.mask | empty & even) else 0
    # The opponent wins at the latest when all squares but those above his best threat are full.
    latest = node.left
    while threats:
        square = threats & (~threats + 1)
        threats ^= square
        column = empty & pm_column(column_of(square))
        plies = node.left - pm_popcount(column & ~(square - 1)) + 1
        latest = min(latest, plies)
    return -((node.left - latest) // 2 + 1)


cdef inline int odd_threat_in_odd_column(
    const Node* node, uint64_t odd_square, int upper
) noexcept nogil:
    """One column is odd, and the opponent has an odd threat in it: he follows up until he gets it."""
    cdef uint64_t empty = PM_BOARD ^ node.mask
    cdef uint64_t odd = rows_of_parity(1), even = rows_of_parity(0)
    cdef uint64_t column = empty & pm_column(column_of(odd_square))
    cdef uint64_t threat = node.opp_wins & odd & column
    cdef uint64_t below
    cdef int plies
    if not threat or node.alpha < -(node.left // 2):
        return upper
    below = column & ((threat & (~threat + 1)) - 1)
    if pm_four(node.own | (empty ^ column) & odd | below & even):
        return upper
    plies = pm_popcount(empty ^ column) + pm_popcount(below) + 1
    return -((node.left - plies) // 2 + 1)


cdef extern from *:
    """
    #define pm_lowest_bit(x) __builtin_ctzll(x)
    """
    int lowest_bit "pm_lowest_bit"(uint64_t x) noexcept nogil


cdef inline int column_of(uint64_t square) noexcept nogil:
    return lowest_bit(square) // PM_STRIDE
