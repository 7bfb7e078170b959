/* What stands around the rows of a report: its head as text and JSON, and the verdict of a gate in every format, against
 * tests/golden/report_summaries.txt and report_gates.txt. Heads are those of the profiles of view_bed.h, with the fields of a summary
 * set one after the other. */
#include "unit.h"

#include "report/gate_text.h"
#include "report/report_json.h"
#include "report/report_kinds.h"
#include "report/report_text.h"
#include "report_bed.h"
#include "unit_golden.h"
#include "view_bed.h"

#include <math.h>

static const struct as_term plain = {.width = 100}, narrow = {.width = 60, .utf8 = true};

/* ---- heads ---- */

static void put_head(FILE *out, const char *title, const struct as_summary *summary)
{
    unit_golden_section(out, "%s", title);
    as_summary_text(summary, out, &plain);
}

static void put_json(FILE *out, const char *title, const struct as_summary *summary)
{
    unit_golden_section(out, "%s, JSON", title);
    struct as_json *json = as_json_new(out);
    as_json_object(json, NULL);
    as_summary_json(summary, json, "summary");
    as_json_end(json);
    assert_true(as_json_finish(json));
}

static void put_both(FILE *out, const char *title, const struct as_summary *summary)
{
    put_head(out, title, summary);
    put_json(out, title, summary);
}

static void heads_of_series(FILE *out)
{
    static const char *const names[] = {"golden", "tea", "bytes", "clock"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct as_view view = view_bed_open("shop.db", names[i]);
        put_head(out, names[i], &view.summary);
        if (i < 2)
            put_json(out, names[i], &view.summary);
        as_view_free(&view);
    }
    struct as_view old = view_bed_open("old.db", NULL);
    put_head(out, "old", &old.summary);
    unit_golden_section(out, "old, 60 columns");
    as_summary_text(&old.summary, out, &narrow);
    as_view_free(&old);
}

static void heads_of_runs(FILE *out)
{
    struct as_view view = view_bed_open("shop.db", "tea");
    struct as_summary summary = view.summary;
    summary.merged = true;
    summary.part = "the first million";
    summary.core_why = "as asked for";
    put_both(out, "merged", &summary);
    summary.n_runs = 1;
    put_head(out, "merged, one run", &summary);
    summary = view.summary;
    summary.has_threads = true;
    summary.partial = "the program was killed";
    summary.region = NULL;
    summary.clocked = 0.125;
    summary.left_running = 1;
    put_head(out, "threads, partial", &summary);
    summary.instructions = 0;
    summary.left_running = 2;
    summary.program = NULL;
    summary.core = NULL;
    summary.part = "what was left";
    put_head(out, "without a name", &summary);
    summary = view.summary;
    summary.run_seconds.n = 0;
    put_head(out, "cycles of runs alone", &summary);
    summary.run_cycles.n = 0;
    put_head(out, "runs without either", &summary);
    as_view_free(&view);
}

static void heads_without_cycles(FILE *out)
{
    struct as_view view = view_bed_open("shop.db", "clock");
    struct as_summary summary = view.summary;
    summary.cycles = summary.instructions = 0;
    put_head(out, "seconds alone", &summary);
    summary.seconds = NAN;
    put_head(out, "one sample", &summary);
    summary.samples = 2;
    put_head(out, "two samples", &summary);
    summary.samples = 0;
    put_head(out, "no samples", &summary);
    summary.seconds = 1.5;
    put_head(out, "no samples in 1.5 s", &summary);
    summary.contradicts = true;
    put_both(out, "not exact after all", &summary);
    as_view_free(&view);
}

static void heads_of_regions(FILE *out)
{
    struct as_view view = view_bed_open("shop.db", "tea");
    struct as_summary summary = view.summary;
    summary.sampled = true;
    put_both(out, "regions", &summary);
    summary.samples = 1;
    summary.partial = "interrupted";
    put_head(out, "one region of a part", &summary);
    as_view_free(&view);
}

