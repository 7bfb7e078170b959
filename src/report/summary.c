/* See summary.h. */
#include "report/summary.h"

#include "base/str.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static uint64_t meta_u64(const struct as_store *store, const char *key)
{
    uint64_t value = 0;
    return as_store_meta_u64(store, key, &value) ? value : 0;
}

/* Not sampled: the agent's series are the only ones of bytes. */
static bool is_counted(const struct as_summary *summary)
{
    return strcmp(summary->unit, "bytes") == 0;
}

/* How wrong the series may be, the best that is known. */
static void find_error(const struct as_store *store, struct as_summary *summary)
{
    summary->error = NAN;
    summary->error_how = "unknown";
    if (summary->contradicts) {
        summary->error_how = "unknown: its times do not add up to the cycles of the run";
        return;
    }
    if (summary->exact) {
        summary->error = 0;
        summary->error_how = "exact, every cycle of the run is accounted for";
        return;
    }
    if (is_counted(summary)) {
        summary->error = 0;
        summary->error_how = "exact, every call was counted";
        return;
    }
    static const struct {
        const char *measure, *how;
    } measures[] = {{"error", "held against the golden reference of this run"},
                    {"estimate", "expected from the number of samples alone; a bias of the sampler is not in it"}};
    for (size_t i = 0; i < sizeof measures / sizeof *measures && isnan(summary->error); i++) {
        summary->error = as_store_estimate_of(store, summary->series, measures[i].measure, "instruction");
        if (!isnan(summary->error))
            summary->error_how = measures[i].how;
    }
}

/* A series that calls itself exact is, where its times are all cycles of the run; where the file does not tell how many
 * there were, nothing speaks against it. */
static bool check_exact(struct as_store *store, struct as_summary *summary, struct as_error *err)
{
    size_t n;
    uint64_t units, cycles, wanted, scale = as_store_series(store, &n)[summary->series].scale;
    if (!summary->exact || !as_store_meta_u64(store, AS_META_CYCLES, &cycles))
        return true;
    if (!as_store_total(store, summary->series, NULL, &units, err))
        return false;
    summary->contradicts = __builtin_mul_overflow(cycles, scale, &wanted) || wanted != units;
    summary->exact = !summary->contradicts;
    if (summary->contradicts)
        summary->samples = 0;
    return true;
}

bool as_summary_read(struct as_store *store, uint32_t series, struct as_summary *summary, struct as_error *err)
{
    size_t n;
    const struct as_store_series *all = as_store_series(store, &n);
    if (series >= n)
        return as_error_set(err, "%s: the profile has no measurements", as_store_file_name(store));
    const struct as_store_series *shown = &all[series];
    const char *program = as_store_meta(store, AS_META_PROGRAM), *slash = program ? strrchr(program, '/') : NULL;
    *summary = (struct as_summary){
        .store = store,
        .series = series,
        .program = slash ? slash + 1 : program,
        .source = as_store_meta(store, AS_META_SOURCE),
        .source_why = as_store_meta(store, AS_META_SOURCE_WHY),
        .core = as_store_meta(store, AS_META_CORE),
        .sampler = shown->name,
        .description = shown->description,
        .unit = shown->unit ? shown->unit : "units",
        .partial = as_store_meta(store, AS_META_PARTIAL),
        .region = as_store_meta(store, "region"),
        .exact = shown->exact,
        .precise = shown->precise,
        .scale = (double)shown->scale,
        .instructions = meta_u64(store, AS_META_INSTRUCTIONS),
        .cycles = meta_u64(store, AS_META_CYCLES),
        .samples = shown->exact ? meta_u64(store, AS_META_CYCLES) : shown->samples,
        .lost = shown->lost,
        .throttled = shown->throttled,
        .dropped = shown->dropped,
        .period = shown->period,
        .seconds = as_store_meta_double(store, AS_META_SECONDS),
    };
    if (!check_exact(store, summary, err))
        return false;
    find_error(store, summary);
    return true;
}

static void json_runs(const struct as_summary *summary, struct as_json *json)
{
    static const char *const what[] = {"cycles", "seconds"}, *const parts[] = {"mean", "deviation", "least", "most"};
    size_t n;
    as_store_runs(summary->store, &n);
    if (n < 2)
        return;
    as_json_object(json, "runs");
    as_json_u64(json, "count", n);
    for (size_t i = 0; i < 2; i++) {
        as_json_object(json, what[i]);
        for (size_t k = 0; k < 4; k++) {
            char key[64];
            snprintf(key, sizeof key, "%s_%s", what[i], parts[k]);
            as_json_double(json, parts[k], as_store_meta_double(summary->store, key));
        }
        as_json_end(json);
    }
    as_json_end(json);
}

/* {name: share} of one bar of the program, where the profile has it. */
static void json_stack(const struct as_summary *summary, struct as_json *json, const char *stack)
{
    size_t n;
    const struct as_store_stack *parts = as_store_stacks(summary->store, &n);
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += strcmp(parts[i].stack, stack) == 0 ? parts[i].units : 0;
    if (!total)
        return;
    as_json_object(json, stack);
    for (size_t i = 0; i < n; i++)
        if (strcmp(parts[i].stack, stack) == 0)
            as_json_double(json, parts[i].name, (double)parts[i].units / (double)total);
    as_json_end(json);
}

