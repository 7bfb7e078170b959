/* How long branch predictors are trained before a region: determined in the run itself.
 *
 * A predictor that has seen nothing for a while mispredicts more at first. The training itself shows how much more: its
 * second quarter has more mispredictions than its second half. A region after half as long a training would have at most
 * that many too many.
 *
 * Where that is hardly anything, training becomes half as long. Where it is too much, training becomes twice as long. From then on
 * many regions must agree before it becomes shorter: the first ones are of a program that starts. A single region depends on
 * chance, so several decide, without their outer tenths.
 */
#include "base/log.h"
#include "record/sampled_internal.h"
#include "score/confidence.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    REGIONS = 40,       /* after so many it is looked at, again and again … */
    MANY_REGIONS = 200, /* … after so many, if it was too short before … */
    MOST_REGIONS = 400  /* … up to here; then those before are forgotten */
};
enum { SHORTEST = 50000, LONGEST = 800000 };
enum { COST = 20 };                    /* cycles of a misprediction, roughly */
static const double tolerable = 0.002; /* part of the time … */
static const double deviations = 2;    /* … that the mean must be away from */

static void set_length(struct as_sampled *sampled, uint64_t near)
{
    sampled->regions.near = near;
    as_vec_clear(&sampled->training);
    as_log_debug("predictors are trained for %" PRIu64 " instructions", near);
    as_model_set_training(sampled->modelled->model, near);
}

void as_sampled_begin_training(struct as_sampled *sampled)
{
    set_length(sampled, AS_NEAR);
}

/* The mean of what was seen, as a part of the time, and its standard deviation. */
static struct as_spread sum_up(const struct as_sampled *sampled)
{
    const struct as_counters *counters = &sampled->open.counters;
    size_t n = sampled->training.len;
    double values[MOST_REGIONS], part = COST * (double)counters->instructions / (double)counters->cycles;
    memcpy(values, sampled->training.data, n * sizeof *values);
    as_sampled_clip(values, n);
    struct as_spread spread = as_spread_of(values, n);
    spread.mean *= part;
    spread.deviation *= part / sqrt((double)n);
    return spread;
}

void as_sampled_adapt_training(struct as_sampled *sampled)
{
    uint64_t near = sampled->regions.near;
    double excess;
    if (!as_model_training(sampled->modelled->model, &excess))
        return;
    *as_vec_push(&sampled->training) = excess;
    if (sampled->training.len % REGIONS != 0 || !sampled->open.counters.cycles)
        return;
    struct as_spread spread = sum_up(sampled);
    bool enough = sampled->training.len >= (sampled->trained_longer ? MANY_REGIONS : REGIONS);
    as_log_debug("training with %" PRIu64 " instructions: %.5f in the second quarter, standard deviation %.5f", near,
                 spread.mean, spread.deviation);
    if (spread.mean - deviations * spread.deviation > tolerable && near < LONGEST) {
        sampled->trained_longer = true;
        set_length(sampled, 2 * near);
    } else if (spread.mean + deviations * spread.deviation < tolerable && near > SHORTEST && enough) {
        set_length(sampled, near / 2);
    } else if (sampled->training.len == MOST_REGIONS) {
        as_vec_clear(&sampled->training);
    }
}
