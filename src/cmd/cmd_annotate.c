/* assay annotate: one function of a profile, source and disassembly with the time of each instruction. */
#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/operands.h"
#include "cmd/output.h"
#include "cmd/pager.h"
#include "cmd/shared_options.h"
#include "report/annotate.h"
#include "view/find_function.h"

struct annotate_options {
    bool json, blocks;
    const char *series, *output, *source_path, *time;
    struct as_strlist threads;
};

static const struct as_option options_table[] = {
    {.name = "series",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct annotate_options, series),
     .value = "NAME",
     .help = "The series to show: golden, tea … (default: golden if the profile has it)."},
    {.name = "thread",
     .type = AS_OPTION_LIST,
     .offset = offsetof(struct annotate_options, threads),
     .value = "N",
     .help = "Only this thread, by its number; may be given several times."},
    {.name = "time",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct annotate_options, time),
     .value = "FROM..TO",
     .help = "Only this part of the run, in seconds since its start (1s..2s), of a profile whose samples have times."},
    {.name = "source-path",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct annotate_options, source_path),
     .value = "DIR",
     .help = "Where to look for source files that have moved since the program was built."},
    {.name = "blocks",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct annotate_options, blocks),
     .help = "Also show how often each basic block ran, as assay blocks counts or estimates it."},
    AS_JSON_OPTION(struct annotate_options, json, AS_JSON_HELP),
    AS_OUTPUT_OPTION(struct annotate_options, output, AS_OUTPUT_HELP),
    {.name = NULL},
};

static bool show(const struct annotate_options *options, const struct as_annotation *annotation, int *failed,
                 struct as_error *err)
{
    struct as_output output;
    if (!as_output_open(&output, options->output, err))
        return false;
    if (options->json) {
        struct as_json *json = as_json_new(output.file);
        as_annotation_json(annotation, json);
        if (!as_json_finish(json) && !options->output)
            *failed = as_cli_stdout_failed();
    } else {
        struct as_pager pager = {.out = output.file};
        struct as_term term = as_terminal(options->output != NULL);
        if (!options->output)
            pager = as_pager_open();
        as_annotation_text(annotation, pager.out, &term);
        if (pager.out == stdout && ferror(stdout)) /* here, while errno still has the reason */
            *failed = as_cli_stdout_failed();
        as_pager_close(&pager);
    }
    return as_output_finish(&output, err);
}

/* How often blocks ran, beside what instructions took. */
static bool count_runs(struct as_annotation *annotation, struct as_error *err)
{
    struct as_block_counts counts;
    if (!as_block_counts_make(&counts, annotation->view, &(struct as_block_counts_options){.method = -1}, err))
        return false;
    if (!as_block_counts_are_executions(&counts))
        as_log_note("%s says where the time went, not how often blocks ran: their counts are relative to it",
                    annotation->view->summary.sampler);
    as_annotation_count_runs(annotation, &counts);
    as_block_counts_free(&counts);
    return true;
}

static bool annotate(const struct annotate_options *options, const char *symbol, const char *file, int *failed,
                     struct as_error *err)
{
    struct as_view_options wanted = {.file = file,
                                     .series = options->series,
                                     .threads = {options->threads.data, options->threads.len},
                                     .time = options->time};
    struct as_sources *sources = as_sources_new(options->source_path);
    struct as_annotation annotation = {0};
    struct as_view view = {0};
    struct as_function_found found;
    bool ok = as_view_open(&view, &wanted, err) && as_function_find(&view, symbol, &found, err);
    if (ok && found.function != AS_STORE_NONE)
        ok = as_annotation_make(&annotation, &view, found.function, sources, err);
    else if (ok)
        ok = as_annotation_make_outside(&annotation, &view, found.instruction, sources, err);
    ok = ok && (!options->blocks || count_runs(&annotation, err)) && show(options, &annotation, failed, err);
    as_annotation_free(&annotation);
    as_view_free(&view);
    as_sources_free(sources);
    return ok;
}

static int run_annotate(int argc, char **argv)
{
    struct annotate_options options = {.json = false};
    struct as_error err = AS_ERROR_INIT;
    struct as_operands words;
    int status = AS_EXIT_OK, failed = AS_EXIT_OK; /* failed: was reported already */
    enum as_parse parsed = as_operands_parse(&as_command_annotate, argc, argv, &options, &words);
    if (parsed != AS_PARSE_OK)
        return parsed == AS_PARSE_HELP ? AS_EXIT_OK : AS_EXIT_USAGE;
    options.output = as_output_name(options.output);
    if (words.n == 0)
        status = as_cli_usage(&as_command_annotate, "no symbol given");
    else if (words.n > 2)
        status = as_cli_usage(&as_command_annotate,
                              "annotate shows one function of one profile at a time; unexpected '%s'", words.words[2]);
    else if (!annotate(&options, words.words[0], words.n == 2 ? words.words[1] : "assay.db", &failed, &err))
        status = as_cli_fail(&as_command_annotate, &err);
    as_strlist_free(&options.threads);
    return failed ? failed : status;
}

const struct as_command as_command_annotate = {
    .name = "annotate",
    .summary = "A function's source and code with the time of each instruction",
    .usage = "[options] SYMBOL [FILE]",
    .description =
        "Reads a profile (default assay.db) and shows one function of it: its worst lines first, then source lines and "
        "instructions in the order of memory, each with its share of the function's time, its number of executions, "
        "the components of its time as a stacked bar, and the events that it met most. Arrows show jumps inside the "
        "function; '*' marks instructions with a twentieth of the time or more. Instructions that were not executed, "
        "or that have no samples, are read from the function's file if it has not changed, and have no share.",
    .options = options_table,
    .examples = "assay annotate main\n"
                "assay annotate libc.so.6:memcpy after.db\n"
                "assay annotate --series tea --json main\n",
    .run = run_annotate,
};
