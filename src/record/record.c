/* From options to a profile: the source, the runs, the file. See record.h. */
#include "record/record_internal.h"

#include "base/signals.h"
#include "model/model.h"
#include "record/input.h"
#include "record/record_native.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

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

/* A run after the first. The profile is of the first one; the others give their numbers. */
static bool run_again(struct as_record *record, const struct as_record_source *source, struct as_error *err)
{
    struct as_record_run run = {.row.number = (uint32_t)record->runs.len + 1};
    struct as_store_writer *writer = record->writer;
    record->writer = NULL;
    bool ok = source->run(record, &run, err);
    record->writer = writer;
    if (ok && (run.result.end.interrupted || as_signals_interrupts() > 0))
        ok = as_error_set(err, "interrupted");
    if (ok)
        *as_vec_push(&record->runs) = run.row;
    return ok;
}

/* A failure ends the further runs, not the profile. */
static void repeat(struct as_record *record, const struct as_record_source *source, const struct as_input *input)
{
    struct as_error err = AS_ERROR_INIT;
    while (record->runs.len < record->options->repeat) {
        as_input_rewind(input);
        if (!run_again(record, source, &err)) {
            as_notice(&record->options->notices, AS_LOG_WARN,
                      "run %zu of %" PRIu64 ": %s; the profile has the runs before it", record->runs.len + 1,
                      record->options->repeat, err.message);
            return;
        }
    }
}

static bool run_all(struct as_record *record, const struct as_record_source *source, struct as_record_result *result,
                    struct as_error *err)
{
    struct as_record_run first = {.row.number = 1};
    struct as_input input = {.start = -1};
    if (record->options->repeat > 1 && !as_input_keep(&input, &record->options->notices, err))
        return false;
    as_record_add_program(record);
    if (!source->run(record, &first, err))
        return false;
    *result = first.result;
    *as_vec_push(&record->runs) = first.row;
    if (!result->end.interrupted)
        repeat(record, source, &input);
    as_record_add_runs(record, &result->end);
    return true;
}

static bool write_profile(struct as_record *record, struct as_record_result *result, struct as_error *err)
{
    const struct as_record_source *source = as_record_choose(record, err);
    if (!source || !(record->writer = as_store_writer_open(record->options->output, err)))
        return false;
    if (record->hint[0])
        as_notice(&record->options->notices, AS_LOG_NOTE, "%s", record->hint);
    if (run_all(record, source, result, err))
        return as_store_writer_commit(record->writer, err);
    as_store_writer_abort(record->writer);
    return false;
}

bool as_record_run(const struct as_record_options *options, struct as_record_result *result, struct as_error *err)
{
    struct as_record record = {.options = options, .argv = options->argv};
    char **words = NULL;
    if (options->pid && !(words = as_native_command_line(options->pid, err)))
        return false;
    if (words)
        record.argv = words;
    bool ok = write_profile(&record, result, err);
    as_vec_free(&record.runs);
    if (words)
        free(words[0]);
    free(words);
    return ok;
}
