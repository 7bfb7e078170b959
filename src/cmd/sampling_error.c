/* See sampling_error.h. */
#include "cmd/sampling_error.h"

#include <math.h>

double as_record_sampling_error(const uint64_t *units, size_t groups, uint64_t samples)
{
    double total = 0, error = 0, unseen = 0;
    for (size_t i = 0; i < groups; i++)
        total += (double)units[i];
    for (size_t i = 0; i < groups && total > 0 && samples > 0; i++) {
        double share = (double)units[i] / total;
        error += sqrt(2 * share * (1 - share) / (M_PI * (double)samples)) / 2;
        unseen += share * (double)samples <= 1 ? share : 0;
    }
    error += unseen / 2;
    return samples == 0 || total <= 0 ? NAN : fmin(error, 1);
}
