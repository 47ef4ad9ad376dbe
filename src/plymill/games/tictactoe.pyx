"""Tic-tac-toe.

A state's words are: the first player's marks, the second's, 1 if the game is over, and 0. Bits and move
codes are those of ``tictactoe.pxd``.
"""

cimport cython
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from plymill.games.bits cimport SELECT_SIZE, fill_select, list_bits, popcount
from plymill.games.game cimport FIRST, NO_MOVE, OVER, SECOND, Game, GameState, State
from plymill.games.random cimport random_below, random_stream

cdef uint8_t[SELECT_SIZE] _select
fill_select(_select)


cdef int _start(const void *board, GameState *state) noexcept nogil:
    memset(state, 0, sizeof(GameState))
    return FIRST


cdef int _status(const void *board, const GameState *state) noexcept nogil:
    if state.words[2]:
        return OVER
    return popcount(state.words[0] | state.words[1]) & 1


cdef int _moves(const void *board, const GameState *state, int player, uint8_t *moves) noexcept nogil:
    return list_bits(BOARD & ~(state.words[0] | state.words[1]), moves)


cdef int _play(const void *board, GameState *state, int first, int second) noexcept nogil:
    cdef int mover = FIRST if second == NO_MOVE else SECOND
    state.words[mover] |= <uint64_t>1 << (second if mover else first)
    state.words[2] = (
        has_line(state.words[mover]) or (state.words[0] | state.words[1]) == BOARD
    )
    return OVER if state.words[2] else 1 - mover


cdef void _goals(const void *board, const GameState *state, int *goals) noexcept nogil:
    goals[0] = 50 + 50 * has_line(state.words[0]) - 50 * has_line(state.words[1])
    goals[1] = 100 - goals[0]


cdef void _playout(const void *board, GameState *state, random_stream *stream) noexcept nogil:
    cdef uint64_t cells = BOARD & ~(state.words[0] | state.words[1])
    cdef uint32_t count = popcount(cells)
    cdef uint64_t marked, own, other
    if state.words[2]:
        return
    # The sides change places with every move, and at the end once more if they lie the wrong way.
    cdef int mover = (CELLS - count) & 1
    own, other = state.words[mover], state.words[1 - mover]
    while True:
        marked = <uint64_t>1 << cell_of(_select, cells, random_below(stream, count))
        cells ^= marked
        own |= marked
        count -= 1
        if has_line(own) or count == 0:
            break
        own, other = other, own
        mover ^= 1
    state.words[mover], state.words[1 - mover] = own, other
    state.words[2] = 1


def cell_text(cell):
    """Row and column of a cell, each 1 to 3: ``"23"`` is in row 2, column 3."""
    return f"{cell // 3 + 1}{cell % 3 + 1}"


def cell_gdl(cell):
    """The move that marks a cell, as the rule sheets write it: ``( mark 2 3 )``."""
    return f"( mark {cell // 3 + 1} {cell % 3 + 1} )"


def draw_marks(first, second):
    """Three lines of three cells, X for the first player."""
    marks = [".XO"[(first >> cell & 1) + 2 * (second >> cell & 1)] for cell in range(CELLS)]
    return "\n".join(" ".join(marks[row:row + 3]) for row in (0, 3, 6))


@cython.final
cdef class TicTacToe(Game):
    """Tic-tac-toe: three marks in a line win; nobody's line is a draw."""

    def __init__(self):
        self.name = "tictactoe"
        self.players = ("xplayer", "oplayer")
        self.max_plies = CELLS
        self.zero_sum = True
        self.arguments = ()
        self.rules.start, self.rules.status = _start, _status
        self.rules.moves, self.rules.play = _moves, _play
        self.rules.goals, self.rules.playout = _goals, _playout

    def write_move(self, State state not None, int player, int code):
        """Row and column of the cell: ``"23"``."""
        return cell_text(code)

    def write_gdl(self, State state not None, int player, int code):
        """As the rule sheet writes it: ``( mark 2 3 )``."""
        return cell_gdl(code)

    def draw(self, State state not None):
        """The board, X for the first player."""
        return draw_marks(state.data.words[0], state.data.words[1])
