/* See perf_generated.h. */
#include "perfdata/perf_generated.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds after which files are looked at again: sooner where an address has no name in them. */
static const double look_again = 0.1, look_soon = 0.002;

void as_perf_generated_free(struct as_perf_generated *generated)
{
    as_jit_free(generated->jit);
    free(generated->dump);
    free(generated->module);
    *generated = (struct as_perf_generated){0};
}

void as_perf_generated_map(struct as_perf_generated *generated, uint32_t pid, const char *path)
{
    char name[64];
    snprintf(name, sizeof name, "jit-%u.dump", pid);
    if (strcmp(as_path_base(path), name) != 0)
        return;
    free(generated->dump);
    generated->dump = as_strdup(path);
}

static void read_file(struct as_perf_generated *generated, const char *path)
{
    if (as_jit_read(generated->jit, path, 0) && !generated->module)
        generated->module = as_format("[%s]", as_path_base(path));
}

/* A file that was at `path` on the recorded machine. */
static void look_for(struct as_perf_generated *generated, const struct as_perf_generated_search *where,
                     const char *path)
{
    char found[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (where->search->symfs && snprintf(found, sizeof found, "%s%s", where->search->symfs, path) < PATH_MAX)
        read_file(generated, found);
    if (where->search->beside && slash &&
        snprintf(found, sizeof found, "%s%s", where->search->beside, slash) < PATH_MAX)
        read_file(generated, found);
    if (where->here && !where->search->symfs)
        read_file(generated, path);
}

static void look(struct as_perf_generated *generated, const struct as_perf_generated_search *where, uint32_t pid,
                 double after)
{
    char map[64];
    double now = as_clock_seconds();
    if (generated->jit && (!where->live || now - generated->asked < after))
        return;
    if (!generated->jit)
        generated->jit = as_jit_new();
    generated->asked = now;
    snprintf(map, sizeof map, "/tmp/perf-%u.map", pid);
    look_for(generated, where, map);
    if (generated->dump)
        look_for(generated, where, generated->dump);
}

const struct as_jit_piece *as_perf_generated_find(struct as_perf_generated *generated,
                                                  const struct as_perf_generated_search *where, uint32_t pid,
                                                  uint64_t address, uint64_t time)
{
    const struct as_jit_insn insn = {.version = AS_JIT_LAST, .time = time};
    /* What was executed after the last look may be in a piece that was made since. */
    look(generated, where, pid, (double)time * 1e-9 > generated->asked ? look_soon : look_again);
    const struct as_jit_piece *piece = as_jit_find(generated->jit, address, &insn);
    if (piece)
        return piece;
    look(generated, where, pid, look_soon);
    return as_jit_find(generated->jit, address, &insn);
}
