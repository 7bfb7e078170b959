/* A plain out-of-order core that steps every stage every cycle: what the fast core is held against.
 *
 * Written from struct as_machine alone, with none of the fast core's code: a fetch buffer, a ROB, issue queues, load
 * and store queues, all as scans over the instructions in flight; every cycle drains, dispatches, issues oldest first,
 * accesses memory, commits and fetches. Instructions behind one that flushes or is tried again really run and are
 * squashed. It knows the executed path, as the fast core does: behind a mispredicted branch it fetches nothing until
 * that has resolved. One micro-operation an instruction; no fusion.
 *
 * Memory is either perfect (every access hits the L1) or a memory of its own (as_memory), which it asks in the order of
 * time, where the fast core asks in the order of the program. Predictions come from a predictor of its own, asked once
 * for each executed branch.
 */
#ifndef AS_TESTS_REFERENCE_H
#define AS_TESTS_REFERENCE_H

#include "core_bed.h"

struct reference_result {
    struct as_pipe
        *pipes; /* of the bed's steps, counted from the same cycle 0; events: only those of a full store queue, DR_SQ
                              and, where its oldest entry waits for another core's line, COHERENCE, which also what waits for
                              such a store to drain has. The caller frees */
    uint64_t kernel_cycles, retries;
};

struct reference_result reference_run(const struct core_bed *bed, bool perfect_memory);

/* Several cores with caches of their own, each with a program, in step: every cycle of all of them before the next one. Core i begins at
 * cycle starts[i]. Returns the cycle in which the last one is done. */
uint64_t reference_run_together(const struct core_bed *beds, const uint64_t *starts, uint32_t n);

#endif
