/* assay stat: exact counts of what a program executed. */
#include "base/json.h"
#include "base/log.h"
#include "base/path.h"
#include "base/ratio.h"
#include "base/show.h"
#include "cmd/commands.h"
#include "cmd/output.h"
#include "cmd/progress.h"
#include "cmd/regions_shown.h"
#include "cmd/run_options.h"
#include "cmd/shared_options.h"
#include "cmd/stat_accesses.h"
#include "count/calls.h"
#include "count/counts.h"
#include "count/functions.h"
#include "engine/sink_tee.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stat_options {
    struct as_run_options run;
    bool json;
    const char *output;
    uint64_t functions;
    double calls; /* percent; negative: no call tree */
    bool check, footprint;
    struct as_strlist observers;
};

static const struct as_option options_table[] = {
    AS_JSON_OPTION(struct stat_options, json, AS_JSON_HELP_RUN),
    AS_OUTPUT_OPTION(struct stat_options, output, AS_OUTPUT_HELP_RUN),
    {.name = "functions",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct stat_options, functions),
     .value = "N",
     .help = "Show the N functions with the most instructions (default 10; 0: none)."},
    {.name = "calls",
     .type = AS_OPTION_DOUBLE,
     .offset = offsetof(struct stat_options, calls),
     .value = "PERCENT",
     .help = "Also show the call tree: every path that executed at least PERCENT of the instructions, including its "
             "callees."},
    {.name = "check",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct stat_options, check),
     .help = "Also record every access and check the decoder against it: the recorded accesses count, and "
             "'disagreements' is the number of code blocks for which the decoder differs. Slower."},
    {.name = "footprint",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct stat_options, footprint),
     .help = "Count the distinct cache lines and pages that each thread touched, and those that threads share. Records "
             "every access, as --check does."},
    {.name = "observer",
     .type = AS_OPTION_LIST,
     .offset = offsetof(struct stat_options, observers),
     .value = "FILE[,ARG]",
     .help = "Let an observer of your own read every access: a shared object with an 'accesses' function "
             "(include/assay/observer.h); may be given several times."},
    AS_ENVIRONMENT_OPTION(struct stat_options, run),
    AS_RUN_UNTIMED_OPTIONS(struct stat_options, run),
    {.name = NULL},
};

/* The counts with their names in JSON, in the order in which they are shown. */
struct field {
    const char *name, *label;
    size_t offset;
};
static const struct field fields[] = {
    {"instructions", "instructions", offsetof(struct as_counts, instructions)},
    {"loads", "loads", offsetof(struct as_counts, loads)},
    {"stores", "stores", offsetof(struct as_counts, stores)},
    {"load_accesses", "load accesses", offsetof(struct as_counts, load_accesses)},
    {"store_accesses", "store accesses", offsetof(struct as_counts, store_accesses)},
    {"branches", "branches", offsetof(struct as_counts, branches)},
    {"conditional", "conditional", offsetof(struct as_counts, conditional)},
    {"taken", "taken", offsetof(struct as_counts, taken)},
    {"calls", "calls", offsetof(struct as_counts, calls)},
    {"returns", "returns", offsetof(struct as_counts, returns)},
    {"syscalls", "system calls", offsetof(struct as_counts, syscalls)},
};

static uint64_t field_value(const struct as_counts *counts, const struct field *field)
{
    uint64_t value;
    memcpy(&value, (const char *)counts + field->offset, sizeof value);
    return value;
}

static double mips(uint64_t instructions, double seconds)
{
    return seconds > 0 ? (double)instructions / seconds / 1e6 : 0;
}

static void json_counts(struct as_json *json, const struct as_counts *counts)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        as_json_u64(json, fields[i].name, field_value(counts, &fields[i]));
    as_json_object(json, "classes");
    for (int i = 0; i < AS_CLASS_COUNT; i++)
        if (counts->classes[i])
            as_json_u64(json, as_class_name((enum as_class)i), counts->classes[i]);
    as_json_end(json);
}

