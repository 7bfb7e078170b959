/* Counts of blocks from a recording: by the method that is asked for, or the one that its samples are for; refused where the recording
 * has not what the method needs, and where its samples do not fit the code. */
#ifndef AS_BLOCKS_RECORDING_COUNTS_H
#define AS_BLOCKS_RECORDING_COUNTS_H

#include "blocks/blocks_fit.h"
#include "blocks/recording.h"

struct as_recording_counts_options {
    int method;                      /* enum as_method; -1: by what the recording has */
    bool balance, balance_addresses; /* the latter: only where samples say nothing of edges */
    bool drop_oldest;                /* it was asked for: refused where there are no stacks */
    const char *module;              /* only this file's are wanted (name or path); NULL: all */
};

struct as_recording_counts {
    struct as_flow *flow;
    enum as_method method;
    struct as_estimate_trouble trouble;
    struct as_blocks_fit fit; /* of all files */
    bool has_edges;           /* samples say where control went */
    const char *unit;         /* what the counts are of, the recording's: time, say; NULL: executions */
};

/* False also where no sample is in code that can be read; the reason begins with `path`. */
bool as_recording_count(struct as_recording_counts *counts, const struct as_recording *recording, const char *path,
                        const struct as_recording_counts_options *options, struct as_error *err) AS_MUST_CHECK;
void as_recording_counts_free(struct as_recording_counts *counts); /* the recording stays the caller's */

#endif
