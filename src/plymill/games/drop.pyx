"""Connect Four on boards of any size that fits 64 bits, and its misere form.

For matches; what the solver and the books work with is ``Position`` in ``connect4.pyx``. Move codes
are columns, 0 at the left. State and playout stand in ``drop.h``.
"""

cimport cython
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memset

from plymill.games.bitboard cimport pm_popcount
from plymill.games.game cimport FIRST, NO_MOVE, Game, GameState, State
from plymill.games.random cimport random_stream

from operator import index

from plymill.errors import GameError

_STONES = ".XO"


cdef int _start(const void *board, GameState *state) noexcept nogil:
    memset(state, 0, sizeof(GameState))
    return FIRST


cdef int _status(const void *board, const GameState *state) noexcept nogil:
    return drop_status(state)


cdef int _moves(const void *board, const GameState *state, int player, uint8_t *moves) noexcept nogil:
    return drop_moves(<const drop_board*>board, state, moves)


cdef int _play(const void *board, GameState *state, int first, int second) noexcept nogil:
    return drop_play(<const drop_board*>board, state, second if first == NO_MOVE else first)


cdef void _goals(const void *board, const GameState *state, int *goals) noexcept nogil:
    """Who made the four, the last to move, gets 100, or 0 in the misere form; 50 each without one."""
    cdef int last = (pm_popcount(state.words[1]) & 1) ^ 1
    goals[0] = goals[1] = 50
    if state.words[2] == DROP_FOUR:
        goals[last] = 0 if (<const drop_board*>board).misere else 100
        goals[1 - last] = 100 - goals[last]


cdef void _playout(const void *board, GameState *state, random_stream *stream) noexcept nogil:
    drop_playout(<const drop_board*>board, state, stream)


@cython.final
cdef class ConnectFour(Game):
    """Connect Four: players drop stones into columns, and four in a row win.

    Args:
        width: columns, at least 4.
        height: rows. ``width * (height + 1)`` is at most 64.
        misere: who makes four in a row loses.

    Raises:
        GameError: a board too small or too large.
    """

    def __init__(self, width=7, height=6, misere=False):
        width, height, misere = index(width), index(height), bool(misere)
        if width < 4 or height < 1 or width * (height + 1) > 64:
            raise GameError(
                f"Connect Four of {width} columns and {height} rows cannot be played, expected 4 columns "
                "or more, 1 row or more, and columns * (rows + 1) at most 64"
            )
        self.arguments = (width, height, misere)
        self.name = f"connect4{'-suicide' if misere else ''}-{width}x{height}"
        self.players = ("red", "black")
        self.max_plies = width * height
        self.zero_sum = True
        self.one_character = width < 10
        self._lay_out(width, height, misere)

    def _lay_out(self, int width, int height, bint misere):
        cdef int column
        memset(&self.board, 0, sizeof(drop_board))
        self.board.width, self.board.height, self.board.stride = width, height, height + 1
        self.board.misere = misere
        for column in range(width):
            self.board.bottom |= <uint64_t>1 << (self.board.stride * column)
        self.board.top = self.board.bottom << (height - 1)
        self.board.board = self.board.bottom * ((<uint64_t>1 << height) - 1)
        self.rules.board = &self.board
        self.rules.start, self.rules.status = _start, _status
        self.rules.moves, self.rules.play = _moves, _play
        self.rules.goals, self.rules.playout = _goals, _playout

    def write_move(self, State state not None, int player, int code):
        """The column, 1 at the left."""
        return str(code + 1)

    def write_gdl(self, State state not None, int player, int code):
        """As the rule sheet writes it: ``( drop 4 )``."""
        return f"( drop {code + 1} )"

    def draw(self, State state not None):
        """The board, the top row first, X for the first player; columns are numbered below."""
        cdef uint64_t mask = state.data.words[1], square
        cdef uint64_t second = state.data.words[0]
        if not pm_popcount(mask) & 1:
            second ^= mask
        rows = []
        for row in reversed(range(self.board.height)):
            stones = []
            for column in range(self.board.width):
                square = <uint64_t>1 << <int>(self.board.stride * column + row)
                stones.append(_STONES[((mask & square) != 0) + ((second & square) != 0)])
            rows.append(" ".join(stones))
        rows.append(" ".join(str((column + 1) % 10) for column in range(self.board.width)))
        return "\n".join(rows)
