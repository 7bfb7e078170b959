/* The head of text reports: the run, the series, its error. See report_text.h. */
#include "base/path.h"
#include "base/str.h"
#include "report/report_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 2 }; /* indentation of continued lines */

/* Writes one line and clears it. */
static void put_line(struct as_str *line, FILE *out, const struct as_term *term)
{
    if (line->len) {
        as_show_wrapped(out, term, as_str_get(line), 0, INDENT);
        fputc('\n', out);
    }
    as_str_clear(line);
}

static void add_stack(const struct as_summary *summary, struct as_str *line, const char *stack, const char *label)
{
    size_t n, shown = 0;
    const struct as_store_stack *parts = as_store_stacks(summary->store, &n);
    uint64_t total = as_summary_stack_total(summary, stack);
    for (size_t i = 0; i < n && total; i++)
        if (as_summary_is_of_stack(summary, &parts[i], stack)) {
            as_str_addf(line, "%s%s %.1f", shown++ ? ", " : label, AS_SHOW(parts[i].name),
                        100 * (double)parts[i].units / (double)total);
            if (summary->stack_errors && parts[i].series == summary->series)
                as_str_addf(line, " +- %.2f", 100 * summary->stack_errors[i]);
            as_str_add(line, " %");
        }
}

static uint64_t count_of(double number)
{
    return number < 1e18 ? (uint64_t)(number + 0.5) : UINT64_MAX;
}

static void add_runs(const struct as_summary *summary, struct as_str *line)
{
    const struct as_spread *cycles = &summary->run_cycles, *seconds = &summary->run_seconds;
    if (summary->n_runs < 2 || (!cycles->n && !seconds->n))
        return;
    as_str_addf(line, "%zu runs%s: ", summary->n_runs, summary->merged ? " merged" : "");
    if (cycles->n)
        as_str_addf(line, "%s cycles on average, standard deviation %.2f %%, %s to %s%s",
                    AS_COUNT(count_of(cycles->mean)), 100 * cycles->deviation / cycles->mean,
                    AS_COUNT(count_of(cycles->least)), AS_COUNT(count_of(cycles->most)), seconds->n ? "; " : "");
    if (seconds->n)
        as_str_addf(line, "%.4g s on average, standard deviation %.2f %%, %.4g to %.4g", seconds->mean,
                    100 * seconds->deviation / seconds->mean, seconds->least, seconds->most);
    as_str_add(line, summary->merged ? "" : "; the profile is of the first");
}

static void add_program(const struct as_summary *summary, struct as_str *line)
{
    bool empty = !summary->exact && !summary->counted && !summary->contradicts && !summary->samples && !summary->cycles;
    const char *name = summary->program ? summary->program : as_path_base(as_store_file_name(summary->store));
    as_str_addf(line, summary->core ? "%s on %s: " : "%s: ", AS_SHOW(name), AS_SHOW(summary->core));
    if (empty)
        as_str_add(line, isnan(summary->seconds) ? "no samples" : "no samples, ");
    if (summary->part && !summary->merged)
        as_str_addf(line, "%s, ", AS_SHOW(summary->part));
    else if (summary->instructions)
        as_str_addf(line, "%s instructions, ", AS_COUNT(summary->instructions));
    if (summary->cycles || summary->exact || summary->contradicts) /* clocks do not count cycles */
        as_str_addf(line, "%s cycles", AS_COUNT(summary->cycles));
    else if (isnan(summary->seconds) && !empty)
        as_str_addf(line, "%s sample%s", AS_COUNT(summary->samples), summary->samples == 1 ? "" : "s");
    if (summary->cycles && summary->instructions)
        as_str_addf(line, ", IPC %.2f", (double)summary->instructions / (double)summary->cycles);
    if (!isnan(summary->seconds))
        as_str_addf(line, "%s%.4g s", summary->cycles ? ", " : "", summary->seconds);
    if (summary->clocked > 0 && !isnan(summary->seconds))
        as_str_addf(line, " elapsed, %.3g s of processor time", summary->clocked);
    if (summary->region)
        as_str_addf(line, " (%s)", AS_SHOW(summary->region));
}

/* Four threads that run side by side have four times the cycles of the seconds beside them. */
static void add_meaning(const struct as_summary *summary, struct as_str *line)
{
    if (summary->has_threads && summary->cycles && !isnan(summary->seconds) && !summary->merged)
        as_str_addf(line, "cycles%s are sums over all threads; the seconds are elapsed time",
                    summary->instructions ? " and instructions" : "");
}

