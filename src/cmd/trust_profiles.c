/* See trust_profiles.h. */
#include "cmd/trust_profiles.h"

#include "base/json.h"
#include "score/agreement.h"
#include "view/diff.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const enum as_store_level levels[] = {AS_STORE_BY_INSTRUCTION, AS_STORE_BY_LINE, AS_STORE_BY_FUNCTION,
                                             AS_STORE_BY_MODULE};
enum { LEVELS = sizeof levels / sizeof *levels };
static const double z = 3; /* standard deviations beyond chance that count as a difference */

static const double as_expected = 1.5; /* times as far apart as in the model is still as the model expects */

struct pair {
    struct as_view views[AS_DIFF_SIDES];
    struct as_agreement agreements[LEVELS];
    bool comparable;      /* both count the same */
    const char *by;       /* what `model` was found by: "model", "errors"; NULL: it was not */
    double model[LEVELS]; /* how far apart two such samplers are on this program, with so many samples */
};

/* The level of an error that is nearest to each. */
static const enum as_bias_level bias_levels[LEVELS] = {AS_BIAS_INSTRUCTION, AS_BIAS_BLOCK, AS_BIAS_FUNCTION,
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
    struct as_diff *diff = as_diff_new_of_shares(&views[AS_DIFF_BEFORE], &views[AS_DIFF_AFTER], levels[level], err);
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

/* The distance without the chance of the model's samples. */
static double without_chance(const struct as_agreement *model)
{
    double distance = model->distance, chance = model->expected;
    return sqrt(fmax(0, distance * distance - chance * chance));
}

/* Two errors of which nothing else is known: as of independent deviations. */
static double apart(double a, double b)
{
    return fmin(1, sqrt(a * a + b * b));
}

static bool same_way(const struct as_view views[AS_DIFF_SIDES])
{
    return strcmp(views[AS_DIFF_BEFORE].summary.bias->way, views[AS_DIFF_AFTER].summary.bias->way) == 0;
}

/* The runs by their shares; for the rest of the samples what the suite has of the two ways, which is nothing if they are
 * one. */
static bool compare_runs(struct pair *pair, const struct as_again again[AS_DIFF_SIDES], size_t level,
                         struct as_error *err)
{
    const struct as_again *a = &again[AS_DIFF_BEFORE], *b = &again[AS_DIFF_AFTER];
    const struct as_agreement *own = &pair->agreements[level];
    enum as_bias_level at = bias_levels[level];
    double sum = same_way(pair->views)
                     ? 0
                     : (1 - fmin(1, a->measured)) * apart(pair->views[AS_DIFF_BEFORE].summary.bias->levels[at].median,
                                                          pair->views[AS_DIFF_AFTER].summary.bias->levels[at].median);
    for (size_t i = 0; i < a->n && i < b->n; i++)
        for (int window = 0; window < AS_AGAIN_WINDOWS; window++) {
            const struct as_view views[AS_DIFF_SIDES] = {a->runs[i].views[window], b->runs[i].views[window]};
            struct as_agreement model;
            if (!compare_level(views, level, &model, err))
                return false;
            sum += a->runs[i].share * without_chance(&model) / AS_AGAIN_WINDOWS;
        }
    pair->model[level] = as_bias_with_chance(fmin(1, sum), own->expected);
    return true;
}

/* The error of a profile, measured in its own run or to be expected of it. */
static double error_at(const struct as_view *view, enum as_bias_level level)
{
    double error = as_store_estimate_of(view->store, view->series, "error", as_bias_levels[level]);
    return view->summary.exact ? 0 : view->summary.bias ? view->summary.trust[level].expected.median : error;
}

static bool has_error(const struct as_view *view)
{
    return view->summary.exact || !isnan(as_store_estimate_of(view->store, view->series, "error", "instruction"));
}

static void compare_errors(struct pair *pair)
{
    for (size_t i = 0; i < LEVELS; i++)
        pair->model[i] = apart(error_at(&pair->views[AS_DIFF_BEFORE], bias_levels[i]),
                               error_at(&pair->views[AS_DIFF_AFTER], bias_levels[i]));
    pair->by = "errors";
}

/* The program in the model, sampled as each of the profiles was whose error is not known. */
static bool compare_models(struct pair *pair, const struct as_again_options *how, struct as_error *err)
{
    struct as_again again[AS_DIFF_SIDES] = {0};
    struct as_again_options options = *how;
    bool ok = true, both = true;
    for (int side = 0; side < AS_DIFF_SIDES && ok; side++) {
        options.seed = (uint64_t)side + 1;
        if (has_error(&pair->views[side]))
            both = false;
        else
            ok = as_trust_again(&pair->views[side], &options, side && both ? &again[0] : NULL, &again[side], err);
    }
    for (int side = 0; side < AS_DIFF_SIDES && ok; side++)
        if (again[side].n)
            as_trust_again_keep(&pair->views[side], &again[side], &how->notices);
    for (size_t i = 0; i < LEVELS && ok && both && pair->comparable; i++)
        ok = compare_runs(pair, again, i, err);
    if (ok && pair->comparable && both)
        pair->by = "model";
    else if (ok && pair->comparable)
        compare_errors(pair);
    for (int side = 0; side < AS_DIFF_SIDES; side++)
        as_trust_again_free(&again[side]);
    return ok;
}

static const char *model_verdict(const struct pair *pair)
{
    bool errors = strcmp(pair->by, "errors") == 0;
    for (size_t i = 0; i < LEVELS; i++)
        if (pair->agreements[i].distance > as_expected * pair->model[i] + z * pair->agreements[i].deviation)
            return errors ? "they are further apart than the errors of the two explain"
                          : "they are further apart than two such samplers of this program are in the model";
    return errors ? "they are no further apart than the errors of the two explain"
                  : "they are no further apart than two such samplers of this program are in the model";
}

/* ---- whether they can be compared ---- */

/* What a series counts: the time, by whatever clock, or an event. */
static const char *counted(const struct as_view *view)
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
    const char *a = counted(&views[AS_DIFF_BEFORE]), *b = counted(&views[AS_DIFF_AFTER]);
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

/* ---- what is said ---- */

/* The finest level down to which they agree; LEVELS: none. */
static size_t agreed_level(const struct pair *pair)
{
    for (size_t i = 0; i < LEVELS; i++)
        if (pair->agreements[i].verdict == AS_PROFILES_AGREE)
            return i;
    return LEVELS;
}

static void verdict_of(const struct pair *pair, char *text, size_t size)
{
    size_t agreed = agreed_level(pair);
    if (!pair->comparable)
        snprintf(text, size,
                 "they count different things, %.40s and %.40s: a distance need not be an error of either; samples of "
                 "cycles (record --event=cycles) can be compared",
                 AS_SHOW(counted(&pair->views[AS_DIFF_BEFORE])), AS_SHOW(counted(&pair->views[AS_DIFF_AFTER])));
    else if (pair->agreements[0].verdict == AS_PROFILES_TOO_FEW)
        snprintf(text, size, "there are too few samples to tell them apart by instruction");
    else if (agreed == 0)
        snprintf(text, size, "they agree down to the instruction");
    else if (agreed == LEVELS)
        snprintf(text, size, "they agree at no level: trust neither without knowing why");
    else
        snprintf(text, size, "they agree by %s, not by %s: believe them no further than that",
                 as_view_level_name(levels[agreed]), as_view_level_name(levels[agreed - 1]));
}

static void print_side(const struct as_view *view, char name, FILE *out)
{
    const struct as_summary *summary = &view->summary;
    fprintf(out, "%c  %s: source %s, %s, %s samples%s\n", name, AS_SHOW(view->options.file),
            AS_SHOW(summary->source ? summary->source : "?"), AS_SHOW(summary->sampler ? summary->sampler : "?"),
            AS_COUNT(summary->samples), summary->exact ? " (exact)" : "");
}

static void print_text(const struct pair *pair, FILE *out)
{
    char verdict[300];
    verdict_of(pair, verdict, sizeof verdict);
    print_side(&pair->views[AS_DIFF_BEFORE], 'A', out);
    print_side(&pair->views[AS_DIFF_AFTER], 'B', out);
    fprintf(out, "%s\n", verdict);
    if (pair->by)
        fprintf(out, "%s\n", model_verdict(pair));
    fprintf(out, "\n  %-12s %10s %10s %10s", "by", "distance", "by chance", "deviation");
    if (pair->by)
        fprintf(out, " %12s", strcmp(pair->by, "errors") == 0 ? "by errors" : "in the model");
    fputc('\n', out);
    for (size_t i = 0; i < LEVELS; i++) {
        const struct as_agreement *agreement = &pair->agreements[i];
        fprintf(out, "  %-12s %8.2f %% %8.2f %% %8.2f %%", as_view_level_name(levels[i]), 100 * agreement->distance,
                100 * agreement->expected, 100 * agreement->deviation);
        if (pair->by)
            fprintf(out, " %10.2f %%", 100 * pair->model[i]);
        fprintf(out, "  %s\n", as_agreement_verdict_name(agreement->verdict));
    }
}

static bool print_json(const struct pair *pair, FILE *out)
{
    struct as_json *json = as_json_new(out);
    char verdict[300];
    verdict_of(pair, verdict, sizeof verdict);
    as_json_object(json, NULL);
    as_json_array(json, "profiles");
    for (int i = 0; i < AS_DIFF_SIDES; i++) {
        const struct as_view *view = &pair->views[i];
        as_json_object(json, NULL);
        as_json_string(json, "file", view->options.file);
        as_json_string(json, "source", view->summary.source);
        as_json_string(json, "sampler", view->summary.sampler);
        as_json_u64(json, "samples", view->summary.samples);
        as_json_bool(json, "exact", view->summary.exact);
        as_json_end(json);
    }
    as_json_end(json);
    as_json_string(json, "verdict", verdict);
    if (pair->by) {
        as_json_string(json, "model_verdict", model_verdict(pair));
        as_json_string(json, "model_by", pair->by);
    }
    as_json_array(json, "levels");
    for (size_t i = 0; i < LEVELS; i++) {
        as_json_object(json, NULL);
        as_json_string(json, "by", as_view_level_name(levels[i]));
        as_json_double(json, "distance", pair->agreements[i].distance);
        as_json_double(json, "expected_by_chance", pair->agreements[i].expected);
        as_json_double(json, "deviation", pair->agreements[i].deviation);
        if (pair->by)
            as_json_double(json, "expected_by_model", pair->model[i]);
        as_json_string(json, "verdict", as_agreement_verdict_name(pair->agreements[i].verdict));
        as_json_end(json);
    }
    as_json_end(json);
    as_json_end(json);
    return as_json_finish(json);
}

bool as_trust_compare_profiles(const char *first, const char *second, const struct as_trust_asked *asked, FILE *out,
                               struct as_error *err)
{
    struct pair pair = {0};
    bool ok = as_trust_open_profile(asked, 0, first, &pair.views[AS_DIFF_BEFORE], err) &&
              as_trust_open_profile(asked, 1, second, &pair.views[AS_DIFF_AFTER], err) &&
              check_programs(pair.views, err);
    pair.comparable = ok && count_the_same(pair.views);
    for (size_t i = 0; i < LEVELS && ok; i++)
        ok = compare_level(pair.views, i, &pair.agreements[i], err);
    if (ok && pair.comparable && has_error(&pair.views[AS_DIFF_BEFORE]) && has_error(&pair.views[AS_DIFF_AFTER]))
        compare_errors(&pair);
    else if (ok && asked->again && !pair.comparable)
        as_notice(&asked->how.notices, AS_LOG_WARN,
                  "--again has no effect: what the model expects is known of profiles that count the same");
    else if (ok && asked->again)
        ok = compare_models(&pair, &asked->how, err);
    if (ok && asked->json)
        ok = print_json(&pair, out) || as_error_set(err, "standard output cannot be written");
    else if (ok)
        print_text(&pair, out);
    as_view_free(&pair.views[AS_DIFF_AFTER]);
    as_view_free(&pair.views[AS_DIFF_BEFORE]);
    return ok;
}
