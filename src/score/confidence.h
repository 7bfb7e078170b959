/* How far a measured number can be trusted: intervals around shares and means.
 *
 * z says how sure: an interval of z standard deviations of a normal distribution, AS_Z_95 for 95 %.
 */
#ifndef AS_SCORE_CONFIDENCE_H
#define AS_SCORE_CONFIDENCE_H

#include <stddef.h>
#include <stdint.h>

#define AS_Z_95 1.959964
#define AS_Z_5_SIGMA 5.0 /* never by chance, in practice: for verdicts and tests */

struct as_interval {
    double low, high;
};

/* Of a share (0 to 1) of so many samples: Wilson's score interval, which holds for small shares and few samples too.
 * Without samples it is all of 0 to 1; an infinite number of samples leaves the share alone. */
struct as_interval as_share_interval(double share, double samples, double z);

/* Samples that stand for different times are worth fewer equal ones: (sum of w)^2 / sum of w^2 (Kish). 0 for none. */
double as_effective_samples(const uint64_t *weights, size_t n);

/* Several runs of the same thing. */
struct as_spread {
    size_t n;
    double mean, deviation, least, most; /* the deviation is that of a sample (n - 1); 0 for a single value */
};
struct as_spread as_spread_of(const double *values, size_t n);

/* Of the mean, by Student's t; without bounds for fewer than two values. */
struct as_interval as_mean_interval(const struct as_spread *spread, double z);

/* An estimate from a sample, computed again without one of n groups of the sample each time: the standard deviation of
 * the estimate (delete-a-group jackknife), and half of its 95 % interval by Student's t. */
double as_jackknife_deviation(const double *replicates, size_t n);
double as_jackknife_interval(const double *replicates, size_t n);

#endif
