/* See trust_profiles.h. */
#include "cmd/trust_profiles.h"

#include "base/json.h"
#include "score/agreement.h"
#include "view/diff.h"

#include <inttypes.h>
#include <math.h>

static const enum as_store_level levels[] = {AS_STORE_BY_INSTRUCTION, AS_STORE_BY_LINE, AS_STORE_BY_FUNCTION,
                                             AS_STORE_BY_MODULE};
enum { LEVELS = sizeof levels / sizeof *levels };
static const double z = 3; /* standard deviations beyond chance that count as a difference */

static const double as_expected = 1.5; /* times as far apart as in the model is still as the model expects */

struct pair {
    struct as_view views[AS_DIFF_SIDES];
    struct as_agreement agreements[LEVELS];
    bool modelled;
    double model[LEVELS]; /* then: how far apart two such samplers are on this program, with so many samples */
};

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

/* The distance without the chance of the model's samples, and with that of the profiles' own. */
static double expected_of(const struct as_agreement *model, const struct as_agreement *own)
{
    double distance = model->distance, chance = model->expected;
    return as_bias_with_chance(sqrt(fmax(0, distance * distance - chance * chance)), own->expected);
}

/* The program twice in the model, sampled as each of the profiles was. */
static bool compare_models(struct pair *pair, const struct as_again_options *how, struct as_error *err)
{
    struct as_view again[AS_DIFF_SIDES] = {0};
    struct as_again_options options = *how;
    bool ok = true;
    for (int side = 0; side < AS_DIFF_SIDES && ok; side++) {
        options.seed = (uint64_t)side + 1;
        ok = as_trust_again(&pair->views[side], &options, &again[side], err);
    }
    for (int side = 0; side < AS_DIFF_SIDES && ok; side++)
        as_trust_again_keep(&pair->views[side], &again[side], &how->notices);
    for (size_t i = 0; i < LEVELS && ok; i++) {
        struct as_agreement model;
        ok = compare_level(again, i, &model, err);
        pair->model[i] = ok ? expected_of(&model, &pair->agreements[i]) : NAN;
    }
    pair->modelled = ok;
    for (int side = 0; side < AS_DIFF_SIDES; side++)
        as_view_free(&again[side]);
    return ok;
}

static const char *model_verdict(const struct pair *pair)
{
    for (size_t i = 0; i < LEVELS; i++)
        if (pair->agreements[i].distance > as_expected * pair->model[i] + z * pair->agreements[i].deviation)
            return "they are further apart than two such samplers of this program are in the model";
    return "they are no further apart than two such samplers of this program are in the model";
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
    if (pair->agreements[0].verdict == AS_PROFILES_TOO_FEW)
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
    char verdict[160];
    verdict_of(pair, verdict, sizeof verdict);
    print_side(&pair->views[AS_DIFF_BEFORE], 'A', out);
    print_side(&pair->views[AS_DIFF_AFTER], 'B', out);
    fprintf(out, "%s\n", verdict);
    if (pair->modelled)
        fprintf(out, "%s\n", model_verdict(pair));
    fprintf(out, "\n  %-12s %10s %10s %10s", "by", "distance", "by chance", "deviation");
    fprintf(out, pair->modelled ? " %10s\n" : "\n", "in the model");
    for (size_t i = 0; i < LEVELS; i++) {
        const struct as_agreement *agreement = &pair->agreements[i];
        fprintf(out, "  %-12s %8.2f %% %8.2f %% %8.2f %%", as_view_level_name(levels[i]), 100 * agreement->distance,
                100 * agreement->expected, 100 * agreement->deviation);
        if (pair->modelled)
            fprintf(out, " %10.2f %%", 100 * pair->model[i]);
        fprintf(out, "  %s\n", as_agreement_verdict_name(agreement->verdict));
    }
}

static bool print_json(const struct pair *pair, FILE *out)
{
    struct as_json *json = as_json_new(out);
    char verdict[160];
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
    if (pair->modelled)
        as_json_string(json, "model_verdict", model_verdict(pair));
    as_json_array(json, "levels");
    for (size_t i = 0; i < LEVELS; i++) {
        as_json_object(json, NULL);
        as_json_string(json, "by", as_view_level_name(levels[i]));
        as_json_double(json, "distance", pair->agreements[i].distance);
        as_json_double(json, "expected_by_chance", pair->agreements[i].expected);
        as_json_double(json, "deviation", pair->agreements[i].deviation);
        if (pair->modelled)
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
              as_trust_open_profile(asked, 1, second, &pair.views[AS_DIFF_AFTER], err);
    for (size_t i = 0; i < LEVELS && ok; i++)
        ok = compare_level(pair.views, i, &pair.agreements[i], err);
    if (ok && asked->again)
        ok = compare_models(&pair, &asked->how, err);
    if (ok && asked->json)
        ok = print_json(&pair, out) || as_error_set(err, "standard output cannot be written");
    else if (ok)
        print_text(&pair, out);
    as_view_free(&pair.views[AS_DIFF_AFTER]);
    as_view_free(&pair.views[AS_DIFF_BEFORE]);
    return ok;
}
