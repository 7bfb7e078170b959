/* See lru_cache.h. */
#include "reuse/lru_cache.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void as_lru_cache_init(struct as_lru_cache *cache, const struct as_cache_shape *shape)
{
    *cache = (struct as_lru_cache){0};
    if (!shape->lines)
        return;
    cache->ways = shape->ways;
    cache->sets = shape->lines / shape->ways;
    cache->lines = as_alloc_array(cache->sets * cache->ways, sizeof *cache->lines);
}

void as_lru_cache_free(struct as_lru_cache *cache)
{
    free(cache->lines);
    *cache = (struct as_lru_cache){0};
}

static struct as_cached_line *set_of(const struct as_lru_cache *cache, uint64_t key)
{
    uint64_t set = cache->sets & (cache->sets - 1) ? key % cache->sets : key & (cache->sets - 1);
    return cache->lines + set * cache->ways;
}

static uint32_t find(const struct as_lru_cache *cache, const struct as_cached_line *set, uint64_t key)
{
    uint32_t way = 0;
    while (way < cache->ways && set[way].key != key + 1)
        way++;
    return way;
}

bool as_lru_cache_access(struct as_lru_cache *cache, uint64_t key, uint32_t code, uint64_t bytes,
                         struct as_cached_line *out)
{
    struct as_cached_line *set = set_of(cache, key);
    if (set->key == key + 1) {
        set->bytes |= bytes;
        return true;
    }
    uint32_t way = find(cache, set, key);
    bool hit = way < cache->ways;
    struct as_cached_line line = {.key = key + 1, .code = code};
    if (hit)
        line = set[way];
    else
        *out = set[way = cache->ways - 1];
    memmove(set + 1, set, way * sizeof *set);
    line.bytes |= bytes;
    *set = line;
    return hit;
}

bool as_lru_cache_has(const struct as_lru_cache *cache, uint64_t key)
{
    return find(cache, set_of(cache, key), key) < cache->ways;
}

void as_lru_cache_drop(struct as_lru_cache *cache, uint64_t key, struct as_cached_line *out)
{
    struct as_cached_line *set = set_of(cache, key);
    uint32_t way = find(cache, set, key);
    *out = (struct as_cached_line){0};
    if (way == cache->ways)
        return;
    *out = set[way];
    memmove(set + way, set + way + 1, (cache->ways - way - 1) * sizeof *set);
    set[cache->ways - 1] = (struct as_cached_line){0};
}
