/* assay export: a profile in the formats of other tools. */
#include "base/log.h"
#include "base/number.h"
#include "base/vec.h"
#include "cmd/commands.h"
#include "cmd/operands.h"
#include "cmd/output.h"
#include "cmd/shared_options.h"
#include "export/export.h"
#include "report/report_text.h"
#include "view/summary.h"
#include "view/time_window.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLES_OF_EXACT = 10000 };

struct export_options {
    const char *to, *series, *output, *samples, *time;
    struct as_strlist threads;
    bool uncompressed;
};

static const struct as_option options_table[] = {
    {.name = "to",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct export_options, to),
     .value = "NAME",
     .help = "The format: one of %s.",
     .names = as_export_name_formats},
    AS_OUTPUT_OPTION(struct export_options, output, AS_OUTPUT_HELP),
    {.name = "series",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct export_options, series),
     .value = "NAME",
     .help = "The series to write (default: the one that reports show; json: all of them)."},
    {.name = "thread",
     .type = AS_OPTION_LIST,
     .offset = offsetof(struct export_options, threads),
     .value = "N",
     .help = "Only the time of this thread; may be given several times."},
    {.name = "time",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct export_options, time),
     .value = "FROM..TO",
     .help = "Only this part of the run, in seconds since its start (1s..2s), of a profile whose samples have times."},
    {.name = "samples",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct export_options, samples),
     .value = "N",
     .help = "perf-script: write at most N samples, evenly spaced; 0: all (default: 10000 for an "
             "exact series, which has one for each stack; all for others)."},
    {.name = "uncompressed",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct export_options, uncompressed),
     .help = "pprof: do not compress the file with gzip."},
    {.name = NULL},
};

/* Returns the threads to include, which the caller frees; NULL without `err` if there is no filter. Every number must
 * be that of a thread. */
static bool *thread_filter(const struct export_options *options, const struct as_store *store, struct as_error *err)
{
    size_t n;
    const struct as_store_thread *threads = as_store_threads(store, &n);
    bool *filter = as_alloc_array(n + 1, sizeof *filter);
    for (size_t i = 0; i < options->threads.len; i++) {
        uint64_t number;
        bool found = false;
        if (as_number_read(options->threads.data[i], &number))
            for (size_t k = 0; k < n; k++)
                if (threads[k].number == number)
                    filter[k] = found = true;
        if (!found) {
            as_error_set_status(err, AS_EXIT_USAGE, "%s has no thread '%.100s'", as_store_file_name(store),
                                options->threads.data[i]);
            free(filter);
            return NULL;
        }
    }
    return filter;
}

static bool find_format(const struct export_options *options, const struct as_export_format **format,
                        struct as_error *err)
{
    struct as_str names = {0};
    *format = options->to ? as_export_find(options->to) : NULL;
    as_export_name_formats(&names);
    if (!options->to)
        as_error_set_status(err, AS_EXIT_USAGE, "--to is missing; the formats are %s", as_str_get(&names));
    else if (!*format)
        as_error_set_status(err, AS_EXIT_USAGE, "unknown format '%.100s'; the formats are %s", options->to,
                            as_str_get(&names));
    as_str_free(&names);
    return *format;
}

static bool check_options(const struct export_options *options, const struct as_export_format **format,
                          struct as_error *err)
{
    if (!find_format(options, format, err))
        return false;
    if (options->uncompressed && !(*format)->binary)
        return as_error_set_status(err, AS_EXIT_USAGE, "--uncompressed is for pprof; %s is never compressed",
                                   (*format)->name);
    if (options->samples && strcmp((*format)->name, "perf-script") != 0)
        return as_error_set_status(err, AS_EXIT_USAGE, "--samples is for perf-script; %s writes every stack once",
                                   (*format)->name);
    uint64_t samples;
    if (options->samples && !as_number_read(options->samples, &samples))
        return as_error_set_status(err, AS_EXIT_USAGE, "--samples=%.100s: not a number of samples", options->samples);
    if ((*format)->binary && !options->output && isatty(STDOUT_FILENO))
        return as_error_set_status(err, AS_EXIT_USAGE, "%s is binary and cannot be written to a terminal: use -o FILE",
                                   (*format)->name);
    return true;
}

