/* One profile: what error to expect of its samples. See trust_profiles.h. */
#include "base/json.h"
#include "cmd/cli.h"
#include "cmd/trust_profiles.h"
#include "trust/trust_expected.h"

#include <math.h>
#include <string.h>

struct shown {
    const struct as_view *view;
    struct as_trust_expected expected;
};

static bool is_unknown(const struct shown *shown)
{
    return strcmp(shown->view->summary.error_how, "unknown") == 0;
}

/* In words: the finest level that can be believed. */
static void verdict_of(const struct shown *shown, char *text, size_t size)
{
    const double *errors = shown->expected.errors;
    int finest = shown->expected.believed;
    if (shown->view->summary.too_few)
        snprintf(text, size, "%s samples are too few to believe any of it%s", AS_COUNT(shown->view->summary.samples),
                 shown->view->summary.bias ? ": the bias alone is known" : "");
    else if (isnan(errors[AS_BIAS_INSTRUCTION]) && is_unknown(shown))
        snprintf(text, size, "nothing is known of how wrong such samples are: this way of sampling was not measured");
    else if (isnan(errors[AS_BIAS_INSTRUCTION]))
        snprintf(text, size, "nothing is known of how wrong such samples are: %s", shown->view->summary.error_how);
    else if (finest < 0)
        snprintf(text, size, "do not believe it, not even by function: expect an error of %.0f %% there",
                 100 * errors[0]);
    else if (finest == AS_BIAS_INSTRUCTION)
        snprintf(text, size, "believe it down to the instruction: expect an error of %.1f %% there",
                 100 * errors[finest]);
    else
        snprintf(text, size, "believe it by %s; by %s expect an error of %.0f %%", as_bias_levels[finest],
                 as_bias_levels[finest + 1], 100 * errors[finest + 1]);
}

/* ---- text ---- */

static void print_percent(FILE *out, double value)
{
    if (isnan(value))
        fprintf(out, " %10s", "");
    else
        fprintf(out, " %8.1f %%", 100 * value);
}

static void print_levels(const struct shown *shown, FILE *out)
{
    const struct as_summary *summary = &shown->view->summary;
    fprintf(out, "\n  %-12s %10s %10s %20s %10s\n", "by", "error", "by chance", "by bias, usually",
            summary->bias_here ? "here" : "");
    for (int i = 0; i < AS_BIAS_LEVELS; i++) {
        char range[40] = "";
        if (summary->bias)
            snprintf(range, sizeof range, "%.1f to %.1f %%", 100 * summary->bias->levels[i].low,
                     100 * summary->bias->levels[i].high);
        fprintf(out, "  %-12s", as_bias_levels[i]);
        print_percent(out, shown->expected.errors[i]);
        print_percent(out, shown->expected.chance[i]);
        fprintf(out, " %20s", range);
        print_percent(out, summary->bias_here ? summary->trust[i].bias.median : NAN);
        fputc('\n', out);
    }
}

static void print_text(const struct shown *shown, FILE *out)
{
    const struct as_summary *summary = &shown->view->summary;
    char verdict[200];
    verdict_of(shown, verdict, sizeof verdict);
    fprintf(out, "%s: source %s, %s, %s samples\n%s\n", AS_SHOW(shown->view->options.file),
            AS_SHOW(summary->source ? summary->source : "?"), AS_SHOW(summary->sampler ? summary->sampler : "?"),
            AS_COUNT(summary->samples), verdict);
    if (summary->bias)
        fprintf(out, "bias: %s\n", summary->bias->about);
    else if (!is_unknown(shown)) /* that is the verdict */
        fprintf(out, "error: %s\n", summary->error_how);
    if (summary->bias || !is_unknown(shown))
        print_levels(shown, out);
    if (summary->bias)
        fprintf(
            out, "\n  usually: eight of ten of %zu programs of the suite, in the model%s\n", summary->bias->programs,
            summary->bias_here ? "; here: this program's hottest functions, in the model, and the suite's for the rest"
                               : " (--again: this one)");
}

/* ---- JSON ---- */

static void put_level(struct as_json *json, const struct shown *shown, int level)
{
    const struct as_summary *summary = &shown->view->summary;
    as_json_object(json, NULL);
    as_json_string(json, "by", as_bias_levels[level]);
    as_json_double(json, "error", shown->expected.errors[level]);
    as_json_double(json, "chance", shown->expected.chance[level]);
    as_json_double(json, "bias_low", summary->bias ? summary->bias->levels[level].low : NAN);
    as_json_double(json, "bias_median", summary->bias ? summary->bias->levels[level].median : NAN);
    as_json_double(json, "bias_high", summary->bias ? summary->bias->levels[level].high : NAN);
    as_json_double(json, "bias_here", summary->bias_here ? summary->trust[level].bias.median : NAN);
    as_json_end(json);
}

static bool print_json(const struct shown *shown, FILE *out)
{
    const struct as_summary *summary = &shown->view->summary;
    struct as_json *json = as_json_new(out);
    char verdict[200];
    verdict_of(shown, verdict, sizeof verdict);
    as_json_object(json, NULL);
    as_json_string(json, "file", shown->view->options.file);
    as_json_string(json, "source", summary->source);
    as_json_string(json, "sampler", summary->sampler);
    as_json_u64(json, "samples", summary->samples);
    as_json_bool(json, "exact", summary->exact);
    as_json_string(json, "way", summary->bias ? summary->bias->way : NULL);
    as_json_string(json, "about", summary->bias ? summary->bias->about : summary->error_how);
    as_json_string(json, "verdict", verdict);
    as_json_array(json, "levels");
    for (int i = 0; i < AS_BIAS_LEVELS; i++)
        put_level(json, shown, i);
    as_json_end(json);
    as_json_end(json);
    return as_json_finish(json);
}

bool as_trust_open_profile(const struct as_trust_asked *asked, size_t number, const char *file, struct as_view *view,
                           struct as_error *err)
{
    size_t n = asked->series.len, at = number < n ? number : n - 1;
    return as_trust_open_view(view, file, n ? asked->series.data[at] : NULL, err);
}

bool as_trust_show_profile(const char *file, const struct as_trust_asked *asked, FILE *out, struct as_error *err)
{
    struct as_view view = {0};
    struct as_again again = {0};
    struct shown shown = {.view = &view};
    bool ok = as_trust_open_profile(asked, 0, file, &view, err) &&
              (!asked->again || as_trust_again(&view, &asked->how, NULL, &again, err));
    if (ok && asked->again)
        as_trust_again_keep(&view, &again, &asked->how.notices);
    if (ok)
        shown.expected = as_trust_expect(&view);
    if (ok && asked->json)
        ok = print_json(&shown, out) || as_error_set(err, "standard output cannot be written");
    else if (ok)
        print_text(&shown, out);
    as_trust_again_free(&again);
    as_view_free(&view);
    return ok;
}