static void add_samples(const struct as_summary *summary, struct as_str *line)
{
    as_str_addf(line, "source %s, series %s", AS_SHOW(summary->source), AS_SHOW(summary->sampler));
    if (summary->precise >= 0)
        as_str_addf(line, " (precise level %d)", summary->precise);
    if (summary->exact)
        as_str_add(line, ": every cycle");
    else if (summary->sampled)
        as_str_addf(line, ": estimated for %s from %s region%s",
                    summary->partial ? "the part that ran" : "the whole program", AS_COUNT(summary->samples),
                    summary->samples == 1 ? "" : "s");
    else if (!summary->contradicts)
        as_str_addf(line, ": %s sample%s", AS_COUNT(summary->samples), summary->samples == 1 ? "" : "s");
    if (as_summary_sampled_cycles(summary->store))
        as_str_addf(line, " of %s cycles", AS_COUNT(as_summary_sampled_cycles(summary->store)));
    if (summary->period)
        as_str_addf(line, ", one in %s %s", AS_COUNT(summary->period), AS_SHOW(summary->unit));
    if (summary->sampled)
        return;
    uint64_t lost = as_summary_lost(summary->store);
    as_str_addf(line, ", %s lost", AS_COUNT(summary->lost));
    if (lost > summary->lost)
        as_str_addf(line, " (%s of all series)", AS_COUNT(lost));
    as_str_addf(line, ", %s throttled", AS_COUNT(summary->throttled));
    if (summary->dropped)
        as_str_addf(line, ", %s dropped", AS_COUNT(summary->dropped));
}

/* An expected error is itself an estimate: it has two digits, and none where most of the profile may be elsewhere. */
static void add_percent(const struct as_summary *summary, struct as_str *line, double error)
{
    if (!summary->expected)
        as_str_addf(line, "%.2f %%", 100 * error);
    else if (error > 0.5)
        as_str_add(line, "more than 50 %");
    else
        as_str_addf(line, "%.*f %%", error < 0.1, 100 * error);
}

static void add_too_few(const struct as_summary *summary, struct as_str *line)
{
    as_str_addf(line, "error: too few samples (%s", AS_COUNT(summary->samples));
    if (summary->samples >= AS_SUMMARY_LEAST_SAMPLES) /* they stand for unequal times */
        as_str_addf(line, ", worth %.0f", (double)summary->samples * summary->effective);
    as_str_add(line, ") to tell");
}

/* If no function is known, rows by function are modules. */
static const char *level_word(const struct as_summary *summary, size_t level)
{
    return level == 0 && summary->unnamed >= AS_SUMMARY_NO_NAMES ? "module" : as_summary_levels[level];
}

static void add_unnamed(const struct as_summary *summary, struct as_str *line)
{
    if (summary->unnamed >= AS_SUMMARY_NO_NAMES)
        as_str_add(line, ". No function is known, so there is no error by function");
    else if (summary->unnamed >= AS_SUMMARY_UNNAMED)
        as_str_addf(line, ". %.0f %% of the time is in code of which no function is known: it counts by module",
                    100 * summary->unnamed);
}

static void add_guessed(const struct as_summary *summary, struct as_str *line)
{
    if (summary->guessed >= AS_SUMMARY_GUESSES)
        as_str_addf(line, ". %.0f %% of the names of functions are guesses, so there is no error by function",
                    100 * summary->guessed);
    else if (summary->guessed > 0)
        as_str_addf(line, ". %.0f %% of the names of functions are guesses: by function the error is larger",
                    100 * summary->guessed);
}

/* A sampled profile is more accurate by function than by instruction. A number that holds for several levels is
 * written once: "more than 50 % by block and instruction". */
static void add_levels(const struct as_summary *summary, struct as_str *line)
{
    double before = NAN;
    for (size_t i = 0; i < AS_SUMMARY_LEVELS; i++) {
        double error = summary->error_by[i];
        if (isnan(error))
            continue;
        if (error == before || (summary->expected && error > 0.5 && before > 0.5)) {
            as_str_add(line, " and ");
        } else {
            as_str_add(line, line->len ? ", " : "error ");
            add_percent(summary, line, error);
            as_str_add(line, " by ");
        }
        as_str_add(line, level_word(summary, i));
        before = error;
    }
}

static void add_error(const struct as_summary *summary, struct as_str *line)
{
    if (!summary->exact && !summary->counted)
        add_levels(summary, line);
    if (summary->too_few)
        add_too_few(summary, line);
    else if (isnan(summary->error))
        as_str_addf(line, "error %s", summary->error_how);
    else if (line->len)
        as_str_addf(line, ": %s", summary->error_how);
    else
        as_str_addf(line, "error %.2f %%: %s", 100 * summary->error, summary->error_how);
    if (!isnan(summary->runs_apart)) {
        as_str_add(line, summary->runs_apart > 0.5 ? ". Two such runs would differ by "
                                                   : ". Two such runs would differ by about ");
        add_percent(summary, line, summary->runs_apart);
        as_str_addf(line, " by %s", level_word(summary, 0));
    }
    add_unnamed(summary, line);
    if (!summary->too_few)
        add_guessed(summary, line);
}

