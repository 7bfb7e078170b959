/* See sample_error.h. */
#include "reuse/sample_error.h"

#include "base/random.h"

#include <math.h>

enum { MOST_SPREAD = 64 }; /* sampled lines: from there on the spread of their number is narrow */

/* Not as_reuse_hash, which says which lines are in the sample: neighbours would be in one part. */
uint32_t as_sample_part(uint64_t key)
{
    return (uint32_t)(as_random_hash(key) % AS_SAMPLE_PARTS);
}

void as_sample_parts_line(struct as_sample_parts *parts, uint64_t hash, uint32_t scale)
{
    parts->pieces[(hash << scale) / (UINT64_MAX / AS_SAMPLE_PARTS + 1)]++;
}

void as_sample_parts_merge(struct as_sample_parts *into, const struct as_sample_parts *from)
{
    for (uint32_t i = 0; i < AS_SAMPLE_PARTS; i++) {
        as_distances_merge(&into->hits[i], &from->hits[i]);
        into->lines[i] += from->lines[i];
        into->missed[i] += from->missed[i];
        into->pieces[i] += from->pieces[i];
    }
}

/* Of the number of lines, as a part of it. Pieces may be equal by luck: at least one line may be too many or missing. */
static double error_of_number(const struct as_sample_parts *parts, double rate)
{
    double all = 0, squares = 0;
    for (uint32_t i = 0; i < AS_SAMPLE_PARTS; i++)
        all += (double)parts->pieces[i];
    for (uint32_t i = 0; i < AS_SAMPLE_PARTS; i++)
        squares += pow((double)parts->pieces[i] - all / AS_SAMPLE_PARTS, 2);
    squares *= (1 - rate) * AS_SAMPLE_PARTS / (AS_SAMPLE_PARTS - 1);
    return all > 0 ? sqrt(fmax(squares, 1)) / all : 0;
}

/* By chance: which lines are sampled, by parts' misses a line, and how many. */
static double standard_error(const struct as_sample_parts *parts, uint64_t lines, double rate)
{
    double misses[AS_SAMPLE_PARTS], all = 0, all_lines = 0, squares = 0;
    for (uint32_t i = 0; i < AS_SAMPLE_PARTS; i++) {
        all += misses[i] = (double)parts->missed[i] + as_distances_beyond(&parts->hits[i], lines);
        all_lines += (double)parts->lines[i];
    }
    for (uint32_t i = 0; i < AS_SAMPLE_PARTS; i++) {
        double rest = misses[i] - (all_lines > 0 ? all * (double)parts->lines[i] / all_lines : 0);
        squares += rest * rest;
    }
    return hypot(sqrt((1 - rate) * squares * AS_SAMPLE_PARTS / (AS_SAMPLE_PARTS - 1)),
                 all * error_of_number(parts, rate));
}

/* The chance that of `distance` lines at least `least` are sampled. */
static double chance_of(uint64_t distance, uint32_t least, double rate)
{
    double below = 0, term = exp((double)distance * log1p(-rate));
    for (uint32_t k = 0; k < least && k <= distance; k++) {
        below += term;
        term *= (double)(distance - k) / (k + 1) * rate / (1 - rate);
    }
    return fmax(0, 1 - below);
}

/* By how much more touches would seem to miss if distances were spread once more. */
static double bias(const struct as_sample_parts *parts, uint64_t lines, uint32_t scale)
{
    double more = 0, rate = 1.0 / (double)(UINT64_C(1) << scale);
    uint32_t least = (uint32_t)((lines + (UINT64_C(1) << scale) - 1) >> scale);
    for (uint32_t bin = 0; bin < AS_DISTANCE_BINS && as_distance_low(bin) < lines * 16; bin++) {
        double n = 0;
        for (uint32_t i = 0; i < AS_SAMPLE_PARTS; i++)
            n += (double)parts->hits[i].bins[bin];
        if (n > 0)
            more += n * (chance_of(as_distance_low(bin), least, rate) - (as_distance_low(bin) >= lines));
    }
    return more;
}

static double misses_of(const struct as_sample_parts *parts, uint64_t lines)
{
    double misses = 0;
    for (uint32_t i = 0; i < AS_SAMPLE_PARTS; i++)
        misses += (double)parts->missed[i] + as_distances_beyond(&parts->hits[i], lines);
    return misses;
}

/* By how much more or less would miss if all distances were longer or shorter by the standard error of the number of sampled lines: the
 * same lines lie in between all the time. */
static double shift(const struct as_sample_parts *parts, uint64_t lines, double rate)
{
    double own = misses_of(parts, lines), by = sqrt((1 - rate) / ((double)lines * rate));
    double more = misses_of(parts, (uint64_t)((double)lines * fmax(0, 1 - by))) - own;
    double less = own - misses_of(parts, (uint64_t)ceil((double)lines * (1 + by)));
    return fmax(more, less);
}

double as_sample_error(const struct as_sample_parts *parts, uint64_t lines, uint32_t scale)
{
    if (!scale)
        return 0;
    double rate = 1.0 / (double)(UINT64_C(1) << scale);
    double spread = lines >> scale < MOST_SPREAD ? fabs(bias(parts, lines, scale)) : 0;
    return 2 * standard_error(parts, lines, rate) + fmax(spread, shift(parts, lines, rate));
}
