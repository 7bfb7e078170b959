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

/* ---- leaves that are not whole ---- */

/* Its records stand behind it. */
struct few {
    uint8_t places[8]; /* in the leaf, + 1; 0: no record, and none behind */
};

static const size_t room_of[AS_LEAF_KINDS] = {1 << AS_GRANULES_LEAF, 2, 7};

static enum as_leaf_kind kind_of(const char *leaf)
{
    return (enum as_leaf_kind)((uintptr_t)leaf % 4);
}

static struct few *few_of(char *leaf)
{
    return (struct few *)(leaf - kind_of(leaf));
}

static char *record_of(const struct as_granules *granules, struct few *few, size_t at)
{
    return (char *)(few + 1) + at * granules->record;
}

/* Its place among the records, or how many there are. */
static size_t find(const struct few *few, size_t room, uint8_t place)
{
    size_t at = 0;
    while (at < room && few->places[at] && few->places[at] != place)
        at++;
    return at;
}

static size_t size_of(const struct as_granules *granules, enum as_leaf_kind kind)
{
    size_t bytes = (kind == AS_LEAF_WHOLE ? 0 : sizeof(struct few)) + room_of[kind] * granules->record;
    return (bytes + 7) & ~(size_t)7;
}

static void *make_leaf(struct as_granules *granules, enum as_leaf_kind kind)
{
    void **spare = granules->spare[kind];
    if (!spare)
        return take(granules, size_of(granules, kind));
    granules->spare[kind] = *spare;
    return memset(spare, 0, size_of(granules, kind));
}

static void move_records(const struct as_granules *granules, struct few *few, size_t n, char *to,
                         enum as_leaf_kind kind)
{
    if (kind != AS_LEAF_WHOLE) {
        memcpy(to, few, sizeof *few + n * granules->record);
        return;
    }
    for (size_t i = 0; i < n; i++)
        memcpy(to + (few->places[i] - 1U) * granules->record, record_of(granules, few, i), granules->record);
}

static void grow_leaf(struct as_granules *granules, char **leaf)
{
    enum as_leaf_kind before = kind_of(*leaf), after = before == AS_LEAF_TWO ? AS_LEAF_SEVEN : AS_LEAF_WHOLE;
    struct few *few = few_of(*leaf);
    char *grown = make_leaf(granules, after);
    move_records(granules, few, room_of[before], grown, after);
    memcpy(few, &granules->spare[before], sizeof granules->spare[before]);
    granules->spare[before] = few;
    granules->moves++;
    *leaf = grown + after;
}

void *as_granules_put_in_few(struct as_granules *granules, char **leaf, uint64_t key)
{
    uint8_t place = (uint8_t)(1 + (key & ((1 << AS_GRANULES_LEAF) - 1)));
    if (!*leaf)
        *leaf = (char *)make_leaf(granules, AS_LEAF_TWO) + AS_LEAF_TWO;
    struct few *few = few_of(*leaf);
    size_t room = room_of[kind_of(*leaf)], at = find(few, room, place);
    if (at == room) {
        grow_leaf(granules, leaf);
        return as_granules_put_in(granules, leaf, key);
    }
    few->places[at] = place;
    return record_of(granules, few, at);
}

/* ---- regions ---- */

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
    char *leaf = leaves ? leaves[key >> AS_GRANULES_LEAF & (LEAVES - 1)] : NULL;
    uint64_t place = key & ((1 << AS_GRANULES_LEAF) - 1);
    if (!leaf || kind_of(leaf) == AS_LEAF_WHOLE)
        return leaf ? leaf + place * granules->record : NULL;
    size_t room = room_of[kind_of(leaf)], at = find(few_of(leaf), room, (uint8_t)(place + 1));
    return at < room && few_of(leaf)->places[at] ? record_of(granules, few_of(leaf), at) : NULL;
}

static void visit_leaf(struct as_granules *granules, uint64_t first, char *leaf, as_granules_visit *visit,
                       void *context)
{
    enum as_leaf_kind kind = kind_of(leaf);
    if (kind == AS_LEAF_WHOLE) {
        visit(context, first, leaf, room_of[kind]);
        return;
    }
    struct few *few = few_of(leaf);
    for (size_t i = 0; i < room_of[kind] && few->places[i]; i++)
        visit(context, first + few->places[i] - 1, record_of(granules, few, i), 1);
}

void as_granules_each(struct as_granules *granules, as_granules_visit *visit, void *context)
{
    for (size_t i = 0; i < granules->size; i++)
        for (uint64_t leaf = 0; granules->places[i].number && leaf < LEAVES; leaf++)
            if (granules->places[i].leaves[leaf])
                visit_leaf(granules,
                           ((granules->places[i].number - 1) << AS_GRANULES_REGION | leaf) << AS_GRANULES_LEAF,
                           granules->places[i].leaves[leaf], visit, context);
}
