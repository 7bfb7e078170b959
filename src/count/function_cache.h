/* Numbers of functions by where they start: making a name for each instruction would take much longer than finding out
 * that it is the name of many others. */
#ifndef AS_COUNT_FUNCTION_CACHE_H
#define AS_COUNT_FUNCTION_CACHE_H

#include "base/map.h"
#include "base/vec.h"
#include "count/targets.h"
#include "symbol/space.h"

struct as_known_function {
    const char *function, *module; /* as in as_location: two functions can start at one address */
    uint32_t number;
};
struct as_function_cache {
    struct as_map by_start; /* image and start to an index of list + 1 */
    AS_VEC(struct as_known_function) list;
};

/* Code that the program makes and code without a function have no entry. */
static inline bool as_function_cache_takes(const struct as_location *location)
{
    return location->function_start && !location->generated;
}

static inline bool as_function_cache_get(const struct as_function_cache *cache, uint32_t image,
                                         const struct as_location *location, uint32_t *number)
{
    if (!as_function_cache_takes(location))
        return false;
    const uint64_t *at = as_map_get(&cache->by_start, as_target_key(image, location->function_start));
    if (!at || cache->list.data[*at - 1].function != location->function ||
        cache->list.data[*at - 1].module != location->module)
        return false;
    *number = cache->list.data[*at - 1].number;
    return true;
}

static inline void as_function_cache_put(struct as_function_cache *cache, uint32_t image,
                                         const struct as_location *location, uint32_t number)
{
    if (!as_function_cache_takes(location))
        return;
    *as_vec_push(&cache->list) =
        (struct as_known_function){.function = location->function, .module = location->module, .number = number};
    *as_map_put(&cache->by_start, as_target_key(image, location->function_start)) = cache->list.len;
}

static inline void as_function_cache_free(struct as_function_cache *cache)
{
    as_map_free(&cache->by_start);
    as_vec_free(&cache->list);
}

#endif
