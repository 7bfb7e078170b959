/* From options to a profile: the source, the runs, the file. See record.h. */
#include "record/record_internal.h"

#include "base/signals.h"
#include "merge/merge.h"
#include "model/model.h"
#include "record/input.h"
#include "record/record_native.h"
#include "record/record_weights.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const struct as_record_options as_record_defaults = {.engine = AS_ENGINE_OPTIONS_DEFAULT,
                                                     .source = "auto",
                                                     .memo_bytes = AS_MODEL_MEMO_BYTES,
                                                     .core = "boom-tea",
                                                     .samplers = "tea",
                                                     .output = "assay.db",
                                                     .golden = true,
                                                     .rate = NAN,
                                                     .duration = NAN,
                                                     .seed = 1,
                                                     .repeat = 1};

/* ---- one run ---- */

struct as_store_writer *as_record_open_writer(const struct as_record *record, struct as_error *err)
{
    const struct as_record_options *options = record->options;
    struct as_store_writer *writer = as_store_writer_open(options->output, err);
    if (writer && options->meter)
        as_store_writer_watch(writer, options->meter->write, options->meter_context);
    return writer;
}

void as_record_end_meter(const struct as_record *record)
{
    if (record->options->meter)
        record->options->meter->end(record->options->meter_context);
}

bool as_record_run_once(struct as_record *record, const struct as_record_source *source,
                        struct as_record_result *result, uint64_t *instructions, struct as_error *err)
{
    struct as_record_run run = {.row.number = 1};
    record->empty = false;
    as_record_add_program(record);
    if (!source->run(record, &run, err))
        return false;
    as_record_add_run(record, &run);
    *result = run.result;
    result->sampled = run.sampled;
    result->instructions = run.row.instructions;
    *instructions = run.row.instructions;
    return true;
}

static bool run_once(struct as_record *record, const struct as_record_source *source, struct as_record_result *result,
                     struct as_error *err)
{
    uint64_t instructions;
    return as_regions_weighted(record->options->engine.regions)
               ? as_record_run_weighted(record, source, result, err)
               : as_record_run_once(record, source, result, &instructions, err);
}

/* ---- several runs, merged ---- */

/* Completed runs are profiles without names. They are merged before there are more than this, which bounds the open
 * files. */
enum { MOST_OPEN = 64 };

struct runs {
    int fds[MOST_OPEN];
    size_t n, done; /* open profiles, and runs in them */
};

static void close_runs(struct runs *runs)
{
    for (size_t i = 0; i < runs->n; i++)
        close(runs->fds[i]);
    runs->n = 0;
}

/* Merges the runs into an open profile. A series that some runs lack would cover only a part of them, so it is left
 * out. */
static bool merge_runs(const struct as_record *record, const struct runs *runs, struct as_store_writer *writer,
                       struct as_error *err)
{
    struct as_merge_input inputs[MOST_OPEN];
    char paths[MOST_OPEN][32];
    for (size_t i = 0; i < runs->n; i++) {
        snprintf(paths[i], sizeof paths[i], "/proc/self/fd/%d", runs->fds[i]);
        inputs[i] = (struct as_merge_input){.path = paths[i], .name = "a run", .weight = {1, 1}};
    }
    struct as_merge_options options = {.force = true, .runs = true, .notices = record->options->notices};
    return as_merge_into(inputs, runs->n, writer, &options, err);
}

static bool make_room(const struct as_record *record, struct runs *runs, struct as_error *err)
{
    if (runs->n < MOST_OPEN)
        return true;
    struct as_store_writer *writer = as_record_open_writer(record, err);
    if (!writer)
        return false;
    if (!merge_runs(record, runs, writer, err)) {
        as_store_writer_abort(writer);
        return false;
    }
    int fd = as_store_writer_finish(writer, err);
    if (fd < 0)
        return false;
    close_runs(runs);
    runs->fds[runs->n++] = fd;
    return true;
}

/* Records a run into a profile of its own. One that was interrupted counts only if it is the first. */
static bool add_run(struct as_record *record, const struct as_record_source *source, struct runs *runs,
                    struct as_record_result *result, struct as_error *err)
{
    if (!make_room(record, runs, err) || !(record->writer = as_record_open_writer(record, err)))
        return false;
    bool ok = run_once(record, source, result, err);
    if (ok && runs->done > 0 && as_record_is_cut(result))
        ok = as_error_set(err, "interrupted");
    int fd = ok ? as_store_writer_finish(record->writer, err) : -1;
    as_record_end_meter(record);
    if (!ok)
        as_store_writer_abort(record->writer);
    record->writer = NULL;
    if (fd < 0)
        return false;
    runs->fds[runs->n++] = fd;
    runs->done++;
    return true;
}

