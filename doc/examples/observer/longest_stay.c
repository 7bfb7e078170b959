/* An example of an observer: which instructions stay longest in the reorder buffer?
 *
 * For each static instruction it adds up the cycles from dispatch to commit, and at the end it prints those with the
 * longest mean stay among the ones executed at least 100 times. How to build and use it: README.md beside this file.
 *
 * What every observer has to keep in mind:
 *   - Its functions are called one at a time, batch on a thread of its own: no locks are needed for its own data.
 *   - Records are gone when batch returns. Keep what you need, by instruction id, not the records.
 *   - A batch holds records of one guest thread. State that reaches across records belongs to batch->thread.
 *   - It runs beside the model: what it costs a record can slow the whole run down. Add up in arrays, print in finish.
 */
#include "assay/observer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_BY_DEFAULT = 10, EXECUTED_AT_LEAST = 100 };

struct stay {
    uint64_t executed, cycles;
    uint32_t id;
};

struct longest_stay {
    const struct as_run_info *run; /* valid until free */
    size_t shown;
    struct stay *stays; /* by instruction id */
    size_t n;
};

/* `argument` is what stands behind the comma of --observer FILE.so,ARGUMENT: here how many lines to print. "" if none.
 */
static void *create(const struct as_run_info *run, const char *argument)
{
    long shown = *argument ? strtol(argument, NULL, 10) : SHOWN_BY_DEFAULT;
    if (shown <= 0) {
        fprintf(stderr, "longest_stay: '%s' is not a number of lines\n", argument);
        return NULL;
    }
    struct longest_stay *self = calloc(1, sizeof *self);
    if (self) {
        self->run = run;
        self->shown = (size_t)shown;
    }
    return self;
}

/* Ids are dense, from 0 on, and new ones appear while the program runs. */
static struct stay *stay_of(struct longest_stay *self, uint32_t id)
{
    if (id >= self->n) {
        size_t n = ((size_t)id + 1) * 2;
        struct stay *stays = realloc(self->stays, n * sizeof *stays);
        if (!stays)
            abort(); /* Assay notices, says so, and goes on without this observer */
        memset(stays + self->n, 0, (n - self->n) * sizeof *stays);
        self->stays = stays;
        self->n = n;
    }
    return &self->stays[id];
}

static void batch(void *context, const struct as_pipe_batch *batch)
{
    struct longest_stay *self = context;
    for (size_t i = 0; i < batch->n; i++) {
        const struct as_pipe *pipe = &batch->pipes[i];
        struct stay *stay = stay_of(self, pipe->insn);
        stay->id = pipe->insn;
        stay->executed += !(pipe->flags & AS_PIPE_CONTINUES); /* iterations of a rep instruction are one execution */
        stay->cycles += pipe->commit - pipe->dispatch;
    }
}

static double mean(const struct stay *stay)
{
    return stay->executed >= EXECUTED_AT_LEAST ? (double)stay->cycles / (double)stay->executed : -1;
}

static int compare(const void *a, const void *b)
{
    double x = mean(a), y = mean(b);
    return x > y ? -1 : x < y;
}

/* From here on, function names can be asked for. */
static void finish(void *context, FILE *out)
{
    struct longest_stay *self = context;
    const struct as_run_info *run = self->run;
    fprintf(out, "%12s %10s  longest stay in a reorder buffer of %" PRIu32 " (%s)\n", "mean cycles", "executed",
            run->rob, run->machine);
    if (self->n > 0)
        qsort(self->stays, self->n, sizeof *self->stays, compare);
    for (size_t i = 0; i < self->n && i < self->shown && mean(&self->stays[i]) >= 0; i++) {
        const struct stay *stay = &self->stays[i];
        const struct as_insn *insn = run->insn(run->context, stay->id);
        fprintf(out, "%12.1f %10" PRIu64 "  0x%" PRIx64 " in %s\n", mean(stay), stay->executed, insn->address,
                run->function(run->context, stay->id));
    }
}

static void release(void *context)
{
    struct longest_stay *self = context;
    free(self->stays);
    free(self);
}

/* What Assay looks for. Version and record size let it refuse an observer that was built for another one. */
AS_OBSERVER_EXPORT const struct as_observer assay_observer = {
    .version = AS_OBSERVER_VERSION,
    .record_size = sizeof(struct as_pipe),
    .name = "longest_stay",
    .create = create,
    .batch = batch,
    .finish = finish,
    .free = release,
};