static void heads_of_errors(FILE *out)
{
    static const struct as_bias bias = {.about = "it skips what is short"};
    struct as_view view = view_bed_open("shop.db", "tea");
    struct as_summary summary = view.summary;
    summary.expected = true;
    summary.error_how = "as expected";
    for (size_t i = 0; i < AS_SUMMARY_LEVELS; i++)
        summary.error_by[i] = 0.05 + 0.3 * (double)i;
    summary.runs_apart = 0.07;
    summary.unnamed = 0.06;
    summary.guessed = 0.2;
    put_both(out, "expected error", &summary);
    summary.error_by[1] = summary.error_by[0] = NAN;
    summary.error_by[2] = summary.error_by[3] = 0.1;
    summary.runs_apart = 0.6;
    summary.unnamed = 0.995;
    summary.guessed = 0.5;
    put_head(out, "expected error of modules", &summary);
    summary.bias = &bias;
    summary.bias_here = true;
    snprintf(summary.bias_from, sizeof summary.bias_from, "measured on this program");
    for (size_t i = 0; i < AS_BIAS_LEVELS; i++) {
        double low = 0.01 * (double)(i + 1);
        summary.trust[i] = (struct as_summary_trust){
            .chance = 0.1 * low, .bias = {low, 2 * low, i ? 3 * low : low}, .expected = {low, low, low}};
    }
    put_both(out, "bias", &summary);
    summary.too_few = true;
    put_head(out, "too few", &summary);
    summary.samples = AS_SUMMARY_LEAST_SAMPLES;
    summary.effective = 0.5;
    put_head(out, "too few, of unequal weight", &summary);
    summary = view.summary;
    summary.error = NAN;
    summary.error_how = "is not known";
    for (size_t i = 0; i < AS_SUMMARY_LEVELS; i++)
        summary.error_by[i] = NAN;
    put_both(out, "unknown error", &summary);
    as_view_free(&view);
}

/* Rows of quality that a report tells, each with this value. */
static void write_notes(const char *path, double value)
{
    static const char *const keys[] = {
        "sampled",     "start_up",    "unseen",          "warming",     "not_sampled",
        "cut_chains",  "lone_chains", "nameless_1",      "nameless_2",  "nameless_3",
        "not_unwound", "runs_differ", "unmatched_files", "recorder",    "call_paths",
        "repeated",    "made_chains", "guessed_names",   "rare",        "cpuid",
        "clock",       "rest",        "weights",         "other",       "deterministic",
        "agent_lost",  "trace_bytes", "agent_full",      "call_chains", "call_paths_folded"};
    struct as_store_writer *writer = bed_writer(path);
    as_store_add_series(writer, &(struct as_store_series){.name = "s", .unit = "cycles", .scale = 1, .precise = -1});
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char text[64];
        snprintf(text, sizeof text, "(%s)", keys[i]);
        as_store_add_quality(writer, keys[i], value, text);
    }
    bed_commit(writer);
}

static void heads_with_notes(FILE *out)
{
    static const double values[] = {0,    0.0009, 0.001, 0.0049, 0.005, 0.0099, 0.01, 0.049,
                                    0.05, 0.19,   0.2,   0.49,   0.5,   1,      7};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char title[32];
        snprintf(title, sizeof title, "notes of %g", values[i]);
        write_notes("notes.db", values[i]);
        struct as_view view = view_bed_open("notes.db", NULL);
        put_head(out, title, &view.summary);
        view.summary.counted = true;
        if (values[i] >= 0.5)
            put_head(out, "… of counts", &view.summary);
        as_view_free(&view);
    }
}

static void heads(void **state)
{
    FILE *out = unit_golden_begin();
    heads_of_series(out);
    heads_of_runs(out);
    heads_without_cycles(out);
    heads_of_regions(out);
    heads_of_errors(out);
    heads_with_notes(out);
    unit_golden_check(out, "report_summaries.txt");
}

/* ---- gates ---- */

static void put_gate(FILE *out, const char *title, struct as_gate gate, const struct as_diff *diff)
{
    struct as_gate_result result;
    as_gate_judge(&result, gate, diff);
    unit_golden_section(out, "%s", title);
    as_gate_text(&result, diff, out);
    unit_golden_section(out, "%s, Markdown", title);
    as_gate_markdown(&result, diff, out);
    unit_golden_section(out, "%s, JUnit", title);
    as_gate_junit(&result, diff, out);
    unit_golden_section(out, "%s, JSON", title);
    struct as_json *json = as_json_new(out);
    as_json_object(json, NULL);
    as_gate_json(&result, diff, json);
    as_json_end(json);
    assert_true(as_json_finish(json));
    as_gate_free(&result);
}

static struct as_diff *diff_of(const struct as_view *before, const struct as_view *after)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_diff *diff = as_diff_new(before, after, AS_STORE_BY_FUNCTION, &err);
    if (!diff)
        fail_msg("%s", err.message);
    return diff;
}

