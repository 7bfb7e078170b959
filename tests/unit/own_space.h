/* This process as an address space, so that a test's own code and data have names. */
#ifndef AS_TESTS_OWN_SPACE_H
#define AS_TESTS_OWN_SPACE_H

#include "native/process_maps.h"
#include "symbol/space.h"

#include <unistd.h>

static inline void own_space_map(void *space, struct as_perf_process *map)
{
    as_space_map(space, map->start, map->start + map->length, map->offset, map->name);
}

static inline struct as_space *own_space(void)
{
    struct as_space *space = as_space_new(NULL);
    as_process_maps(getpid(), true, own_space_map, space);
    return space;
}

#endif
