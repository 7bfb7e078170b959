/* Exact counts of blocks and edges: from what the engine counted of a run (src/count). */
#ifndef AS_BLOCKS_EXACT_H
#define AS_BLOCKS_EXACT_H

#include "blocks/flow.h"
#include "count/counts.h"
#include "count/jumps.h"
#include "engine/sink_tee.h"

struct as_exact_options {
    struct as_cfg_options cfg;
    bool
        whole; /* blocks that a fault or the end of a region leaves half-way stay whole: what samples are held against */
};

/* What counts during the run: its sinks, for the engine, or beside a model. */
struct as_exact_counters {
    struct as_sink_tee *tee;
    struct as_counter *counter;
    struct as_jump_counter *jumps;
};
/* `accesses`: the engine records all of them. */
void as_exact_counters_open(struct as_exact_counters *counters, bool accesses);
void as_exact_counters_close(struct as_exact_counters *counters); /* accepts one that was never opened */

/* After the run, while the engine lives. The result's graph is built and belongs to the caller, like the result. */
struct as_flow *as_exact_flow(const struct as_engine *engine, const struct as_counter *counter,
                              const struct as_jump_counter *jumps, const struct as_exact_options *options);

#endif
