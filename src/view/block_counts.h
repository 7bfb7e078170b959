/* How often basic blocks ran, from a profile: exact where its series counts executions (the golden reference), else
 * estimated from its samples and the branches that were recorded with them (src/blocks/estimate.h).
 *
 * A profile keeps branches without their order, so its stacks give no runs; counts of blocks follow from branches by the
 * law of flow instead. Files must be the ones that were recorded.
 */
#ifndef AS_VIEW_BLOCK_COUNTS_H
#define AS_VIEW_BLOCK_COUNTS_H

#include "blocks/estimate.h"
#include "view/view.h"

struct as_block_counts_options {
    int method;                      /* enum as_method; -1: by what the profile has */
    bool balance, balance_addresses; /* the latter: only where samples say nothing of edges */
    bool edges;                      /* between blocks, too: of counted executions, that takes longer than all else */
    const char *debug_path;          /* as in struct as_space_options */
};

struct as_block_counts_refused {
    const char *path, *why;
    uint64_t samples, executions; /* those that are left out; executions: of instructions, in a profile of the model */
};

struct as_block_counts {
    const struct as_view *view;
    struct as_cfg *cfg;
    struct as_flow *flow;
    struct as_samples *samples; /* NULL: the counts are exact */
    enum as_method method;
    struct as_estimate_trouble trouble;
    double per_sample; /* branches of the profile, on average: the size of its stacks */
    double most;       /* executions of the block that ran most */
    uint32_t *number;  /* by module of the profile: that of the graph; AS_CFG_NONE: its code cannot be had */
    AS_VEC(struct as_block_counts_refused) refused;
};

/* False also where nothing can be counted: no samples in code that can be read. */
bool as_block_counts_make(struct as_block_counts *counts, const struct as_view *view,
                          const struct as_block_counts_options *options, struct as_error *err) AS_MUST_CHECK;
void as_block_counts_free(struct as_block_counts *counts);

/* Executions of the block that holds an address of the run; NAN: it is in none. `starts`: the block begins there. */
double as_block_counts_at(const struct as_block_counts *counts, uint32_t module, uint64_t address, bool *starts);

/* Whether the series counts executions, or samples something that follows them: instructions, operations, branches. The
 * counts of others say where the time went. */
bool as_block_counts_are_executions(const struct as_block_counts *counts);

#endif
