/* Edges of the memo: what the pipeline did with a block, as an edge, and an edge as what is counted. Private to core*.c.
 */
#ifndef AS_CORE_CORE_EDGE_H
#define AS_CORE_CORE_EDGE_H

#include "core/core_internal.h"
#include "core/memo_table.h"

/* `times` is 1, or -1 to take back what was counted. */
static inline void as_edge_count(struct as_core *core, struct as_known *edge, uint64_t times)
{
    core->n_insns += times * edge->edge.n;
    core->n_uops += times * edge->uops;
    core->counters.branches += times * edge->branches;
    core->n_continued += times * edge->edge.continued;
    const struct as_known_counts *counts = edge->counts;
    if (!counts)
        return;
    core->counters.branch_mispredictions += times * counts->mispredictions;
    core->counters.btb_misses += times * counts->btb_misses;
    core->counters.flushes += times * counts->flushes;
    core->counters.wrong_path_instructions += times * counts->wrong_path;
    core->counters.store_forwards += times * counts->forwards;
    core->kernel_cycles += times * counts->kernel_cycles;
}

/* What a run changes beside the pipeline, before it does. */
struct as_edge_before {
    uint64_t n_uops, n_continued, kernel_cycles, last_commit;
    size_t stays; /* in the log */
    uint16_t last_flags;
    struct as_counters counters;
};

struct as_edge_before as_edge_note_before(const struct as_core *core);
struct as_edge_record as_edge_record_of(const struct as_pipe *pipe, uint64_t base);
/* The edge of a block that the pipeline has just run from the node on; `base` was the last dispatch before it. */
struct as_known *as_edge_make(struct as_core *core, struct as_node *node, const struct as_pipe *pipes, uint64_t base,
                              const struct as_edge_before *before);

#endif