static void add_range(struct as_str *line, struct as_bias_range range)
{
    if (range.low == range.high)
        as_str_addf(line, "%.1f %%", 100 * range.median);
    else
        as_str_addf(line, "%.1f to %.1f %%", 100 * range.low, 100 * range.high);
}

/* Writes where the error comes from: more samples reduce only the part by chance. */
static void put_trust(const struct as_summary *summary, FILE *out, const struct as_term *term)
{
    struct as_str chance = {0}, bias = {0};
    if (summary->too_few)
        return;
    for (size_t i = 0; i < AS_BIAS_LEVELS && summary->bias; i++) {
        const char *level = i == AS_BIAS_FUNCTION ? level_word(summary, 0) : as_bias_levels[i];
        as_str_addf(&chance, "%s%.1f %% by %s", i ? ", " : "of it by chance ", 100 * summary->trust[i].chance, level);
        as_str_add(&bias, i ? ", " : "of it by bias ");
        add_range(&bias, summary->trust[i].bias);
        as_str_addf(&bias, " by %s", level);
    }
    if (summary->bias)
        as_str_addf(&bias, ": %s; %s", summary->bias->about, summary->bias_from);
    put_line(&chance, out, term);
    put_line(&bias, out, term);
    as_str_free(&chance);
    as_str_free(&bias);
}

/* The other native series; the samplers of a model have reports of their own. */
static void add_other_series(const struct as_summary *summary, struct as_str *line)
{
    size_t n;
    const struct as_store_series *all = as_store_series(summary->store, &n);
    if (n < 2 || summary->exact || (summary->source && strcmp(summary->source, "model") == 0))
        return;
    for (size_t i = 0; i < n; i++)
        if (i != summary->series)
            as_str_addf(line, "%s%s (%s samples)",
                        line->len ? ", " : "other series, for --series: ", AS_SHOW(all[i].name),
                        AS_COUNT(all[i].samples));
}

/* What the agent could not count. */
static void add_agent_notes(const struct as_summary *summary, struct as_str *line)
{
    size_t n;
    const struct as_store_quality *rows = as_store_quality(summary->store, &n);
    for (size_t i = 0; i < n; i++)
        if (rows[i].key && rows[i].text && strncmp(rows[i].key, "agent_", 6) == 0 && rows[i].value >= 1)
            as_str_addf(line, "%s%s %s", line->len ? "; " : "", AS_COUNT(count_of(rows[i].value)),
                        AS_SHOW(rows[i].text));
}

/* That libraries may have chosen other code than on this machine, that the program waits for a clock that is not the
 * model's, that threads took turns, that the length of the run is not known, and that regions count by weights. */
static void put_surroundings(const struct as_summary *summary, FILE *out, const struct as_term *term)
{
    size_t n;
    const struct as_store_quality *rows = as_store_quality(summary->store, &n);
    for (size_t i = 0; i < n; i++)
        if (rows[i].key && rows[i].text &&
            (strcmp(rows[i].key, "cpuid") == 0 || strcmp(rows[i].key, "clock") == 0 ||
             strcmp(rows[i].key, "deterministic") == 0 || strcmp(rows[i].key, "rest") == 0 ||
             strcmp(rows[i].key, "weights") == 0)) {
            struct as_str line = {0};
            as_str_addf(&line, "note: %s", AS_SHOW(rows[i].text));
            put_line(&line, out, term);
            as_str_free(&line);
        }
}

/* Parts that are counts. */
static bool is_count(const char *key)
{
    return strcmp(key, "call_paths_folded") == 0 || strcmp(key, "processes") == 0 || strcmp(key, "other_threads") == 0;
}

/* Counts of what a profile does not tell apart, or may not have. */
static void put_counts(const struct as_summary *summary, FILE *out, const struct as_term *term)
{
    size_t n;
    const struct as_store_quality *rows = as_store_quality(summary->store, &n);
    for (size_t i = 0; i < n; i++)
        if (rows[i].key && rows[i].text && is_count(rows[i].key)) {
            struct as_str line = {0};
            as_str_addf(&line, "note: %s %s", AS_COUNT(count_of(rows[i].value)), AS_SHOW(rows[i].text));
            put_line(&line, out, term);
            as_str_free(&line);
        }
}

