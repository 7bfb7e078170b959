/* assay import: a recording of Linux perf becomes a profile. */
#include "base/alloc.h"
#include "base/log.h"
#include "cmd/commands.h"
#include "import/import.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct import_options {
    const char *output, *debug_path;
    bool trust_paths;
};

static const struct as_option options_table[] = {
    {.name = "output",
     .short_name = 'o',
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct import_options, output),
     .value = "FILE",
     .help = "The profile to write (default assay.db)."},
    {.name = "trust-paths",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct import_options, trust_paths),
     .help = "Take names from the files at the recorded paths where the recording does not say which ones they were."},
    {.name = "debug-path",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct import_options, debug_path),
     .value = "DIRS",
     .help = "Where separate debug files are, with ':' between directories (default /usr/lib/debug)."},
    {.name = NULL},
};

static void report(const struct as_import_counts *counts, const struct as_perf_summary *summary, const char *output)
{
    if (summary->incomplete)
        as_log_warn("the recording is not whole (%s): what could be read is imported and marked partial",
                    summary->problem[0] ? summary->problem : "it ends early");
    if (counts->samples == 0)
        as_log_warn("there are no samples in it");
    as_log_note("wrote %s: %" PRIu64 " samples of %zu event%s in %zu thread%s; next: assay report %s", output,
                counts->samples, counts->events_with_samples, counts->events_with_samples == 1 ? "" : "s",
                counts->threads, counts->threads == 1 ? "" : "s", output);
}

/* Puts the file's name before what is wrong with it. Returns false. */
static bool name_file(struct as_error *err, const char *file)
{
    struct as_error why = *err;
    char *quoted = as_format("'%s'", file);
    if (!strstr(why.message, quoted))
        as_error_set(err, "%.300s: %s", file, why.message);
    free(quoted);
    return false;
}

/* The writer is the caller's again where this fails. */
static bool read_recording(struct as_import *import, struct as_perf_reader *reader, struct as_store_writer *writer,
                           const char *file, struct as_error *err)
{
    if (!as_perf_reader_run(reader, &as_import_sink, import, err) && !as_store_writer_failed(writer))
        return name_file(err, file);
    as_import_finish(import);
    if (as_import_count(import).events == 0)
        return as_error_set(err, "%s: there is no event in it", file);
    as_import_describe(import, reader, file);
    as_import_write(import, reader);
    return true;
}

static bool import_file(const struct import_options *options, const char *file, struct as_error *err)
{
    struct as_perf_reader *reader = as_perf_reader_open(file, NULL, err);
    struct as_store_writer *writer = reader ? as_store_writer_open(options->output, err) : NULL;
    if (!reader)
        name_file(err, file);
    if (!writer) {
        as_perf_reader_close(reader);
        return false;
    }
    const struct as_perf_info *info = as_perf_reader_info(reader);
    struct as_import *import = as_import_open(&(struct as_import_options){
        .writer = writer,
        .info = info,
        .spaces = {.debug_path = options->debug_path, .trust_paths = options->trust_paths, .recorded = info},
        .unwind = true,
        .notices = as_notices_to_log});
    bool ok = read_recording(import, reader, writer, file, err);
    if (!ok)
        as_store_writer_abort(writer);
    else
        ok = as_store_writer_commit(writer, err);
    if (ok) {
        struct as_import_counts counts = as_import_count(import);
        report(&counts, as_perf_reader_summary(reader), options->output);
    }
    as_import_free(import);
    as_perf_reader_close(reader);
    return ok;
}

static int run_import(int argc, char **argv)
{
    struct import_options options = {.output = "assay.db"};
    struct as_error err = AS_ERROR_INIT;
    int rest;
    enum as_parse parsed = as_cli_parse(&as_command_import, argc, argv, &options, &rest);
    if (parsed != AS_PARSE_OK)
        return parsed == AS_PARSE_HELP ? AS_EXIT_OK : AS_EXIT_USAGE;
    rest += rest < argc && strcmp(argv[rest], "--") == 0;
    if (rest == argc)
        return as_cli_usage(&as_command_import, "which recording? perf.data, say, or - for standard input");
    if (rest + 1 < argc)
        return as_cli_usage(&as_command_import, "one recording at a time, but got '%s' too", argv[rest + 1]);
    return import_file(&options, argv[rest], &err) ? AS_EXIT_OK : as_cli_fail(&as_command_import, &err);
}

const struct as_command as_command_import = {
    .name = "import",
    .summary = "Make a profile of a recording of Linux perf",
    .usage = "[options] FILE",
    .description =
        "Reads FILE ('-': standard input), which perf record wrote (perf.data, or a pipe, packed with zstd or not) or "
        "perf script printed, and writes a profile that report, annotate and export read: a series for each event, "
        "weighted by the samples' periods; call paths; data sources and what IBS and SPE tell of the sampled "
        "operations "
        "as components, and weights and latencies as series of their own.\n\n"
        "Functions have names, and instructions their text, where the files that were recorded are on this machine: "
        "the same build-id, or where there is none the same inode.",
    .options = options_table,
    .examples = "perf record -g -- ./program && assay import perf.data && assay report\n"
                "perf record -o - -- ./program | assay import -o run.db -\n",
    .run = run_import,
};