static void gates_of_exact_times(FILE *out)
{
    struct as_view old = view_bed_open("old.db", NULL), shop = view_bed_open("shop.db", NULL);
    struct as_diff *diff = diff_of(&old, &shop);
    put_gate(out, "passed", (struct as_gate){.program = 0.02, .row = NAN}, diff);
    put_gate(out, "new rows", (struct as_gate){.program = 0.02, .row = 0.5}, diff);
    diff->threads_vary = true;
    put_gate(out, "threads", (struct as_gate){.program = NAN, .row = 0.5}, diff);
    as_diff_free(diff);
    diff = diff_of(&shop, &old);
    put_gate(out, "20 % more", (struct as_gate){.program = NAN, .row = 0.1999}, diff);
    as_diff_free(diff);
    diff = diff_of(&shop, &shop);
    put_gate(out, "the same", (struct as_gate){.program = 0, .row = 0}, diff);
    as_diff_free(diff);
    old.summary.partial = "killed <by> \"9\" & |more|";
    shop.summary.partial = "stopped";
    diff = diff_of(&old, &shop);
    put_gate(out, "parts", (struct as_gate){.program = 0.02, .row = 0.5}, diff);
    as_diff_free(diff);
    as_view_free(&old);
    as_view_free(&shop);
}

/* One function with so many halves of a cycle. */
static void write_little(const char *path, uint64_t halves)
{
    struct as_store_writer *writer = bed_writer(path);
    uint32_t series = as_store_add_series(
        writer,
        &(struct as_store_series){.name = "golden", .exact = true, .unit = "cycles", .scale = 2, .precise = -1});
    as_store_add_thread(writer, &(struct as_store_thread){1, 7, NULL, 0, 0, 0});
    as_store_add_function(writer, &(struct as_store_function){"f", NULL, AS_STORE_NONE, AS_STORE_NONE, 0, 16, 0});
    as_store_add_instruction(writer, &(struct as_store_insn){.location = {16, AS_STORE_NONE, 0, AS_STORE_NONE,
                                                                          AS_STORE_NONE, 0, AS_STORE_NONE}});
    as_store_add_time(writer, &(struct as_store_time){series, 0, 0, halves, 0, 1});
    bed_commit(writer);
}

static void gates_of_little_time(FILE *out)
{
    write_little("less.db", 1);
    write_little("little.db", 2);
    struct as_view less = view_bed_open("less.db", NULL), little = view_bed_open("little.db", NULL);
    struct as_diff *diff = diff_of(&less, &little);
    put_gate(out, "from half a cycle to one", (struct as_gate){.program = 0.02, .row = 0.5}, diff);
    as_diff_free(diff);
    as_view_free(&less);
    as_view_free(&little);
}

static void gates_of_samples(FILE *out)
{
    struct as_view shop = view_bed_open("shop.db", NULL), tea = view_bed_open("shop.db", "tea");
    struct as_diff *diff = diff_of(&shop, &tea);
    put_gate(out, "noise", (struct as_gate){.program = 0.02, .row = 0.02}, diff);
    put_gate(out, "noise, strictly", (struct as_gate){.program = 0.02, .row = 0.02, .strict = true}, diff);
    put_gate(out, "no growth at all", (struct as_gate){.program = 0, .row = NAN}, diff);
    tea.summary.sampled = true;
    tea.summary.samples = 1;
    put_gate(out, "a region", (struct as_gate){.program = 0.02, .row = NAN}, diff);
    as_diff_free(diff);
    as_view_free(&shop);
    as_view_free(&tea);
}

static void gates(void **state)
{
    FILE *out = unit_golden_begin();
    gates_of_exact_times(out);
    gates_of_samples(out);
    gates_of_little_time(out);
    unit_golden_section(out, "refused, Markdown");
    as_gate_refuse_markdown("a <b> & c", out);
    unit_golden_section(out, "refused, JUnit");
    as_gate_refuse_junit("a <b> & \"c\"", out);
    unit_golden_check(out, "report_gates.txt");
}

/* ---- the edges of kinds ---- */

