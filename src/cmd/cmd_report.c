/* assay report: reads a profile and shows where the time went. */
#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/operands.h"
#include "cmd/output.h"
#include "cmd/pager.h"
#include "core/machine.h"
#include "report/page_document.h"
#include "report/report.h"
#include "report/report_branches.h"
#include "report/report_data.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_LIMIT = 30 };
#define SMALL_SHARE 0.0005 /* rows below are left out unless a limit or an order is asked for */

struct report_options {
    int by;
    bool json, csv, calls, flame, data, branches;
    const char *series, *sort, *diff, *output, *limit, *html, *source_path;
    struct as_strlist threads, modules, symbols, events;
};

static const char *const levels[] = {"function", "line",   "block",  "instruction", "file",
                                     "module",   "thread", "object", NULL};
static const enum as_store_level level_of[] = {AS_STORE_BY_FUNCTION,    AS_STORE_BY_LINE,   AS_STORE_BY_BLOCK,
                                               AS_STORE_BY_INSTRUCTION, AS_STORE_BY_FILE,   AS_STORE_BY_MODULE,
                                               AS_STORE_BY_THREAD,      AS_STORE_BY_PROGRAM};
enum { BY_FUNCTION = 0, BY_LINE = 1, BY_INSTRUCTION = 3, BY_OBJECT = 7 }; /* of those */

static const struct as_option options_table[] = {
    {.name = "by",
     .type = AS_OPTION_CHOICE,
     .offset = offsetof(struct report_options, by),
     .value = "LEVEL",
     .choices = levels,
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
     .help = "Write to FILE instead of standard output."},
    {.name = NULL},
};

/* What is shown, made before anything is written. */
struct content {
    const struct report_options *options;
    struct as_view view, other;
    size_t limit;
    struct as_report report;
    struct as_tree tree;
    struct as_diff *diff;
    struct as_data data;
    struct as_branches branches;
    int failed; /* status of a failure that was told already */
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

static bool check_html(const struct report_options *options, struct as_error *err)
{
    bool filtered = options->threads.len || options->modules.len || options->symbols.len || options->events.len;
    if (options->source_path && !options->html)
        return as_error_set_status(err, AS_EXIT_USAGE, "--source-path is for --html");
    if (!options->html)
        return true;
    if (options->json || options->csv || options->output || options->calls || options->flame || options->data ||
        options->branches)
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "--html is a report of its own: no other kind beside it, except --diff");
    return !(filtered || options->sort || options->limit || options->by) ||
           as_error_set_status(err, AS_EXIT_USAGE, "--html shows the whole profile: the page has its own filters");
}

static bool check_options(const struct report_options *options, struct as_error *err)
{
    int modes = options->calls + options->flame + options->data + options->branches + (options->diff != NULL);
    if (options->by == BY_OBJECT && !options->data)
        return as_error_set_status(err, AS_EXIT_USAGE, "--by=object is for --data");
    if (options->data && options->by != BY_FUNCTION && options->by != BY_LINE && options->by != BY_INSTRUCTION &&
        options->by != BY_OBJECT)
        return as_error_set_status(err, AS_EXIT_USAGE, "--data is by object, line or instruction");
    if ((options->data || options->branches) && options->events.len)
        return as_error_set_status(err, AS_EXIT_USAGE, "--event does not apply to %s",
                                   options->data ? "data" : "branches");
    if (options->branches && options->threads.len)
        return as_error_set_status(err, AS_EXIT_USAGE, "--thread does not apply to branches: they are of all threads");
    if (options->json && options->csv)
        return as_error_set_status(err, AS_EXIT_USAGE, "--json and --csv exclude each other");
    if (modes > 1)
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "--calls, --flame, --data, --branches and --diff exclude each other");
    if (options->flame && (options->json || options->csv))
        return as_error_set_status(err, AS_EXIT_USAGE, "--flame is a drawing; --calls is the same as %s",
                                   options->json ? "JSON" : "CSV");
    if ((options->calls || options->flame) && (options->modules.len || options->symbols.len || options->events.len))
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "--module, --symbol and --event do not apply to call paths; --thread does");
    if (modes && options->sort)
        return as_error_set_status(err, AS_EXIT_USAGE, "--sort is for rows; %s has an order of its own",
                                   options->diff       ? "--diff"
                                   : options->data     ? "--data"
                                   : options->branches ? "--branches"
                                                       : "a call tree");
    return true;
}

static bool make_data(struct content *content, struct as_error *err)
{
    int by = content->options->by;
    enum as_data_level level = by == BY_LINE          ? AS_DATA_BY_LINE
                               : by == BY_INSTRUCTION ? AS_DATA_BY_INSTRUCTION
                                                      : AS_DATA_BY_OBJECT;
    bool ok = as_data_make(&content->data, &content->view, level, err);
    content->data.limit = content->limit;
    return ok;
}

