"""Walks through the tree of a game, by its rules alone."""

from libc.stdint cimport uint8_t, uint64_t

from plymill.games.game cimport BOTH, MAX_MOVES, NO_MOVE, OVER, GameState, Rules, generic_playout
from plymill.games.random cimport random_stream


cdef inline uint64_t perft(const Rules *rules, const GameState *state, int status, int depth) noexcept nogil:
    """How many ways there are to play ``depth`` plies; a game that is over is not continued."""
    cdef uint8_t moves[2][MAX_MOVES]
    cdef int counts[2]
    cdef int player, i, j
    cdef GameState after
    cdef uint64_t ways = 0
    if depth == 0:
        return 1
    if status == OVER:
        return 0
    for player in range(2):
        moves[player][0], counts[player] = NO_MOVE, 1
        if status in (player, BOTH):
            counts[player] = rules.moves(rules.board, state, player, moves[player])
    if depth == 1:
        return <uint64_t>counts[0] * <uint64_t>counts[1]
    for i in range(counts[0]):
        for j in range(counts[1]):
            after = state[0]
            status = rules.play(rules.board, &after, moves[0][i], moves[1][j])
            ways += perft(rules, &after, status, depth - 1)
    return ways


cdef inline void sum_goals(
    const Rules *rules, const GameState *state, random_stream *stream, int playouts, bint generic,
    long long *sums,
) noexcept nogil:
    """The goals of both players, summed over so many random playouts."""
    cdef GameState end
    cdef int goals[2]
    cdef int _
    sums[0] = sums[1] = 0
    for _ in range(playouts):
        end = state[0]
        if generic:
            generic_playout(rules, &end, stream)
        else:
            rules.playout(rules.board, &end, stream)
        rules.goals(rules.board, &end, goals)
        sums[0] += goals[0]
        sums[1] += goals[1]
