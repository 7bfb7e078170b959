/* assay report: reads a profile and shows where the time went. */
#include "cmd/commands.h"
#include "cmd/operands.h"
#include "cmd/output.h"
#include "cmd/pager.h"
#include "cmd/report_kinds.h"
#include "core/machine.h"
#include "report/page_document.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_LIMIT = 30 };

struct report_options {
    int by;
    bool json, csv, calls, flame, data, branches;
    const char *series, *sort, *diff, *output, *limit, *html, *source_path;
    struct as_strlist threads, modules, symbols, events;
};

static const struct as_option options_table[] = {
    {.name = "by",
     .type = AS_OPTION_CHOICE,
     .offset = offsetof(struct report_options, by),
     .value = "LEVEL",
     .choices = as_report_by_names,
     .help = "What a row is: function (the default), line, block, instruction, file, module or thread; with "
             "--data object (the default then), line or instruction."},
    {.name = "series",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct report_options, series),
     .value = "NAME",
     .help = "Whose measurement to show: golden, tea … (default: golden where the profile has it)."},
    {.name = "calls",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct report_options, calls),
     .help = "Show the call tree: each path with its own time and that of what it calls."},
    {.name = "flame",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct report_options, flame),
     .help = "Draw the call tree as a flame graph in the width of the terminal, callers above what they call."},
    {.name = "branches",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct report_options, branches),
     .help = "Show the taken branches that branch stacks hold: from where to where, how often, how often mispredicted, "
             "and after how many cycles. A profile has them if branches were asked for, or perf record -b made it."},
    {.name = "data",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct report_options, data),
     .help = "Show which data was accessed: variables, heap, stacks and mapped files, how much of the time, by which "
             "instructions. A profile has data addresses if accesses were asked for, or perf mem recorded it."},
    {.name = "diff",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct report_options, diff),
     .value = "OTHER",
     .help = "Compare with OTHER, the profile before a change: what became faster or slower, by how much, and which "
             "components of its time changed."},
    {.name = "html",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct report_options, html),
     .value = "FILE",
     .help = "Write a page of the whole profile to FILE instead: one file, to be opened in a browser, that needs "
             "nothing else."},
    {.name = "source-path",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct report_options, source_path),
     .value = "DIR",
     .help = "Where to look for source files of the page that are not where they were when the program was built."},
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
    {.name = "json",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct report_options, json),
     .help = "Print one JSON document."},
    {.name = "csv",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct report_options, csv),
     .help = "Print comma-separated values with a line of names."},
    {.name = "output",
     .short_name = 'o',
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct report_options, output),
     .value = "FILE",
     .help = "Write to FILE instead of standard output (-)."},
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
                                     .events = words_of(&options->events)};
    return as_view_open(view, &wanted, err);
}

static bool read_limit(const struct report_options *options, size_t *limit, struct as_error *err)
{
    uint64_t number;
    *limit = options->json || options->csv ? 0 : DEFAULT_LIMIT;
    if (!options->limit)
        return true;
    if (!as_cli_read_u64(options->limit, &number))
        return as_error_set_status(err, AS_EXIT_USAGE, "--limit=%s: not a number of rows", options->limit);
    *limit = (size_t)number;
    return true;
}

static struct as_report_filters filters_of(const struct report_options *options)
{
    return (struct as_report_filters){.threads = options->threads.len > 0,
                                      .places = options->modules.len > 0 || options->symbols.len > 0,
                                      .events = options->events.len > 0};
}

static bool check_html(const struct report_options *options, const struct as_report_kind *kind, struct as_error *err)
{
    struct as_report_filters filters = filters_of(options);
    if (options->source_path && !options->html)
        return as_error_set_status(err, AS_EXIT_USAGE, "--source-path is for --html");
    if (!options->html)
        return true;
    if (options->json || options->csv || options->output || (kind != &as_report_rows && kind != &as_report_of_diff))
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "--html is a report of its own: no other kind beside it, except --diff");
    return !(filters.threads || filters.places || filters.events || options->sort || options->limit || options->by) ||
           as_error_set_status(err, AS_EXIT_USAGE, "--html shows the whole profile: the page has its own filters");
}

/* NULL and `err`: several were asked for. */
static const struct as_report_kind *kind_of(const struct report_options *options, struct as_error *err)
{
    const struct {
        bool asked;
        const struct as_report_kind *kind;
    } all[] = {{options->calls, &as_report_calls},
               {options->flame, &as_report_flame},
               {options->data, &as_report_of_data},
               {options->branches, &as_report_of_branches},
               {options->diff != NULL, &as_report_of_diff}};
    const struct as_report_kind *kind = &as_report_rows;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].asked && kind != &as_report_rows) {
            as_error_set_status(err, AS_EXIT_USAGE, "%s and %s exclude each other", kind->option, all[i].kind->option);
            return NULL;
        }
        kind = all[i].asked ? all[i].kind : kind;
    }
    return kind;
}

