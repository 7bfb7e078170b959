/* A set-associative LRU cache without times: what hits, what misses, and how many bytes of a line are used while it is
 * there. One thread owns it. */
#ifndef AS_REUSE_LRU_CACHE_H
#define AS_REUSE_LRU_CACHE_H

#include <stdbool.h>
#include <stdint.h>

struct as_cache_shape {
    uint64_t lines; /* 0: there is no such cache */
    uint32_t ways;
};

struct as_cached_line {
    uint64_t key;   /* + 1; 0: an empty way */
    uint64_t bytes; /* a bit for each byte that was used; of longer lines for each 1/64 */
    uint32_t code;  /* who brought it */
};

struct as_lru_cache {
    struct as_cached_line *lines; /* set by set, the most recently used first */
    uint64_t sets;
    uint32_t ways;
};

void as_lru_cache_init(struct as_lru_cache *cache, const struct as_cache_shape *shape);
void as_lru_cache_free(struct as_lru_cache *cache);
/* Whether it hits. A miss brings the line; `out` is then the one that had to go (key 0: none). */
bool as_lru_cache_access(struct as_lru_cache *cache, uint64_t key, uint32_t code, uint64_t bytes,
                         struct as_cached_line *out);
/* Whether it is there; nothing changes. */
bool as_lru_cache_has(const struct as_lru_cache *cache, uint64_t key);
void as_lru_cache_drop(struct as_lru_cache *cache, uint64_t key, struct as_cached_line *out);

#endif
