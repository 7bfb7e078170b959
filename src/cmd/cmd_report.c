/* assay report: reads a profile and shows where the time went. */
#include "base/log.h"
#include "base/number.h"
#include "cmd/commands.h"
#include "cmd/operands.h"
#include "cmd/output.h"
#include "cmd/pager.h"
#include "cmd/shared_options.h"
#include "core/machine.h"
#include "report/gate_text.h"
#include "report/page_document.h"
#include "report/report_kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_LIMIT = 30, EXIT_GATE = 1 };

/* What was given for the option of a kind: the flag, or its value. */
struct kind_option {
    bool given;
    const char *value;
};

struct report_options {
    int by;
    bool json, csv, strict;
    const char *series, *sort, *output, *limit, *html, *source_path, *reuse, *time;
    const char *fail_over, *fail_row_over, *markdown, *junit;
    struct as_strlist threads, modules, symbols, events;
#define KIND_MEMBER(name, value, help) struct kind_option name;
    AS_REPORT_KINDS(KIND_MEMBER)
#undef KIND_MEMBER
};

static const struct as_option options_table[] = {
    {.name = "by",
     .type = AS_OPTION_CHOICE,
     .offset = offsetof(struct report_options, by),
     .value = "LEVEL",
     .choices = as_report_by_names,
     .help = "What the rows are: function (the default), line, block, instruction, file, module, thread, "
             "process, command (threads of one name) or cpu; "
             "object (the default), line or instruction with --data."},
    {.name = "series",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct report_options, series),
     .value = "NAME",
     .help = "The series to show: golden, tea … (default: golden if the profile has it)."},
#define KIND_OPTION(name_, value_, help_)                                                                              \
    {.name = #name_,                                                                                                   \
     .type = (value_) ? AS_OPTION_STRING : AS_OPTION_FLAG,                                                             \
     .offset = (value_) ? offsetof(struct report_options, name_.value) : offsetof(struct report_options, name_.given), \
     .value = (value_),                                                                                                \
     .help = (help_)},
    /* The macro brings its commas, which the formatter does not see. */
    /* clang-format off */
    AS_REPORT_KINDS(KIND_OPTION)
#undef KIND_OPTION
    {.name = "html",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct report_options, html),
     .value = "FILE",
     .writes = true,
     .help = "Write a page of the whole profile to FILE instead: one file for a browser that needs "
             "nothing else."},
    /* clang-format on */
    {.name = "source-path",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct report_options, source_path),
     .value = "DIR",
     .help = "Where to look for the page's source files that have moved since the program was built."},
    {.name = "reuse",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct report_options, reuse),
     .value = "FILE",
     .help =
         "With --html: a tab with the reuse distances of the program, from the FILE that assay reuse --json wrote."},
    {.name = "thread",
     .type = AS_OPTION_LIST,
     .offset = offsetof(struct report_options, threads),
     .value = "N",
     .help = "Only this thread, by its number; may be given several times."},
    {.name = "module",
     .type = AS_OPTION_LIST,
     .offset = offsetof(struct report_options, modules),
     .value = "PATTERN",
     .help = "Only modules whose path or file name matches this shell pattern; may be given several times."},
    {.name = "symbol",
     .type = AS_OPTION_LIST,
     .offset = offsetof(struct report_options, symbols),
     .value = "PATTERN",
     .help = "Only functions whose name, as shown or as in the symbol table, matches this shell pattern; may be given "
             "several times."},
    {.name = "event",
     .type = AS_OPTION_LIST,
     .offset = offsetof(struct report_options, events),
     .value = "NAME",
     .help = "Only time in which the instruction had met this event (ST-L1); may be given several times: any of them."},
    {.name = "time",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct report_options, time),
     .value = "FROM..TO",
     .help = "Only this part of the run, in seconds since its start (1s..2s, 500ms.., ..2), of a profile whose samples "
             "have times: recordings of perf, and assay record with timer or pmu."},
    {.name = "sort",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct report_options, sort),
     .value = "KEY",
     .help = "Sort by self (the default), total, samples, executions, name, address, or the time with an event."},
    {.name = "limit",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct report_options, limit),
     .value = "N",
     .help =
         "Show the first N rows; 0: all (default: all as JSON and CSV; as text the first 30, and none below 0.05 %)."},
    {.name = "fail-over",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct report_options, fail_over),
     .value = "PERCENT",
     .help = "With --diff: end with status 1 if the program has become slower by more than this (2%, 0.5%)."},
    {.name = "fail-row-over",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct report_options, fail_row_over),
     .value = "PERCENT",
     .help = "With --diff: the same for a function, or for another kind of row that --by names. Changes of less than "
             "0.1 % of the program's time do not count."},
    {.name = "strict",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct report_options, strict),
     .help = "With --fail-over or --fail-row-over: also fail if there are too few samples to tell."},
    {.name = "markdown",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct report_options, markdown),
     .value = "FILE",
     .writes = true,
     .help =
         "Write the result of --fail-over and --fail-row-over to FILE as Markdown, too, for a comment on a change."},
    {.name = "junit",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct report_options, junit),
     .value = "FILE",
     .writes = true,
     .help = "Also write it to FILE as JUnit XML, for the test page of a CI server."},
    AS_JSON_OPTION(struct report_options, json, AS_JSON_HELP),
    {.name = "csv",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct report_options, csv),
     .help = "Print comma-separated values with a header line."},
    AS_OUTPUT_OPTION(struct report_options, output, AS_OUTPUT_HELP),
    {.name = NULL},
};

