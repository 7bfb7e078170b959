/* See trust_profiles.h. */
#include "cmd/trust_profiles.h"

#include "base/json.h"
#include "trust/trust_expected.h"
#include "trust/trust_pair.h"

#include <inttypes.h>

static const char *model_verdict(const struct as_trust_pair *pair)
{
    bool far = as_trust_pair_is_far(pair);
    if (pair->by == AS_TRUST_ERRORS_EXPECT)
        return far ? "they are further apart than the errors of the two explain"
                   : "they are no further apart than the errors of the two explain";
    return far ? "they are further apart than two such samplers of this program are in the model"
               : "they are no further apart than two such samplers of this program are in the model";
}

static void verdict_of(const struct as_trust_pair *pair, char *text, size_t size)
{
    size_t agreed = as_trust_pair_agreed(pair);
    if (!pair->comparable)
        snprintf(text, size,
                 "they count different things, %.40s and %.40s: a distance need not be an error of either; samples of "
                 "cycles (record --event=cycles) can be compared",
                 AS_SHOW(as_trust_counted(&pair->views[AS_DIFF_BEFORE])),
                 AS_SHOW(as_trust_counted(&pair->views[AS_DIFF_AFTER])));
    else if (pair->agreements[0].verdict == AS_PROFILES_TOO_FEW)
        snprintf(text, size, "there are too few samples to tell them apart by instruction");
    else if (agreed == 0)
        snprintf(text, size, "they agree down to the instruction");
    else if (agreed == AS_TRUST_LEVELS)
        snprintf(text, size, "they agree at no level: trust neither without knowing why");
    else
        snprintf(text, size, "they agree by %s, not by %s: believe them no further than that",
                 as_view_level_name(as_trust_levels[agreed]), as_view_level_name(as_trust_levels[agreed - 1]));
}

static void print_side(const struct as_view *view, char name, FILE *out)
{
    const struct as_summary *summary = &view->summary;
    fprintf(out, "%c  %s: source %s, %s, %s samples%s\n", name, AS_SHOW(view->options.file),
            AS_SHOW(summary->source ? summary->source : "?"), AS_SHOW(summary->sampler ? summary->sampler : "?"),
            AS_COUNT(summary->samples), summary->exact ? " (exact)" : "");
}

static void print_text(const struct as_trust_pair *pair, FILE *out)
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
        fprintf(out, " %12s", pair->by == AS_TRUST_ERRORS_EXPECT ? "by errors" : "in the model");
    fputc('\n', out);
    for (size_t i = 0; i < AS_TRUST_LEVELS; i++) {
        const struct as_agreement *agreement = &pair->agreements[i];
        fprintf(out, "  %-12s %8.2f %% %8.2f %% %8.2f %%", as_view_level_name(as_trust_levels[i]),
                100 * agreement->distance, 100 * agreement->expected, 100 * agreement->deviation);
        if (pair->by)
            fprintf(out, " %10.2f %%", 100 * pair->expected[i]);
        fprintf(out, "  %s\n", as_agreement_verdict_name(agreement->verdict));
    }
}

static bool print_json(const struct as_trust_pair *pair, FILE *out)
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
        as_json_string(json, "model_by", pair->by == AS_TRUST_ERRORS_EXPECT ? "errors" : "model");
    }
    as_json_array(json, "levels");
    for (size_t i = 0; i < AS_TRUST_LEVELS; i++) {
        as_json_object(json, NULL);
        as_json_string(json, "by", as_view_level_name(as_trust_levels[i]));
        as_json_double(json, "distance", pair->agreements[i].distance);
        as_json_double(json, "expected_by_chance", pair->agreements[i].expected);
        as_json_double(json, "deviation", pair->agreements[i].deviation);
        if (pair->by)
            as_json_double(json, "expected_by_model", pair->expected[i]);
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
    struct as_trust_pair pair = {0};
    bool ok = as_trust_open_profile(asked, 0, first, &pair.views[AS_DIFF_BEFORE], err) &&
              as_trust_open_profile(asked, 1, second, &pair.views[AS_DIFF_AFTER], err) &&
              as_trust_pair_make(&pair, asked->again ? &asked->how : NULL, err);
    if (ok && asked->again && !pair.comparable)
        as_notice(&asked->how.notices, AS_LOG_WARN,
                  "--again has no effect: what the model expects is known of profiles that count the same");
    if (ok && asked->json)
        ok = print_json(&pair, out) || as_error_set(err, "standard output cannot be written");
    else if (ok)
        print_text(&pair, out);
    as_view_free(&pair.views[AS_DIFF_AFTER]);
    as_view_free(&pair.views[AS_DIFF_BEFORE]);
    return ok;
}
