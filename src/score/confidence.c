/* See confidence.h. */
#include "score/confidence.h"

#include <math.h>

struct as_interval as_share_interval(double share, double samples, double z)
{
    if (!(samples > 0))
        return (struct as_interval){0, 1};
    double shrink = 1 + z * z / samples, middle = (share + z * z / (2 * samples)) / shrink;
    double half = z / shrink * sqrt(share * (1 - share) / samples + z * z / (4 * samples * samples));
    return (struct as_interval){fmax(middle - half, 0), fmin(middle + half, 1)};
}

double as_effective_samples(double sum, double squares)
{
    return squares > 0 ? sum * sum / squares : 0;
}

struct as_spread as_spread_of(const double *values, size_t n)
{
    struct as_spread spread = {.n = n, .least = INFINITY, .most = -INFINITY};
    for (size_t i = 0; i < n; i++) {
        spread.mean += values[i] / (double)n;
        spread.least = fmin(spread.least, values[i]);
        spread.most = fmax(spread.most, values[i]);
    }
    for (size_t i = 0; i < n; i++)
        spread.deviation += (values[i] - spread.mean) * (values[i] - spread.mean);
    spread.deviation = n > 1 ? sqrt(spread.deviation / (double)(n - 1)) : 0;
    return spread;
}

/* The number of standard deviations that gives the confidence of z with f degrees of freedom: closed forms for 1 and 2,
 * beyond that Fisher's expansion of the quantile in 1/f, which is within 1 % at 95 % and f = 3. */
static double student_t(double z, double f)
{
    double inside = erf(z / M_SQRT2), z2 = z * z;
    if (f < 2)
        return tan(M_PI_2 * inside);
    if (f < 3)
        return inside * sqrt(2 / (1 - inside * inside));
    return z + z * (z2 + 1) / (4 * f) + z * ((5 * z2 + 16) * z2 + 3) / (96 * f * f) +
           z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * f * f * f) +
           z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / (92160 * f * f * f * f);
}

struct as_interval as_mean_interval(const struct as_spread *spread, double z)
{
    if (spread->n < 2)
        return (struct as_interval){-INFINITY, INFINITY};
    double n = (double)spread->n, half = student_t(z, n - 1) * spread->deviation / sqrt(n);
    return (struct as_interval){spread->mean - half, spread->mean + half};
}

double as_jackknife_quantile(size_t n)
{
    return n < 2 ? INFINITY : student_t(AS_Z_95, (double)n - 1);
}

double as_jackknife_deviation(const double *replicates, size_t n)
{
    struct as_spread spread = as_spread_of(replicates, n);
    double groups = (double)n;
    return n < 2 ? INFINITY : spread.deviation * (groups - 1) / sqrt(groups);
}

bool as_varies_less(const double *first, const double *second, size_t n)
{
    static const double z_5_above = 1.644854; /* 5 % of all values lie above it */
    struct as_spread one = as_spread_of(first, n), other = as_spread_of(second, n);
    double sums = 0, differences = 0, both = 0;
    if (n < 4)
        return false;
    for (size_t i = 0; i < n; i++) {
        double a = first[i] - one.mean, b = second[i] - other.mean;
        sums += (a + b) * (a + b);
        differences += (a - b) * (a - b);
        both += (a + b) * (a - b);
    }
    double t = student_t(z_5_above, (double)n - 2);
    return both > t / sqrt((double)n - 2 + t * t) * sqrt(sums * differences);
}

/* From runs of short programs whose truth is known (doc/design/sampled.md). */
static const double region_deviation = 0.3, region_worth = 20;

struct as_region_prior as_region_prior_of(double part, double regions)
{
    double n = fmax(regions, 1);
    return (struct as_region_prior){.deviation = part * region_deviation / sqrt(n), .regions = n};
}

/* From runs of four programs whose truth is known (doc/design/points.md). By Satterthwaite's rule the spread of phases of different
 * weights is as certain as one of so many intervals. */
static const double interval_deviation = 0.08, interval_worth = 4;

struct as_region_prior as_points_prior_of(double variance, double squares)
{
    return (struct as_region_prior){.deviation = interval_deviation * sqrt(variance),
                                    .regions = 1 + interval_worth * (squares > 0 ? variance * variance / squares : 0)};
}

double as_region_deviation(const struct as_region_prior *prior, double found)
{
    double own = prior->regions - 1, expected = prior->deviation;
    return sqrt((own * found * found + region_worth * expected * expected) / (own + region_worth));
}

/* A share changes with the row's own time, which is less certain than the program's, and with the time of all others. */
double as_region_share_deviation(const struct as_region_prior *prior, double share, double moving, double found)
{
    static const double less_certain = 2;
    double part = fmin(fmax(share, 0), 1), own = fmin(fmax(moving, 0), 1);
    double change = hypot(less_certain * own * (1 - part), part * (1 - own));
    struct as_region_prior row = {.deviation = prior->deviation * change, .regions = prior->regions};
    return as_region_deviation(&row, found);
}

/* Functions that no region had were off by 0.95 of their time on average, in six runs (doc/design/sampled.md). */
double as_guessed_share_deviation(double share, double guessed, double found)
{
    static const double uncertain = 1.2; /* the deviation whose mean absolute value is that */
    double part = fmin(fmax(share, 0), 1), own = fmin(fmax(guessed, 0), part);
    return hypot(found, uncertain * own * (1 - part));
}

double as_jackknife_interval(const double *replicates, size_t n)
{
    return n < 2 ? INFINITY : as_jackknife_quantile(n) * as_jackknife_deviation(replicates, n);
}
