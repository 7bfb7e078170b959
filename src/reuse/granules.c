/* See granules.h. */
#include "reuse/granules.h"

#include <sys/mman.h>

enum { FIRST_PLACES = 1 << 10, HUGE_CHUNK = 2 << 20, FIRST_CHUNK = 64 << 10 };

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
        munmap(granules->chunks.data[i], granules->chunk_sizes.data[i]);
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

/* Mapped, not allocated: the kernel zeroes pages when they are touched, and large ones spare most misses of the TLB. */
static void add_chunk(struct as_granules *granules)
{
    size_t size = granules->chunks.len < 8 ? (size_t)FIRST_CHUNK << granules->chunks.len : (size_t)HUGE_CHUNK * 8;
    void *chunk = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (chunk == MAP_FAILED)
        free(as_alloc_array(SIZE_MAX, SIZE_MAX)); /* says that memory is out, and ends */
    if (size >= HUGE_CHUNK)
        madvise(chunk, size, MADV_HUGEPAGE);
    *as_vec_push(&granules->chunks) = chunk;
    *as_vec_push(&granules->chunk_sizes) = size;
    granules->room = size;
}

static char *make_leaf(struct as_granules *granules)
{
    size_t bytes = granules->record << AS_GRANULES_LEAF;
    if (granules->room < bytes)
        add_chunk(granules);
    size_t last = granules->chunks.len - 1;
    char *leaf = granules->chunks.data[last] + granules->chunk_sizes.data[last] - granules->room;
    granules->room -= bytes;
    return leaf;
}

static struct as_granule_leaf *place_of(const struct as_granules *granules, uint64_t number)
{
    size_t mask = granules->size - 1, at = as_granules_place(granules, number);
    while (granules->places[at].number && granules->places[at].number != number + 1)
        at = (at + 1) & mask;
    return &granules->places[at];
}

static void grow(struct as_granules *granules)
{
    struct as_granule_leaf *old = granules->places;
    size_t n = granules->size;
    granules->size *= 2;
    granules->places = as_alloc_array(granules->size, sizeof *granules->places);
    for (size_t i = 0; i < n; i++)
        if (old[i].number)
            *place_of(granules, old[i].number - 1) = old[i];
    free(old);
}

char *as_granules_find_leaf(struct as_granules *granules, uint64_t number, bool make)
{
    struct as_granule_leaf *place = place_of(granules, number);
    if (!place->number) {
        if (!make)
            return NULL;
        *place = (struct as_granule_leaf){.number = number + 1, .records = make_leaf(granules)};
        struct as_granule_leaf made = *place;
        if (++granules->len > granules->size / 2)
            grow(granules);
        return (granules->recent[number % AS_GRANULES_RECENT] = made).records;
    }
    return (granules->recent[number % AS_GRANULES_RECENT] = *place).records;
}

void *as_granules_get(struct as_granules *granules, uint64_t key)
{
    uint64_t number = key >> AS_GRANULES_LEAF;
    char *records = as_granules_find_leaf(granules, number, false);
    return records ? records + (key & ((1 << AS_GRANULES_LEAF) - 1)) * granules->record : NULL;
}

void as_granules_each(struct as_granules *granules, void (*visit)(void *context, uint64_t first, void *records),
                      void *context)
{
    for (size_t i = 0; i < granules->size; i++)
        if (granules->places[i].number)
            visit(context, (granules->places[i].number - 1) << AS_GRANULES_LEAF, granules->places[i].records);
}
