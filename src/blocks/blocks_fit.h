/* Whether samples fit the code that they are counted in. Where many do not, the file is another one than the recorded one,
 * or the recording is damaged, and counts of the few that happen to fit mean nothing. */
#ifndef AS_BLOCKS_BLOCKS_FIT_H
#define AS_BLOCKS_BLOCKS_FIT_H

#include "blocks/estimate.h"

#include <stdbool.h>

struct as_str;
struct as_blocks_fit {
    const struct as_flow *flow; /* of exact counts everything fits */
    enum as_method method;
    double disordered;  /* part of the runs of branch stacks that would end before they begin */
    const char *module; /* only this file's, by name or path; NULL: all */
};

/* The part that does not fit, of branch entries or, for methods of addresses, of those: 0 to 1. */
double as_blocks_misfit(const struct as_blocks_fit *fit);
/* False with the reason where that is more than half. */
bool as_blocks_check_fit(const struct as_blocks_fit *fit, struct as_error *err) AS_MUST_CHECK;
/* Adds a sentence where it is more than a tenth, of all files or of one; false: it is not. */
bool as_blocks_add_doubt(const struct as_blocks_fit *fit, struct as_str *text);

#endif