/* A call path of 60 functions, f1 to f60; the last has half a cycle. */
static void write_deep(const char *path)
{
    enum { DEEP = 60 };
    struct as_store_writer *writer = bed_writer(path);
    uint32_t series = as_store_add_series(
        writer,
        &(struct as_store_series){.name = "golden", .exact = true, .unit = "cycles", .scale = 4, .precise = -1});
    as_store_add_meta_u64(writer, AS_META_CYCLES, 1);
    as_store_add_thread(writer, &(struct as_store_thread){.number = 1, .process = 1});
    as_store_add_module(writer, &(struct as_store_module){.path = "/bin/deep"});
    for (uint32_t i = 0; i < DEEP; i++) {
        char name[8];
        snprintf(name, sizeof name, "f%u", i + 1);
        as_store_add_function(writer,
                              &(struct as_store_function){
                                  .name = name, .file = AS_STORE_NONE, .address = 16 * (uint64_t)(i + 1), .size = 16});
        as_store_add_path(writer,
                          &(struct as_store_path){i ? i - 1 : AS_STORE_NONE, i, AS_STORE_NONE, 16 * (i + 1), 0, false});
    }
    as_store_add_instruction(writer, &(struct as_store_insn){.location = {16 * DEEP, 0, DEEP - 1, AS_STORE_NONE,
                                                                          AS_STORE_NONE, 0, AS_STORE_NONE}});
    as_store_add_time(writer, &(struct as_store_time){series, 0, 0, 2, 0, 1});
    as_store_add_path_time(writer, &(struct as_store_path_time){series, 0, DEEP - 1, AS_STORE_NONE, 2, 0});
    bed_commit(writer);
}

static char *text_of(const struct as_report_kind *kind, struct as_report_request request)
{
    struct as_error err = AS_ERROR_INIT;
    char *text = NULL;
    size_t size;
    request.text = true;
    void *state = kind->make(&request, &err);
    if (!state)
        fail_msg("%s", err.message);
    FILE *file = open_memstream(&text, &size);
    kind->text(state, file, &plain);
    fclose(file);
    kind->free(state);
    return text;
}

static void deep_flames_are_cut(void **state)
{
    write_deep("deep.db");
    struct as_view view = view_bed_open("deep.db", NULL);
    char *text = text_of(&as_report_flame, (struct as_report_request){.view = &view});
    assert_non_null(strstr(text, "f48"));
    assert_null(strstr(text, "f49"));
    free(text);
    as_view_free(&view);
}

/* However little time it has, a function that was not there before is new. */
static void half_a_cycle_is_new(void **state)
{
    write_deep("deep.db");
    struct as_view before = view_bed_open("old.db", NULL), after = view_bed_open("deep.db", NULL);
    char *text = text_of(&as_report_diff, (struct as_report_request){.view = &after, .other = &before});
    char *row = strstr(text, "f60");
    assert_non_null(row);
    *strchrnul(row, '\n') = 0;
    row[-1] = 0;
    char *start = strrchr(text, '\n');
    row[-1] = ' ';
    assert_non_null(strstr(start ? start : text, "new"));
    free(text);
    as_view_free(&before);
    as_view_free(&after);
}

/* ---- waits ---- */

static void put_waits_as_data(FILE *out, const struct as_report_request *request)
{
    struct as_error err = AS_ERROR_INIT;
    void *shown = as_report_waits.make(request, &err);
    assert_non_null(shown);
    struct as_json *json = as_json_new(out);
    as_json_object(json, NULL);
    assert_true(as_report_waits.json(shown, json, &err));
    as_json_end(json);
    assert_true(as_json_finish(json));
    assert_true(as_report_waits.csv(shown, out, &err));
    as_report_waits.free(shown);
}

static void waits(void **state)
{
    report_bed_waits("waits.db");
    struct as_view view = view_bed_open("waits.db", NULL);
    FILE *out = unit_golden_begin();
    for (size_t limit = 0; limit <= 3; limit++) {
        char *text = text_of(&as_report_waits, (struct as_report_request){.view = &view, .limit = limit});
        unit_golden_section(out, "at most %zu", limit);
        fputs(text, out);
        free(text);
    }
    unit_golden_section(out, "JSON and CSV");
    put_waits_as_data(out, &(struct as_report_request){.view = &view});
    unit_golden_section(out, "JSON and CSV, at most 1");
    put_waits_as_data(out, &(struct as_report_request){.view = &view, .limit = 1});
    as_view_free(&view);
    unit_golden_check(out, "report_waits.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(heads), cmocka_unit_test(gates), cmocka_unit_test(waits),
                                       cmocka_unit_test(deep_flames_are_cut), cmocka_unit_test(half_a_cycle_is_new)};
    return cmocka_run_group_tests(tests, view_bed_set_up, NULL);
}
