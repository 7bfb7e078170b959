/* The bundled observer `flame`: cycles by call path as folded stacks, the input of flame graph tools. Argument: FILE.
 *
 * The cycles from the preceding commit to an instruction's own belong to its path. Only the path and the last commit of
 * consecutive records with the same path are read.
 */
#include "assay/edge.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "observe/bundled.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FRAMES = 4096 };

struct flame {
    const struct as_run_info *run;
    FILE *file;
    AS_VEC(uint64_t) cycles; /* by path */
    AS_VEC(uint64_t) last;   /* commit, by thread */
};

static void release(void *opaque)
{
    struct flame *self = opaque;
    as_vec_free(&self->cycles);
    as_vec_free(&self->last);
    free(self);
}

static void *create(const struct as_run_info *run, const char *argument)
{
    if (!*argument)
        return NULL;
    struct flame *self = as_alloc(sizeof *self);
    self->run = run;
    self->file = run->open(run->context, argument);
    if (self->file)
        return self;
    release(self);
    return NULL;
}

static uint64_t *last_of(struct flame *self, uint32_t thread)
{
    while (self->last.len <= thread)
        *as_vec_push(&self->last) = 0;
    return &self->last.data[thread];
}

static void charge(struct flame *self, uint32_t path, uint64_t cycles)
{
    while (__builtin_expect(self->cycles.len <= path, 0))
        *as_vec_push(&self->cycles) = 0;
    self->cycles.data[path] += cycles;
}

static void observe(void *opaque, const struct as_pipe_batch *batch)
{
    struct flame *self = opaque;
    const struct as_pipe *pipes = batch->pipes;
    uint64_t *last = last_of(self, batch->thread);
    for (size_t i = 0; i < batch->n; i++) {
        if (i + 1 < batch->n && pipes[i + 1].path == pipes[i].path)
            continue;
        charge(self, pipes[i].path, pipes[i].commit - *last);
        *last = pipes[i].commit;
    }
    if (pipes[batch->n - 1].flags & AS_PIPE_LAST)
        *last = 0;
}

/* The time between two commits belongs to the later one, so records need not be read. */
static void observe_edges(void *opaque, const struct as_edge_batch *batch)
{
    struct flame *self = opaque;
    uint64_t *kept = last_of(self, batch->thread), last = *kept;
    for (const struct as_edge_run *run = batch->runs, *end = run + batch->n_runs; run < end; run++) {
        uint64_t commit = as_edge_run_commit(run);
        charge(self, run->path, commit - last);
        last = commit;
    }
    *kept = batch->last ? 0 : last;
}

/* ---- the end ---- */

/* "main;work;sort": outermost first; a semicolon in a name is replaced, because it separates. */
static void fold(const struct flame *self, uint32_t path, struct as_str *to)
{
    static const char *names[MOST_FRAMES];
    size_t n = self->run->frames(self->run->context, path, names, MOST_FRAMES);
    n = n < MOST_FRAMES ? n : MOST_FRAMES;
    if (n == 0)
        as_str_add(to, "[unknown]");
    while (n-- > 0) {
        size_t from = to->len;
        as_str_add(to, names[n]);
        for (char *c = to->data + from; (c = strchr(c, ';'));)
            *c = ':';
        if (n)
            as_str_add(to, ";");
    }
}

static void finish(void *opaque, FILE *out)
{
    const struct flame *self = opaque;
    struct as_strings *stacks = as_strings_new();
    struct as_map cycles = {0};
    struct as_str stack = {0};
    for (uint32_t path = 0; path < self->cycles.len; path++) {
        if (!self->cycles.data[path])
            continue;
        as_str_clear(&stack);
        fold(self, path, &stack); /* threads can have the same one */
        *as_map_put(&cycles, as_strings_intern(stacks, as_str_get(&stack))) += self->cycles.data[path];
    }
    as_str_free(&stack);
    for (uint32_t id = 0; id < as_strings_count(stacks); id++)
        fprintf(self->file, "%s %" PRIu64 "\n", as_strings_get(stacks, id), *as_map_get(&cycles, id));
    as_map_free(&cycles);
    as_strings_free(stacks);
}

const struct as_observer as_flame_observer = {
    .version = AS_OBSERVER_VERSION,
    .record_size = sizeof(struct as_pipe),
    .name = "flame",
    .create = create,
    .batch = observe,
    .finish = finish,
    .free = release,
    .edges = observe_edges,
};
