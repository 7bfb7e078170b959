/* See perf_search.h. */
#include "perfdata/perf_search.h"

#include <stdio.h>
#include <string.h>

static bool fits(int length)
{
    return length >= 0 && length < PATH_MAX;
}

/* perf names a file's directory by its build-id, whose first byte is a directory of its own. */
static bool cache_path(const struct as_perf_search *search, const char *build_id, const char *name,
                       char found[PATH_MAX])
{
    if (!search->cache || !build_id || strlen(build_id) < 3)
        return false;
    return fits(snprintf(found, PATH_MAX, "%s/.build-id/%.2s/%s%s", search->cache, build_id, build_id + 2, name));
}

bool as_perf_search_path(const struct as_perf_search *search, enum as_perf_candidate candidate, const char *path,
                         const char *build_id, char found[PATH_MAX])
{
    bool vdso = strcmp(path, "[vdso]") == 0; /* a plain file in the cache */
    if (candidate == AS_PERF_CANDIDATE_PATH)
        return !vdso && fits(snprintf(found, PATH_MAX, "%s%s", search->symfs ? search->symfs : "", path));
    return cache_path(search, build_id, candidate == AS_PERF_CANDIDATE_OLD_CACHE ? "" : vdso ? "/vdso" : "/elf", found);
}

bool as_perf_search_kallsyms(const struct as_perf_search *search, const char *build_id, char found[PATH_MAX])
{
    return cache_path(search, build_id, "/kallsyms", found);
}