/* A run that ended in another way did something else, and may be much shorter. */
static void compare_ends(const struct as_record_options *options, size_t run, const struct as_run_end *first,
                         const struct as_run_end *end)
{
    if (end->exit_status != first->exit_status)
        as_notice(&options->notices, AS_LOG_WARN,
                  "run %zu of %" PRIu64 " ended with status %d, the first with %d: the profile contains both", run,
                  options->repeat, end->exit_status, first->exit_status);
}

/* Whether a run is sampled depends on its length, and what was sampled cannot be merged with what was measured completely. So where the
 * lengths of runs may lie on both sides of the budget, all of them are measured as the first one was. */
static void measure_alike(struct as_record_options *options, struct as_sampled_options *sampled,
                          const struct as_record_result *first)
{
    if (!options->sampled)
        return;
    *sampled = *options->sampled;
    if (first->sampled && first->instructions < 2 * sampled->head)
        sampled->head /= 2;
    options->sampled = first->sampled ? sampled : NULL;
}

/* A failure ends further runs but keeps the profile. Notices of the first run are not repeated. */
static void repeat(struct as_record *record, const struct as_record_source *source, struct runs *runs,
                   const struct as_input *input, struct as_record_result *first)
{
    const struct as_record_options *options = record->options;
    struct as_record_options quiet = *options;
    struct as_sampled_options sampled;
    struct as_record_result result;
    struct as_error err = AS_ERROR_INIT;
    bool ok = true;
    quiet.notices = (struct as_notices){0};
    measure_alike(&quiet, &sampled, first);
    record->options = &quiet;
    while (runs->done < options->repeat && ok) {
        as_input_rewind(input);
        ok = !as_signals_between() || as_error_set(&err, "interrupted"); /* while the run before was saved */
        ok = ok && add_run(record, source, runs, &result, &err);
        if (ok && result.sampled != first->sampled) {
            ok = as_error_set(&err, "it is too short to be sampled, as those before were");
            close(runs->fds[--runs->n]);
            runs->done--;
        }
        if (ok)
            compare_ends(options, runs->done, &first->end, &result.end);
    }
    record->options = options;
    first->interrupted_by = ok ? 0 : as_signals_between();
    if (!ok)
        as_notice(&options->notices, AS_LOG_WARN, "run %zu of %" PRIu64 ": %s; the profile contains the runs before it",
                  runs->done + 1, options->repeat, err.message);
}

static bool run_several(struct as_record *record, const struct as_record_source *source,
                        struct as_record_result *result, struct as_error *err)
{
    struct as_store_writer *writer = record->writer;
    struct as_input input = {.start = -1};
    struct runs runs = {0};
    bool ok = as_input_keep(&input, &record->options->notices, err) && add_run(record, source, &runs, result, err);
    if (ok && !as_record_is_cut(result))
        repeat(record, source, &runs, &input, result);
    ok = ok && merge_runs(record, &runs, writer, err);
    close_runs(&runs);
    record->writer = writer;
    return ok;
}

/* ---- the file ---- */

static bool write_profile(struct as_record *record, struct as_record_result *result, struct as_error *err)
{
    const struct as_record_source *source = as_record_choose(record, err);
    if (!source || !(record->writer = as_record_open_writer(record, err)))
        return false;
    if (record->hint[0])
        as_notice(&record->options->notices, AS_LOG_NOTE, "%s", record->hint);
    bool ok =
        record->options->repeat > 1 ? run_several(record, source, result, err) : run_once(record, source, result, err);
    if (ok)
        ok = as_store_writer_commit(record->writer, err);
    else
        as_store_writer_abort(record->writer);
    as_record_end_meter(record);
    return ok;
}

bool as_record_run(const struct as_record_options *options, struct as_record_result *result, struct as_error *err)
{
    static char *const nothing[] = {"system-wide", NULL};
    struct as_record record = {.options = options, .argv = options->argv};
    char **words = NULL;
    if (options->pid && !(words = as_native_command_line(options->pid, err)))
        return false;
    if (words)
        record.argv = words;
    else if (!record.argv || !record.argv[0])
        record.argv = nothing;
    bool ok = write_profile(&record, result, err);
    if (words)
        free(words[0]);
    free(words);
    return ok;
}
