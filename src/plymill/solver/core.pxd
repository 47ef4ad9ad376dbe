"""What the parts of the search share: its sizes, a lane's stack, and where an entry belongs.

All functions here and in ``shallow.pxd`` and ``deep.pxd`` are inline, so that each variant of the
search compiles them with its own flags.
"""

from libc.stdint cimport uint64_t

from plymill.games.bitboard cimport PM_KEY_BITS, pm_canonical
from plymill.solver.bounds cimport Node
from plymill.solver.lookahead cimport pm_children
from plymill.solver.table cimport PM_WAYS, pm_hash

cdef enum:
    DEEP = 12             # empty squares from which on a node belongs to the shared table
    PEEK = 14             # empty squares from which on a node looks at its children's entries
    SHARE = 16            # empty squares from which on lanes divide the children of a node
    SHALLOWEST = 7        # with fewer empty squares a look-up costs more than the search
    SMALL_BITS = 17       # log2 of the private table's entries: 1 MiB
    SMALL_TAG_BITS = PM_KEY_BITS - SMALL_BITS
    MAX_LANES = 8
    TEAM = 2              # lanes that search one position together: more search too much twice
    INFINITE = 100

cdef struct Frame:
    Node node
    pm_children children
    uint64_t hashes[16]   # of the children, by column
    uint64_t hash
    uint64_t moves
    uint64_t nodes_before
    int lower
    int upper
    int best
    int sign              # -1 if an odd number of moves lies between the parent and this node
    int column            # the move being searched, -1 before the first
    int deferred          # columns that other lanes were searching, a bit each
    bint expect_cut       # one move is expected to settle this node; else all have to fail

cdef struct Lane:
    Frame* frames
    int depth             # index of the top frame, -1 if none
    Py_ssize_t index      # which position it works on
    uint64_t own
    uint64_t mask
    int left
    int lower             # MTD(f): bounds known so far
    int upper
    int guess
    int value             # result of the null window that has just ended
    int told              # what another lane has found for the top frame, or UNDECIDED

cdef struct Core:
    uint64_t* table
    int table_shift       # hash >> table_shift is the bucket's number
    uint64_t tag_mask
    uint64_t* small
    uint64_t nodes
    uint64_t probes
    uint64_t hits
    Lane* team            # lanes that search one position together
    int team_size         # 0 while each lane has a position of its own


cdef inline uint64_t deep_hash(uint64_t own, uint64_t mask) noexcept nogil:
    """The hash of the canonical key: mirror images share one entry."""
    return pm_hash(pm_canonical(own + mask))


cdef inline uint64_t* bucket(const Core* core, uint64_t hash) noexcept nogil:
    return core.table + (hash >> core.table_shift) * PM_WAYS
