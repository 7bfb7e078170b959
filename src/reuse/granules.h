/* A record for each granule of memory that was touched, found by the granule's number.
 *
 * Records lie in leaves of 64 neighbours, which never move and start zeroed; leaves are found through a hash table, the
 * last ones through a small table in front of it. What is not touched costs nothing but the rest of its leaf, so memory
 * is proportional to the footprint. */
#ifndef AS_REUSE_GRANULES_H
#define AS_REUSE_GRANULES_H

#include "base/random.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum { AS_GRANULES_LEAF = 6, AS_GRANULES_RECENT = 1 << 12 };

struct as_granule_leaf {
    uint64_t number; /* of the leaf, + 1; 0: an empty place */
    char *records;
};

struct as_granules {
    size_t record; /* bytes of one */
    struct as_granule_leaf *places, recent[AS_GRANULES_RECENT];
    size_t size, len; /* places, a power of two, and leaves */
    AS_VEC(char *) chunks;
    AS_VEC(size_t) chunk_sizes;
    size_t room; /* bytes left in the last chunk */
};

void as_granules_init(struct as_granules *granules, size_t record);
void as_granules_free(struct as_granules *granules);
uint64_t as_granules_bytes(const struct as_granules *granules); /* that it occupies */
char *as_granules_find_leaf(struct as_granules *granules, uint64_t number, bool make);

static inline size_t as_granules_place(const struct as_granules *granules, uint64_t number)
{
    return (number * AS_RANDOM_STEP >> 20) & (granules->size - 1);
}

/* The record of a granule, made where there is none. */
static inline void *as_granules_put(struct as_granules *granules, uint64_t key)
{
    uint64_t number = key >> AS_GRANULES_LEAF;
    struct as_granule_leaf *recent = &granules->recent[number % AS_GRANULES_RECENT];
    char *records = recent->number == number + 1 ? recent->records : as_granules_find_leaf(granules, number, true);
    return records + (key & ((1 << AS_GRANULES_LEAF) - 1)) * granules->record;
}

/* The granule's leaf will be looked for soon. */
static inline void as_granules_prefetch(const struct as_granules *granules, uint64_t key)
{
    __builtin_prefetch(&granules->places[as_granules_place(granules, key >> AS_GRANULES_LEAF)]);
}

/* NULL where the granule's leaf was never made. */
void *as_granules_get(struct as_granules *granules, uint64_t key);

/* Calls `visit` with the records of each leaf, in no particular order; `first` is the number of the first granule. */
void as_granules_each(struct as_granules *granules, void (*visit)(void *context, uint64_t first, void *records),
                      void *context);

#endif
