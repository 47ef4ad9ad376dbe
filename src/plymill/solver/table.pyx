"""The transposition table that the solvers of one process share."""

cimport cython
from libc.string cimport memset

from plymill.games.bitboard cimport PM_KEY_BITS

from plymill.errors import SolverError, TableMemoryError

MAX_MB = 1 << 22


@cython.final
cdef class Table:
    """Bounds on scores already searched, shared by any number of threads without locks.

    Args:
        mb: size in MiB; rounded down to a power of two, and on very large or small boards brought
            into the range in which index and tag hold exactly a key.

    Attributes:
        nbytes: the size in bytes.
        index_bits: log2 of the number of buckets.

    Raises:
        SolverError: a size below 1 MiB or above 4 TiB.
        TableMemoryError: the system has not so much memory.
    """

    def __cinit__(self, mb=256):
        if not 1 <= mb <= MAX_MB:
            raise SolverError(f"table size is {mb} MiB, expected 1 to {MAX_MB}")
        bucket_bytes = PM_WAYS * sizeof(uint64_t)
        wanted = ((<size_t>mb << 20) // bucket_bytes).bit_length() - 1
        self.index_bits = min(max(wanted, PM_MIN_INDEX_BITS), PM_KEY_BITS - 1)
        self.nbytes = <size_t>bucket_bytes << self.index_bits
        self.entries = <uint64_t*>pm_pages(self.nbytes)
        if self.entries is NULL:
            raise TableMemoryError(
                f"no {self.nbytes >> 20} MiB of memory for the transposition table, expected a smaller one"
            )

    def __dealloc__(self):
        pm_pages_free(self.entries, self.nbytes)

    def clear(self):
        """Forgets everything. No search may be using the table meanwhile."""
        with nogil:
            memset(self.entries, 0, self.nbytes)

    def filled(self):
        """The fraction of a sample of places that hold an entry, 0 to 1."""
        cdef size_t sample = min(self.nbytes // sizeof(uint64_t), 1 << 16)
        cdef size_t held = 0, i
        for i in range(sample):
            held += pm_load(self.entries + i) != 0  # others may be writing
        return <double>held / <double>sample

    def __repr__(self):
        return f"Table(mb={self.nbytes >> 20})"
