/* How wrong counts of blocks are, where the truth is known.
 *
 * The error is that of Nowak et al. (section 3.3): the sum over all blocks of how many executed instructions the estimate
 * is off, over the instructions that were executed. So 0 is right, and 2 is as wrong as an estimate of the right size can
 * be. For functions the same with their sums.
 */
#ifndef AS_BLOCKS_ACCURACY_H
#define AS_BLOCKS_ACCURACY_H

#include "blocks/flow.h"

enum { AS_ACCURACY_TOP = 10 };

struct as_accuracy {
    double block, function;
    /* The functions with most instructions: how many there are, how many of them the estimate has among its own first
     * ones, and how many it has in the right place, from the first to the first that is wrong. */
    uint32_t top, top_found, top_ordered;
    /* Part of the instructions that are in blocks whose interval of 95 % holds the truth. */
    double covered;
};

/* Both on the same graph. */
struct as_accuracy as_accuracy_of(const struct as_flow *estimate, const struct as_flow *truth);

/* Half the width of the interval around a block's count, as part of the count, at 95 %; INFINITY: no samples; 0: exact. */
double as_accuracy_interval(const struct as_flow *flow, uint32_t module, uint32_t block);

#endif
