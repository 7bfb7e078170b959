/* See change.h. */
#include "score/change.h"

#include "score/confidence.h"

#include <math.h>

static double variance(struct as_timed timed)
{
    if (timed.deviation > 0)
        return timed.deviation * timed.deviation;
    if (isinf(timed.samples))
        return 0;
    return timed.samples > 0 ? timed.time * timed.time / timed.samples : timed.weight * timed.weight;
}

double as_change_deviation(struct as_timed before, struct as_timed after)
{
    return sqrt(variance(before) + variance(after));
}

bool as_change_is_significant(struct as_timed before, struct as_timed after)
{
    double change = fabs(after.time - before.time);
    return change > 0 && change > AS_Z_5_SIGMA * as_change_deviation(before, after);
}
