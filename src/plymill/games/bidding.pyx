"""Bidding tic-tac-toe: both players bid coins at once for the right to mark a cell.

A state's words are: the first player's marks and the second's (bits as in ``tictactoe.pxd``); the coins
of both and who has the tiebreaker, as ``coins | coins << 8 | player << 16``; and the phase. Move codes: 0
to 8 mark a cell, ``9 + 2 * coins`` is a bid, and one more a bid with the tiebreaker.
"""

cimport cython
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from plymill.games.bits cimport SELECT_SIZE, fill_select, list_bits, popcount
from plymill.games.game cimport BOTH, FIRST, OVER, SECOND, Game, GameState, State
from plymill.games.random cimport random_below, random_stream
from plymill.games.tictactoe cimport BOARD, CELLS, cell_of, has_line

from plymill.games.tictactoe import cell_gdl, cell_text, draw_marks

cdef enum:
    COINS = 3  # of each player, at the start
    FIRST_BID = CELLS  # the code of the bid of nothing

cdef enum:
    # The phases: 1 + the player who marks, between two ends.
    BIDS = 0
    ENDED = 3

cdef uint8_t[SELECT_SIZE] _select
fill_select(_select)


cdef int _start(const void *board, GameState *state) noexcept nogil:
    state.words[0] = state.words[1] = 0
    state.words[2] = COINS | COINS << 8  # and the first player has the tiebreaker
    state.words[3] = BIDS
    return BOTH


cdef int _status(const void *board, const GameState *state) noexcept nogil:
    if state.words[3] == BIDS:
        return BOTH
    return OVER if state.words[3] == ENDED else <int>state.words[3] - 1


cdef inline int _coins(const GameState *state, int player) noexcept nogil:
    return <int>(state.words[2] >> (8 * player) & 0xFF)


cdef inline int _tiebreaker(const GameState *state) noexcept nogil:
    """The player who has it."""
    return <int>(state.words[2] >> 16)


cdef int _moves(const void *board, const GameState *state, int player, uint8_t *moves) noexcept nogil:
    cdef int coins, count = 0
    if state.words[3] != BIDS:
        return list_bits(BOARD & ~(state.words[0] | state.words[1]), moves)
    for coins in range(_coins(state, player) + 1):
        moves[count] = <uint8_t>(FIRST_BID + 2 * coins)
        moves[count + 1] = moves[count] + 1
        count += 2 if player == _tiebreaker(state) else 1
    return count


cdef inline int _settle(GameState *state, int first, int second) noexcept nogil:
    """Compares two bids and hands over coins and tiebreaker; returns who won and marks next.

    Of equal bids that of the holder of the tiebreaker wins if he added it, and loses otherwise. The
    tiebreaker goes to the loser whenever the winner added it, needed or not.
    """
    cdef int holder = _tiebreaker(state)
    cdef int gap = ((first - FIRST_BID) >> 1) - ((second - FIRST_BID) >> 1)
    cdef int added = ((second if holder else first) - FIRST_BID) & 1
    cdef int winner, coins
    if gap != 0:
        winner = FIRST if gap > 0 else SECOND
    else:
        winner = holder if added else 1 - holder
    coins = ((second if winner else first) - FIRST_BID) >> 1
    if winner == holder and added:
        holder = 1 - holder
    state.words[2] = (
        <uint64_t>(_coins(state, 0) + (coins if winner else -coins))
        | <uint64_t>(_coins(state, 1) + (-coins if winner else coins)) << 8
        | <uint64_t>holder << 16
    )
    state.words[3] = winner + 1
    return winner


cdef inline int _mark(GameState *state, int player, int cell) noexcept nogil:
    state.words[player] |= <uint64_t>1 << cell
    if has_line(state.words[player]) or (state.words[0] | state.words[1]) == BOARD:
        state.words[3] = ENDED
        return OVER
    state.words[3] = BIDS
    return BOTH


cdef int _play(const void *board, GameState *state, int first, int second) noexcept nogil:
    cdef int player = <int>state.words[3] - 1
    if state.words[3] == BIDS:
        return _settle(state, first, second)
    return _mark(state, player, second if player else first)


cdef void _goals(const void *board, const GameState *state, int *goals) noexcept nogil:
    goals[0] = 50 + 50 * has_line(state.words[0]) - 50 * has_line(state.words[1])
    goals[1] = 100 - goals[0]


cdef inline int _random_bid(const GameState *state, int player, random_stream *stream) noexcept nogil:
    cdef uint32_t choices = _coins(state, player) + 1
    if player == _tiebreaker(state):
        return FIRST_BID + random_below(stream, 2 * choices)
    return FIRST_BID + 2 * random_below(stream, choices)


cdef void _playout(const void *board, GameState *state, random_stream *stream) noexcept nogil:
    cdef uint64_t cells = BOARD & ~(state.words[0] | state.words[1])
    cdef int player, first, cell
    while state.words[3] != ENDED:
        if state.words[3] == BIDS:
            first = _random_bid(state, FIRST, stream)
            _settle(state, first, _random_bid(state, SECOND, stream))
        player = <int>state.words[3] - 1
        cell = cell_of(_select, cells, random_below(stream, popcount(cells)))
        cells ^= <uint64_t>1 << cell
        _mark(state, player, cell)


@cython.final
cdef class BiddingTicTacToe(Game):
    """Tic-tac-toe in which the higher bid of coins, made by both at once, wins each turn.

    The winner's coins go to the loser; who has the tiebreaker may add it to a bid.
    """

    def __init__(self):
        self.name = "bidding-tictactoe"
        self.players = ("x", "o")
        self.max_plies = 2 * CELLS
        self.zero_sum = True
        self.arguments = ()
        self.rules.start, self.rules.status = _start, _status
        self.rules.moves, self.rules.play = _moves, _play
        self.rules.goals, self.rules.playout = _goals, _playout

    def write_move(self, State state not None, int player, int code):
        """A cell by row and column, ``"23"``; a bid as ``"bid2"``, with the tiebreaker ``"bid2+"``."""
        if code < FIRST_BID:
            return cell_text(code)
        return f"bid{(code - FIRST_BID) // 2}{'+' if (code - FIRST_BID) % 2 else ''}"

    def write_gdl(self, State state not None, int player, int code):
        """As the rule sheet writes it: ``( mark 2 3 )`` and ``( bid 2 with_tiebreaker )``."""
        if code < FIRST_BID:
            return cell_gdl(code)
        tiebreaker = "with_tiebreaker" if (code - FIRST_BID) % 2 else "no_tiebreaker"
        return f"( bid {(code - FIRST_BID) // 2} {tiebreaker} )"

    def draw(self, State state not None):
        """The board, X for the first player, and a line of the coins of each."""
        coins = [f"{self.players[i]} has {_coins(&state.data, i)}" for i in range(2)]
        coins[_tiebreaker(&state.data)] += " and the tiebreaker"
        board = draw_marks(state.data.words[0], state.data.words[1])
        return f"{board}\ncoins: {', '.join(coins)}"