static struct as_words words_of(const struct as_strlist *list)
{
    return (struct as_words){.data = list->data, .len = list->len};
}

static bool open_view(const struct report_options *options, const char *file, struct as_view *view,
                      struct as_error *err)
{
    struct as_view_options wanted = {.file = file,
                                     .series = options->series,
                                     .threads = words_of(&options->threads),
                                     .modules = words_of(&options->modules),
                                     .symbols = words_of(&options->symbols),
                                     .events = words_of(&options->events),
                                     .time = options->time};
    return as_view_open(view, &wanted, err);
}

static bool read_limit(const struct report_options *options, size_t *limit, struct as_error *err)
{
    uint64_t number;
    *limit = options->json || options->csv ? 0 : DEFAULT_LIMIT;
    if (!options->limit)
        return true;
    if (!as_number_read(options->limit, &number))
        return as_error_set_status(err, AS_EXIT_USAGE, "--limit=%s: not a number of rows", options->limit);
    *limit = (size_t)number;
    return true;
}

static struct as_report_filters filters_of(const struct report_options *options)
{
    return (struct as_report_filters){.threads = options->threads.len > 0,
                                      .places = options->modules.len > 0 || options->symbols.len > 0,
                                      .events = options->events.len > 0,
                                      .time = options->time != NULL};
}

static bool check_html(const struct report_options *options, const struct as_report_kind *kind, struct as_error *err)
{
    struct as_report_filters filters = filters_of(options);
    if (options->source_path && !options->html)
        return as_error_set_status(err, AS_EXIT_USAGE, "--source-path needs --html");
    if (options->reuse && !options->html)
        return as_error_set_status(err, AS_EXIT_USAGE, "--reuse needs --html");
    if (!options->html)
        return true;
    if (strncmp(options->html, "--", 2) == 0)
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "--html needs the name of a file, not %s (./%s is one of that name)", options->html,
                                   options->html);
    if (options->json || options->csv || options->output || (kind != &as_report_rows && kind != &as_report_diff))
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "--html cannot be combined with another kind of report, except --diff");
    return !(filters.threads || filters.places || filters.events || options->sort || options->limit || options->by) ||
           as_error_set_status(err, AS_EXIT_USAGE, "--html shows the whole profile: the page has its own filters");
}

/* Returns NULL and `err` if several were asked for. *other: the value of its option, a second profile. */
static const struct as_report_kind *kind_of(const struct report_options *options, const char **other,
                                            struct as_error *err)
{
    const struct {
        const struct kind_option *option;
        const struct as_report_kind *kind;
    } all[] = {
#define KIND_ENTRY(name, value, help) {&options->name, &as_report_##name},
        AS_REPORT_KINDS(KIND_ENTRY)
#undef KIND_ENTRY
    };
    const struct as_report_kind *kind = &as_report_rows;
    *other = NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!all[i].option->given && !all[i].option->value)
            continue;
        if (kind != &as_report_rows) {
            as_error_set_status(err, AS_EXIT_USAGE, "%s and %s cannot be used together", kind->option,
                                all[i].kind->option);
            return NULL;
        }
        kind = all[i].kind;
        *other = all[i].option->value;
    }
    return kind;
}

static bool read_percent(const char *name, const char *text, double *fraction, struct as_error *err)
{
    *fraction = NAN;
    return !text || as_gate_parse(text, fraction) ||
           as_error_set_status(err, AS_EXIT_USAGE, "--%s=%s: not a percentage, such as 2%%", name, text);
}

static bool read_gate(const struct report_options *options, const struct as_report_kind *kind, struct as_gate *gate,
                      struct as_error *err)
{
    bool limited = options->fail_over || options->fail_row_over;
    if ((options->markdown || options->junit || options->strict) && !limited)
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "--markdown, --junit and --strict need --fail-over or --fail-row-over");
    gate->strict = options->strict;
    if (limited && (kind != &as_report_diff || options->html))
        return as_error_set_status(err, AS_EXIT_USAGE, "--fail-over and --fail-row-over need --diff, without --html");
    return read_percent("fail-over", options->fail_over, &gate->program, err) &&
           read_percent("fail-row-over", options->fail_row_over, &gate->row, err);
}

