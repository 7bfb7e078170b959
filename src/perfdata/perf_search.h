/* Where a file of a recording may be on this machine: at its own path, below another root (--symfs), or in perf's
 * build-id cache, where `perf record` and `perf buildid-cache` keep copies. */
#ifndef AS_PERFDATA_PERF_SEARCH_H
#define AS_PERFDATA_PERF_SEARCH_H

#include <limits.h>
#include <stdbool.h>

struct as_perf_search {
    const char *symfs;  /* root for all recorded paths; NULL: the machine's own */
    const char *beside; /* directory of the recording; NULL: unknown */
    const char *cache;  /* perf's build-id cache, usually ~/.debug; NULL: none */
};

/* In the order in which they are tried. */
enum as_perf_candidate {
    AS_PERF_CANDIDATE_PATH,      /* the recorded path, below symfs if there is one */
    AS_PERF_CANDIDATE_CACHE,     /* CACHE/.build-id/ab/cdef…/elf */
    AS_PERF_CANDIDATE_OLD_CACHE, /* CACHE/.build-id/ab/cdef…, a link to the file itself: perf before 4.8 */
    AS_PERF_CANDIDATES
};

/* Returns the path of a file for one candidate. `build_id` is hexadecimal, NULL if unknown. Returns false if there is
 * no such candidate. */
bool as_perf_search_path(const struct as_perf_search *search, enum as_perf_candidate candidate, const char *path,
                         const char *build_id, char found[PATH_MAX]);

/* The cache's copy of /proc/kallsyms of a kernel. */
bool as_perf_search_kallsyms(const struct as_perf_search *search, const char *build_id, char found[PATH_MAX]);

#endif
