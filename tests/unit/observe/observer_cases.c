/* Shared objects for test_observer_load: one source, built once for each way to be good or bad (-DCASE=…). */
#include "assay/observer.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
    GOOD,
    WRONG_VERSION,
    VERSION_1,
    NO_MERGE,
    WRONG_RECORD,
    NO_NAME,
    NO_CREATE,
    NO_BATCH,
    DECLINES,
    CRASHES_IN_CREATE,
    ABORTS_IN_BATCH,
    OVERFLOWS_IN_BATCH,
    DIVIDES_IN_FINISH,
    CRASHES_IN_FREE
};

struct count {
    const struct as_run_info *run;
    char argument[32];
    unsigned long records;
};

static int *volatile nowhere = (int *)16;
static volatile int zero;

static void *create(const struct as_run_info *run, const char *argument)
{
    if (CASE == DECLINES)
        return NULL;
    if (CASE == CRASHES_IN_CREATE)
        *nowhere = 1;
    struct count *count = calloc(1, sizeof *count);
    count->run = run;
    strncpy(count->argument, argument, sizeof count->argument - 1);
    return count;
}

/* Deeper than any stack, and no compiler can turn it into a loop. */
static int overflow(volatile int *from)
{
    volatile int here[1000];
    here[0] = *from;
    return here[0] + overflow(here) + here[999];
}

static void batch(void *self, const struct as_pipe_batch *batch)
{
    struct count *count = self;
    count->records += batch->n;
    if (CASE == ABORTS_IN_BATCH)
        abort();
    if (CASE == OVERFLOWS_IN_BATCH)
        zero = overflow(&zero);
}

static void finish(void *self, FILE *out)
{
    const struct count *count = self;
    fprintf(out, "%s %lu %s\n", count->run->machine, count->records, count->argument);
    if (CASE == DIVIDES_IN_FINISH)
        raise(SIGFPE); /* a division by zero is no trap on every machine */
}

static void release(void *self)
{
    if (CASE == CRASHES_IN_FREE)
        *nowhere = 1;
    free(self);
}

AS_OBSERVER_EXPORT const struct as_observer assay_observer = {
    .version = CASE == WRONG_VERSION ? 77
               : CASE == VERSION_1   ? 1
                                     : AS_OBSERVER_VERSION,
    .record_size = CASE == WRONG_RECORD ? 48 : sizeof(struct as_pipe),
    .name = CASE == NO_NAME ? NULL : "counter",
    .create = CASE == NO_CREATE ? NULL : create,
    .batch = CASE == NO_BATCH ? NULL : batch,
    .finish = finish,
    .free = release,
    .workers = CASE == NO_MERGE ? 2 : 0,
};
