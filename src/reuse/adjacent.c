/* See adjacent.h. */
#include "reuse/adjacent.h"

#include "base/map.h"
#include "reuse/granules.h"
#include "reuse/reuse.h"

#include <string.h>

enum { HOLDERS = 64 };

/* The last access to a line, or to a pair of them. */
struct last {
    uint8_t thread; /* its place + 1; 0: none yet */
    bool write;
    uint16_t offset; /* in the pair */
};

struct record {
    struct last pair, lines[2];
    uint64_t holders[2]; /* threads whose own caches may have the line: a bit each */
    bool dirty[2];       /* … and its last access by a store */
    int32_t false_sharing, near;
    uint32_t misses, transfers;
};

struct as_adjacent {
    uint32_t shift; /* of a line */
    struct as_cache_shape shape;
    struct as_map places; /* process << 32 | thread: place + 1 */
    AS_VEC(struct as_lru_cache) caches;
    struct as_granules records; /* by pair */
};

struct as_adjacent *as_adjacent_new(uint32_t line_shift, const struct as_cache_shape *own_cache)
{
    struct as_adjacent *adjacent = as_alloc(sizeof *adjacent);
    adjacent->shift = line_shift;
    adjacent->shape = *own_cache;
    as_granules_init(&adjacent->records, sizeof(struct record));
    return adjacent;
}

void as_adjacent_free(struct as_adjacent *adjacent)
{
    if (!adjacent)
        return;
    for (size_t i = 0; i < adjacent->caches.len; i++)
        as_lru_cache_free(&adjacent->caches.data[i]);
    as_vec_free(&adjacent->caches);
    as_map_free(&adjacent->places);
    as_granules_free(&adjacent->records);
    free(adjacent);
}

static uint32_t place_of(struct as_adjacent *adjacent, uint32_t thread, uint32_t process)
{
    uint64_t *place = as_map_put(&adjacent->places, (uint64_t)process << 32 | thread);
    if (!*place && adjacent->caches.len < HOLDERS)
        as_lru_cache_init(as_vec_push(&adjacent->caches), &adjacent->shape);
    if (!*place)
        *place = adjacent->caches.len;
    return (uint32_t)*place - 1;
}

static bool is_false(const struct last *last, uint32_t thread, uint32_t offset)
{
    return last->thread && last->thread != thread + 1 && last->write && last->offset != offset;
}

/* Whether the cache of the thread that made the access still has its line, of the pair that `key` is one of. */
static bool is_held(const struct as_adjacent *adjacent, const struct last *last, uint64_t key)
{
    return as_lru_cache_has(&adjacent->caches.data[last->thread - 1],
                            (key & ~UINT64_C(1)) | last->offset >> adjacent->shift);
}

/* False sharing by the pair that there is not by the line. Before the access changes any cache. */
static void count_false_sharing(const struct as_adjacent *adjacent, struct record *record, uint32_t thread,
                                uint64_t key, uint32_t offset)
{
    const struct last *line = &record->lines[key & 1];
    bool by_pair = is_false(&record->pair, thread, offset), by_line = is_false(line, thread, offset);
    record->false_sharing += by_pair - by_line;
    record->near += (by_pair && is_held(adjacent, &record->pair, key)) - (by_line && is_held(adjacent, line, key));
}

/* A store leaves one copy. */
static void drop_others(struct as_adjacent *adjacent, struct record *record, uint32_t which, uint32_t thread,
                        uint64_t key)
{
    struct as_cached_line out;
    uint64_t others = record->holders[which] & ~(UINT64_C(1) << thread);
    for (; others; others &= others - 1)
        as_lru_cache_drop(&adjacent->caches.data[__builtin_ctzll(others)], key, &out);
    record->holders[which] = UINT64_C(1) << thread;
}

