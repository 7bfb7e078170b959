/* See measure.h. */
#include "model/measure.h"

#include "base/clock.h"

void as_measure_free(struct as_measure *measure)
{
    as_vec_free(&measure->regions);
}

void as_measure_begin(struct as_measure *measure, uint32_t region)
{
    measure->on = true;
    measure->region = region;
    measure->stretch = (struct as_counters){0};
    measure->started = measure->machine;
    measure->began = as_clock_seconds();
}

struct as_counters as_measure_core(struct as_measure *measure, const struct as_core *core)
{
    struct as_counters now;
    as_core_count(core, &now);
    as_counters_add(&measure->machine, &now); /* sums over cores are meaningless here */
    return now;
}

void as_measure_leave(struct as_measure *measure, const struct as_core *core, const struct as_counters *before)
{
    struct as_counters now = as_measure_core(measure, core);
    if (!measure->on)
        return;
    as_counters_subtract(&now, before, AS_COUNTER_SUM);
    as_counters_add(&measure->stretch, &now);
}

void as_measure_end(struct as_measure *measure)
{
    struct as_counters *stretch = &measure->stretch;
    as_counters_subtract(stretch, &measure->started, AS_COUNTER_MAX);
    while (measure->regions.len <= measure->region)
        *as_vec_push(&measure->regions) = (struct as_counters){0};
    as_counters_append(&measure->regions.data[measure->region], stretch);
    as_counters_append(&measure->total, stretch);
    measure->on = false;
    measure->seconds += as_clock_seconds() - measure->began;
}
