"""The shared transposition table. See table.h for the entry and table.pyx for the class."""

from libc.stdint cimport uint64_t

cdef extern from "table.h" nogil:
    const int PM_WAYS
    const int PM_TAG_SHIFT
    const int PM_MIN_INDEX_BITS

    uint64_t pm_hash(uint64_t key) noexcept
    uint64_t pm_load(const uint64_t* entry) noexcept
    void pm_store(uint64_t* entry, uint64_t value) noexcept
    void pm_prefetch(const void* address) noexcept
    uint64_t pm_entry(uint64_t tag, int lower, int upper, uint64_t nodes) noexcept
    int pm_lower(uint64_t entry) noexcept
    int pm_upper(uint64_t entry) noexcept
    int pm_work(uint64_t entry) noexcept
    uint64_t pm_probe(const uint64_t* bucket, uint64_t tag) noexcept
    void pm_replace(uint64_t* bucket, uint64_t entry) noexcept
    void* pm_pages(size_t bytes) noexcept
    void pm_pages_free(void* pages, size_t bytes) noexcept


cdef class Table:
    cdef uint64_t* entries
    cdef readonly size_t nbytes
    cdef readonly int index_bits