static bool check_options(const struct report_options *options, const struct as_report_kind *kind, struct as_error *err)
{
    if (options->json && options->csv)
        return as_error_set_status(err, AS_EXIT_USAGE, "--json and --csv exclude each other");
    if (!kind->json && (options->json || options->csv))
        return as_error_set_status(err, AS_EXIT_USAGE, "%s is a drawing; --calls is the same as %s", kind->option,
                                   options->json ? "JSON" : "CSV");
    return as_report_kind_takes(kind, options->by, options->sort != NULL, filters_of(options), err);
}

static bool make(const struct report_options *options, const char *file, struct as_report_content *content,
                 struct as_error *err)
{
    content->kind = kind_of(options, err);
    content->by = options->by;
    content->sort = options->sort;
    content->limited = options->limit != NULL;
    content->text = !options->json && !options->csv;
    if (!content->kind || !check_html(options, content->kind, err) || !check_options(options, content->kind, err) ||
        !read_limit(options, &content->limit, err) || !open_view(options, file, &content->view, err) ||
        (options->diff && !open_view(options, options->diff, &content->other, err)))
        return false;
    return (options->html && !options->diff) || content->kind->make(content, err);
}

/* *failed: status of a failure that was told already. */
static bool write_json(const struct report_options *options, const struct as_report_content *content, FILE *out,
                       int *failed, struct as_error *err)
{
    struct as_json *json = as_json_new(out);
    as_json_object(json, NULL);
    bool ok = content->kind->json(content, json, err);
    as_json_end(json);
    if (!as_json_finish(json) && !options->output && ok)
        *failed = as_cli_stdout_failed();
    return ok;
}

static bool write_html(const struct report_options *options, const struct as_report_content *content,
                       struct as_error *err)
{
    struct as_sources *sources = as_sources_new(options->source_path);
    struct as_page_options page = {.sources = sources, .diff = content->diff, .meaning = as_machine_meaning};
    struct as_output output;
    bool opened = as_output_open(&output, options->html, err);
    bool ok = opened && as_page_document_write(&content->view, &page, output.file, err);
    as_sources_free(sources);
    if (opened && (ok || ferror(output.file))) /* it says of which file */
        return as_output_finish(&output, err);
    if (opened)
        as_output_drop(&output);
    return false;
}

static bool write_out(const struct report_options *options, const struct as_report_content *content, int *failed,
                      struct as_error *err)
{
    struct as_output output;
    if (options->html)
        return write_html(options, content, err);
    if (!as_output_open(&output, options->output, err))
        return false;
    bool ok = true;
    if (options->json) {
        ok = write_json(options, content, output.file, failed, err);
    } else if (options->csv) {
        ok = content->kind->csv(content, output.file, err);
    } else {
        struct as_pager pager = {.out = output.file};
        struct as_term term = as_terminal(options->output != NULL);
        if (!options->output)
            pager = as_pager_open();
        content->kind->text(content, pager.out, &term);
        as_pager_close(&pager);
    }
    if (ok)
        return as_output_finish(&output, err);
    as_output_drop(&output);
    return false;
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
    struct as_report_content content = {0};
    options.output = as_output_name(options.output);
    if (files.n > 1)
        status = as_cli_usage(&as_command_report, "one profile at a time, not '%s' too", files.words[1]);
    else if (!make(&options, files.n ? files.words[0] : "assay.db", &content, &err) ||
             !write_out(&options, &content, &failed, &err))
        status = as_cli_fail(&as_command_report, &err);
    status = failed ? failed : status;
    as_report_content_free(&content);
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
    .description =
        "Reads a profile (default assay.db) that 'assay record' wrote, and shows its functions by time, or its lines, "
        "blocks, instructions, files, modules or threads: their own time and that of what they call, with what it is "
        "made of as a stacked bar. Each sign of a bar is one combination of events that the instructions had met; '.' "
        "is time without any.",
    .options = options_table,
    .examples = "  assay report\n"
                "  assay report --by line --symbol 'parse*'\n"
                "  assay report --event ST-LLC --sort ST-LLC --by instruction\n"
                "  assay report --calls\n"
                "  assay report --data\n"
                "  assay report after.db --diff before.db\n"
                "  assay report --html page.html\n",
    .run = run_report,
};
