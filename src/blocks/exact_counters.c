/* See exact.h. */
#include "blocks/exact.h"

void as_exact_counters_open(struct as_exact_counters *counters, bool accesses)
{
    counters->tee = as_sink_tee_new();
    counters->counter = as_counter_new(accesses);
    counters->jumps = as_jump_counter_new();
    as_sink_tee_add(counters->tee, &as_counter_sink, counters->counter);
    as_sink_tee_add(counters->tee, &as_jump_counter_sink, counters->jumps);
}

void as_exact_counters_close(struct as_exact_counters *counters)
{
    if (!counters->tee)
        return;
    as_jump_counter_free(counters->jumps);
    as_counter_free(counters->counter);
    as_sink_tee_free(counters->tee);
}