static void tell(const char *line)
{
    as_log_note("%s", line);
}

/* Formats of stacks show a function without callers like the start of a program. Call this after the profile was
 * written: only then its paths are loaded. */
static void tell_chains(const struct as_export_format *format, const struct as_store *store)
{
    size_t n;
    const struct as_store_quality *lone = as_summary_lone_chains(store);
    if (strcmp(format->name, "csv") == 0 || strcmp(format->name, "json") == 0)
        return;
    as_store_paths(store, &n);
    if (n == 0)
        as_log_note("the profile has no call paths: every stack is one function");
    else if (lone) {
        char *text = as_part_text(lone->value, lone->text);
        as_log_note("%s", text);
        free(text);
    }
}

static bool write_profile(const struct export_options *options, const struct as_export_format *format,
                          struct as_store *store, struct as_error *err)
{
    struct as_output output = {0};
    bool *threads = thread_filter(options, store, err);
    struct as_export_options how = {.series = options->series,
                                    .threads = options->threads.len ? threads : NULL,
                                    .uncompressed = options->uncompressed,
                                    .samples = SAMPLES_OF_EXACT,
                                    .thin_all = options->samples != NULL,
                                    .tell = tell};
    if (options->samples) /* it was checked before */
        (void)as_number_read(options->samples, &how.samples);
    bool ok = threads && as_output_open(&output, options->output, err);
    if (ok) {
        ok = format->write(store, &how, output.file, err);
        if (ok)
            tell_chains(format, store);
        if (ok || ferror(output.file)) /* its message names the file */
            ok = as_output_finish(&output, err);
        else
            as_output_drop(&output);
    }
    free(threads);
    return ok;
}

/* The series that is written must have times; of all others only what was sampled then is left, too. */
static bool keep_time(const struct export_options *options, struct as_store *store, struct as_error *err)
{
    struct as_time_window window;
    uint32_t series = as_store_find_series(store, options->series);
    if (!options->time || series == AS_STORE_NONE) /* the format reports a wrong name */
        return true;
    return as_time_window_keep(store, series, options->time, &window, NULL, err);
}

static int export_file(const struct export_options *options, const char *file)
{
    struct as_error err = AS_ERROR_INIT;
    const struct as_export_format *format;
    if (!check_options(options, &format, &err))
        return as_cli_fail(&as_command_export, &err);
    struct as_store *store = as_store_open(file, &err);
    bool ok = store && keep_time(options, store, &err) && write_profile(options, format, store, &err);
    as_store_close(store);
    return ok ? AS_EXIT_OK : as_cli_fail(&as_command_export, &err);
}

static int run_export(int argc, char **argv)
{
    struct export_options options = {0};
    struct as_operands files;
    enum as_parse parsed = as_operands_parse(&as_command_export, argc, argv, &options, &files);
    if (parsed != AS_PARSE_OK)
        return parsed == AS_PARSE_HELP ? AS_EXIT_OK : AS_EXIT_USAGE;
    options.output = as_output_name(options.output);
    int status = files.n > 1 ? as_cli_usage(&as_command_export, "export reads one profile at a time; unexpected '%s'",
                                            files.words[1])
                             : export_file(&options, files.n ? files.words[0] : "assay.db");
    as_strlist_free(&options.threads);
    return status;
}

const struct as_command as_command_export = {
    .name = "export",
    .summary = "Write a profile in another tool's format",
    .usage = "--to=NAME [options] [FILE]",
    .description =
        "Writes the profile FILE (default assay.db) for pprof, flame graphs (folded), callgrind_annotate and "
        "KCachegrind (callgrind), speedscope, readers of perf script, spreadsheets (csv) and programs (json).\n\n"
        "Times are whole units of the series (cycles, say) and add up to its total exactly.",
    .options = options_table,
    .examples = "assay export --to=pprof -o profile.pb.gz\n"
                "assay export --to=folded run.db | flamegraph.pl >run.svg\n"
                "assay export --to=callgrind -o out.1 && callgrind_annotate out.1\n",
    .run = run_export,
};
