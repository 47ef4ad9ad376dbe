"""Dots and boxes, and its misere form.

Lines are numbered in the order of their ends (x1, y1, x2, y2), which count dots from 1: with the dot
(1, 1) come (1, 1, 1, 2) and (1, 1, 2, 1), then (1, 2, 1, 3), and so on. The number is a line's bit and
its move code. A state's words are: the lines that are drawn, the boxes of the first player, those of
the second, and the player who is to move (after the end, who would be).
"""

cimport cython
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from plymill.games.bits cimport SELECT_SIZE, byte_counts, fill_select, list_bits, popcount, select
from plymill.games.game cimport FIRST, MAX_MOVES, OVER, Game, GameState, State
from plymill.games.random cimport random_below, random_stream

from operator import index

from plymill.errors import GameError

#: Most boxes on a side: the dots' numbers are written as one digit each.
_MOST_BOXES = 8
#: Bit 63, which is no line on any board, and so is never drawn.
_NO_BOX = 1 << 63

cdef uint8_t[SELECT_SIZE] _select
fill_select(_select)


cdef struct _Board:
    uint64_t lines
    # For each line the other three lines of the boxes on both sides of it; _NO_BOX where there is none.
    uint64_t others[MAX_MOVES][2]
    int misere


cdef int _start(const void *board, GameState *state) noexcept nogil:
    memset(state, 0, sizeof(GameState))
    return FIRST


cdef int _status(const void *board, const GameState *state) noexcept nogil:
    return OVER if state.words[0] == (<const _Board*>board).lines else <int>state.words[3]


cdef int _moves(const void *board, const GameState *state, int player, uint8_t *moves) noexcept nogil:
    return list_bits((<const _Board*>board).lines & ~state.words[0], moves)


cdef inline uint64_t _boxes(const _Board *board, uint64_t drawn, int line) noexcept nogil:
    """How many boxes a line completes, when these lines are drawn before it."""
    cdef const uint64_t *others = board.others[line]
    return ((drawn & others[0]) == others[0]) + ((drawn & others[1]) == others[1])


cdef int _play(const void *board, GameState *state, int first, int second) noexcept nogil:
    cdef int mover = <int>state.words[3]
    cdef int line = second if mover else first
    cdef uint64_t boxes = _boxes(<const _Board*>board, state.words[0], line)
    state.words[0] |= <uint64_t>1 << line
    state.words[1 + mover] += boxes
    state.words[3] ^= boxes == 0  # who completes a box moves again
    return _status(board, state)


cdef void _goals(const void *board, const GameState *state, int *goals) noexcept nogil:
    """More boxes win; of equally many those of the second player, as on the published sheet."""
    cdef bint first_has_more = state.words[1] > state.words[2]
    goals[0] = 100 if first_has_more != (<const _Board*>board).misere else 0
    goals[1] = 100 - goals[0]


cdef void _playout(const void *board, GameState *state, random_stream *stream) noexcept nogil:
    """Takes the k-th line that is not drawn; how many are left in each byte is kept up to date."""
    cdef const _Board *sizes = <const _Board*>board
    cdef uint64_t drawn = state.words[0], left = sizes.lines & ~drawn
    cdef uint64_t counts = byte_counts(left), mover = state.words[3], boxes
    cdef uint64_t[2] won
    cdef uint32_t count = popcount(left)
    cdef int line
    won[0], won[1] = state.words[1], state.words[2]
    while count:
        line = select(_select, left, counts, random_below(stream, count))
        boxes = _boxes(sizes, drawn, line)
        won[mover] += boxes
        mover ^= boxes == 0
        drawn |= <uint64_t>1 << line
        left ^= <uint64_t>1 << line
        counts -= <uint64_t>0x0101010101010101 << (line & 0x38)  # of its byte and those above
        count -= 1
    state.words[0], state.words[3] = drawn, mover
    state.words[1], state.words[2] = won[0], won[1]


