"""Four in a row on boards of any size; see ``drop.h`` for the state and the picture of the board."""

from libc.stdint cimport uint8_t, uint64_t

from plymill.games.game cimport Game, GameState
from plymill.games.random cimport random_stream


cdef extern from "drop.h" nogil:
    ctypedef struct drop_board:
        uint64_t bottom
        uint64_t top
        uint64_t board
        int width
        int height
        int stride
        int misere

    const int DROP_FOUR

    int drop_status(const GameState *state) noexcept
    int drop_moves(const drop_board *board, const GameState *state, uint8_t *moves) noexcept
    int drop_play(const drop_board *board, GameState *state, int column) noexcept
    void drop_playout(const drop_board *board, GameState *state, random_stream *stream) noexcept


cdef class ConnectFour(Game):
    cdef drop_board board
