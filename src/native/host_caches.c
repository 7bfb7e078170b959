/* See host_caches.h. */
#include "native/host_caches.h"

#include "base/alloc.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_word(const char *root, size_t index, const char *name, char word[32])
{
    char *path = as_format("%s/devices/system/cpu/cpu0/cache/index%zu/%s", root, index, name);
    FILE *file = fopen(path, "re");
    bool ok = file && fscanf(file, "%31s", word) == 1;
    if (file)
        fclose(file);
    free(path);
    return ok;
}

static uint64_t bytes_of(const char *word)
{
    char *end;
    uint64_t n = strtoull(word, &end, 10);
    return *end == 'K' ? n << 10 : *end == 'M' ? n << 20 : *end == 'G' ? n << 30 : n;
}

size_t as_host_caches_read(const char *root, struct as_host_cache caches[AS_HOST_CACHES])
{
    char type[32], size[32], level[32], ways[32];
    size_t n = 0;
    for (size_t i = 0; i < 16 && n < AS_HOST_CACHES && read_word(root, i, "type", type); i++) {
        if (!strcmp(type, "Instruction") || !read_word(root, i, "size", size) || !read_word(root, i, "level", level))
            continue;
        bool known = read_word(root, i, "ways_of_associativity", ways);
        caches[n] = (struct as_host_cache){.level = (uint32_t)strtoul(level, NULL, 10),
                                           .ways = known ? (uint32_t)strtoul(ways, NULL, 10) : 0,
                                           .bytes = bytes_of(size)};
        n += caches[n].level && caches[n].bytes;
    }
    return n;
}
