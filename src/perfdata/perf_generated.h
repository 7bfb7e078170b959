/* Code that a recorded process made while it ran: names from the files that its runtime wrote (symbol/jitcode.h). They are
 * looked for below the other root of the search, beside the recording, and in their own places if the recording is of
 * this machine: elsewhere another process had that number. */
#ifndef AS_PERFDATA_PERF_GENERATED_H
#define AS_PERFDATA_PERF_GENERATED_H

#include "perfdata/perf_search.h"
#include "symbol/jitcode.h"

struct as_perf_generated {
    struct as_jit *jit; /* NULL: not asked for yet */
    char *dump;         /* path of the jitdump that the process mapped; NULL: none */
    char *module;       /* the name of the file that the names are from, in brackets; NULL: none */
    double asked;       /* when the files were looked at */
};

struct as_perf_generated_search {
    const struct as_perf_search *search;
    bool here; /* recorded on this machine */
    bool live; /* … and files may grow: they are looked at again */
};

void as_perf_generated_free(struct as_perf_generated *generated);
/* The process maps a file: that is how runtimes tell of a jitdump. */
void as_perf_generated_map(struct as_perf_generated *generated, uint32_t pid, const char *path);
const struct as_jit_piece *as_perf_generated_find(struct as_perf_generated *generated,
                                                  const struct as_perf_generated_search *where, uint32_t pid,
                                                  uint64_t address, uint64_t time);

#endif
