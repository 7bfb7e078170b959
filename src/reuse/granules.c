/* See granules.h. */
#include "reuse/granules.h"

#include "reuse/huge.h"

enum { FIRST_PLACES = 1 << 6, LARGE_CHUNK = 16 << 20, FIRST_CHUNK = 64 << 10, LEAVES = 1 << AS_GRANULES_REGION };

void as_granules_init(struct as_granules *granules, size_t record)
{
    memset(granules, 0, sizeof *granules);
    granules->record = record;
    granules->size = FIRST_PLACES;
    granules->places = as_alloc_array(granules->size, sizeof *granules->places);
}

void as_granules_free(struct as_granules *granules)
{
    for (size_t i = 0; i < granules->chunks.len; i++)
        as_huge_free(granules->chunks.data[i], granules->chunk_sizes.data[i]);
    as_vec_free(&granules->chunks);
    as_vec_free(&granules->chunk_sizes);
    free(granules->places);
    memset(granules, 0, sizeof *granules);
}

uint64_t as_granules_bytes(const struct as_granules *granules)
{
    uint64_t bytes = sizeof *granules + granules->size * sizeof *granules->places;
    for (size_t i = 0; i < granules->chunks.len; i++)
        bytes += granules->chunk_sizes.data[i];
    return bytes - granules->room;
}

static void add_chunk(struct as_granules *granules)
{
    size_t size = granules->chunks.len < 8 ? (size_t)FIRST_CHUNK << granules->chunks.len : (size_t)LARGE_CHUNK;
    *as_vec_push(&granules->chunks) = as_huge_alloc(size);
    *as_vec_push(&granules->chunk_sizes) = size;
    granules->room = size;
}

static void *take(struct as_granules *granules, size_t bytes)
{
    if (granules->room < bytes)
        add_chunk(granules);
    size_t last = granules->chunks.len - 1;
    char *taken = granules->chunks.data[last] + granules->chunk_sizes.data[last] - granules->room;
    granules->room -= bytes;
    return taken;
}

char *as_granules_make_leaf(struct as_granules *granules, char **leaf)
{
    return *leaf = take(granules, granules->record << AS_GRANULES_LEAF);
}

static struct as_granule_region *place_of(const struct as_granules *granules, uint64_t number)
{
    size_t mask = granules->size - 1, at = (number * AS_RANDOM_STEP >> 20) & mask;
    while (granules->places[at].number && granules->places[at].number != number + 1)
        at = (at + 1) & mask;
    return &granules->places[at];
}

static void grow(struct as_granules *granules)
{
    struct as_granule_region *old = granules->places;
    size_t n = granules->size;
    granules->size *= 2;
    granules->places = as_alloc_array(granules->size, sizeof *granules->places);
    for (size_t i = 0; i < n; i++)
        if (old[i].number)
            *place_of(granules, old[i].number - 1) = old[i];
    free(old);
}

char **as_granules_find_region(struct as_granules *granules, uint64_t number, bool make)
{
    struct as_granule_region region = *place_of(granules, number);
    if (!region.number && !make)
        return NULL;
    if (!region.number) {
        region = (struct as_granule_region){.number = number + 1, .leaves = take(granules, LEAVES * sizeof(char *))};
        *place_of(granules, number) = region;
        if (++granules->len > granules->size / 2)
            grow(granules);
    }
    granules->recent[number % AS_GRANULES_RECENT] = region;
    return region.leaves;
}

void *as_granules_get(struct as_granules *granules, uint64_t key)
{
    char **leaves = as_granules_find_region(granules, key >> (AS_GRANULES_LEAF + AS_GRANULES_REGION), false);
    char *records = leaves ? leaves[key >> AS_GRANULES_LEAF & (LEAVES - 1)] : NULL;
    return records ? records + (key & ((1 << AS_GRANULES_LEAF) - 1)) * granules->record : NULL;
}

void as_granules_each(struct as_granules *granules, void (*visit)(void *context, uint64_t first, void *records),
                      void *context)
{
    for (size_t i = 0; i < granules->size; i++)
        for (uint64_t leaf = 0; granules->places[i].number && leaf < LEAVES; leaf++)
            if (granules->places[i].leaves[leaf])
                visit(context, ((granules->places[i].number - 1) << AS_GRANULES_REGION | leaf) << AS_GRANULES_LEAF,
                      granules->places[i].leaves[leaf]);
}
