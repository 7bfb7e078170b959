/* A record for each granule of memory that was touched, found by the granule's number.
 *
 * Records lie in leaves of 64 neighbours and start zeroed; 2048 neighbouring leaves are a region, with a table of them;
 * regions are found through a hash table, the last ones through a small table in front of it, which stays in the
 * processor's first cache. So a look-up reads one place in a table of 8 bytes for 64 granules, and the record.
 *
 * A table takes 16 KiB. So beyond the first 64 regions one begins as a short list of its leaves, and gets its table when there are more
 * than fit into that: with steps of megabytes each region has one leaf.
 *
 * A leaf begins with room for two records, then for seven, each beside its number, and gets all 64 with the eighth. So a
 * granule that is touched alone among its neighbours, as with steps of a page, costs little more than its record, and
 * memory is proportional to the footprint. When a leaf grows, its records move; when a list of leaves grows, the places of leaves do. A
 * pointer to either is valid until the next call that makes one, or as long as `moves` stays the same. */
#ifndef AS_REUSE_GRANULES_H
#define AS_REUSE_GRANULES_H

#include "base/random.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum { AS_GRANULES_LEAF = 6, AS_GRANULES_REGION = 11, AS_GRANULES_RECENT = 1 << 8 };

/* The low bits of a leaf's address: how much room it has. */
enum as_leaf_kind { AS_LEAF_WHOLE, AS_LEAF_TWO, AS_LEAF_SEVEN, AS_LEAF_KINDS };

struct as_granule_region {
    uint64_t number; /* + 1; 0: an empty place */
    char **leaves;   /* NULL: not made; + enum as_leaf_kind. The address + 1 of a list, if it has no table yet */
};

struct as_granules {
    size_t record;                                                /* bytes of one */
    struct as_granule_region *places, recent[AS_GRANULES_RECENT]; /* recent: those with a table alone */
    size_t size, len;                                             /* places, a power of two, and regions */
    AS_VEC(char *) chunks;
    AS_VEC(size_t) chunk_sizes;
    size_t room;                /* bytes left in the last chunk */
    void *spare[AS_LEAF_KINDS]; /* leaves that were given up, by kind; each begins with the address of the next */
    uint64_t moves;             /* leaves and lists of leaves that have grown */
};

void as_granules_init(struct as_granules *granules, size_t record);
void as_granules_free(struct as_granules *granules);
uint64_t as_granules_bytes(const struct as_granules *granules); /* that it occupies */
/* Where the granule's leaf stands, by way of the hash table. NULL where there is no such place, and `make` is false. */
char **as_granules_find_leaf(struct as_granules *granules, uint64_t key, bool make);
/* The record in a leaf that is not whole, or not made. */
void *as_granules_put_in_few(struct as_granules *granules, char **leaf, uint64_t key);

/* Where the granule's leaf stands in its region, which is made where there is none. */
static inline char **as_granules_leaf(struct as_granules *granules, uint64_t key)
{
    uint64_t number = key >> (AS_GRANULES_LEAF + AS_GRANULES_REGION);
    const struct as_granule_region *recent = &granules->recent[number % AS_GRANULES_RECENT];
    if (__builtin_expect(recent->number != number + 1, 0))
        return as_granules_find_leaf(granules, key, true);
    return &recent->leaves[key >> AS_GRANULES_LEAF & ((1 << AS_GRANULES_REGION) - 1)];
}

/* The address that as_granules_put_in reads first: the record in a whole leaf, the numbers in one that is not. For prefetching only: it
 * means nothing where the leaf is not made. */
static inline const void *as_granules_head(const struct as_granules *granules, char *const *leaf, uint64_t key)
{
    uintptr_t records = (uintptr_t)*leaf, place = (key & ((1 << AS_GRANULES_LEAF) - 1)) * granules->record;
    return (const void *)(records + (records % 4 == AS_LEAF_WHOLE ? place : 0));
}

/* The record of a granule in a leaf's place, made where there is none. */
static inline void *as_granules_put_in(struct as_granules *granules, char **leaf, uint64_t key)
{
    char *records = *leaf;
    if (__builtin_expect(!records || (uintptr_t)records % 4 != AS_LEAF_WHOLE, 0))
        return as_granules_put_in_few(granules, leaf, key);
    return records + (key & ((1 << AS_GRANULES_LEAF) - 1)) * granules->record;
}

static inline void *as_granules_put(struct as_granules *granules, uint64_t key)
{
    return as_granules_put_in(granules, as_granules_leaf(granules, key), key);
}

/* NULL where the granule's record was never made; one of a whole leaf always is. */
void *as_granules_get(struct as_granules *granules, uint64_t key);

/* Called with `n` records of neighbours, `first` the number of the first granule. */
typedef void as_granules_visit(void *context, uint64_t first, void *records, size_t n);
/* Visits all records, in no particular order. */
void as_granules_each(struct as_granules *granules, as_granules_visit *visit, void *context);

#endif