static bool make(struct content *content, const char *file, struct as_error *err)
{
    const struct report_options *options = content->options;
    enum as_store_level level = level_of[options->by];
    if (!check_html(options, err) || !check_options(options, err) || !read_limit(options, &content->limit, err) ||
        !open_view(options, file, &content->view, err))
        return false;
    if (options->html && !options->diff)
        return true;
    if (options->calls || options->flame)
        return as_tree_make(&content->tree, &content->view, err);
    if (options->data)
        return make_data(content, err);
    if (options->branches) {
        bool ok = as_branches_make(&content->branches, &content->view, err);
        content->branches.limit = content->limit;
        return ok;
    }
    if (!options->diff) {
        if (!as_report_make(&content->report, &content->view, level, options->sort, err))
            return false;
        content->report.limit = content->limit;
        content->report.least = options->limit || options->sort ? 0 : SMALL_SHARE;
        return true;
    }
    if (!open_view(options, options->diff, &content->other, err))
        return false;
    content->diff = as_diff_new(&content->other, &content->view, level, err);
    return content->diff != NULL;
}

static bool write_json(struct content *content, FILE *out, struct as_error *err)
{
    struct as_json *json = as_json_new(out);
    bool ok = true;
    as_json_object(json, NULL);
    if (content->diff)
        as_diff_json(content->diff, json, content->limit);
    else if (content->options->calls)
        as_tree_json(&content->tree, &content->view, json, content->limit);
    else if (content->options->data)
        ok = as_data_json(&content->data, json, err);
    else if (content->options->branches)
        ok = as_branches_json(&content->branches, json, err);
    else
        ok = as_report_json(&content->report, json, err);
    as_json_end(json);
    if (!as_json_finish(json) && !content->options->output && ok)
        content->failed = as_cli_stdout_failed();
    return ok;
}

static bool write_csv(const struct content *content, FILE *out, struct as_error *err)
{
    if (content->diff) {
        if (*as_diff_differences(content->diff)) /* a table has no place for it */
            as_log_warn("the profiles differ in more than the program: %s", as_diff_differences(content->diff));
        as_diff_csv(content->diff, out, content->limit);
    } else if (content->options->calls)
        as_tree_csv(&content->tree, &content->view, out, content->limit);
    else if (content->options->data)
        as_data_csv(&content->data, out);
    else if (content->options->branches)
        as_branches_csv(&content->branches, out);
    else
        return as_report_csv(&content->report, out, err);
    return true;
}

static void write_text(const struct content *content, FILE *out)
{
    struct as_term term = as_terminal(content->options->output != NULL);
    if (content->diff)
        as_diff_text(content->diff, out, &term, content->limit);
    else if (content->options->calls)
        as_tree_text(&content->tree, &content->view, out, &term, content->limit);
    else if (content->options->flame)
        as_tree_flame(&content->tree, &content->view, out, &term);
    else if (content->options->data)
        as_data_text(&content->data, out, &term);
    else if (content->options->branches)
        as_branches_text(&content->branches, out, &term);
    else
        as_report_text(&content->report, out, &term);
}

static bool write_html(const struct content *content, struct as_error *err)
{
    struct as_sources *sources = as_sources_new(content->options->source_path);
    struct as_page_options page = {.sources = sources, .diff = content->diff, .meaning = as_machine_meaning};
    struct as_output output;
    bool opened = as_output_open(&output, content->options->html, err);
    bool ok = opened && as_page_document_write(&content->view, &page, output.file, err);
    as_sources_free(sources);
    if (ok)
        return as_output_finish(&output, err);
    if (opened)
        as_output_drop(&output);
    return false;
}

static bool write_out(struct content *content, struct as_error *err)
{
    const struct report_options *options = content->options;
    struct as_output output;
    if (options->html)
        return write_html(content, err);
    if (!as_output_open(&output, options->output, err))
        return false;
    bool ok = true;
    if (options->json || options->csv) {
        ok = options->json ? write_json(content, output.file, err) : write_csv(content, output.file, err);
    } else {
        struct as_pager pager = {.out = output.file};
        if (!options->output)
            pager = as_pager_open();
        write_text(content, pager.out);
        if (pager.out == stdout && ferror(stdout)) /* now, while errno tells why */
            content->failed = as_cli_stdout_failed();
        as_pager_close(&pager);
    }
    if (ok)
        return as_output_finish(&output, err);
    as_output_drop(&output);
    return false;
}

static void free_content(struct content *content)
{
    as_diff_free(content->diff);
    as_data_free(&content->data);
    as_branches_free(&content->branches);
    as_tree_free(&content->tree);
    as_report_free(&content->report);
    as_view_free(&content->other);
    as_view_free(&content->view);
}

static int run_report(int argc, char **argv)
{
    struct report_options options = {.by = 0};
    struct as_error err = AS_ERROR_INIT;
    struct as_operands files;
    int status = AS_EXIT_OK;
    enum as_parse parsed = as_operands_parse(&as_command_report, argc, argv, &options, &files);
    if (parsed != AS_PARSE_OK)
        return parsed == AS_PARSE_HELP ? AS_EXIT_OK : AS_EXIT_USAGE;
    struct content content = {.options = &options};
    if (files.n > 1)
        status = as_cli_usage(&as_command_report, "one profile at a time, not '%s' too", files.words[1]);
    else if (!make(&content, files.n ? files.words[0] : "assay.db", &err) || !write_out(&content, &err))
        status = as_cli_fail(&as_command_report, &err);
    status = content.failed ? content.failed : status;
    free_content(&content);
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