static void json_threads(struct as_json *json, const struct as_counter *counter)
{
    as_json_array(json, "by_thread");
    for (size_t i = 0; i < as_counter_count_threads(counter); i++) {
        const struct as_thread_counts *thread = as_counter_thread(counter, i);
        as_json_object(json, NULL);
        as_json_u64(json, "process", thread->process);
        as_json_u64(json, "thread", thread->number);
        as_json_i64(json, "pid", thread->pid);
        as_json_i64(json, "tid", thread->tid);
        json_counts(json, &thread->counts);
        as_json_end(json);
    }
    as_json_end(json);
}

static void json_functions(struct as_json *json, const as_function_counts *functions, uint64_t limit, uint64_t total)
{
    as_json_array(json, "functions");
    for (size_t i = 0; i < functions->len && i < limit; i++) {
        as_json_object(json, NULL);
        as_json_string(json, "module", functions->data[i].module);
        as_json_string(json, "function", functions->data[i].function);
        as_json_u64(json, "instructions", functions->data[i].instructions);
        as_json_double(json, "share", as_ratio(functions->data[i].instructions, total));
        as_json_end(json);
    }
    as_json_end(json);
}

struct report {
    const struct stat_options *options;
    char **argv;
    const struct as_engine_result *result;
    const struct as_counter *counter;
    const struct as_engine *engine;
    as_function_counts functions;
    struct as_counts total;
    struct as_call_count *calls; /* NULL: not asked for */
    size_t n_calls;
    uint64_t folded_calls;
    const struct as_stat_accesses *accesses; /* NULL: not asked for */
};

static bool is_shown(const struct report *report, const struct as_call_count *call)
{
    return call->total > 0 && 100 * as_ratio(call->total, report->total.instructions) >= report->options->calls;
}

static void json_calls(struct as_json *json, const struct report *report)
{
    if (!report->calls)
        return;
    as_json_array(json, "call_tree");
    for (size_t i = 0; i < report->n_calls; i++) {
        const struct as_call_count *call = &report->calls[i];
        if (!is_shown(report, call))
            continue;
        as_json_object(json, NULL);
        as_json_u64(json, "image", call->image);
        as_json_u64(json, "node", call->node);
        if (call->node)
            as_json_u64(json, "parent", call->parent);
        else
            as_json_null(json, "parent");
        as_json_string(json, "function", as_call_count_name(report->engine, call));
        as_json_u64(json, "self", call->self);
        as_json_u64(json, "total", call->total);
        as_json_end(json);
    }
    as_json_end(json);
}

static double weigh(const struct report *report, const struct field *field)
{
    const struct as_regions *regions = as_engine_regions(report->engine);
    double sum = 0;
    for (uint32_t i = 0; i < regions->list.len; i++) {
        struct as_counts counts = as_counter_region(report->counter, i);
        sum += regions->list.data[i].weight * (double)field_value(&counts, field);
    }
    return sum;
}

/* The counts of all regions, each multiplied by its weight. */
static void json_weighted(struct as_json *json, const struct report *report)
{
    as_regions_json(json, &(struct as_regions_shown){.engine = report->engine});
    if (!as_regions_weighted(as_engine_regions(report->engine)))
        return;
    as_json_object(json, "weighted");
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        as_json_double(json, fields[i].name, weigh(report, &fields[i]));
    as_json_end(json);
}

static bool print_json(const struct report *report, FILE *out)
{
    const struct as_engine_result *result = report->result;
    struct as_json *json = as_json_new(out);
    as_json_object(json, NULL);
    as_json_array(json, "program");
    for (char **word = report->argv; *word; word++)
        as_json_string(json, NULL, *word);
    as_json_end(json);
    as_json_string(json, "source", "model");
    json_counts(json, &report->total);
    as_json_u64(json, "processes", result->processes);
    as_json_u64(json, "threads", result->threads);
    as_json_double(json, "seconds", result->seconds);
    as_json_double(json, "mips", mips(report->total.instructions, result->seconds));
    as_json_i64(json, "exit_status", result->end.exit_status);
    if (result->end.signal && !result->end.stopped)
        as_json_i64(json, "signal", result->end.signal);
    else
        as_json_null(json, "signal");
    as_json_bool(json, "complete", as_run_end_complete(&result->end));
    if (report->options->check)
        as_json_u64(json, "disagreements", result->disagreements);
    as_json_u64(json, "untraced_programs", result->untraced);
    as_json_u64(json, "left_running", result->left_running);
    json_weighted(json, report);
    json_threads(json, report->counter);
    json_functions(json, &report->functions, report->options->functions, report->total.instructions);
    json_calls(json, report);
    as_stat_accesses_json(report->accesses, json);
    as_json_end(json);
    return as_json_finish(json);
}

