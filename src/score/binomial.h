/* What chance does to the share of a group among samples. */
#ifndef AS_SCORE_BINOMIAL_H
#define AS_SCORE_BINOMIAL_H

/* E|X/n - p| of X hits among n independent samples that each hit with probability p: de Moivre's closed form. */
double as_binomial_deviation(double n, double p);

/* First and second moment of how far the shares of one group are apart in two profiles. */
struct as_gap {
    double mean;   /* E|x/a - (m - x)/b| */
    double square; /* E(x/a - (m - x)/b)^2 */
};
/* m of a + b samples are the group's; which of them are among the first a is chance (hypergeometric). m may be a
 * fraction, where samples are shared between groups: then it lies between its neighbours. */
struct as_gap as_hypergeometric_gap(double m, double a, double b);

#endif
