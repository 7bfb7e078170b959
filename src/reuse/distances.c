/* See distances.h. */
#include "reuse/distances.h"

#include <math.h>

void as_distances_merge(struct as_distances *into, const struct as_distances *from)
{
    into->total += from->total;
    into->least = from->least > into->least ? from->least : into->least;
    for (uint32_t i = 0; i < AS_DISTANCE_BINS; i++)
        into->bins[i] += from->bins[i];
}

double as_distances_beyond(const struct as_distances *distances, uint64_t distance)
{
    uint32_t bin = as_distance_bin(distance);
    double n = 0;
    for (uint32_t i = bin + 1; i < AS_DISTANCE_BINS; i++)
        n += (double)distances->bins[i];
    uint64_t low = as_distance_low(bin), width = as_distance_low(bin + 1) - low;
    return n + (double)distances->bins[bin] * (double)(width - (distance - low)) / (double)width;
}

void as_distances_octaves(const struct as_distances *distances, uint64_t octaves[AS_DISTANCE_OCTAVES])
{
    for (uint32_t i = 0; i < AS_DISTANCE_OCTAVES; i++)
        octaves[i] = 0;
    for (uint32_t i = 0; i < AS_DISTANCE_BINS; i++) {
        uint32_t octave = as_distance_octave(as_distance_low(i));
        octaves[as_distances_joins(distances, octave) ? 0 : octave] += distances->bins[i];
    }
}

double as_distances_accuracy(const uint64_t *estimate, const uint64_t *truth, uint32_t n)
{
    double all_estimate = 0, all_truth = 0, sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        all_estimate += (double)estimate[i];
        all_truth += (double)truth[i];
    }
    if (all_estimate == 0 || all_truth == 0)
        return all_estimate == all_truth;
    for (uint32_t i = 0; i < n; i++)
        sum += fabs((double)estimate[i] / all_estimate - (double)truth[i] / all_truth);
    return 1 - sum / 2;
}
