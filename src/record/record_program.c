/* What all sources record alike: what was run, where and when; the runs and how they ended. See record.h. */
#include "record/record.h"

#include "score/confidence.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Of the environment only these are kept, with their values: they change what a program does, and none of them is a
 * place for secrets. */
static const char *const variables[] = {
    "LANG",           "LC_ALL",          "LD_LIBRARY_PATH",  "LD_PRELOAD", "LD_BIND_NOW",
    "GLIBC_TUNABLES", "OMP_NUM_THREADS", "MALLOC_ARENA_MAX", "TZ",         NULL,
};

static void add_environment(struct as_store_writer *writer)
{
    extern char **environ;
    uint64_t count = 0;
    while (environ && environ[count])
        count++;
    for (size_t i = 0; variables[i]; i++) {
        const char *value = getenv(variables[i]);
        char *pair = value ? as_format("%s=%s", variables[i], value) : NULL;
        if (pair)
            as_store_add_environment(writer, pair);
        free(pair);
    }
    as_store_add_meta_u64(writer, "environment_variables", count);
}

/* The program's path as it was found: what annotate and the like can open again. */
static void add_path(struct as_store_writer *writer, const char *name)
{
    char *real = strchr(name, '/') ? realpath(name, NULL) : NULL;
    as_store_add_meta(writer, AS_META_PROGRAM, real ? real : name);
    free(real);
}

void as_record_add_program(struct as_record *record)
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
    for (char **word = record->argv; *word; word++)
        as_store_add_argument(writer, *word);
    if (!record->options->pid) /* another process has its own */
        add_environment(writer);
    free(directory);
}

/* ---- the runs ---- */

static void add_spread(struct as_store_writer *writer, const char *what, const double *values, size_t n)
{
    struct as_spread spread = as_spread_of(values, n);
    const struct {
        const char *name;
        double value;
    } parts[] = {
        {"mean", spread.mean}, {"deviation", spread.deviation}, {"least", spread.least}, {"most", spread.most}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char key[64];
        snprintf(key, sizeof key, "%s_%s", what, parts[i].name);
        as_store_add_meta_double(writer, key, parts[i].value);
    }
}

static void add_spreads(struct as_record *record)
{
    size_t n = record->runs.len;
    double *cycles = as_alloc_array(n, sizeof *cycles), *seconds = as_alloc_array(n, sizeof *seconds);
    for (size_t i = 0; i < n; i++) {
        cycles[i] = (double)record->runs.data[i].cycles;
        seconds[i] = record->runs.data[i].seconds;
    }
    add_spread(record->writer, "cycles", cycles, n);
    add_spread(record->writer, "seconds", seconds, n);
    free(cycles);
    free(seconds);
}

/* The part of the program that was asked for, in words; the caller frees. NULL: all of it. */
static char *region_of(const struct as_run_options *run)
{
    char *text = as_strdup("");
    const struct {
        const char *word, *name;
        uint64_t number;
    } parts[] = {{"from", run->from, 0}, {"skip", NULL, run->skip}, {"max", NULL, run->max}, {"to", run->to, 0}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char *longer = NULL;
        if (parts[i].name)
            longer = as_format("%s%s--%s %s", text, *text ? " " : "", parts[i].word, parts[i].name);
        else if (parts[i].number)
            longer = as_format("%s%s--%s %" PRIu64, text, *text ? " " : "", parts[i].word, parts[i].number);
        if (longer) {
            free(text);
            text = longer;
        }
    }
    if (*text)
        return text;
    free(text);
    return NULL;
}

static void describe_end(struct as_record *record)
{
    const struct as_engine_result *engine = &record->engine;
    if (engine->interrupted)
        snprintf(record->partial, sizeof record->partial, "interrupted by the user");
    else if (engine->signal && !engine->stopped)
        snprintf(record->partial, sizeof record->partial, "the program was killed by signal %d (%s)", engine->signal,
                 strsignal(engine->signal));
}

void as_record_add_runs(struct as_record *record)
{
    struct as_store_writer *writer = record->writer;
    char *region = region_of(&record->options->run);
    describe_end(record);
    for (size_t i = 0; i < record->runs.len; i++)
        as_store_add_run(writer, &record->runs.data[i]);
    if (record->runs.len > 1)
        add_spreads(record);
    as_store_add_meta_u64(writer, AS_META_STATUS, (uint64_t)record->engine.exit_status);
    as_store_add_meta(writer, "region", region);
    if (record->partial[0])
        as_store_add_meta(writer, AS_META_PARTIAL, record->partial);
    free(region);
}