static bool check_options(const struct report_options *options, const struct as_report_kind *kind, struct as_error *err)
{
    if (options->json && options->csv)
        return as_error_set_status(err, AS_EXIT_USAGE, "--json and --csv cannot be used together");
    if (!kind->json && (options->json || options->csv))
        return as_error_set_status(err, AS_EXIT_USAGE, "%s is a drawing: %s has the same as %s", kind->option,
                                   kind->values, options->json ? "JSON" : "CSV");
    return as_report_kind_takes(kind, options->by, options->sort != NULL, filters_of(options), err);
}

/* A file that the gate writes. It is opened before the report is printed, so that a path that cannot be written is known by
 * then. */
struct gate_file {
    struct as_output output;
    bool open;
};

/* A report that is about to be written; the views are open. */
struct report {
    const struct report_options *options;
    const struct as_report_kind *kind;
    struct as_view view, other; /* other: the earlier profile, if there is one */
    bool has_other;
    struct as_gate gate;
    struct gate_file markdown, junit;
    void *state; /* state of the kind; NULL: a page is written */
};

static bool open_gate_file(struct gate_file *file, const char *path, struct as_error *err)
{
    file->open = path && as_output_open(&file->output, path, err);
    return !path || file->open;
}

static void drop_gate_file(struct gate_file *file)
{
    if (file->open)
        as_output_drop(&file->output);
    file->open = false;
}

static bool open_report(struct report *report, const char *file, struct as_report_request *request,
                        struct as_error *err)
{
    const struct report_options *options = report->options;
    const char *other;
    report->kind = kind_of(options, &other, err);
    if (!report->kind || !check_html(options, report->kind, err) || !check_options(options, report->kind, err) ||
        !read_gate(options, report->kind, &report->gate, err) || !read_limit(options, &request->limit, err) ||
        !open_gate_file(&report->markdown, options->markdown, err) ||
        !open_gate_file(&report->junit, options->junit, err) || !open_view(options, file, &report->view, err))
        return false;
    report->has_other = other != NULL;
    return !other || open_view(options, other, &report->other, err);
}

static bool make(struct report *report, const char *file, struct as_error *err)
{
    const struct report_options *options = report->options;
    struct as_report_request request = {.view = &report->view,
                                        .by = (enum as_report_by)options->by,
                                        .sort = options->sort,
                                        .limited = options->limit != NULL,
                                        .text = !options->json && !options->csv};
    if (!open_report(report, file, &request, err))
        return false;
    request.other = report->has_other ? &report->other : NULL;
    request.gate = options->fail_over || options->fail_row_over ? &report->gate : NULL;
    report->state = options->html ? NULL : report->kind->make(&request, err);
    return options->html || report->state;
}

static void free_report(struct report *report)
{
    if (report->state)
        report->kind->free(report->state);
    drop_gate_file(&report->markdown);
    drop_gate_file(&report->junit);
    as_view_free(&report->other);
    as_view_free(&report->view);
}

/* *failed: the status of a failure that was reported already. */
static bool write_json(const struct report *report, FILE *out, int *failed, struct as_error *err)
{
    struct as_json *json = as_json_new(out);
    as_json_object(json, NULL);
    bool ok = report->kind->json(report->state, json, err);
    as_json_end(json);
    if (!as_json_finish(json) && !report->options->output && ok)
        *failed = as_cli_stdout_failed();
    return ok;
}

static bool write_page(const struct report *report, FILE *out, struct as_error *err)
{
    const char *from = report->options->reuse;
    struct as_diff *diff = NULL;
    char *reuse = NULL;
    if (from && !(reuse = as_page_reuse_read(from, report->view.summary.program, err)))
        return false;
    if (report->has_other && !(diff = as_diff_new(&report->other, &report->view, AS_STORE_BY_FUNCTION, err))) {
        free(reuse);
        return false;
    }
    struct as_sources *sources = as_sources_new(report->options->source_path);
    struct as_page_options page = {
        .sources = sources, .diff = diff, .reuse = reuse, .meaning = as_machine_meaning, .encoding = AS_PAGE_DEFLATED};
    bool ok = as_page_document_write(&report->view, &page, out, err);
    as_sources_free(sources);
    as_diff_free(diff);
    free(reuse);
    return ok;
}

static bool write_html(const struct report *report, struct as_error *err)
{
    struct as_output output;
    bool opened = as_output_open(&output, report->options->html, err);
    bool ok = opened && write_page(report, output.file, err);
    if (opened && (ok || ferror(output.file))) /* its message names the file */
        return as_output_finish(&output, err);
    if (opened)
        as_output_drop(&output);
    return false;
}