static void touch(struct as_adjacent *adjacent, uint32_t thread, uint64_t key, uint32_t offset, bool write)
{
    struct record *record = as_granules_put(&adjacent->records, key >> 1);
    uint32_t which = (uint32_t)(key & 1);
    struct as_cached_line out;
    struct last now = {.thread = (uint8_t)(thread + 1), .write = write, .offset = (uint16_t)offset};
    uint64_t others = record->holders[which] & ~(UINT64_C(1) << thread);
    count_false_sharing(adjacent, record, thread, key, offset);
    bool hit = as_lru_cache_access(&adjacent->caches.data[thread], key, 0, 0, &out);
    record->misses += !hit;
    record->transfers += others && (write || (!hit && record->dirty[which]));
    record->holders[which] |= UINT64_C(1) << thread;
    if (write && others)
        drop_others(adjacent, record, which, thread, key);
    record->dirty[which] = write || (record->dirty[which] && !others);
    record->pair = record->lines[which] = now;
}

void as_adjacent_take(struct as_adjacent *adjacent, uint32_t thread, uint32_t process,
                      const struct as_data_access *accesses, size_t n)
{
    uint32_t place = place_of(adjacent, thread, process), shift = adjacent->shift;
    uint64_t pair_mask = (UINT64_C(2) << shift) - 1;
    for (size_t i = 0; i < n; i++) {
        const struct as_data_access *access = &accesses[i];
        uint64_t address = access->address, end = address + (access->size ? access->size : 1);
        for (; access->kind & (AS_ACCESS_LOAD | AS_ACCESS_STORE) && address < end;
             address = ((address >> shift) + 1) << shift)
            touch(adjacent, place, as_reuse_key(process, address, shift), (uint32_t)(address & pair_mask),
                  access->kind & AS_ACCESS_STORE);
    }
}

static struct as_adjacent_counts counts_of(const struct record *record)
{
    return (struct as_adjacent_counts){.false_sharing = record->false_sharing > 0 ? (uint64_t)record->false_sharing : 0,
                                       .near = record->near > 0 ? (uint64_t)record->near : 0,
                                       .misses = record->misses,
                                       .transfers = record->transfers};
}

static uint64_t possible(const struct as_adjacent_counts *counts)
{
    return counts->near < counts->misses ? counts->near : counts->misses;
}

static void add_leaf(void *context, uint64_t first, void *records, size_t n)
{
    struct as_adjacent_sum *sum = context;
    for (size_t i = 0; i < n; i++) {
        struct as_adjacent_counts counts = counts_of(&((const struct record *)records)[i]);
        sum->lines_pairs += ((const struct record *)records)[i].pair.thread != 0;
        sum->counts.false_sharing += counts.false_sharing;
        sum->counts.near += counts.near;
        sum->counts.misses += counts.misses;
        sum->counts.transfers += counts.transfers;
        sum->possible += possible(&counts);
    }
}

struct as_adjacent_sum as_adjacent_sum(struct as_adjacent *adjacent)
{
    struct as_adjacent_sum sum = {0};
    as_granules_each(&adjacent->records, add_leaf, &sum);
    return sum;
}

struct choice {
    struct as_adjacent_pair *pairs;
    size_t n, most;
    uint32_t shift;
};

static bool is_before(const struct as_adjacent_pair *a, const struct as_adjacent_pair *b)
{
    uint64_t x = possible(&a->counts), y = possible(&b->counts);
    return x != y ? x > y : a->address < b->address;
}

static void choose_leaf(void *context, uint64_t first, void *records, size_t n)
{
    struct choice *choice = context;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t key = (first + i) << 1;
        struct as_adjacent_pair pair = {.process = (uint32_t)(key >> 48),
                                        .address = (key & ((UINT64_C(1) << 48) - 1)) << choice->shift,
                                        .counts = counts_of(&((const struct record *)records)[i])};
        size_t at = choice->n;
        if (!possible(&pair.counts))
            continue;
        while (at && is_before(&pair, &choice->pairs[at - 1]))
            at--;
        if (at == choice->most)
            continue;
        choice->n += choice->n < choice->most;
        memmove(choice->pairs + at + 1, choice->pairs + at, (choice->n - at - 1) * sizeof pair);
        choice->pairs[at] = pair;
    }
}

size_t as_adjacent_most(struct as_adjacent *adjacent, struct as_adjacent_pair *pairs, size_t n)
{
    struct choice choice = {.pairs = pairs, .most = n, .shift = adjacent->shift};
    as_granules_each(&adjacent->records, choose_leaf, &choice);
    return choice.n;
}
