/* as_map: linear probing over a power-of-two table that is at most three quarters full, so a probe always meets a free
 * slot. Removal moves later entries of the run back instead of leaving tombstones: look-ups never slow down with age.
 */
#include "base/map.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { SMALLEST_CAP = 16 };

/* Every key bit must reach the low bits: addresses differ in few of them. */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0x9e3779b97f4a7c15u;
    x ^= x >> 29;
    x *= 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}

static size_t home_of(const struct as_map *map, uint64_t key)
{
    return (size_t)mix(key) & (map->cap - 1);
}

/* The slot of `key`, or the free slot where it would go. The table has room. */
static struct as_map_slot *probe(const struct as_map *map, uint64_t key)
{
    size_t at = home_of(map, key);
    while (map->slots[at].used && map->slots[at].key != key)
        at = (at + 1) & (map->cap - 1);
    return &map->slots[at];
}

static void grow(struct as_map *map)
{
    struct as_map bigger = {.len = map->len, .cap = map->cap ? map->cap * 2 : SMALLEST_CAP};
    bigger.slots = as_alloc_array(bigger.cap, sizeof *bigger.slots);
    for (size_t i = 0; i < map->cap; i++)
        if (map->slots[i].used)
            *probe(&bigger, map->slots[i].key) = map->slots[i];
    free(map->slots);
    *map = bigger;
}

uint64_t *as_map_get(const struct as_map *map, uint64_t key)
{
    if (map->cap == 0)
        return NULL;
    struct as_map_slot *slot = probe(map, key);
    return slot->used ? &slot->value : NULL;
}

void as_map_fetch(const struct as_map *map, uint64_t key)
{
    if (map->cap > 0)
        __builtin_prefetch(&map->slots[home_of(map, key)]);
}

uint64_t *as_map_put(struct as_map *map, uint64_t key)
{
    struct as_map_slot *slot = map->cap > 0 ? probe(map, key) : NULL;
    if (slot && slot->used)
        return &slot->value;
    if (map->len + 1 > map->cap - map->cap / 4) {
        grow(map);
        slot = probe(map, key);
    }
    *slot = (struct as_map_slot){.key = key, .used = true};
    map->len++;
    return &slot->value;
}

/* Closes the hole at `hole`: a later entry may move in, unless its home slot lies between the two. */
static void close_gap(struct as_map *map, size_t hole)
{
    size_t mask = map->cap - 1;
    for (size_t at = (hole + 1) & mask; map->slots[at].used; at = (at + 1) & mask) {
        size_t home = home_of(map, map->slots[at].key);
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        map->slots[hole] = map->slots[at];
        hole = at;
    }
    map->slots[hole] = (struct as_map_slot){0};
}

bool as_map_remove(struct as_map *map, uint64_t key)
{
    if (map->cap == 0)
        return false;
    struct as_map_slot *slot = probe(map, key);
    if (!slot->used)
        return false;
    close_gap(map, (size_t)(slot - map->slots));
    map->len--;
    return true;
}

void as_map_free(struct as_map *map)
{
    free(map->slots);
    *map = (struct as_map){0};
}

static uint64_t difference(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

double as_map_apart(const struct as_map *first, const struct as_map *second)
{
    uint64_t differ = 0, sum = 0, others = 0;
    for (size_t i = 0; i < first->cap; i++) {
        if (!first->slots[i].used)
            continue;
        const uint64_t *other = as_map_get(second, first->slots[i].key);
        differ += difference(first->slots[i].value, other ? *other : 0);
        sum += first->slots[i].value;
    }
    for (size_t i = 0; i < second->cap; i++) {
        if (!second->slots[i].used)
            continue;
        others += second->slots[i].value;
        if (!as_map_get(first, second->slots[i].key))
            differ += second->slots[i].value;
    }
    return sum ? (double)differ / 2 / (double)(sum > others ? sum : others) : 0;
}

/* Spreads keys, eight bytes at a time; does not protect against chosen keys. */
uint64_t as_hash_bytes(const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    uint64_t hash = length * 0x9e3779b97f4a7c15u;
    for (size_t left = length; left > 0;) {
        size_t n = left < 8 ? left : 8;
        uint64_t word = 0;
        memcpy(&word, at, n);
        hash = mix(hash ^ word) + n;
        at += n;
        left -= n;
    }
    return mix(hash);
}
