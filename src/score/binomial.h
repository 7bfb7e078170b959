/* How far chance moves the share of a group among samples. */
#ifndef AS_SCORE_BINOMIAL_H
#define AS_SCORE_BINOMIAL_H

/* E|X/n - p| for X hits among n independent samples, each of which hits with probability p: de Moivre's closed form. */
double as_binomial_deviation(double n, double p);

/* The first and second moment of the difference between the shares of one group in two profiles. */
struct as_gap {
    double mean;   /* E|x/a - (m - x)/b| */
    double square; /* E(x/a - (m - x)/b)^2 */
};
/* m of the a + b samples belong to the group; chance decides which of them are among the first a (hypergeometric
 * distribution). m may be a fraction if groups share samples: the result is then interpolated between the neighbouring
 * integers. */
struct as_gap as_hypergeometric_gap(double m, double a, double b);

#endif
