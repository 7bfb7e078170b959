/* What all sources record: what was run, where and when; the runs and how they ended. See record.h. */
#include "record/record_part.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Only these environment variables are stored: they affect what a program does, and none of them holds secrets. */
static const char *const variables[] = {
    "LANG",           "LC_ALL",          "LD_LIBRARY_PATH",  "LD_PRELOAD", "LD_BIND_NOW",
    "GLIBC_TUNABLES", "OMP_NUM_THREADS", "MALLOC_ARENA_MAX", "TZ",         NULL,
};

const char *as_record_variable(const struct as_record_options *options, const char *name)
{
    size_t length = strlen(name);
    for (char *const *pair = options->environment; pair && *pair; pair++)
        if (strncmp(*pair, name, length) == 0 && (*pair)[length] == '=')
            return *pair + length + 1;
    return NULL;
}

static void add_environment(const struct as_record *record)
{
    char *const *environment = record->options->environment;
    uint64_t count = 0;
    while (environment && environment[count])
        count++;
    for (size_t i = 0; variables[i]; i++) {
        const char *value = as_record_variable(record->options, variables[i]);
        char *pair = value ? as_format("%s=%s", variables[i], value) : NULL;
        if (pair)
            as_store_add_environment(record->writer, pair);
        free(pair);
    }
    as_store_add_meta_u64(record->writer, "environment_variables", count);
}

/* The path at which the program was found, so that annotate and others can open it again. */
static void add_path(struct as_store_writer *writer, const char *name)
{
    char *real = strchr(name, '/') ? realpath(name, NULL) : NULL;
    as_store_add_meta(writer, AS_META_PROGRAM, real ? real : name);
    free(real);
}

void as_record_add_program(const struct as_record *record)
{
    struct as_store_writer *writer = record->writer;
    char host[256] = "", date[64] = "", *directory = getcwd(NULL, 0);
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    gethostname(host, sizeof host - 1);
    add_path(writer, record->argv[0]);
    as_store_add_meta(writer, AS_META_DIRECTORY, directory);
    as_store_add_meta(writer, AS_META_HOST, host);
    as_store_add_meta(writer, AS_META_DATE, date);
    as_store_add_meta(writer, AS_META_ASSAY, AS_VERSION);
    as_store_add_meta(writer, AS_META_SOURCE_WHY, record->source_why);
    for (char *const *word = record->argv; *word; word++)
        as_store_add_argument(writer, *word);
    if (!record->options->pid) /* another process has its own directory */
        add_environment(record);
    free(directory);
}

/* ---- the run ---- */

/* Whether QEMU may have caused the signal: it runs some programs wrongly, those above all whose runtimes use timer signals. */
static bool is_fault(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGTRAP;
}

/* Returns why the profile does not cover a whole run; the caller frees. NULL: it does. */
static char *partial_of(const struct as_run_end *end, bool in_engine)
{
    if (end->interrupted)
        return as_strdup("interrupted by the user");
    if (end->signal && !end->stopped)
        return as_format("the program was killed by signal %d (%s)%s", end->signal, strsignal(end->signal),
                         in_engine && is_fault(end->signal)
                             ? "; if that does not happen without Assay, QEMU cannot run this program: --source=timer "
                               "records it on this machine itself"
                             : "");
    if (end->asked)
        return as_format("%s; the program handled that and ended by itself, with status %d",
                         end->asked_by == SIGTERM ? "the program was sent signal 15 (Terminated)"
                                                  : "interrupted by the user",
                         end->exit_status);
    return NULL;
}

void as_record_add_run(const struct as_record *record, const struct as_record_run *run)
{
    struct as_store_writer *writer = record->writer;
    const struct as_run_end *end = &run->result.end;
    char *partial = partial_of(end, run->result.in_engine);
    as_store_add_run(writer, &run->row);
    as_store_add_meta_u64(writer, AS_META_STATUS, (uint64_t)end->exit_status);
    if (run->result.in_engine)
        as_record_add_part(record, run);
    else
        as_store_add_meta(writer, "region", record->options->region);
    if (partial)
        as_store_add_meta(writer, AS_META_PARTIAL, partial);
    free(partial);
}
