/* See binomial.h. Small counts are summed exactly; large counts use the normal distribution. */
#include "score/binomial.h"

#include <math.h>

enum { EXACT_UNTIL = 64 };

double as_binomial_deviation(double n, double p)
{
    if (n <= 0 || p <= 0 || p >= 1)
        return 0;
    double v = floor(n * p) + 1;
    if (v > n)
        return 2 * pow(p, n) * (1 - p);
    if (v == 1) /* the general case without its binomial coefficient, which is n: most instructions have few samples */
        return 2 * p * exp(n * log1p(-p));
    double choose = lgamma(n + 1) - lgamma(v + 1) - lgamma(n - v + 1);
    return 2 * v / n * exp(choose + v * log(p) + (n - v + 1) * log1p(-p));
}

/* log(n! / (k! (n-k)!)) */
static double log_choose(double n, double k)
{
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

static struct as_gap sum_exactly(int m, double a, double b)
{
    struct as_gap gap = {0};
    for (int x = 0; x <= m; x++) {
        if (x > a || m - x > b)
            continue;
        double chance = exp(log_choose(a, x) + log_choose(b, m - x) - log_choose(a + b, m)), g = x / a - (m - x) / b;
        gap.mean += chance * fabs(g);
        gap.square += chance * g * g;
    }
    return gap;
}

static struct as_gap take_normal(double m, double a, double b)
{
    double all = a + b, spread = all / (a * b);
    double square = m * (a / all) * (b / all) * (all - m) / (all - 1) * spread * spread;
    return (struct as_gap){.mean = sqrt(2 / M_PI * square), .square = square};
}

struct as_gap as_hypergeometric_gap(double m, double a, double b)
{
    if (m <= 0 || m >= a + b)
        return (struct as_gap){0};
    if (m > EXACT_UNTIL)
        return take_normal(m, a, b);
    double below = floor(m), part = m - below;
    struct as_gap low = sum_exactly((int)below, a, b);
    if (part == 0)
        return low;
    struct as_gap high = below + 1 >= a + b ? low : sum_exactly((int)below + 1, a, b);
    return (struct as_gap){.mean = low.mean + part * (high.mean - low.mean),
                           .square = low.square + part * (high.square - low.square)};
}
