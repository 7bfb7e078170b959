/* A histogram of distances: exact below 64, from there 64 bins for each power of two. Sizes of caches are such borders,
 * so what is counted beyond one is exact. */
#ifndef AS_REUSE_DISTANCES_H
#define AS_REUSE_DISTANCES_H

#include <stdbool.h>
#include <stdint.h>

enum { AS_DISTANCE_SUB = 6, AS_DISTANCE_BINS = 64 * 36, AS_DISTANCE_OCTAVES = 40 };

struct as_distances {
    uint64_t total;
    uint64_t
        least; /* a power of two: shorter distances cannot be told apart, and are one octave, the first; 0: all can */
    uint64_t bins[AS_DISTANCE_BINS];
};

static inline uint32_t as_distance_bin(uint64_t distance)
{
    if (distance < 1 << AS_DISTANCE_SUB)
        return (uint32_t)distance;
    uint32_t shift = 63 - (uint32_t)__builtin_clzll(distance) - AS_DISTANCE_SUB;
    uint32_t bin = ((shift + 1) << AS_DISTANCE_SUB) + (uint32_t)(distance >> shift) - (1 << AS_DISTANCE_SUB);
    return bin < AS_DISTANCE_BINS ? bin : AS_DISTANCE_BINS - 1;
}

static inline uint64_t as_distance_low(uint32_t bin)
{
    uint32_t octave = bin >> AS_DISTANCE_SUB, rest = bin & ((1 << AS_DISTANCE_SUB) - 1);
    return octave ? ((uint64_t)rest + (1 << AS_DISTANCE_SUB)) << (octave - 1) : rest;
}

/* Powers of two: 0, 1, 2-3, 4-7, … */
static inline uint32_t as_distance_octave(uint64_t distance)
{
    uint32_t octave = distance ? 64 - (uint32_t)__builtin_clzll(distance) : 0;
    return octave < AS_DISTANCE_OCTAVES ? octave : AS_DISTANCE_OCTAVES - 1;
}
static inline uint64_t as_distance_octave_low(uint32_t octave)
{
    return octave ? UINT64_C(1) << (octave - 1) : 0;
}

static inline void as_distances_add(struct as_distances *distances, uint64_t distance, uint64_t n)
{
    distances->bins[as_distance_bin(distance)] += n;
    distances->total += n;
}
void as_distances_merge(struct as_distances *into, const struct as_distances *from);
/* How many are `distance` or more: exact where that is the border of a bin, otherwise a share of its bin. */
double as_distances_beyond(const struct as_distances *distances, uint64_t distance);
void as_distances_octaves(const struct as_distances *distances, uint64_t octaves[AS_DISTANCE_OCTAVES]);
/* The longest distance of an octave. */
static inline uint64_t as_distances_high(const struct as_distances *distances, uint32_t octave)
{
    return octave == 0 && distances->least ? distances->least - 1 : as_distance_octave_low(octave + 1) - 1;
}
/* Whether it is one with the first. */
static inline bool as_distances_joins(const struct as_distances *distances, uint32_t octave)
{
    return octave && as_distance_octave_low(octave) < distances->least;
}
/* How alike two histograms are, 0 to 1: S = 1 - sum over bins of |share - share| / 2. An empty one is like an empty one
 * only. */
double as_distances_accuracy(const uint64_t *estimate, const uint64_t *truth, uint32_t n);

#endif
