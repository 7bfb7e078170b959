/* Exact counts of blocks and edges: from what the engine counted of a run (src/count). */
#ifndef AS_BLOCKS_EXACT_H
#define AS_BLOCKS_EXACT_H

#include "blocks/flow.h"
#include "count/counts.h"
#include "count/jumps.h"

struct as_exact_options {
    struct as_cfg_options cfg;
    bool
        whole; /* blocks that a fault or the end of a region leaves half-way stay whole: what samples are held against */
};

/* After the run, while the engine lives. The result's graph is built and belongs to the caller, like the result. */
struct as_flow *as_exact_flow(const struct as_engine *engine, const struct as_counter *counter,
                              const struct as_jump_counter *jumps, const struct as_exact_options *options);

#endif
