"""Sheep and wolf: four sheep go up the board, and try to leave the wolf no move before he is past them.

The squares have these bits; pieces stand only where column and row are both odd or both even:

    row 8   56 57 58 59 60 61 62 63
    ...
    row 2    8  9 10 11 12 13 14 15
    row 1    0  1  2  3  4  5  6  7
             a  b  c  d  e  f  g  h

A state's words are: the sheep; the number of the wolf's bit; the player to move (after the end, who
would be); and 1 if the game is over. Move codes: of the wolf half the number of the bit to which he
goes; of a sheep the even one of its bit and its neighbour, plus 1 if it goes to the right.
"""

cimport cython
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memset

from plymill.games.bits cimport SELECT_SIZE, byte_counts, fill_select, list_bits, popcount, select
from plymill.games.game cimport FIRST, OVER, SECOND, Game, GameState, State
from plymill.games.random cimport random_below, random_stream


cdef extern from *:
    """
    #define SHEEP_NOT_A UINT64_C(0xFEFEFEFEFEFEFEFE)  /* columns b to h */
    #define SHEEP_NOT_H UINT64_C(0x7F7F7F7F7F7F7F7F)
    #define SHEEP_EVEN_BITS UINT64_C(0x00FF00FF00FF00FF)  /* rows in which pieces stand on these */
    #define SHEEP_START UINT64_C(0x55)  /* a1, c1, e1 and g1 */
    #define SHEEP_WOLF_START 59  /* d8 */
    """
    const uint64_t NOT_A "SHEEP_NOT_A"
    const uint64_t NOT_H "SHEEP_NOT_H"
    const uint64_t EVEN_BITS "SHEEP_EVEN_BITS"
    const uint64_t SHEEP_START
    const int WOLF_START "SHEEP_WOLF_START"

cdef enum:
    WOLF = FIRST
    SHEEP = SECOND

cdef uint8_t[SELECT_SIZE] _select
fill_select(_select)


cdef inline uint64_t _wolf_goals(uint64_t sheep, int wolf) noexcept nogil:
    """The squares to which the wolf can go: one step on a diagonal, any way."""
    cdef uint64_t square = <uint64_t>1 << wolf
    cdef uint64_t left = square & NOT_A, right = square & NOT_H
    return (left << 7 | right << 9 | left >> 9 | right >> 7) & ~sheep


cdef inline uint64_t _even(uint64_t squares) noexcept nogil:
    """Each square's bit, or its even neighbour."""
    return (squares & EVEN_BITS) | (squares & ~EVEN_BITS) >> 1


cdef inline uint64_t _sheep_codes(uint64_t sheep, int wolf) noexcept nogil:
    """The codes of the sheep's moves as bits: one step on a diagonal, upwards."""
    cdef uint64_t free = ~(sheep | <uint64_t>1 << wolf)
    return _even(sheep & NOT_A & free >> 7) | _even(sheep & NOT_H & free >> 9) << 1


cdef inline uint64_t _after_sheep(uint64_t sheep, int code) noexcept nogil:
    # In every other row, from the second, pieces stand on odd bits.
    cdef int square = (code & ~1) | (code >> 3 & 1)
    return sheep ^ (<uint64_t>1 << square) ^ (<uint64_t>1 << (square + (9 if code & 1 else 7)))


cdef inline int _square_of(int code) noexcept nogil:
    """The bit of the wolf's square with this code."""
    return 2 * code | (code >> 2 & 1)


cdef inline bint _over(uint64_t sheep, int wolf) noexcept nogil:
    """A side that cannot move, whoever's turn it is, or no sheep in a row below the wolf's."""
    cdef uint64_t below = ((<uint64_t>1 << (wolf & 0x38)) - 1)
    return not sheep & below or not _wolf_goals(sheep, wolf) or not _sheep_codes(sheep, wolf)


cdef int _start(const void *board, GameState *state) noexcept nogil:
    memset(state, 0, sizeof(GameState))
    state.words[0], state.words[1] = SHEEP_START, WOLF_START
    return WOLF


