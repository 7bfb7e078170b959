/* See sampling_error.h. */
#include "score/sampling_error.h"

#include <math.h>

double as_sampling_error(struct as_weights said, uint64_t samples)
{
    double error = 0, unseen = 0, n = (double)samples;
    if (samples == 0 || said.total == 0)
        return NAN;
    for (size_t i = 0; i < said.n; i++) {
        double share = as_weights_share(said, i);
        error += sqrt(2 * share * (1 - share) / (M_PI * n)) / 2;
        unseen += share * n <= 1 ? share : 0;
    }
    return fmin(error + unseen / 2, 1);
}
