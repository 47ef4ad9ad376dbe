"""The UCT engine: one search for a player, and whole matches, several of them interleaved.

Compiled several times, once for each level of processor; ``dispatch`` picks one. All give the same
moves and values, bit for bit. The engine itself is C: see ``tree.h`` and the headers that follow it.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp

from cpython.exc cimport PyErr_CheckSignals

from plymill.games.drop cimport ConnectFour
from plymill.games.game cimport BOTH, NO_MOVE, Game, GameState, State
from plymill.games.random cimport Stream, random_start
from plymill.players.core cimport (
    PLAYER_UCT, UCT_MAX_LANES, VEC_WORDS, uct_at, uct_begin, uct_choose, uct_counts, uct_fill_tables,
    uct_follow, uct_inverse_root, uct_keep, uct_log_root, uct_match, uct_moves, uct_options, uct_player,
    uct_root_side, uct_round, uct_run, uct_search, uct_side, uct_state, uct_sums, uct_table, uct_tree,
    uct_tree_free, uct_visit,
)

import time

import numpy as np

cdef enum:
    TURN = 1 << 12  # iterations between two looks for signals: some milliseconds

MAX_LANES = UCT_MAX_LANES

_NO_MEMORY = "the system gives no more memory for the search tree"

uct_fill_tables()


cdef uct_options options_of(tuple settings):
    """From (iterations, scale, by_visits, reuse, playout, wincheck, sequential)."""
    cdef uct_options options
    (
        options.iterations, options.scale, options.by_visits, options.reuse, options.playout,
        options.wincheck, options.sequential,
    ) = settings
    return options


cdef size_t blocks_of(Game game):
    """The most blocks on the way of a visit: a simultaneous ply may take two."""
    return 2 * game.max_plies + 2


cdef class Searcher:
    """The search of one player: one position after the other, the tree kept between them if asked.

    Args:
        game: the game.
        settings: see ``plymill.players.uct.settings_of``.
    """

    cdef readonly Game game
    cdef uct_options options
    cdef uct_search search
    cdef uct_tree trees[2]
    cdef uct_visit* path
    cdef uint32_t root  # of the tree that is kept

    def __cinit__(self, Game game not None, tuple settings not None):
        self.game = game
        self.options = options_of(settings)
        self.path = <uct_visit*>calloc(blocks_of(game), sizeof(uct_visit))
        if self.path is NULL:
            raise MemoryError("no memory for the path of a search")

    def __dealloc__(self):
        free(self.path)
        self.close()

    cpdef close(self):
        """Gives the memory back; a further search takes it again."""
        self.forget()
        for i in range(2):
            uct_tree_free(&self.trees[i])

    cpdef forget(self):
        """Drops the tree: a new match."""
        self.root = 0
        self.search.root = 0

    @property
    def memory(self):
        """Bytes taken for trees."""
        return self.trees[0].capacity + self.trees[1].capacity

    @property
    def used(self):
        """Bytes that the last search needed of them."""
        return self.trees[0].used

    def choose(self, State state not None, int side, Stream stream not None):
        """The move that the search of a position gives, and its average, 0 to 1.

        Args:
            state: a position of the game in which ``side`` is to move.
            side: who searches.
            stream: the match's random numbers.

        Raises:
            MemoryError: the tree does not fit the memory.
        """
        cdef uct_search* s = &self.search
        cdef double value = 0
        s.rules = &self.game.rules
        s.options = &self.options
        s.tree = &self.trees[0]
        s.stream = &stream.data
        s.root = self.kept(&state.data)
        self.root = 0
        uct_begin(s, &state.data, state.status, side)
        while s.left and not s.failed:
            with nogil:
                uct_run(s, self.path, TURN)
            PyErr_CheckSignals()
        if s.failed:
            self.close()
            raise MemoryError(_NO_MEMORY)
        if self.options.reuse:
            self.root = s.root
        move = uct_choose(s, &value)
        return move, value

    cdef uint32_t kept(self, const GameState* state):
        """The block of the position in the tree that was kept; 0 if there is none."""
        cdef uct_side* side
        cdef uint32_t root
        if self.root == 0:
            return 0
        side = uct_at(&self.trees[0], self.root)
        if memcmp(uct_state(side), state, sizeof(GameState)) != 0:
            return 0
        root = uct_keep(&self.trees[0], &self.trees[1], self.root)
        if root == 0:  # to go on without would be another match
            self.close()
            raise MemoryError(_NO_MEMORY)
        return root

    def observe(self, tuple moves not None, int status):
        """Follows moves that were played in the tree that is kept.

        Args:
            moves: one move, or both of a simultaneous one.
            status: of the position in which they were played.
        """
        cdef int played[2]
        if self.root == 0:
            return
        played[0] = played[1] = NO_MOVE
        if status == BOTH:
            played[0], played[1] = moves
        else:
            played[status] = moves[0]
        self.root = uct_follow(&self.trees[0], self.root, played)

    def statistics(self):
        """Of the last search: a tuple of move, visits and sum of goals for each move tried.

        The moves are in the order of their first try.
        """
        if self.search.root == 0:
            return []
        cdef uct_side* side = uct_root_side(&self.search)
        return [
            (
                uct_moves(side)[i],
                uct_counts(side, side.slots)[i],
                uct_sums(side, side.slots)[i],
            )
            for i in range(side.tried)
        ]


cdef class _Matches:
    """The matches of one call in C, and the memory that they need."""

    cdef Game game
    cdef uct_table table
    cdef uct_player* players
    cdef Py_ssize_t room  # moves a match can have
    cdef object moves, values

    def __cinit__(self, Game game, list players, Py_ssize_t count, int lanes):
        self.game = game
        self.room = 2 * game.max_plies
        self.players = <uct_player*>calloc(max(len(players), 1), sizeof(uct_player))
        self.table.matches = <uct_match*>calloc(max(count, 1), sizeof(uct_match))
        self.table.rules = &self.game.rules
        if isinstance(game, ConnectFour):
            self.table.drops = &(<ConnectFour>game).board
        self.table.count = count
        self.table.lane_count = min(max(lanes, 1), UCT_MAX_LANES)
        self.table.visits = <uct_visit*>calloc(
            self.table.lane_count * blocks_of(game), sizeof(uct_visit)
        )
        if self.players is NULL or self.table.matches is NULL or self.table.visits is NULL:
            raise MemoryError("no memory for the matches of a unit")
        for i, (kind, settings) in enumerate(players):
            self.players[i].kind = kind
            if kind == PLAYER_UCT:
                self.players[i].options = options_of(settings)

    def __dealloc__(self):
        for i in range(self.table.lane_count):
            for j in range(3):
                uct_tree_free(&self.table.lanes[i].trees[j])
        free(self.table.visits)
        free(self.table.matches)
        free(self.players)

    def set(self, uint64_t[:, ::1] seeds, int[:, ::1] pairs, list openings):
        cdef uint8_t[:, ::1] moves
        cdef uint16_t[:, ::1] values
        cdef const uint8_t[::1] opening
        cdef uct_match* match
        self.moves = moves = np.zeros((self.table.count, self.room), dtype=np.uint8)
        self.values = values = np.zeros((self.table.count, self.room), dtype=np.uint16)
        for i in range(<Py_ssize_t>self.table.count):
            match = &self.table.matches[i]
            random_start(&match.stream, seeds[i, 0], seeds[i, 1], seeds[i, 2])
            match.players[0] = &self.players[pairs[i, 0]]
            match.players[1] = &self.players[pairs[i, 1]]
            match.moves = &moves[i, 0]
            match.values = &values[i, 0]
            match.opening_bytes = <uint32_t>len(openings[i])
            if openings[i]:
                opening = openings[i]
                match.opening = &opening[0]

    def play(self):
        cdef int running = 1, _
        while running:
            with nogil:
                for _ in range(TURN):
                    running = uct_round(&self.table)
                    if running == 0 or self.table.failed:
                        break
            if self.table.failed:
                raise MemoryError("the system gives no more memory for the search trees of a unit")
            PyErr_CheckSignals()

    def result(self):
        """Arrays: goals (n, 2), plies, lengths, moves and values one after the other, iterations."""
        cdef Py_ssize_t count = self.table.count
        goals = np.zeros((count, 2), dtype=np.int16)
        plies = np.zeros(count, dtype=np.uint16)
        lengths = np.zeros(count, dtype=np.uint16)
        iterations = np.zeros(count, dtype=np.uint64)
        for i in range(count):
            goals[i] = self.table.matches[i].goals[0], self.table.matches[i].goals[1]
            plies[i] = self.table.matches[i].plies
            lengths[i] = self.table.matches[i].bytes
            iterations[i] = self.table.matches[i].iterations
        held = np.arange(self.room) < lengths[:, np.newaxis]
        return goals, plies, lengths, self.moves[held], self.values[held], iterations


def play_matches(game, players, matches, lanes):
    """Plays matches of native players; see ``plymill.players.native.play_uct_matches``.

    Args:
        game: the game.
        players: a list of tuples of kind and settings.
        matches: uint64 array of seed, cell and match for each match; int32 array of two numbers of
            players for each; a list of bytes, their openings.
        lanes: how many matches take turns.

    Returns:
        Arrays of goals, plies, lengths, moves, values and iterations, and the seconds of all.

    Raises:
        MemoryError: the trees do not fit the memory.
    """
    unit = _Matches(game, players, len(matches[0]), lanes)
    unit.set(*matches)
    start = time.perf_counter()
    unit.play()
    return *unit.result(), time.perf_counter() - start


def best_lanes(game):
    """How many matches should take turns.

    Playouts of Connect Four fill a vector, if there is one. Otherwise nothing is gained by more than
    one: a search follows choices that are made, and hardly waits for memory.
    """
    return VEC_WORDS if VEC_WORDS and isinstance(game, ConnectFour) else 1


def numbers(n):
    """The engine's sqrt(ln n) and 1 / sqrt(n), to be checked."""
    return uct_log_root(n), uct_inverse_root(n)