def _lines(width, height):
    """The lines as (x1, y1, x2, y2), in the order of their numbers."""
    dots = [(x, y) for x in range(1, width + 2) for y in range(1, height + 2)]
    ends = [(x, y, x, y + 1) for x, y in dots if y <= height]
    return sorted(ends + [(x, y, x + 1, y) for x, y in dots if x <= width])


def _box_at(number, x, y):
    """The lines of the box of which (x, y) is the first corner, as bits; _NO_BOX off the board."""
    sides = ((x, y, x, y + 1), (x, y, x + 1, y), (x, y + 1, x + 1, y + 1), (x + 1, y, x + 1, y + 1))
    if not all(side in number for side in sides):
        return _NO_BOX
    return sum(1 << number[side] for side in sides)


@cython.final
cdef class Boxes(Game):
    """Dots and boxes: who draws the last line of a box gets it and moves again; more boxes win.

    With equally many boxes, which needs an even number of them, the second player has won.

    Args:
        width: boxes in a row, 1 to 8.
        height: rows of boxes, 1 to 8. There are at most 64 lines.
        misere: who has more boxes loses.

    Raises:
        GameError: a board of another size.
    """

    cdef _Board board
    cdef tuple lines

    def __init__(self, width=5, height=5, misere=False):
        width, height, misere = index(width), index(height), bool(misere)
        if not (1 <= width <= _MOST_BOXES and 1 <= height <= _MOST_BOXES) or (
            2 * width * height + width + height > MAX_MOVES
        ):
            raise GameError(
                f"dots and boxes on {width} by {height} boxes cannot be played, expected 1 to "
                f"{_MOST_BOXES} on a side and at most {MAX_MOVES} lines in all"
            )
        self.lines = tuple(_lines(width, height))
        self.arguments = (width, height, misere)
        self.name = f"boxes{'-suicide' if misere else ''}-{width}x{height}"
        self.players = ("xplayer", "oplayer")
        self.max_plies = len(self.lines)
        self.zero_sum = True
        self._lay_out(misere)
        self.rules.board = &self.board
        self.rules.start, self.rules.status = _start, _status
        self.rules.moves, self.rules.play = _moves, _play
        self.rules.goals, self.rules.playout = _goals, _playout

    def _lay_out(self, misere):
        number = {line: code for code, line in enumerate(self.lines)}
        self.board.lines = (<uint64_t>1 << len(number)) - 1
        self.board.misere = misere
        for line, code in number.items():
            x1, y1, x2, y2 = line
            # Of a line with equal x the boxes lie at x - 1 and x, of one with equal y likewise.
            boxes = [_box_at(number, x1 - (x1 == x2), y1 - (y1 == y2)), _box_at(number, x1, y1)]
            for side, box in enumerate(boxes):
                self.board.others[code][side] = box & ~(1 << code)

    def write_move(self, State state not None, int player, int code):
        """The dots at both ends, column and row of each: ``"11-12"``."""
        x1, y1, x2, y2 = self.lines[code]
        return f"{x1}{y1}-{x2}{y2}"

    def write_gdl(self, State state not None, int player, int code):
        """As the rule sheet writes it: ``( draw 1 1 1 2 )``."""
        return f"( draw {' '.join(str(number) for number in self.lines[code])} )"

    def draw(self, State state not None):
        """The dots, (1, 1) at the top left, x to the right, with the lines; below it the boxes."""
        drawn = {line for code, line in enumerate(self.lines) if state.data.words[0] >> <int>code & 1}
        width, height, _ = self.arguments
        rows = []
        for y in range(1, height + 2):
            across = ["--" if (x, y, x + 1, y) in drawn else "  " for x in range(1, width + 1)]
            down = ["|" if (x, y, x, y + 1) in drawn else " " for x in range(1, width + 2)]
            rows += ["+" + "".join(f"{line}+" for line in across), "  ".join(down)]
        boxes = f"boxes: {self.players[0]} {state.data.words[1]}, {self.players[1]} {state.data.words[2]}"
        rows.pop()  # nothing hangs from the last row of dots
        return "\n".join([*(row.rstrip() for row in rows), boxes])
