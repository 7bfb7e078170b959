/* Natural loops and other cycles among the blocks that ran, with how often each went round; and hot traces: the paths that control takes
 * most of the time. */
#ifndef AS_BLOCKS_LOOPS_H
#define AS_BLOCKS_LOOPS_H

#include "blocks/flow.h"

struct as_loop {
    uint32_t module,
        header; /* the block through which it is entered; if there are several, the one of it that ran most often */
    uint32_t n_blocks;
    double entries;      /* from outside */
    double iterations;   /* executions of the header */
    double instructions; /* executed in its blocks, those of inner loops included, those of functions called not */
    bool estimated;      /* entries rest on an edge that is, though counts of blocks are exact */
};
typedef AS_VEC(struct as_loop) as_loops;

/* Of all functions, most instructions first. The trip count of a loop is iterations / entries. Of addresses loops are those of the
 * balanced counts: as measured, a block that has more than what leads to it would seem to be entered from elsewhere. */
as_loops as_loops_find(const struct as_flow *flow);
/* By block of the module the header of the smallest loop that it is in, of the counts as they are; AS_CFG_NONE: none. The caller frees. */
uint32_t *as_loops_innermost(const struct as_flow *flow, uint32_t module);

struct as_trace {
    uint32_t module;
    uint32_t first, n;   /* in the list of blocks */
    double count;        /* how often control went all the way: the least edge on it */
    double instructions; /* of its blocks, all executions of them */
    bool loops;          /* its end leads to its beginning most of the time */
    bool estimated;      /* its count is that of an edge that is */
};
struct as_traces {
    AS_VEC(struct as_trace) list; /* most instructions first */
    AS_VEC(uint32_t) blocks;
};
/* Each block is in one trace at most. A trace starts at the hottest block that is in none and goes on, forward and
 * backward, along edges that are taken in more than half of the executions on both sides. */
static inline bool as_trace_is_path(const struct as_trace *trace) /* not a block that leads nowhere most of the time */
{
    return trace->n > 1 || trace->loops;
}
void as_traces_find(const struct as_flow *flow, struct as_traces *traces);
void as_traces_free(struct as_traces *traces);

#endif
