/* See patience.h. */
#include "reuse/patience.h"

#include <math.h>

static const double LEAST = 1.0 / 64; /* reach: bounds what a single use can stand for */

/* Ages 0, 1, 2-3, 4-7, … */
static uint32_t octave_of(uint64_t age)
{
    uint32_t octave = age ? 64 - (uint32_t)__builtin_clzll(age) : 0;
    return octave < AS_PATIENCE_OCTAVES ? octave : AS_PATIENCE_OCTAVES - 1;
}

static double width_of(uint32_t octave)
{
    return octave ? (double)(UINT64_C(1) << (octave - 1)) : 1;
}

/* Octaves pooled so that the hazard falls from each pool to the next. */
static void allocate(struct as_patience *patience)
{
    double ended[AS_PATIENCE_OCTAVES], watched[AS_PATIENCE_OCTAVES];
    uint32_t last[AS_PATIENCE_OCTAVES], n = 0;
    for (uint32_t i = 0; i < AS_PATIENCE_OCTAVES; i++, n++) {
        ended[n] = patience->ended[i];
        watched[n] = patience->watched[i];
        for (last[n] = i; n && ended[n] * watched[n - 1] >= ended[n - 1] * watched[n]; n--) {
            ended[n - 1] += ended[n];
            watched[n - 1] += watched[n];
            last[n - 1] = i;
        }
    }
    for (uint32_t pool = 0, i = 0; pool < n; pool++)
        for (double reach = sqrt(ended[pool] / watched[pool] * watched[0] / ended[0]); i <= last[pool]; i++)
            patience->reach[i] = fmax(reach, LEAST);
}

void as_patience_init(struct as_patience *patience)
{
    for (uint32_t i = 0; i < AS_PATIENCE_OCTAVES; i++) {
        patience->ended[i] = 1;
        patience->watched[i] = 2 * width_of(i);
    }
    allocate(patience);
}

void as_patience_learn(struct as_patience *patience, uint64_t age, bool ended, double weight)
{
    uint32_t last = octave_of(age);
    for (uint32_t i = 0; i <= last; i++) {
        double start = i ? width_of(i) : 0, through = i < last ? width_of(i) : (double)age - start + 0.5;
        patience->watched[i] += weight * through / patience->reach[i];
    }
    if (ended)
        patience->ended[last] += weight / patience->reach[last];
    allocate(patience);
}

double as_patience_reach(const struct as_patience *patience, uint64_t age)
{
    return patience->reach[octave_of(age)];
}

double as_patience_later(const struct as_patience *patience, uint64_t age)
{
    double all = 0, later = 0;
    for (uint32_t i = 0; i < AS_PATIENCE_OCTAVES; i++) {
        all += patience->ended[i];
        later += i >= octave_of(age) ? patience->ended[i] : 0;
    }
    return later / all;
}
