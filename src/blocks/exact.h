/* Exact counts of blocks and edges: from what the engine counted of a run (src/count). */
#ifndef AS_BLOCKS_EXACT_H
#define AS_BLOCKS_EXACT_H

#include "blocks/flow.h"
#include "count/counts.h"
#include "count/jumps.h"

/* After the run, while the engine lives. The result's graph is built and belongs to the caller, like the result. */
struct as_flow *as_exact_flow(const struct as_engine *engine, const struct as_counter *counter,
                              const struct as_jump_counter *jumps, const struct as_cfg_options *options);

#endif
