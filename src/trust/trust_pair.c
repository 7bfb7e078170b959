/* See trust_pair.h. */
#include "trust/trust_pair.h"

#include "trust/trust_expected.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const enum as_store_level as_trust_levels[AS_TRUST_LEVELS] = {AS_STORE_BY_INSTRUCTION, AS_STORE_BY_LINE,
                                                              AS_STORE_BY_FUNCTION, AS_STORE_BY_MODULE};
static const double z = 3;             /* standard deviations beyond chance that count as a difference */
static const double as_expected = 1.5; /* times as far apart as in the model is still as the model expects */

/* The level of an error that is nearest to each. */
static const enum as_bias_level bias_levels[AS_TRUST_LEVELS] = {AS_BIAS_INSTRUCTION, AS_BIAS_BLOCK, AS_BIAS_FUNCTION,
                                                                AS_BIAS_FUNCTION};

/* Shares as whole numbers, of 2^48 in all. */
static struct as_weights weights_of(const struct as_diff *diff, int side)
{
    uint64_t *units = as_alloc_array(diff->rows.len + 1, sizeof *units);
    for (size_t i = 0; i < diff->rows.len && diff->cycles[side] > 0; i++)
        units[i] = (uint64_t)(diff->rows.data[i].cycles[side] / diff->cycles[side] * 0x1p48);
    return as_weights_of(units, diff->rows.len);
}

static double samples_of(const struct as_view *view)
{
    return view->summary.exact ? INFINITY : (double)view->summary.samples;
}

static bool compare_level(const struct as_view views[AS_DIFF_SIDES], size_t level, struct as_agreement *agreement,
                          struct as_error *err)
{
    struct as_diff *diff =
        as_diff_new_of_shares(&views[AS_DIFF_BEFORE], &views[AS_DIFF_AFTER], as_trust_levels[level], err);
    if (!diff)
        return false;
    struct as_weights a = weights_of(diff, AS_DIFF_BEFORE), b = weights_of(diff, AS_DIFF_AFTER);
    *agreement = as_agreement_of((struct as_sampled){a, samples_of(&views[AS_DIFF_BEFORE])},
                                 (struct as_sampled){b, samples_of(&views[AS_DIFF_AFTER])}, z);
    free((void *)a.units);
    free((void *)b.units);
    as_diff_free(diff);
    return true;
}

/* ---- what the model expects ---- */

static bool same_way(const struct as_view views[AS_DIFF_SIDES])
{
    return strcmp(views[AS_DIFF_BEFORE].summary.bias->way, views[AS_DIFF_AFTER].summary.bias->way) == 0;
}

/* The runs by their shares; for the rest of the samples what the suite has of the two ways, which is nothing if they are
 * one. */
static bool compare_runs(struct as_trust_pair *pair, const struct as_again again[AS_DIFF_SIDES], size_t level,
                         struct as_error *err)
{
    const struct as_again *a = &again[AS_DIFF_BEFORE], *b = &again[AS_DIFF_AFTER];
    const struct as_agreement *own = &pair->agreements[level];
    enum as_bias_level at = bias_levels[level];
    double sum = same_way(pair->views) ? 0
                                       : (1 - fmin(1, a->measured)) *
                                             as_bias_apart(pair->views[AS_DIFF_BEFORE].summary.bias->levels[at].median,
                                                           pair->views[AS_DIFF_AFTER].summary.bias->levels[at].median);
    for (size_t i = 0; i < a->n && i < b->n; i++)
        for (int window = 0; window < AS_AGAIN_WINDOWS; window++) {
            const struct as_view views[AS_DIFF_SIDES] = {a->runs[i].views[window], b->runs[i].views[window]};
            struct as_agreement model;
            if (!compare_level(views, level, &model, err))
                return false;
            if (!isnan(model.distance)) /* both have samples */
                sum += a->runs[i].share * as_bias_without_chance(model.distance, model.expected) / AS_AGAIN_WINDOWS;
        }
    pair->expected[level] = as_bias_with_chance(fmin(1, sum), own->expected);
    return true;
}

static void compare_errors(struct as_trust_pair *pair)
{
    for (size_t i = 0; i < AS_TRUST_LEVELS; i++)
        pair->expected[i] = as_bias_apart(as_trust_error_at(&pair->views[AS_DIFF_BEFORE], bias_levels[i]),
                                          as_trust_error_at(&pair->views[AS_DIFF_AFTER], bias_levels[i]));
    pair->by = AS_TRUST_ERRORS_EXPECT;
}

