/* See sampling_error.h. */
#include "score/sampling_error.h"

#include <math.h>
#include <stdbool.h>

/* Samples stand for different times, so the weight of a group with one sample is near the average, not equal to it. */
static bool is_seen_once(double share, double n, const uint64_t *seen, size_t group)
{
    return seen ? seen[group] == 1 : share * n < 1.5;
}

double as_sampling_error(struct as_weights said, const uint64_t *seen, double samples)
{
    double error = 0, unseen = 0, n = samples;
    if (!(samples > 0) || said.total == 0)
        return NAN;
    for (size_t i = 0; i < said.n; i++) {
        double share = as_weights_share(said, i);
        error += sqrt(2 * share * (1 - share) / (M_PI * n)) / 2;
        unseen += is_seen_once(share, n, seen, i) ? share : 0;
    }
    return fmin(error + unseen / 2, 1);
}

double as_sampling_distance(double error)
{
    return isnan(error) ? NAN : fmin(sqrt(2) * error, 1);
}
