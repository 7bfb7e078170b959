/* How far a measured number can be trusted: intervals around shares and means.
 *
 * z sets the confidence: the interval covers z standard deviations of a normal distribution, AS_Z_95 for 95 %.
 */
#ifndef AS_SCORE_CONFIDENCE_H
#define AS_SCORE_CONFIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AS_Z_95 1.959964
#define AS_Z_5_SIGMA 5.0 /* practically never reached by chance; used for verdicts and tests */

struct as_interval {
    double low, high;
};

/* The interval of a share (0 to 1) of this many samples, by Wilson's score, which also holds for small shares and few
 * samples. Without samples it is 0 to 1; with an infinite number of samples it is the share itself. */
struct as_interval as_share_interval(double share, double samples, double z);

/* How many equal samples these samples of different weights are worth: (sum of w)^2 / sum of w^2 (Kish). 0 without
 * samples. */
double as_effective_samples(double sum, double squares);

/* The results of several runs of the same program. */
struct as_spread {
    size_t n;
    double mean, deviation, least, most; /* the deviation is that of a sample (n - 1); 0 for a single value */
};
struct as_spread as_spread_of(const double *values, size_t n);

/* The interval of the mean, by Student's t; infinite for fewer than two values. */
struct as_interval as_mean_interval(const struct as_spread *spread, double z);

/* The standard deviation of an estimate, and half of its 95 % interval by Student's t. Each of the n replicates is the
 * estimate computed without one of n groups of the sample (delete-a-group jackknife). */
double as_jackknife_deviation(const double *replicates, size_t n);
double as_jackknife_interval(const double *replicates, size_t n);
double as_jackknife_quantile(size_t n); /* deviations in half of that interval */

/* Whether `second` varies less than `first`, significantly (5 %). Both are measurements of the same n things. By Pitman and Morgan:
 * if the first one varies more, sum and difference of both grow together. */
bool as_varies_less(const double *first, const double *second, size_t n);

/* The spread of few regions is itself a matter of chance: if none of them has the burst that one in twenty has, they seem to agree.
 * So what was found is combined with what regions of other programs differ by, in proportion to their numbers. */
struct as_region_prior {
    double deviation; /* of an estimate for the whole program, if its regions differ like others do */
    double regions;   /* that were measured */
};
/* `part`: of the program, 0 to 1, that the regions stand for. */
struct as_region_prior as_region_prior_of(double part, double regions);
/* The same for intervals of phases, some of each. `variance`: of the estimate, if the intervals of a phase differ by their whole time;
 * `squares`: the sum of the squares of what single phases have of it, each over its degrees of freedom. */
struct as_region_prior as_points_prior_of(double variance, double squares);
/* The deviation of the program's time, from the one that was found. */
double as_region_deviation(const struct as_region_prior *prior, double found);
/* The same of a row's share of the time; `moving`: its share (0 to 1) of the time that depends on regions. */
double as_region_share_deviation(const struct as_region_prior *prior, double share, double moving, double found);
/* The same of a row with the share `guessed` of code that no region has, whose cost is taken to be that of other code. */
double as_guessed_share_deviation(double share, double guessed, double found);

#endif
