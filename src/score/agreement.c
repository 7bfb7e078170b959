/* See agreement.h. The variance of the distance is the sum of the variances of the groups' gaps and of their
 * covariances. The groups are correlated because shares add up to 1: the correlation of shares p and q is -sqrt(pq /
 * ((1-p)(1-q))), and the absolute values of two normal gaps with correlation r have a covariance of about r^2/pi times
 * both deviations. */
#include "score/agreement.h"

#include "score/binomial.h"

#include <math.h>

const char *as_agreement_verdict_name(enum as_agreement_verdict verdict)
{
    static const char *const names[] = {"agree", "differ", "too few samples"};
    return names[verdict];
}

/* The share of the group in both profiles together; if one profile is exact, its share alone. */
static double pooled_share(struct as_sampled a, struct as_sampled b, size_t group)
{
    if (isinf(a.samples) || isinf(b.samples))
        return as_weights_share(isinf(a.samples) ? a.weights : b.weights, group);
    double in_a = as_weights_share(a.weights, group), in_b = as_weights_share(b.weights, group);
    return (in_a * a.samples + in_b * b.samples) / (a.samples + b.samples);
}

static struct as_gap gap_of(double share, double n_a, double n_b)
{
    double fewer = fmin(n_a, n_b);
    if (isinf(fewer))
        return (struct as_gap){0};
    if (isinf(fmax(n_a, n_b)))
        return (struct as_gap){.mean = as_binomial_deviation(fewer, share), .square = share * (1 - share) / fewer};
    return as_hypergeometric_gap(share * (n_a + n_b), n_a, n_b);
}

struct as_chance as_chance_of(struct as_sampled a, struct as_sampled b)
{
    double mean = 0, variance = 0, common = 0, own = 0;
    size_t n = a.weights.n > b.weights.n ? a.weights.n : b.weights.n;
    for (size_t i = 0; i < n; i++) {
        double share = pooled_share(a, b, i);
        if (share <= 0 || share >= 1)
            continue;
        struct as_gap gap = gap_of(share, a.samples, b.samples);
        double part = share * sqrt(share / (1 - share));
        mean += gap.mean;
        variance += fmax(gap.square - gap.mean * gap.mean, 0);
        common += part;
        own += part * part;
    }
    variance += (1 / a.samples + 1 / b.samples) / M_PI * (common * common - own);
    return (struct as_chance){.expected = mean / 2, .deviation = sqrt(fmax(variance, 0)) / 2};
}

struct as_agreement as_agreement_of(struct as_sampled a, struct as_sampled b, double z)
{
    return as_agreement_with(a, b, as_chance_of(a, b), z);
}

struct as_agreement as_agreement_with(struct as_sampled a, struct as_sampled b, struct as_chance chance, double z)
{
    struct as_agreement agreement = {.distance = as_weights_distance(a.weights, b.weights),
                                     .expected = NAN,
                                     .deviation = NAN,
                                     .verdict = AS_PROFILES_TOO_FEW};
    if (isnan(agreement.distance) || !(a.samples >= 1) || !(b.samples >= 1))
        return agreement;
    agreement.expected = chance.expected;
    agreement.deviation = chance.deviation;
    double limit = agreement.expected + z * agreement.deviation;
    if (limit < 1)
        agreement.verdict = agreement.distance > limit ? AS_PROFILES_DIFFER : AS_PROFILES_AGREE;
    return agreement;
}
