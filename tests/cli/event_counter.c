/* An observer that counts: a line for each instruction and combination of the nine events of the TEA paper that it met,
 * with how many executions met it. Used by events.sh, which builds it as a user would. */
#include "assay/observer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS = 9, COMBINATIONS = 1 << EVENTS };
static const char *const names[EVENTS] = {"DR-L1", "DR-TLB", "DR-SQ",  "FL-MB", "FL-EX",
                                          "FL-MO", "ST-L1",  "ST-TLB", "ST-LLC"};

struct counter {
    const struct as_run_info *run;
    uint64_t (*counts)[COMBINATIONS]; /* by instruction id: the programs are small */
    size_t n;
};

static void *create(const struct as_run_info *run, const char *argument)
{
    struct counter *self = calloc(1, sizeof *self);
    if (self)
        self->run = run;
    return self;
}

static void batch(void *context, const struct as_pipe_batch *batch)
{
    struct counter *self = context;
    for (size_t i = 0; i < batch->n; i++) {
        uint32_t id = batch->pipes[i].insn;
        if (id >= self->n) {
            size_t n = ((size_t)id + 1) * 2;
            self->counts = realloc(self->counts, n * sizeof *self->counts);
            if (!self->counts)
                abort();
            memset(self->counts + self->n, 0, (n - self->n) * sizeof *self->counts);
            self->n = n;
        }
        self->counts[id][batch->pipes[i].events & (COMBINATIONS - 1)]++;
    }
}

static void show(const struct counter *self, uint32_t id, uint32_t events, FILE *out)
{
    const struct as_insn *insn = self->run->insn(self->run->context, id);
    fprintf(out, "met %" PRIx64 " %" PRIu64 " ", insn->address, self->counts[id][events]);
    const char *between = "";
    for (int i = 0; i < EVENTS; i++)
        if (events >> i & 1) {
            fprintf(out, "%s%s", between, names[i]);
            between = "+";
        }
    fprintf(out, "%s\n", events ? "" : "base");
}

static void finish(void *context, FILE *out)
{
    const struct counter *self = context;
    for (uint32_t id = 0; id < self->n; id++)
        for (uint32_t events = 0; events < COMBINATIONS; events++)
            if (self->counts[id][events])
                show(self, id, events, out);
}

static void release(void *context)
{
    struct counter *self = context;
    free(self->counts);
    free(self);
}

AS_OBSERVER_EXPORT const struct as_observer assay_observer = {
    .version = AS_OBSERVER_VERSION,
    .record_size = sizeof(struct as_pipe),
    .name = "event_counter",
    .create = create,
    .batch = batch,
    .finish = finish,
    .free = release,
};