static bool write_out(const struct report *report, int *failed, struct as_error *err)
{
    const struct report_options *options = report->options;
    struct as_output output;
    if (options->html)
        return write_html(report, err);
    if (!as_output_open(&output, options->output, err))
        return false;
    bool ok = true;
    if (options->json) {
        ok = write_json(report, output.file, failed, err);
    } else if (options->csv) {
        ok = report->kind->csv(report->state, output.file, err);
    } else {
        struct as_pager pager = {.out = output.file};
        struct as_term term = as_terminal(options->output != NULL);
        if (!options->output)
            pager = as_pager_open();
        report->kind->text(report->state, pager.out, &term);
        as_pager_close(&pager);
    }
    if (ok)
        return as_output_finish(&output, err);
    as_output_drop(&output);
    return false;
}

typedef void gate_writer(const struct as_gate_result *result, const struct as_diff *diff, FILE *out);

static bool write_gate_file(const struct report *report, struct gate_file *file, gate_writer *write,
                            struct as_error *err)
{
    if (!file->open)
        return true;
    file->open = false;
    write(as_report_diff_gate(report->state), as_report_diff_values(report->state), file->output.file);
    return as_output_finish(&file->output, err);
}

/* The exit status from the gate, after its files are written. */
static bool apply_gate(struct report *report, int *status, struct as_error *err)
{
    const struct as_gate_result *gate =
        report->kind == &as_report_diff && report->state ? as_report_diff_gate(report->state) : NULL;
    if (!gate)
        return true;
    *status = !as_gate_judged(gate) ? AS_EXIT_FAILURE : as_gate_fails(gate, gate->verdict) ? EXIT_GATE : AS_EXIT_OK;
    if (gate->verdict == AS_GATE_INCONCLUSIVE)
        as_log_warn("too few samples to tell whether the limits hold%s",
                    gate->gate.strict ? "" : "; --strict makes that a failure");
    return write_gate_file(report, &report->markdown, as_gate_markdown, err) &&
           write_gate_file(report, &report->junit, as_gate_junit, err);
}

static void write_refusal(struct gate_file *file, void (*write)(const char *why, FILE *out), const char *why)
{
    struct as_error ignored = AS_ERROR_INIT; /* the failure is reported already */
    if (!file->open)
        return;
    file->open = false;
    write(why, file->output.file);
    (void)!as_output_finish(&file->output, &ignored);
}

/* The files of a gate say why there is no verdict. */
static int refuse(struct report *report, const struct as_error *err)
{
    int status = as_cli_fail(&as_command_report, err);
    if (status == AS_EXIT_FAILURE) {
        write_refusal(&report->markdown, as_gate_refuse_markdown, err->message);
        write_refusal(&report->junit, as_gate_refuse_junit, err->message);
    }
    return status;
}

static int run_report(int argc, char **argv)
{
    struct report_options options = {.by = 0};
    struct as_error err = AS_ERROR_INIT;
    struct as_operands files;
    int status = AS_EXIT_OK, failed = 0;
    enum as_parse parsed = as_operands_parse(&as_command_report, argc, argv, &options, &files);
    if (parsed != AS_PARSE_OK)
        return parsed == AS_PARSE_HELP ? AS_EXIT_OK : AS_EXIT_USAGE;
    struct report report = {.options = &options};
    options.output = as_output_name(options.output);
    if (files.n > 1)
        status =
            as_cli_usage(&as_command_report, "report reads one profile at a time; unexpected '%s'", files.words[1]);
    else if (!make(&report, files.n ? files.words[0] : "assay.db", &err) || !write_out(&report, &failed, &err) ||
             !apply_gate(&report, &status, &err))
        status = refuse(&report, &err);
    status = failed ? failed : status;
    free_report(&report);
    as_strlist_free(&options.threads);
    as_strlist_free(&options.modules);
    as_strlist_free(&options.symbols);
    as_strlist_free(&options.events);
    return status;
}

const struct as_command as_command_report = {
    .name = "report",
    .summary = "Show where the time of a profiled program went",
    .usage = "[options] [FILE]",
    .description = "Reads a profile (default assay.db) that 'assay record' wrote, and shows its functions by time, or "
                   "its lines, blocks, instructions, files, modules or threads: their own time and that of their "
                   "callees, with its components as a stacked bar. Each sign of a bar is one combination of events "
                   "that the instructions met; '.' is time without any.",
    .options = options_table,
    .examples = "assay report\n"
                "assay report --by line --symbol 'parse*'\n"
                "assay report --event ST-LLC --sort ST-LLC --by instruction\n"
                "assay report --calls\n"
                "assay report --data\n"
                "assay report after.db --diff before.db\n"
                "assay report --html page.html\n"
                "assay report --html page.html --reuse reuse.json\n",
    .run = run_report,
};