static void print_count(FILE *out, const char *label, uint64_t value, uint64_t whole)
{
    char text[32];
    fprintf(out, "%20s  %-16s", as_count(value, text), label);
    if (whole)
        fprintf(out, " %6.2f %%", 100 * as_ratio(value, whole));
    fputc('\n', out);
}

static void print_classes(FILE *out, const struct as_counts *total)
{
    fprintf(out, "\nBy class:\n");
    for (int i = 0; i < AS_CLASS_COUNT; i++)
        if (total->classes[i])
            print_count(out, as_class_name((enum as_class)i), total->classes[i], total->instructions);
}

static void print_threads(FILE *out, const struct as_counter *counter, const struct as_counts *total)
{
    enum { MOST = 32 };
    char instructions[32], loads[32], stores[32], branches[32];
    size_t n = as_counter_count_threads(counter);
    if (n < 2)
        return;
    fprintf(out, "\nBy thread:\n  thread process    %18s  %16s %16s %16s   share\n", "instructions", "loads", "stores",
            "branches");
    for (size_t i = 0; i < n && i < MOST; i++) {
        const struct as_thread_counts *thread = as_counter_thread(counter, i);
        fprintf(out, "  %6u %7u    %18s  %16s %16s %16s %6.2f %%\n", thread->number, thread->process,
                as_count(thread->counts.instructions, instructions), as_count(thread->counts.loads, loads),
                as_count(thread->counts.stores, stores), as_count(thread->counts.branches, branches),
                100 * as_ratio(thread->counts.instructions, total->instructions));
    }
    if (n > MOST)
        fprintf(out, "  … and %zu more; --json lists them all\n", n - MOST);
}

static void print_functions(FILE *out, const struct report *report)
{
    char text[32];
    if (report->functions.len == 0 || report->options->functions == 0)
        return;
    fprintf(out, "\nFunctions by instructions:\n");
    for (size_t i = 0; i < report->functions.len && i < report->options->functions; i++) {
        const struct as_function_count *function = &report->functions.data[i];
        fprintf(out, "%20s  %6.2f %%  %s  (%s)\n", as_count(function->instructions, text),
                100 * as_ratio(function->instructions, report->total.instructions), function->function,
                as_path_base(function->module));
    }
}

/* Prints the callees of a node, the largest first, indented by level. `first` is the index of the image's root. */
static void print_calls_below(FILE *out, const struct report *report, size_t first, size_t parent, int depth)
{
    enum { DEEPEST = 200 };
    uint64_t last_total = UINT64_MAX;
    size_t last = SIZE_MAX;
    char text[32];
    while (depth < DEEPEST) {
        size_t best = SIZE_MAX;
        for (size_t i = first + 1; i < report->n_calls && report->calls[i].image == report->calls[first].image; i++) {
            const struct as_call_count *call = &report->calls[i];
            bool later = call->total < last_total || (call->total == last_total && i > last && last != SIZE_MAX);
            if (first + call->parent == parent && later && is_shown(report, call) &&
                (best == SIZE_MAX || call->total > report->calls[best].total))
                best = i;
        }
        if (best == SIZE_MAX)
            return;
        last = best;
        last_total = report->calls[best].total;
        fprintf(out, "%20s  %6.2f %%  %*s%s\n", as_count(last_total, text),
                100 * as_ratio(last_total, report->total.instructions), 2 * depth, "",
                as_call_count_name(report->engine, &report->calls[best]));
        print_calls_below(out, report, first, best, depth + 1);
    }
}

