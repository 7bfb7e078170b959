/* The data caches of this machine, as its kernel describes them. */
#ifndef AS_NATIVE_HOST_CACHES_H
#define AS_NATIVE_HOST_CACHES_H

#include <stddef.h>
#include <stdint.h>

enum { AS_HOST_CACHES = 8 };
struct as_host_cache {
    uint32_t level, ways; /* ways 0: unknown */
    uint64_t bytes;
};
/* Reads data and unified caches of the first processor by level; `root` is "/sys", or a copy of it in tests. Returns
 * how many there are. */
size_t as_host_caches_read(const char *root, struct as_host_cache caches[AS_HOST_CACHES]);

#endif
