/* An example of an observer of accesses: how many bytes does a program read and write, in accesses of which sizes?
 *
 * It needs no core model, so it runs at the engine's speed:
 *
 *     assay stat --observer ./access_sizes.so -- PROGRAM
 *
 * The order of the accesses does not matter to it, so it can work as several: each has counts of its own, which merge
 * adds up. What else every observer has to keep in mind: longest_stay.c beside this file.
 */
#include "assay/observer.h"

#include <inttypes.h>
#include <stdlib.h>

enum { SIZES = 8, WORKERS = 4 }; /* 1, 2, 4 … 64 bytes, and more */

struct access_sizes {
    uint64_t loads[SIZES], stores[SIZES];
    uint64_t bytes_loaded, bytes_stored;
};

static void *create(const struct as_run_info *run, const char *argument)
{
    return calloc(1, sizeof(struct access_sizes));
}

static void accesses(void *context, const struct as_access_batch *batch)
{
    struct access_sizes *self = context;
    for (size_t i = 0; i < batch->n; i++) {
        const struct as_data_access *access = &batch->accesses[i];
        unsigned size = access->size, at = size ? 31u - (unsigned)__builtin_clz(size) : 0;
        at = at < SIZES ? at : SIZES - 1;
        if (access->kind & AS_ACCESS_LOAD) {
            self->loads[at]++;
            self->bytes_loaded += size;
        }
        if (access->kind & AS_ACCESS_STORE) {
            self->stores[at]++;
            self->bytes_stored += size;
        }
    }
}

static void merge(void *context, void *other)
{
    struct access_sizes *self = context;
    const struct access_sizes *from = other;
    for (int i = 0; i < SIZES; i++) {
        self->loads[i] += from->loads[i];
        self->stores[i] += from->stores[i];
    }
    self->bytes_loaded += from->bytes_loaded;
    self->bytes_stored += from->bytes_stored;
}

static void finish(void *context, FILE *out)
{
    const struct access_sizes *self = context;
    fprintf(out, "%-12s %14s %14s\n", "access size", "loads", "stores");
    for (int i = 0; i < SIZES; i++)
        if (self->loads[i] || self->stores[i])
            fprintf(out, "%-2d%-10s %14" PRIu64 " %14" PRIu64 "\n", 1 << i, i == SIZES - 1 ? " or more" : "",
                    self->loads[i], self->stores[i]);
    fprintf(out, "%-12s %14" PRIu64 " %14" PRIu64 "\n", "bytes", self->bytes_loaded, self->bytes_stored);
}

static void release(void *context)
{
    free(context);
}

AS_OBSERVER_EXPORT const struct as_observer assay_observer = {
    .version = AS_OBSERVER_VERSION,
    .record_size = sizeof(struct as_pipe),
    .name = "access_sizes",
    .create = create,
    .accesses = accesses,
    .finish = finish,
    .free = release,
    .workers = WORKERS,
    .merge = merge,
};
