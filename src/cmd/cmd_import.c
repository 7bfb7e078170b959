/* assay import: turns a recording of Linux perf into a profile. */
#include "base/alloc.h"
#include "base/log.h"
#include "base/path.h"
#include "base/show.h"
#include "cmd/commands.h"
#include "cmd/debug_path.h"
#include "cmd/operands.h"
#include "cmd/progress.h"
#include "cmd/shared_options.h"
#include "import/import.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct import_options {
    const char *output, *debug_path, *symfs, *cache, *kallsyms, *vmlinux;
    bool trust_paths;
};

static const struct as_option options_table[] = {
    AS_OUTPUT_OPTION(struct import_options, output, "The profile to write (default assay.db)."),
    {.name = "trust-paths",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct import_options, trust_paths),
     .help = "Use the files at the recorded paths for names, even if the recording does not identify them."},
    {.name = "debug-path",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct import_options, debug_path),
     .value = "DIRS",
     .help = "Also look for separate debug files in these directories, separated by ':', before /usr/lib/debug."},
    {.name = "symfs",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct import_options, symfs),
     .value = "DIR",
     .help = "Look for the recorded files below DIR, a copy of the recorded machine's file system."},
    {.name = "buildid-dir",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct import_options, cache),
     .value = "DIR",
     .help = "perf's cache of recorded files by build-id (default ~/.debug)."},
    {.name = "vmlinux",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct import_options, vmlinux),
     .value = "FILE",
     .help = "The recorded kernel's ELF file, for names, lines and code of the kernel."},
    {.name = "kallsyms",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct import_options, kallsyms),
     .value = "FILE",
     .help = "A copy of the recorded machine's /proc/kallsyms, for names of the kernel's functions."},
    {.name = NULL},
};

static void report(const struct as_import_counts *counts, const struct as_perf_summary *summary, const char *output)
{
    const char *problem = summary->problem[0] ? summary->problem : "it ends early";
    if (counts->samples == 0) {
        as_log_warn("the recording has no samples%s%s; %s has no times to show", summary->incomplete ? ": " : "",
                    summary->incomplete ? problem : "", output);
        return;
    }
    if (summary->incomplete)
        as_log_warn("the recording is incomplete (%s): what could be read is imported and marked as partial", problem);
    char idle[64] = "";
    if (counts->events > counts->events_with_samples)
        snprintf(idle, sizeof idle, " (%zu without samples)", counts->events - counts->events_with_samples);
    as_log_note("wrote %s: %s sample%s of %zu event%s%s in %s thread%s; next: assay report %s", output,
                AS_COUNT(counts->samples), counts->samples == 1 ? "" : "s", counts->events,
                counts->events == 1 ? "" : "s", idle, AS_COUNT(counts->threads), counts->threads == 1 ? "" : "s",
                output);
}

/* Puts the file's name before the message. Returns false. */
static bool name_file(struct as_error *err, const char *file)
{
    struct as_error why = *err;
    char *quoted = as_format("'%s'", file);
    if (!strstr(why.message, quoted))
        as_error_set(err, "%.300s: %s", file, why.message);
    free(quoted);
    return false;
}

/* If this fails, the writer belongs to the caller again. */
static bool read_recording(struct as_import *import, struct as_perf_reader *reader, struct as_store_writer *writer,
                           const char *file, struct as_error *err)
{
    if (!as_perf_reader_run(reader, &as_import_sink, import, err) && !as_store_writer_failed(writer))
        return name_file(err, file);
    as_import_finish(import);
    if (as_import_count(import).events == 0)
        return as_error_set(err, "%s: the recording has no events", file);
    as_import_describe(import, reader, file);
    as_import_write(import, reader);
    return true;
}

static struct as_perf_spaces_options name_sources(const struct import_options *options, const struct as_perf_info *info,
                                                  const char *directory)
{
    return (struct as_perf_spaces_options){
        .debug_path = as_cli_debug_path(options->debug_path),
        .search = {.symfs = options->symfs, .cache = options->cache, .beside = directory},
        .kallsyms = options->kallsyms,
        .vmlinux = options->vmlinux,
        .trust_paths = options->trust_paths,
        .recorded = info};
}

