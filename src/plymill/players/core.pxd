"""The UCT engine's C side, as far as ``engine.pyx`` uses it. See tree.h, search.h, reuse.h, lanes.h."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t

from plymill.games.drop cimport drop_board
from plymill.games.game cimport GameState, Rules
from plymill.games.random cimport random_stream


cdef extern from "lanes.h" nogil:
    const int VEC_WORDS
    const int UCT_NO_MOVE
    const int UCT_MAX_LANES
    const int UCT_OVER
    const int PLAYER_UCT

    ctypedef struct uct_side:
        uint8_t slots
        uint32_t visits
        uint8_t tried

    ctypedef struct uct_tree:
        size_t used
        size_t capacity

    ctypedef struct uct_options:
        uint32_t iterations
        int32_t by_visits
        int32_t reuse
        int32_t playout
        int32_t wincheck
        int32_t sequential
        double scale

    ctypedef struct uct_search:
        const Rules *rules
        const uct_options *options
        uct_tree *tree
        random_stream *stream
        uint32_t root
        uint32_t left
        int failed

    ctypedef struct uct_player:
        int32_t kind
        uct_options options

    ctypedef struct uct_match:
        random_stream stream
        const uct_player *players[2]
        const uint8_t *opening
        uint32_t opening_bytes
        uint8_t *moves
        uint16_t *values
        uint32_t bytes
        uint32_t plies
        int goals[2]
        uint64_t iterations

    ctypedef struct uct_lane:
        uct_tree trees[3]

    ctypedef struct uct_visit:
        uint32_t block

    ctypedef struct uct_table:
        const Rules *rules
        const drop_board *drops
        uct_match *matches
        size_t count
        int lane_count
        int failed
        uct_visit *visits
        uct_lane lanes[32]

    void uct_fill_tables()
    double uct_log_root(uint32_t n)
    double uct_inverse_root(uint32_t n)
    uct_side *uct_at(const uct_tree *tree, uint32_t block)
    GameState *uct_state(uct_side *side)
    uint8_t *uct_moves(uct_side *side)
    uint32_t *uct_counts(uct_side *side, int slots)
    uint32_t *uct_sums(uct_side *side, int slots)
    uct_side *uct_root_side(const uct_search *s)
    void uct_tree_free(uct_tree *tree)
    void uct_begin(uct_search *s, const GameState *state, int status, int side)
    void uct_run(uct_search *s, uct_visit *path, uint32_t most)
    int uct_choose(uct_search *s, double *value)
    uint32_t uct_follow(const uct_tree *tree, uint32_t block, const int *played)
    uint32_t uct_keep(uct_tree *tree, uct_tree *spare, uint32_t root)
    int uct_round(uct_table *table)