/* The program in the model, sampled as each of the profiles was whose error is not known. */
static bool compare_models(struct as_trust_pair *pair, const struct as_again_options *how, struct as_error *err)
{
    struct as_again again[AS_DIFF_SIDES] = {0};
    struct as_again_options options = *how;
    bool ok = true, both = true;
    for (int side = 0; side < AS_DIFF_SIDES && ok; side++) {
        options.seed = (uint64_t)side + 1;
        if (as_trust_has_error(&pair->views[side]))
            both = false;
        else
            ok = as_trust_again(&pair->views[side], &options, side && both ? &again[0] : NULL, &again[side], err);
    }
    for (int side = 0; side < AS_DIFF_SIDES && ok; side++)
        if (again[side].n)
            as_trust_again_keep(&pair->views[side], &again[side], &how->notices);
    for (size_t i = 0; i < AS_TRUST_LEVELS && ok && both; i++)
        ok = compare_runs(pair, again, i, err);
    if (ok && both)
        pair->by = AS_TRUST_MODEL_EXPECTS;
    else if (ok)
        compare_errors(pair);
    for (int side = 0; side < AS_DIFF_SIDES; side++)
        as_trust_again_free(&again[side]);
    return ok;
}

/* ---- whether they can be compared ---- */

const char *as_trust_counted(const struct as_view *view)
{
    size_t n;
    const struct as_store_series *series = &as_store_series(view->store, &n)[view->series];
    const char *event = series->event ? series->event : series->unit;
    bool time = !series->unit || strcmp(series->unit, "cycles") == 0 || strcmp(series->unit, "nanoseconds") == 0;
    return time || !event ? "time" : event;
}

/* "instructions:pp" and "instructions:ppp" are one event. */
static bool count_the_same(const struct as_view views[AS_DIFF_SIDES])
{
    const char *a = as_trust_counted(&views[AS_DIFF_BEFORE]), *b = as_trust_counted(&views[AS_DIFF_AFTER]);
    size_t length = strcspn(a, ":");
    return length == strcspn(b, ":") && strncmp(a, b, length) == 0;
}

static const char *build_of(const struct as_view *view)
{
    const char *program = as_store_meta(view->store, AS_META_PROGRAM);
    for (size_t i = 0; i < view->n_modules && program; i++)
        if (view->module[i].path && strcmp(view->module[i].path, program) == 0)
            return view->module[i].build_id;
    return NULL;
}

/* By its name, or by its build-id where it has another name. */
static bool check_programs(const struct as_view views[AS_DIFF_SIDES], struct as_error *err)
{
    const char *a = views[AS_DIFF_BEFORE].summary.program, *b = views[AS_DIFF_AFTER].summary.program;
    const char *build_a = build_of(&views[AS_DIFF_BEFORE]), *build_b = build_of(&views[AS_DIFF_AFTER]);
    if (!a || !b || strcmp(a, b) == 0 || (build_a && build_b && strcmp(build_a, build_b) == 0))
        return true;
    return as_error_set(err, "%s is of %s, %s of %s: two profiles of one program can be compared",
                        views[AS_DIFF_BEFORE].options.file, a, views[AS_DIFF_AFTER].options.file, b);
}

/* ---- the pair ---- */

size_t as_trust_pair_agreed(const struct as_trust_pair *pair)
{
    for (size_t i = 0; i < AS_TRUST_LEVELS; i++)
        if (pair->agreements[i].verdict == AS_PROFILES_AGREE)
            return i;
    return AS_TRUST_LEVELS;
}

bool as_trust_pair_is_far(const struct as_trust_pair *pair)
{
    for (size_t i = 0; i < AS_TRUST_LEVELS && pair->by; i++)
        if (pair->agreements[i].distance > as_expected * pair->expected[i] + z * pair->agreements[i].deviation)
            return true;
    return false;
}

bool as_trust_pair_make(struct as_trust_pair *pair, const struct as_again_options *again, struct as_error *err)
{
    bool ok = check_programs(pair->views, err);
    pair->by = AS_TRUST_NOTHING;
    pair->comparable = ok && count_the_same(pair->views);
    for (size_t i = 0; i < AS_TRUST_LEVELS && ok; i++)
        ok = compare_level(pair->views, i, &pair->agreements[i], err);
    if (!ok || !pair->comparable)
        return ok;
    if (as_trust_has_error(&pair->views[AS_DIFF_BEFORE]) && as_trust_has_error(&pair->views[AS_DIFF_AFTER]))
        compare_errors(pair);
    else if (again)
        ok = compare_models(pair, again, err);
    return ok;
}
