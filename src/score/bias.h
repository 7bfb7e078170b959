/* What a way of sampling gets wrong by itself, however many samples it takes: an interrupt that comes late, a unit that
 * sees no event in the shadow of another, a tag that falls on the first operation of a group.
 *
 * The figures are measured: suite/bias_run holds each way against what happened, on programs of the suite in the model;
 * the table is made of its suite/bias.csv when Assay is built. They say what to expect of a program like those, not what
 * is so of this one.
 */
#ifndef AS_SCORE_BIAS_H
#define AS_SCORE_BIAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a series was sampled, as far as it is known. */
struct as_sampled_by {
    const char *source;    /* of the profile: timer, pmu, import …; NULL: unknown */
    const char *processor; /* in words: "AMD EPYC 7763"; NULL: unknown */
    const char *event;     /* "cycles", "ibs_op", "mem_inst_retired.all_loads:pp"; NULL: unknown */
    int32_t precise;       /* precise level; -1: does not apply */
    const char *sampler;   /* of the model's, where that is the source */
};

enum as_bias_level { AS_BIAS_FUNCTION, AS_BIAS_BLOCK, AS_BIAS_INSTRUCTION, AS_BIAS_LEVELS };
extern const char *const as_bias_levels[AS_BIAS_LEVELS]; /* "function" … */

/* Over the programs: one in ten is below `low`, half below `median`, one in ten above `high`. Parts of 1. */
struct as_bias_range {
    double low, median, high;
};

struct as_bias {
    const char *way;   /* "interrupt" */
    const char *about; /* what goes wrong, for people */
    size_t programs;
    struct as_bias_range levels[AS_BIAS_LEVELS];
};

/* NULL: there is no measurement of such a way. The result is static. */
const struct as_bias *as_bias_of(const struct as_sampled_by *by);
const struct as_bias *as_bias_named(const char *way);

/* The error of a profile that has both, which come together as independent deviations do: at most 1; NAN where one of them
 * is. */
double as_bias_with_chance(double bias, double chance);
/* The other way round: what is left of an error, or of a distance, without chance; 0 if chance explains more; NAN without an
 * error. Chance that is not known explains all. */
double as_bias_without_chance(double error, double chance);
/* How far two profiles are apart of which their errors alone are known: as far as independent deviations are, at most 1; 1
 * where one of them is not known. */
double as_bias_apart(double a, double b);

#endif