static void json_errors(const struct as_summary *summary, struct as_json *json)
{
    size_t n;
    const struct as_store_estimate *estimates = as_store_estimates(summary->store, &n);
    as_json_array(json, "errors");
    for (size_t i = 0; i < n; i++) {
        if (estimates[i].series != summary->series)
            continue;
        as_json_object(json, NULL);
        as_json_string(json, "measure", estimates[i].measure);
        as_json_string(json, "granularity", estimates[i].granularity);
        as_json_double(json, "value", estimates[i].value);
        as_json_end(json);
    }
    as_json_end(json);
}

static void json_quality(const struct as_summary *summary, struct as_json *json)
{
    size_t n;
    const struct as_store_quality *rows = as_store_quality(summary->store, &n);
    as_json_array(json, "quality");
    for (size_t i = 0; i < n; i++) {
        as_json_object(json, NULL);
        as_json_string(json, "key", rows[i].key);
        as_json_double(json, "value", rows[i].value);
        as_json_string(json, "text", rows[i].text);
        as_json_end(json);
    }
    as_json_end(json);
}

/* Whether its times can be split by what they were spent on. */
static bool has_events(const struct as_summary *summary)
{
    size_t n;
    const struct as_store_series *series = as_store_series(summary->store, &n);
    return summary->series < n && series[summary->series].events != 0;
}

/* What was not measured is null: no program executes nothing. */
static void json_count(struct as_json *json, const char *name, uint64_t count)
{
    if (count)
        as_json_u64(json, name, count);
    else
        as_json_null(json, name);
}

void as_summary_json(const struct as_summary *summary, struct as_json *json)
{
    as_json_string(json, "file", as_store_file_name(summary->store));
    as_json_string(json, "program", as_store_meta(summary->store, AS_META_PROGRAM));
    as_json_string(json, "source", summary->source);
    as_json_string(json, "source_why", summary->source_why);
    as_json_string(json, "sampler", summary->sampler);
    as_json_string(json, "description", summary->description);
    as_json_bool(json, "exact", summary->exact);
    if (summary->precise >= 0)
        as_json_i64(json, "precise", summary->precise);
    as_json_string(json, "core", summary->core);
    json_count(json, "instructions", summary->instructions);
    json_count(json, "cycles", summary->cycles);
    if (summary->cycles && summary->instructions)
        as_json_double(json, "ipc", (double)summary->instructions / (double)summary->cycles);
    as_json_double(json, "seconds", summary->seconds);
    as_json_u64(json, "period", summary->period);
    as_json_u64(json, "samples", summary->samples);
    as_json_u64(json, "lost", summary->lost);
    as_json_u64(json, "throttled", summary->throttled);
    as_json_u64(json, "dropped", summary->dropped);
    as_json_double(json, "error_estimate", summary->error);
    as_json_string(json, "error_how", summary->error_how);
    as_json_bool(json, "cycle_stacks", has_events(summary));
    json_errors(summary, json);
    as_json_string(json, "region", summary->region);
    as_json_string(json, "partial", summary->partial);
    json_stack(summary, json, "states");
    json_stack(summary, json, "stack");
    json_runs(summary, json);
    json_quality(summary, json);
}

/* ---- text ---- */

enum { INDENT = 2 }; /* of what does not fit into a line */

/* One of its lines, which is cleared. */
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
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += strcmp(parts[i].stack, stack) == 0 ? parts[i].units : 0;
    for (size_t i = 0; i < n && total; i++)
        if (strcmp(parts[i].stack, stack) == 0)
            as_str_addf(line, "%s%s %.1f %%", shown++ ? ", " : label, AS_SHOW(parts[i].name),
                        100 * (double)parts[i].units / (double)total);
}

/* Of several runs. */
struct spread {
    bool known; /* a profile may have runs without it, and sources that count no cycles have a mean of 0 */
    double mean, percent, least, most;
};

static struct spread spread_of(const struct as_store *store, const char *what)
{
    static const char *const parts[] = {"mean", "deviation", "least", "most"};
    double values[4];
    bool known = true;
    for (size_t i = 0; i < 4; i++) {
        char key[64];
        snprintf(key, sizeof key, "%s_%s", what, parts[i]);
        values[i] = as_store_meta_double(store, key);
        known = known && isfinite(values[i]) && values[i] >= 0;
    }
    return (struct spread){.known = known && values[0] > 0,
                           .mean = values[0],
                           .percent = known && values[0] > 0 ? 100 * values[1] / values[0] : 0,
                           .least = values[2],
                           .most = values[3]};
}

static uint64_t count_of(double number)
{
    return number < 1e18 ? (uint64_t)(number + 0.5) : UINT64_MAX;
}