/* The caller frees. NULL: the recording comes through a pipe. */
static char *directory_of(const char *file)
{
    return strcmp(file, "-") == 0 ? NULL : as_path_directory(file);
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
    struct as_progress progress = {0};
    as_store_writer_watch(writer, as_progress_meter.write, &progress);
    const struct as_perf_info *info = as_perf_reader_info(reader);
    char *directory = directory_of(file);
    struct as_import *import =
        as_import_open(&(struct as_import_options){.writer = writer,
                                                   .info = info,
                                                   .spaces = name_sources(options, info, directory),
                                                   .unwind = true,
                                                   .notices = as_notices_to_log});
    bool ok = read_recording(import, reader, writer, file, err);
    if (!ok)
        as_store_writer_abort(writer);
    else
        ok = as_store_writer_commit(writer, err);
    as_progress_end(&progress);
    as_cli_note_servers();
    if (ok && as_perf_spaces_rejected_vmlinux(as_import_spaces(import)))
        as_log_warn("%s is not used: it is not the ELF file of the recorded kernel", options->vmlinux);
    if (ok) {
        struct as_import_counts counts = as_import_count(import);
        report(&counts, as_perf_reader_summary(reader), options->output);
    }
    as_import_free(import);
    as_perf_reader_close(reader);
    free(directory);
    return ok;
}

/* Files that the user names must exist; the default cache of perf may be missing. */
static bool check_sources(const struct import_options *options, struct as_error *err)
{
    const struct {
        const char *option, *path;
        mode_t kind;
    } sources[] = {
        {"--symfs", options->symfs, S_IFDIR},
        {"--buildid-dir", options->cache, S_IFDIR},
        {"--vmlinux", options->vmlinux, S_IFREG},
        {"--kallsyms", options->kallsyms, S_IFREG},
    };
    struct stat info;
    if (!as_cli_check_debug_path(options->debug_path, err))
        return false;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        if (!sources[i].path)
            continue;
        if (stat(sources[i].path, &info) != 0)
            return as_error_set(err, "%s: cannot read '%s': %s", sources[i].option, sources[i].path, strerror(errno));
        if ((info.st_mode & S_IFMT) != sources[i].kind)
            return as_error_set(err, "%s: '%s' is not a %s", sources[i].option, sources[i].path,
                                sources[i].kind == S_IFDIR ? "directory" : "regular file");
    }
    if (options->kallsyms && !as_perf_spaces_is_kallsyms(options->kallsyms))
        return as_error_set(err,
                            "--kallsyms: '%s' contains no addresses: copy /proc/kallsyms of the recorded "
                            "machine as root",
                            options->kallsyms);
    return true;
}

static int run_import(int argc, char **argv)
{
    struct import_options options = {.output = "assay.db"};
    struct as_error err = AS_ERROR_INIT;
    struct as_operands files;
    enum as_parse parsed = as_operands_parse(&as_command_import, argc, argv, &options, &files);
    if (parsed != AS_PARSE_OK)
        return parsed == AS_PARSE_HELP ? AS_EXIT_OK : AS_EXIT_USAGE;
    if (files.n == 0)
        return as_cli_usage(&as_command_import,
                            "no recording given: name a file such as perf.data, or - for standard input");
    if (files.n > 1)
        return as_cli_usage(&as_command_import, "import reads one recording at a time; unexpected '%s'",
                            files.words[1]);
    char *cache = getenv("HOME") ? as_format("%s/.debug", getenv("HOME")) : NULL;
    bool ok = check_sources(&options, &err);
    options.cache = options.cache ? options.cache : cache;
    ok = ok && import_file(&options, files.words[0], &err);
    free(cache);
    return ok ? AS_EXIT_OK : as_cli_fail(&as_command_import, &err);
}

const struct as_command as_command_import = {
    .name = "import",
    .summary = "Turn a recording of Linux perf into a profile",
    .usage = "[options] FILE",
    .description =
        "Reads FILE ('-': standard input), written by perf record (perf.data, or a pipe) or printed by perf script, "
        "compressed or not, and writes a profile for report, annotate and export: a series for each event, weighted by "
        "the samples' periods; call paths; data sources and the facts of IBS and SPE about the sampled operations as "
        "components; weights and latencies as series of their own.\n\n"
        "Functions have names, and instructions their text, if the recorded files are on this machine (the same "
        "build-id, or the same inode where the recording has no build-id), below --symfs, or in perf's build-id "
        "cache.",
    .options = options_table,
    .examples = "perf record -g -- ./program && assay import perf.data && assay report\n"
                "perf record -o - -- ./program | assay import -o run.db -\n",
    .run = run_import,
};