static void print_calls(FILE *out, const struct report *report)
{
    if (!report->calls)
        return;
    fprintf(out, "\nCall tree, paths of at least %g %%:\n", report->options->calls);
    for (size_t i = 0; i < report->n_calls; i++)
        if (report->calls[i].node == 0 && is_shown(report, &report->calls[i]))
            print_calls_below(out, report, i, i, 0);
    if (report->folded_calls)
        fprintf(out,
                "note: %s calls are counted as part of their callers: call paths are kept to a depth of %s,\n"
                "  and at most %s of them\n",
                AS_COUNT(report->folded_calls), AS_COUNT(AS_CALLPATH_MAX_DEPTH), AS_COUNT(AS_CALL_TREE_MAX_NODES));
}

static void print_head(const struct report *report, FILE *out)
{
    const struct as_engine_result *result = report->result;
    char part[AS_ENGINE_PART] = "";
    bool cut = as_engine_part(result, report->total.instructions, part, sizeof part);
    const char *until = as_run_end_until(&result->end);
    fprintf(out, "\nExecuted by '%s'%s%s%s%s:\n\n", AS_SHOW(report->argv[0]), cut ? ", " : "", part, until ? " " : "",
            until ? until : "");
}

static void print_text(const struct report *report, FILE *out)
{
    const struct as_counts *total = &report->total;
    const struct as_engine_result *result = report->result;
    print_head(report, out);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const char *name = fields[i].name;
        bool of_instructions = i > 0 && strcmp(name, "load_accesses") != 0 && strcmp(name, "store_accesses") != 0;
        print_count(out, fields[i].label, field_value(total, &fields[i]), of_instructions ? total->instructions : 0);
    }
    print_count(out, "threads", result->threads, 0);
    if (result->processes > 1)
        print_count(out, "processes", result->processes, 0);
    print_classes(out, total);
    as_regions_print(out, &(struct as_regions_shown){.engine = report->engine});
    print_threads(out, report->counter, total);
    print_functions(out, report);
    print_calls(out, report);
    as_stat_accesses_text(report->accesses, out);
    if (report->options->check)
        print_count(out, "disagreements", result->disagreements, 0);
    fprintf(out, "\n%.3f seconds, %.0f MIPS (exact counts, from QEMU's user mode)\n", result->seconds,
            mips(total->instructions, result->seconds));
}

static int print_report(const struct report *report, struct as_output *output)
{
    struct as_error err = AS_ERROR_INIT;
    if (report->options->json && !print_json(report, output->file) && !output->path)
        return as_cli_stdout_failed();
    if (!report->options->json)
        print_text(report, output->file);
    if (*as_stat_accesses_said(report->accesses))
        fprintf(report->options->json ? stderr : output->file, "\n%s", as_stat_accesses_said(report->accesses));
    return as_output_finish(output, &err) ? AS_EXIT_OK : as_cli_fail(&as_command_stat, &err);
}

/* The sinks of the run. */
struct hearers {
    struct as_sink_tee *tee;
    struct as_counter *counter;
    struct as_call_counter *calls;     /* NULL: not asked for */
    struct as_stat_accesses *accesses; /* NULL: not asked for */
};

static bool open_hearers(struct hearers *hearers, const struct stat_options *options, struct as_error *err)
{
    hearers->tee = as_sink_tee_new();
    hearers->accesses = as_stat_accesses_new(options->footprint, &options->observers, options->output);
    hearers->counter = as_counter_new(options->check || hearers->accesses);
    as_sink_tee_add(hearers->tee, &as_counter_sink, hearers->counter);
    if (options->calls >= 0) {
        hearers->calls = as_call_counter_new();
        as_sink_tee_add(hearers->tee, &as_call_counter_sink, hearers->calls);
    }
    return as_stat_accesses_open(hearers->accesses, hearers->tee, err);
}

/* Returns the number of observers that crashed. */
static size_t close_hearers(struct hearers *hearers)
{
    size_t crashed = as_stat_accesses_free(hearers->accesses);
    as_call_counter_free(hearers->calls);
    as_counter_free(hearers->counter);
    as_sink_tee_free(hearers->tee);
    return crashed;
}

static bool start(void *hearers, const struct as_engine *engine, struct as_error *err)
{
    return as_stat_accesses_start(((struct hearers *)hearers)->accesses, engine, err);
}

