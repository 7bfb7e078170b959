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

/* ---- leaves of a region ---- */

enum { WHOLE_REGIONS = 64, FIRST_LEAVES = 7, MOST_LEAVES = 63 };

struct leaf_list {
    uint16_t n, room;
    uint16_t indices[MOST_LEAVES]; /* in the region */
    char *leaves[];
};

/* NULL: the region has a table. */
static struct leaf_list *list_of(const struct as_granule_region *region)
{
    uintptr_t address = (uintptr_t)region->leaves;
    return address & 1 ? (struct leaf_list *)(address - 1) : NULL;
}

static void make_list(struct as_granules *granules, struct as_granule_region *region, uint16_t room)
{
    struct leaf_list *list = take(granules, sizeof *list + room * sizeof *list->leaves);
    list->room = room;
    region->leaves = (char **)((uintptr_t)list + 1);
}

/* The list that was is small beside what takes its place, and is not used again. */
static void grow_list(struct as_granules *granules, struct as_granule_region *region)
{
    const struct leaf_list *old = list_of(region);
    granules->moves++;
    if (old->room == FIRST_LEAVES) {
        make_list(granules, region, MOST_LEAVES);
        struct leaf_list *list = list_of(region);
        list->n = old->n;
        memcpy(list->indices, old->indices, sizeof old->indices);
        memcpy(list->leaves, old->leaves, old->n * sizeof *old->leaves);
        return;
    }
    region->leaves = take(granules, LEAVES * sizeof(char *));
    for (size_t i = 0; i < old->n; i++)
        region->leaves[old->indices[i]] = old->leaves[i];
}

static char **find_in_list(struct leaf_list *list, uint16_t index)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->indices[i] == index)
            return &list->leaves[i];
    return NULL;
}

/* Its place in the region's list or table. NULL: it is not in the list, and not to be made. */
static char **leaf_in(struct as_granules *granules, struct as_granule_region *region, uint16_t index, bool make)
{
    struct leaf_list *list = list_of(region);
    char **found = list ? find_in_list(list, index) : &region->leaves[index];
    if (found || !make)
        return found;
    if (list->n == list->room) {
        grow_list(granules, region);
        return leaf_in(granules, region, index, make);
    }
    list->indices[list->n] = index;
    return &list->leaves[list->n++];
}

static struct as_granule_region *make_region(struct as_granules *granules, uint64_t number)
{
    if (granules->len + 1 > granules->size / 2)
        grow(granules);
    struct as_granule_region *region = place_of(granules, number);
    region->number = number + 1;
    if (granules->len++ < WHOLE_REGIONS)
        region->leaves = take(granules, LEAVES * sizeof(char *));
    else
        make_list(granules, region, FIRST_LEAVES);
    return region;
}

char **as_granules_find_leaf(struct as_granules *granules, uint64_t key, bool make)
{
    uint64_t number = key >> (AS_GRANULES_LEAF + AS_GRANULES_REGION);
    struct as_granule_region *region = place_of(granules, number);
    if (!region->number && !make)
        return NULL;
    if (!region->number)
        region = make_region(granules, number);
    char **leaf = leaf_in(granules, region, (uint16_t)(key >> AS_GRANULES_LEAF & (LEAVES - 1)), make);
    if (!list_of(region))
        granules->recent[number % AS_GRANULES_RECENT] = *region;
    return leaf;
}

void *as_granules_get(struct as_granules *granules, uint64_t key)
{
    char **found = as_granules_find_leaf(granules, key, false);
    char *leaf = found ? *found : NULL;
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

static void visit_region(struct as_granules *granules, const struct as_granule_region *region, as_granules_visit *visit,
                         void *context)
{
    const struct leaf_list *list = list_of(region);
    char *const *leaves = list ? list->leaves : region->leaves;
    for (size_t i = 0; i < (list ? list->n : (size_t)LEAVES); i++)
        if (leaves[i])
            visit_leaf(granules,
                       ((region->number - 1) << AS_GRANULES_REGION | (list ? list->indices[i] : i)) << AS_GRANULES_LEAF,
                       leaves[i], visit, context);
}

void as_granules_each(struct as_granules *granules, as_granules_visit *visit, void *context)
{
    for (size_t i = 0; i < granules->size; i++)
        if (granules->places[i].number)
            visit_region(granules, &granules->places[i], visit, context);
}
