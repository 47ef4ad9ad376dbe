"""What every game gives to players: a table of functions on plain structs, and a Python face.

A state is a plain struct of four words whose meaning is the game's own. Moves are codes from 0 to
``MAX_MOVES - 1``. No function allocates, and none checks its input: players give legal moves only.
"""

from libc.stdint cimport uint8_t, uint64_t

from plymill.games.random cimport Stream, random_stream


cdef enum:
    MAX_MOVES = 64
    NO_MOVE = 255  # the move of who is not to move

# The status of a state: who moves next.
cdef enum:
    OVER = -1
    FIRST = 0
    SECOND = 1
    BOTH = 2  # both at once, neither knowing the other's move


# Defined in C, so that the engines of the players, which are C, take them as they are.
cdef extern from "rules.h" nogil:
    ctypedef struct GameState "game_state":
        uint64_t words[4]

    ctypedef struct Rules "game_rules":
        # Sizes and masks of this board, owned by the Game; given to every function.
        const void *board
        # Writes the initial state; returns its status.
        int (*start)(const void *board, GameState *state) noexcept nogil
        # Status of a state.
        int (*status)(const void *board, const GameState *state) noexcept nogil
        # Writes the legal moves of a player who is to move, ascending; returns their number.
        int (*moves)(const void *board, const GameState *state, int player, uint8_t *moves) noexcept nogil
        # Plays the first and the second player's move, NO_MOVE for who is not to move; the new status.
        int (*play)(const void *board, GameState *state, int first, int second) noexcept nogil
        # Goals of both players, 0 to 100, at the end of a game.
        void (*goals)(const void *board, const GameState *state, int *goals) noexcept nogil
        # Plays uniformly random moves to the end, as the generic playout does, only faster.
        void (*playout)(const void *board, GameState *state, random_stream *stream) noexcept nogil


cdef class Game:
    cdef Rules rules
    cdef readonly str name
    cdef readonly tuple players
    cdef readonly int max_plies
    cdef readonly bint zero_sum
    cdef readonly bint one_character  # every move is written as one character, matches without spaces
    cdef readonly tuple arguments  # what the class was called with


cdef class State:
    cdef GameState data
    cdef readonly Game game
    cdef readonly int status


# The playout that is right for every game.
cdef void generic_playout(const Rules *rules, GameState *state, random_stream *stream) noexcept nogil