static bool finish(void *hearers, struct as_error *err)
{
    return as_stat_accesses_finish(((struct hearers *)hearers)->accesses, err);
}

static int show(const struct stat_options *options, char **argv, const struct hearers *hearers,
                const struct as_engine *engine, const struct as_engine_result *result, struct as_output *output)
{
    struct report report = {.options = options,
                            .argv = argv,
                            .result = result,
                            .counter = hearers->counter,
                            .engine = engine,
                            .functions = as_functions_count(engine, hearers->counter),
                            .total = as_counter_total(hearers->counter),
                            .accesses = hearers->accesses};
    if (hearers->calls) {
        report.calls = as_call_counter_list(hearers->calls, engine, &report.n_calls);
        report.folded_calls = as_call_counter_folded(hearers->calls);
    }
    int failed = print_report(&report, output);
    free(report.calls);
    as_functions_free(&report.functions);
    int status = as_run_report(result, &options->run);
    return failed ? failed : status;
}

static int run_program(const struct stat_options *options, char **argv)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_engine_result result;
    struct as_output output = {0};
    struct hearers hearers = {0};
    struct as_progress progress;
    struct as_engine *engine = NULL;
    struct as_engine_options engine_options = as_run_engine_options(&options->run, argv);
    bool ok = open_hearers(&hearers, options, &err) && as_output_open(&output, options->output, &err);
    engine_options.stdout_to_stderr = options->json && !options->output;
    engine_options.blocks_only = !options->check && !hearers.accesses;
    engine_options.stacks = hearers.calls != NULL;
    engine_options.observed = as_stat_accesses_are_apart(hearers.accesses);
    struct as_metered program = {
        .goal = as_regions_length(&options->run.regions), .start = start, .finish = finish, .run = &hearers};
    program.sink = as_sink_tee_sink(hearers.tee, &program.context);
    ok = ok && as_meter_run(&as_progress_meter, &progress, engine_options, &program, &engine, &result, &err);
    int status = ok ? show(options, argv, &hearers, engine, &result, &output) : as_cli_fail(&as_command_stat, &err);
    if (!ok)
        as_output_drop(&output);
    size_t crashed = close_hearers(&hearers);
    as_engine_free(engine);
    return crashed && status == AS_EXIT_OK ? AS_EXIT_FAILURE : status;
}

static int run_stat(int argc, char **argv)
{
    struct stat_options options = {.run = AS_RUN_OPTIONS_DEFAULT, .functions = 10, .calls = -1};
    struct as_error err = AS_ERROR_INIT;
    int rest;
    enum as_parse parsed = as_cli_parse(&as_command_stat, argc, argv, &options, &rest);
    if (parsed != AS_PARSE_OK)
        return parsed == AS_PARSE_HELP ? AS_EXIT_OK : AS_EXIT_USAGE;
    options.output = as_output_name(options.output);
    if (options.calls > 100)
        return as_cli_usage(&as_command_stat, "--calls takes a percentage from 0 to 100");
    if (rest >= argc)
        return as_cli_usage(&as_command_stat, "no program given");
    int status = as_run_options_settle_untimed(&options.run, true, &err) ? run_program(&options, argv + rest)
                                                                         : as_cli_fail(&as_command_stat, &err);
    as_run_options_free(&options.run);
    as_strlist_free(&options.observers);
    return status;
}

const struct as_command as_command_stat = {
    .name = "stat",
    .summary = "Exact counts of what a program executed",
    .usage = "[options] [--] PROGRAM [ARGS…]",
    .description = "Runs the program in QEMU's user mode and counts every instruction: loads, stores, branches, calls, "
                   "system calls, by class and by thread, and the functions that executed most. Forked children and "
                   "the programs that they execute are counted too. The exit status is the program's, or 128 plus the "
                   "number of the signal that killed it.",
    .options = options_table,
    .examples = "assay stat -- ls -l\n"
                "assay stat --json -- ./prog arg > counts.json\n"
                "assay stat --from main --max 100M -- ./prog\n"
                "assay stat --footprint -- ./prog\n",
    .run = run_stat,
};
