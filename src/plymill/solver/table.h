/* The transposition table's memory, entries and hash.
 *
 * An entry is one 64-bit word, so that threads share a table without locks: a load sees a whole
 * entry of some thread, or none.
 *
 *     63            18 17      12 11       6 5        0
 *     |     tag       |   work   | upper+32 | lower+32 |
 *
 * The hash is a bijection on keys. The bucket's index is its high bits and the tag all the rest,
 * so an entry can never be taken for another position's. Work is 1 + log2 of the nodes that the
 * bounds cost; a word of zero is an empty place.
 */
#ifndef PLYMILL_TABLE_H
#define PLYMILL_TABLE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "bitboard.h"

#define PM_WAYS 4 /* entries a bucket of the shared table */
#define PM_TAG_SHIFT 18
#define PM_MIN_INDEX_BITS (PM_KEY_BITS - (64 - PM_TAG_SHIFT)) /* fewer could not hold the tag */
#define PM_HUGE_PAGE ((size_t)2 << 20)

PM_INLINE uint64_t pm_hash(uint64_t key)
{
    key ^= key >> (PM_KEY_BITS / 2 + 1);
    return (key * UINT64_C(0x1D8E4E27C47D125)) & PM_KEY_MASK;
}

PM_INLINE uint64_t pm_load(const uint64_t *entry) { return __atomic_load_n(entry, __ATOMIC_RELAXED); }
PM_INLINE void pm_store(uint64_t *entry, uint64_t value)
{
    __atomic_store_n(entry, value, __ATOMIC_RELAXED);
}
PM_INLINE void pm_prefetch(const void *address) { __builtin_prefetch(address); }

PM_INLINE uint64_t pm_entry(uint64_t tag, int lower, int upper, uint64_t nodes)
{
    uint64_t work = nodes ? 64 - (uint64_t)__builtin_clzll(nodes) : 1;
    return tag << PM_TAG_SHIFT | work << 12 | (uint64_t)(upper + 32) << 6 | (uint64_t)(lower + 32);
}
PM_INLINE int pm_lower(uint64_t entry) { return (int)(entry & 63) - 32; }
PM_INLINE int pm_upper(uint64_t entry) { return (int)(entry >> 6 & 63) - 32; }
PM_INLINE int pm_work(uint64_t entry) { return (int)(entry >> 12 & 63); }

/* The bucket's entry of this tag, 0 if it has none. */
PM_INLINE uint64_t pm_probe(const uint64_t *bucket, uint64_t tag)
{
    for (int way = 0; way < PM_WAYS; way++) {
        uint64_t entry = pm_load(bucket + way);
        if (entry >> PM_TAG_SHIFT == tag && entry)
            return entry;
    }
    return 0;
}

/* Replaces the entry of the same tag, else the one that cost the least work. */
PM_INLINE void pm_replace(uint64_t *bucket, uint64_t entry)
{
    int victim = 0, least = 64;
    for (int way = 0; way < PM_WAYS; way++) {
        uint64_t old = pm_load(bucket + way);
        int work = old >> PM_TAG_SHIFT == entry >> PM_TAG_SHIFT ? -1 : pm_work(old);
        if (work < least) {
            least = work;
            victim = way;
        }
    }
    pm_store(bucket + victim, entry);
}

/* Zeroed memory, aligned to huge pages and backed by them where the system gives them; NULL if
 * there is none. `bytes` must be a power of two. Freed with pm_pages_free. */
static inline void *pm_pages(size_t bytes)
{
    size_t align = bytes < PM_HUGE_PAGE ? 4096 : PM_HUGE_PAGE;
    char *raw = (char *)mmap(NULL, bytes + align, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == (char *)MAP_FAILED)
        return NULL;
    size_t before = (align - (uintptr_t)raw % align) % align;
    if (before)
        munmap(raw, before);
    if (align - before)
        munmap(raw + before + bytes, align - before);
#ifdef MADV_HUGEPAGE
    madvise(raw + before, bytes, MADV_HUGEPAGE);
#endif
    return raw + before;
}

static inline void pm_pages_free(void *pages, size_t bytes)
{
    if (pages)
        munmap(pages, bytes);
}

#endif