cdef int _status(const void *board, const GameState *state) noexcept nogil:
    return OVER if state.words[3] else <int>state.words[2]


cdef int _moves(const void *board, const GameState *state, int player, uint8_t *moves) noexcept nogil:
    cdef uint64_t sheep = state.words[0]
    cdef int wolf = <int>state.words[1], count, i
    if player == SHEEP:
        return list_bits(_sheep_codes(sheep, wolf), moves)
    count = list_bits(_wolf_goals(sheep, wolf), moves)
    for i in range(count):
        moves[i] >>= 1
    return count


cdef int _play(const void *board, GameState *state, int first, int second) noexcept nogil:
    if state.words[2] == WOLF:
        state.words[1] = _square_of(first)
    else:
        state.words[0] = _after_sheep(state.words[0], second)
    state.words[2] ^= 1
    state.words[3] = _over(state.words[0], <int>state.words[1])
    return _status(board, state)


cdef void _goals(const void *board, const GameState *state, int *goals) noexcept nogil:
    """The wolf wins if he can move, wherever he stands."""
    goals[WOLF] = 100 if _wolf_goals(state.words[0], <int>state.words[1]) else 0
    goals[SHEEP] = 100 - goals[WOLF]


cdef void _playout(const void *board, GameState *state, random_stream *stream) noexcept nogil:
    cdef uint64_t sheep = state.words[0], mover = state.words[2], choices
    cdef int wolf = <int>state.words[1], chosen
    cdef bint over = state.words[3]
    while not over:
        choices = _wolf_goals(sheep, wolf) if mover == WOLF else _sheep_codes(sheep, wolf)
        chosen = select(
            _select, choices, byte_counts(choices), random_below(stream, popcount(choices))
        )
        if mover == WOLF:
            wolf = chosen
        else:
            sheep = _after_sheep(sheep, chosen)
        mover ^= 1
        over = _over(sheep, wolf)
    state.words[0], state.words[1] = sheep, wolf
    state.words[2], state.words[3] = mover, over


def _square_text(square):
    return f"{'abcdefgh'[square % 8]}{square // 8 + 1}"


def _ends(State state not None, int player, int code):
    """The bits of the squares from which and to which a move goes."""
    if player == WOLF:
        return state.data.words[1], _square_of(code)
    square = (code & ~1) | (code >> 3 & 1)
    return square, square + (9 if code & 1 else 7)


@cython.final
cdef class SheepAndWolf(Game):
    """Sheep and wolf: the wolf wins if he gets past the sheep, they win if he cannot move.

    The game is over as soon as either side could not move, whoever's turn it is; if it is the sheep
    that cannot, the wolf has won.
    """

    def __init__(self):
        self.name = "sheep-and-wolf"
        self.players = ("wolf", "sheep")
        self.max_plies = 56  # of which 28 are the sheep's: four times seven steps up
        self.zero_sum = True
        self.arguments = ()
        self.rules.start, self.rules.status = _start, _status
        self.rules.moves, self.rules.play = _moves, _play
        self.rules.goals, self.rules.playout = _goals, _playout

    def write_move(self, State state not None, int player, int code):
        """The squares from which and to which: ``"d8-c7"``."""
        return "-".join(_square_text(square) for square in _ends(state, player, code))

    def write_gdl(self, State state not None, int player, int code):
        """As the rule sheet writes it: ``( move c4 c8 c3 c7 )``."""
        squares = [f"c{square % 8 + 1} c{square // 8 + 1}" for square in _ends(state, player, code)]
        return f"( move {' '.join(squares)} )"

    def draw(self, State state not None):
        """The board, row 8 first: S for a sheep, W for the wolf."""
        marks = {square: "S" for square in range(64) if state.data.words[0] >> <int>square & 1}
        marks[state.data.words[1]] = "W"
        rows = []
        for row in reversed(range(8)):
            stones = [marks.get(8 * row + column, ".") for column in range(8)]
            rows.append(f"{row + 1} {' '.join(stones)}")
        return "\n".join([*rows, "  a b c d e f g h"])