/* Trace data that the report does not use. */
static void put_undecoded(const struct as_summary *summary, FILE *out, const struct as_term *term)
{
    size_t n;
    const struct as_store_quality *rows = as_store_quality(summary->store, &n);
    for (size_t i = 0; i < n; i++)
        if (rows[i].key && strcmp(rows[i].key, "trace_bytes") == 0) {
            struct as_str line = {0};
            as_str_addf(
                &line,
                "note: the recording has %s bytes of processor trace (such as Intel PT), which Assay does not decode",
                AS_COUNT(count_of(rows[i].value)));
            put_line(&line, out, term);
            as_str_free(&line);
        }
}

/* Missing parts that are large enough to mislead a reader. */
static void put_missing(const struct as_summary *summary, FILE *out, const struct as_term *term)
{
    static const struct {
        const char *key;
        double least;
    } parts[] = {{"sampled", 0},           {"start_up", 0},         {"unseen", 0.001},     {"warming", 0.005},
                 {"not_sampled", 0.2},     {"cut_chains", 0.01},    {"lone_chains", 0.5},  {"not_unwound", 0.2},
                 {"unmatched_files", 0.2}, {"nameless_1", 0.05},    {"nameless_2", 0.05},  {"nameless_3", 0.05},
                 {"runs_differ", 0},       {"recorder", 0.01},      {"call_paths", 0.001}, {"repeated", 0},
                 {"made_chains", 0.01},    {"guessed_names", 0.01}, {"rare", 0.005},       {"unseen_reads", 0.005},
                 {"elapsed", 0},           {"blind", 0.001}};
    size_t n;
    const struct as_store_quality *rows = as_store_quality(summary->store, &n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            if (rows[i].key && rows[i].text && strcmp(rows[i].key, parts[k].key) == 0 &&
                rows[i].value >= parts[k].least) {
                char *text = as_part_text(rows[i].value, AS_SHOW(rows[i].text));
                struct as_str line = {0};
                as_str_addf(&line, "note: %s", text);
                put_line(&line, out, term);
                as_str_free(&line);
                free(text);
            }
}

static void add_left(const struct as_summary *summary, struct as_str *line)
{
    if (summary->left_running)
        as_str_addf(line, "note: %s process%s still running when the program had ended; the profile ends there",
                    AS_COUNT(summary->left_running), summary->left_running == 1 ? " was" : "es were");
}

/* How callers were found, of samples on this machine. */
static void add_chains(const struct as_summary *summary, struct as_str *line)
{
    size_t n;
    const struct as_store_quality *rows = as_store_quality(summary->store, &n);
    for (size_t i = 0; i < n; i++)
        if (rows[i].key && rows[i].text && strcmp(rows[i].key, "call_chains") == 0) {
            char *text = as_part_text(rows[i].value, AS_SHOW(rows[i].text));
            as_str_add(line, text);
            free(text);
        }
}

void as_summary_text(const struct as_summary *summary, FILE *out, const struct as_term *term)
{
    struct as_str line = {0};
    add_program(summary, &line);
    put_line(&line, out, term);
    add_meaning(summary, &line);
    put_line(&line, out, term);
    if (summary->core_why)
        as_str_add(&line, AS_SHOW(summary->core_why));
    put_line(&line, out, term);
    if (summary->part && summary->merged)
        as_str_addf(&line, "%s: %s", summary->n_runs > 1 ? "of each run" : "of the run", AS_SHOW(summary->part));
    put_line(&line, out, term);
    if (summary->partial)
        as_str_addf(&line, "PARTIAL: %s", AS_SHOW(summary->partial));
    put_line(&line, out, term);
    add_samples(summary, &line);
    put_line(&line, out, term);
    const char *noun = as_summary_noun(summary);
    if (strcmp(noun, "time") != 0 && !summary->counted)
        as_str_addf(&line, "shares are of %s, not of time", AS_SHOW(noun));
    put_line(&line, out, term);
    add_other_series(summary, &line);
    put_line(&line, out, term);
    add_error(summary, &line);
    put_line(&line, out, term);
    put_trust(summary, out, term);
    if (summary->counted)
        add_agent_notes(summary, &line);
    else if (!summary->has_events)
        as_str_addf(&line, "no cycle stacks: %s records no events%s", AS_SHOW(summary->sampler),
                    summary->source && strcmp(summary->source, "model") != 0 ? " (--source=model does)" : "");
    put_line(&line, out, term);
    add_chains(summary, &line);
    put_line(&line, out, term);
    add_left(summary, &line);
    put_line(&line, out, term);
    put_missing(summary, out, term);
    put_surroundings(summary, out, term);
    put_undecoded(summary, out, term);
    put_counts(summary, out, term);
    add_stack(summary, &line, "states", "commit states: ");
    put_line(&line, out, term);
    add_runs(summary, &line);
    put_line(&line, out, term);
    as_str_free(&line);
}
