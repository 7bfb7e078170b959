/* An example of an observer that asks for more than records: which cache lines did loads wait for, and how full was the core meanwhile?
 *
 *     assay compare --observer ./waited_lines.so,5 -- PROGRAM
 *
 * `wants` names what batches are to carry besides the records: here the accesses of the instructions, each with the record that made it
 * (owners), and how long each entry of the reorder buffer and of the L1's misses was in use (stays). What nobody asks for is not collected.
 * What else every observer has to keep in mind: longest_stay.c beside this file.
 */
#include "assay/observer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_BY_DEFAULT = 10, LINE_SHIFT = 6, SLOTS = 1 << 16 };

struct line {
    uint64_t number, loads, cycles; /* number: the address by 64, + 1; 0: an empty slot */
};

struct waited_lines {
    const struct as_run_info *run;
    size_t shown;
    uint64_t left_out; /* loads of lines that found no slot */
    uint64_t last;     /* the latest commit */
    uint64_t used[AS_RESOURCE_COUNT];
    struct line lines[SLOTS];
};

static void *create(const struct as_run_info *run, const char *argument)
{
    long shown = *argument ? strtol(argument, NULL, 10) : SHOWN_BY_DEFAULT;
    struct waited_lines *self = shown > 0 ? calloc(1, sizeof *self) : NULL;
    if (!self) {
        fprintf(stderr, "waited_lines: '%s' is not a number of lines\n", argument);
        return NULL;
    }
    self->run = run;
    self->shown = (size_t)shown;
    return self;
}

/* The line's slot, near the one that its number hashes to; NULL: all of those are taken. */
static struct line *find_line(struct waited_lines *self, uint64_t number)
{
    enum { TRIES = 16 };
    uint64_t at = number * UINT64_C(0x9e3779b97f4a7c15) >> 48;
    for (int i = 0; i < TRIES; i++, at++) {
        struct line *line = &self->lines[at % SLOTS];
        if (!line->number)
            line->number = number;
        if (line->number == number)
            return line;
    }
    return NULL;
}

static void note_loads(struct waited_lines *self, const struct as_pipe_batch *batch)
{
    for (size_t i = 0; i < batch->n_accesses; i++) {
        if (!(batch->accesses[i].kind & AS_ACCESS_LOAD))
            continue;
        const struct as_pipe *pipe = &batch->pipes[batch->owners[i]];
        struct line *line = find_line(self, (batch->accesses[i].address >> LINE_SHIFT) + 1);
        if (!line) {
            self->left_out++;
            continue;
        }
        line->loads++;
        line->cycles += pipe->done - pipe->issue;
    }
}

static void observe(void *context, const struct as_pipe_batch *batch)
{
    struct waited_lines *self = context;
    uint64_t last = batch->cycles_before + batch->pipes[batch->n - 1].commit;
    self->last = last > self->last ? last : self->last;
    note_loads(self, batch);
    for (size_t i = 0; i < batch->n_stays; i++)
        self->used[batch->stays[i].resource] += batch->stays[i].cycles;
}

static int compare_lines(const void *one, const void *other)
{
    const struct line *a = one, *b = other;
    return (a->cycles < b->cycles) - (a->cycles > b->cycles);
}

static void print_use(const struct waited_lines *self, FILE *out, const char *name, enum as_resource resource)
{
    double mean = self->last ? (double)self->used[resource] / (double)self->last : 0;
    fprintf(out, "%s: %.2f of %" PRIu32 " entries in use on average\n", name, mean, self->run->entries[resource]);
}

static void finish(void *context, FILE *out)
{
    struct waited_lines *self = context;
    qsort(self->lines, SLOTS, sizeof *self->lines, compare_lines);
    fprintf(out, "%-18s %12s %14s\n", "line", "loads", "cycles");
    for (size_t i = 0; i < self->shown && i < SLOTS && self->lines[i].number; i++)
        fprintf(out, "%#-18" PRIx64 " %12" PRIu64 " %14" PRIu64 "\n", (self->lines[i].number - 1) << LINE_SHIFT,
                self->lines[i].loads, self->lines[i].cycles);
    if (self->left_out)
        fprintf(out, "%" PRIu64 " loads of further lines\n", self->left_out);
    print_use(self, out, "reorder buffer", AS_RESOURCE_ROB);
    print_use(self, out, "misses of the L1", AS_RESOURCE_MSHR_L1D);
}

static void release(void *context)
{
    free(context);
}

AS_OBSERVER_EXPORT const struct as_observer assay_observer = {
    .version = AS_OBSERVER_VERSION,
    .record_size = sizeof(struct as_pipe),
    .name = "waited_lines",
    .create = create,
    .batch = observe,
    .finish = finish,
    .free = release,
    .wants = AS_WANT_ACCESSES | AS_WANT_OCCUPANCY,
};