static void add_runs(const struct as_summary *summary, struct as_str *line)
{
    size_t n;
    as_store_runs(summary->store, &n);
    if (n < 2)
        return;
    struct spread cycles = spread_of(summary->store, "cycles"), seconds = spread_of(summary->store, "seconds");
    if (!cycles.known && !seconds.known)
        return;
    as_str_addf(line, "%zu runs: ", n);
    if (cycles.known)
        as_str_addf(line, "%s cycles on average, standard deviation %.2f %%, %s to %s; ",
                    AS_COUNT(count_of(cycles.mean)), cycles.percent, AS_COUNT(count_of(cycles.least)),
                    AS_COUNT(count_of(cycles.most)));
    if (seconds.known)
        as_str_addf(line, "%.4g s on average, standard deviation %.2f %%, %.4g to %.4g; ", seconds.mean,
                    seconds.percent, seconds.least, seconds.most);
    as_str_add(line, "this is the first");
}

static void add_program(const struct as_summary *summary, struct as_str *line)
{
    as_str_addf(line, "%s on %s: ", AS_SHOW(summary->program), AS_SHOW(summary->core));
    if (summary->instructions)
        as_str_addf(line, "%s instructions, ", AS_COUNT(summary->instructions));
    if (summary->cycles || isnan(summary->seconds)) /* clocks count none */
        as_str_addf(line, "%s cycles", AS_COUNT(summary->cycles));
    if (summary->cycles && summary->instructions)
        as_str_addf(line, ", IPC %.2f", (double)summary->instructions / (double)summary->cycles);
    if (!isnan(summary->seconds))
        as_str_addf(line, "%s%.4g s", summary->cycles ? ", " : "", summary->seconds);
    if (summary->region)
        as_str_addf(line, " (%s)", AS_SHOW(summary->region));
}

static void add_samples(const struct as_summary *summary, struct as_str *line)
{
    as_str_addf(line, "source %s, series %s", AS_SHOW(summary->source), AS_SHOW(summary->sampler));
    if (summary->precise >= 0)
        as_str_addf(line, " (precise level %d)", summary->precise);
    if (summary->exact)
        as_str_add(line, ": every cycle");
    else if (!summary->contradicts)
        as_str_addf(line, ": %s samples", AS_COUNT(summary->samples));
    if (summary->period)
        as_str_addf(line, ", one in %s %s", AS_COUNT(summary->period), AS_SHOW(summary->unit));
    as_str_addf(line, ", %s lost, %s throttled", AS_COUNT(summary->lost), AS_COUNT(summary->throttled));
    if (summary->dropped)
        as_str_addf(line, ", %s dropped", AS_COUNT(summary->dropped));
}

static void add_error(const struct as_summary *summary, struct as_str *line)
{
    if (isnan(summary->error))
        as_str_addf(line, "error %s", summary->error_how);
    else
        as_str_addf(line, "error %.2f %%: %s", 100 * summary->error, summary->error_how);
}

/* What the agent could not count. */
static void add_agent_notes(const struct as_summary *summary, struct as_str *line)
{
    size_t n;
    const struct as_store_quality *rows = as_store_quality(summary->store, &n);
    for (size_t i = 0; i < n; i++)
        if (rows[i].key && rows[i].text && strncmp(rows[i].key, "agent_", 6) == 0 && rows[i].value >= 1)
            as_str_addf(line, "%s%.0f %s", line->len ? "; " : "", rows[i].value, AS_SHOW(rows[i].text));
}

/* Parts that are missing, where they are large enough to mislead whoever reads the rows. */
static void put_missing(const struct as_summary *summary, FILE *out, const struct as_term *term)
{
    static const struct {
        const char *key;
        double least;
    } parts[] = {{"not_sampled", 0.2},
                 {"cut_chains", 0.01},
                 {"lone_chains", 0.5},
                 {"not_unwound", 0.2},
                 {"unmatched_files", 0.2}};
    size_t n;
    const struct as_store_quality *rows = as_store_quality(summary->store, &n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            if (rows[i].key && rows[i].text && strcmp(rows[i].key, parts[k].key) == 0 &&
                rows[i].value >= parts[k].least) {
                struct as_str line = {0};
                as_str_addf(&line, "note: %s (%.0f %%)", AS_SHOW(rows[i].text), 100 * rows[i].value);
                put_line(&line, out, term);
                as_str_free(&line);
            }
}

void as_summary_text(const struct as_summary *summary, FILE *out, const struct as_term *term)
{
    struct as_str line = {0};
    add_program(summary, &line);
    put_line(&line, out, term);
    if (summary->partial)
        as_str_addf(&line, "PARTIAL: %s", AS_SHOW(summary->partial));
    put_line(&line, out, term);
    add_samples(summary, &line);
    put_line(&line, out, term);
    add_error(summary, &line);
    put_line(&line, out, term);
    if (is_counted(summary))
        add_agent_notes(summary, &line);
    else if (!has_events(summary))
        as_str_addf(&line, "no cycle stacks: %s sees no events%s", AS_SHOW(summary->sampler),
                    summary->source && strcmp(summary->source, "model") != 0 ? " (--source=model does)" : "");
    put_line(&line, out, term);
    put_missing(summary, out, term);
    add_stack(summary, &line, "states", "commit states: ");
    put_line(&line, out, term);
    add_runs(summary, &line);
    put_line(&line, out, term);
    as_str_free(&line);
}
