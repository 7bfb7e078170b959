/* See record_unit.h. */
#include "record/record_unit.h"

#include "base/signals.h"
#include "import/import.h"
#include "pmu/pmu_cost.h"
#include "record/record_model.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what is asked for ---- */

static bool refuse(const struct as_record_options *options, struct as_error *err)
{
    const struct {
        bool given;
        const char *name;
    } others[] = {{!isnan(options->rate), "rate"},
                  {options->random, "random"},
                  {options->pid > 0, "pid"},
                  {options->allocations, "allocations"},
                  {options->processors, "processors"},
                  {options->system_wide, "system-wide"},
                  {options->accesses, "accesses"},
                  {!options->golden, "golden"},
                  {options->events != NULL, "events"},
                  {options->delay > 0, "delay"},
                  {options->switches != NULL, "switch-signal"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].given)
            return as_error_set_status(err, AS_EXIT_USAGE, "--%s does not apply to a modelled PMU (--source=%s)",
                                       others[i].name, options->source);
    return true;
}

/* `--user` adds the modifier u to every event. */
static bool add_event(struct as_unit_run *run, const struct as_record_options *options, const char *event,
                      struct as_error *err)
{
    if (!as_pmu_request_add(&run->request, event, options->period ? options->period : AS_PMU_PERIOD, err))
        return false;
    if (options->user)
        run->request.counters[run->request.n - 1].kernel = false;
    return true;
}

bool as_unit_plan(struct as_unit_run *run, const struct as_record_options *options, struct as_error *err)
{
    if (!refuse(options, err) || !as_pmu_load(as_record_unit_name(options->source), &run->pmu, err) ||
        !as_pmu_set(&run->pmu, (const char *const *)options->pmu_set.data, options->pmu_set.len, err))
        return false;
    bool stack = options->call_graph == AS_RECORD_LBR;
    if (stack && options->branches)
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "the branch record keeps branches or a stack of calls: --branches or "
                                   "--call-graph=lbr");
    run->request = (struct as_pmu_request){
        .pmu = &run->pmu, .branches = options->branches || stack, .call_stack = stack, .seed = options->seed};
    for (size_t i = 0; i < options->event.len; i++)
        if (!add_event(run, options, options->event.data[i], err))
            return false;
    if (!options->event.len && !add_event(run, options, as_pmu_default_event(&run->pmu), err))
        return false;
    return as_pmu_request_check(&run->request, err);
}

void as_unit_free(struct as_unit_run *run)
{
    as_vec_free(&run->samples);
    as_vec_free(&run->branches);
    as_guest_memory_free(run->memory);
}

/* ---- the run ---- */

static void take(void *context, const struct as_pmu_sample *sample)
{
    struct as_unit_run *run = context;
    *as_vec_push(&run->samples) = (struct as_unit_sample){.sample = *sample, .first_branch = run->branches.len};
    for (uint32_t i = 0; i < sample->n_branches; i++)
        *as_vec_push(&run->branches) = sample->branches[i];
}

static bool set_up(struct as_unit_run *run, struct as_modelled *modelled, const struct as_record_options *options,
                   struct as_error *err)
{
    if (!as_unit_plan(run, options, err) || !as_modelled_open(modelled, options->core, &options->set, err))
        return false;
    run->stream = as_pmu_stream_new(as_model_run_info(modelled->model), &run->request, take, run, err);
    if (!run->stream)
        return false;
    run->memory = as_guest_memory_new();
    as_model_set_calls(modelled->model, &as_guest_memory_sink, run->memory);
    as_fanout_add(modelled->fanout, &as_pmu_observer, run->stream, false);
    if (!as_unit_watch(run, modelled, err))
        return false;
    as_model_set_memo(modelled->model, &(struct as_memo_options){.bytes = options->memo_bytes,
                                                                 .checks = options->memo_checks,
                                                                 .eager = options->memo_checks});
    return true;
}

/* ---- the profile ---- */

static void add_meta(const struct as_record *record, const struct as_unit_run *run, const struct as_modelled *modelled)
{
    struct as_store_writer *writer = record->writer;
    const struct as_model_result *result = &modelled->result;
    char name[96];
    char *why = as_format("asked for: %s every %" PRIu64 ", by the model of %s (%s)",
                          as_pmu_counter_name(&run->request, 0, name, sizeof name), run->request.counters[0].period,
                          run->pmu.name, run->pmu.description);
    as_store_add_meta(writer, AS_META_SOURCE, record->options->source);
    as_store_add_meta(writer, AS_META_SOURCE_WHY, why);
    as_store_add_meta(writer, AS_META_CORE, modelled->machine.name);
    as_record_add_processor(writer, record->options, as_model_engine(modelled->model));
    as_store_add_meta_u64(writer, AS_META_PERIOD, run->request.counters[0].period);
    as_store_add_meta_u64(writer, AS_META_CYCLES, result->cycles);
    as_store_add_meta_u64(writer, AS_META_INSTRUCTIONS, result->instructions);
    as_store_add_meta_double(writer, AS_META_SECONDS, (double)result->elapsed / modelled->machine.frequency);
    as_store_add_meta_double(writer, AS_META_FREQUENCY, modelled->machine.frequency);
    as_record_add_core(writer, modelled);
    free(why);
}

static void add_count(struct as_store_writer *writer, const char *key, uint64_t part, uint64_t all, const char *text)
{
    if (part)
        as_store_add_quality(writer, key, all ? (double)part / (double)all : 0, text);
}

static void add_quality(struct as_store_writer *writer, const struct as_unit_run *run,
                        const struct as_modelled *modelled)
{
    struct as_pmu_counts sum = {0};
    for (size_t i = 0; i < run->request.n; i++) {
        const struct as_pmu_counts *counts = as_pmu_stream_counts(run->stream, i);
        sum.happened += counts->happened;
        sum.counted += counts->counted < counts->happened ? counts->counted : counts->happened;
        sum.overflows += counts->overflows;
        sum.samples += counts->samples;
        sum.missed += counts->missed;
        sum.squashed += counts->squashed;
        sum.collisions += counts->collisions;
    }
    as_store_add_quality(writer, "model", NAN,
                         "samples of a modelled sampling unit on a modelled core, not of this computer's processor; "
                         "sampling does not slow the modelled program down");
    add_count(writer, "missed", sum.missed, sum.overflows, "part of the overflows were lost in the shadow of another");
    add_count(writer, "squashed", sum.squashed, sum.squashed + sum.samples, "part of the tags were on the wrong path");
    add_count(writer, "collisions", sum.collisions, sum.overflows,
              "part of the chosen operations collided with another one in flight");
    if (run->pmu.kind == AS_PMU_PEBS && sum.counted < sum.happened)
        as_store_add_quality(writer, "multiplexed", 1 - (double)sum.counted / (double)sum.happened,
                             "part of the events happened while another event had their counter");
    /* A sample of TIP has several parts. */
    uint64_t taken = run->pmu.kind >= AS_PMU_TIP ? sum.overflows : sum.samples;
    if (taken < sum.samples)
        as_store_add_quality(
            writer, AS_QUALITY_SAMPLED_CYCLES, (double)taken,
            "cycles were sampled; where several instructions commit in one, each has a sample of a part "
            "of its period");
    struct as_pmu_price price =
        as_pmu_price(&run->pmu, AS_HANDLER_NONE, taken, modelled->result.cycles, as_pmu_stream_threads(run->stream));
    as_store_add_quality(writer, "sampling_cost", price.overhead,
                         "part of the run is what the real unit's samples would cost, according to its file");
    as_record_add_clock(writer, &modelled->result.engine);
}

static bool import(const struct as_record *record, const struct as_unit_run *run, const struct as_modelled *modelled,
                   struct as_unit_made *made, struct as_perf_reader *reader, struct as_error *err)
{
    struct as_import *import = as_import_open(&(struct as_import_options){.writer = record->writer,
                                                                          .info = as_perf_reader_info(reader),
                                                                          .spaces = {.made = {as_unit_made_find, made}},
                                                                          .addresses = true,
                                                                          .notices = record->options->notices});
    bool ok = as_perf_reader_run(reader, &as_import_sink, import, err) || as_store_writer_failed(record->writer);
    if (ok) {
        as_import_finish(import);
        as_import_write(import, reader);
        add_meta(record, run, modelled); /* … after the import, whose cycles are an estimate */
        as_unit_add_errors(run, modelled, record->writer);
        add_quality(record->writer, run, modelled);
    }
    as_import_free(import);
    return ok;
}

/* In place of what an earlier run has written there, unless it is a pipe. */
static bool keep(const struct as_record_options *options, const char *bytes, size_t size, struct as_error *err)
{
    FILE *out = options->perf_file;
    if (!out)
        return true;
    bool again = fseek(out, 0, SEEK_SET) == 0 && ftruncate(fileno(out), 0) == 0;
    (void)again;
    bool ok = fwrite(bytes, 1, size, out) == size && fflush(out) == 0;
    return ok || as_error_set(err, "cannot write %s: %s", options->perf_data, strerror(errno));
}

static bool write_profile(const struct as_record *record, const struct as_unit_run *run,
                          const struct as_modelled *modelled, struct as_error *err)
{
    char *bytes = NULL;
    size_t size = 0;
    struct as_unit_made made = {0};
    FILE *memory = open_memstream(&bytes, &size);
    if (!memory)
        return as_error_set(err, "out of memory");
    bool ok = as_unit_write(run, modelled, record->argv[0], &made, memory, err);
    fclose(memory);
    struct as_perf_reader *reader = ok ? as_perf_reader_memory(bytes, size, NULL, err) : NULL;
    ok = reader && import(record, run, modelled, &made, reader, err) && keep(record->options, bytes, size, err);
    as_perf_reader_close(reader);
    as_unit_made_free(&made);
    free(bytes);
    return ok;
}

static void describe_run(struct as_record_run *row, const struct as_unit_run *run, const struct as_modelled *modelled)
{
    const struct as_model_result *result = &modelled->result;
    row->result = (struct as_record_result){.end = result->engine.end, .in_engine = true, .engine = result->engine};
    row->row.cycles = result->cycles;
    row->row.instructions = result->instructions;
    row->row.samples = run->samples.len;
    row->row.seconds = (double)result->elapsed / modelled->machine.frequency;
    row->row.status = result->engine.end.exit_status;
}

/* Events that had a counter in no turn of a run that was too short for all. */
static void warn_of_idle(const struct as_unit_run *run, const struct as_notices *notices)
{
    struct as_str names = {0};
    char name[96];
    size_t n = 0;
    for (size_t i = 0; i < run->request.n; i++) {
        const struct as_pmu_counts *counts = as_pmu_stream_counts(run->stream, i);
        if (run->pmu.kind != AS_PMU_PEBS || counts->counted || !counts->happened)
            continue;
        as_str_addf(&names, "%s%s", n++ ? ", " : "", as_pmu_counter_name(&run->request, i, name, sizeof name));
    }
    if (n)
        as_notice(notices, AS_LOG_WARN,
                  "the run was too short for a turn of every event: %s never got a counter, and no samples (they take "
                  "turns every %u microseconds; --pmu-set multiplex=N)",
                  as_str_get(&names), run->pmu.multiplex);
    as_str_free(&names);
}

static bool run_unit(struct as_record *record, struct as_record_run *row, struct as_error *err)
{
    struct as_unit_run run = {0};
    struct as_modelled modelled = {0};
    bool ok = set_up(&run, &modelled, record->options, err) && as_record_execute(record, &modelled, err) &&
              as_record_check_measured(record, &modelled, err);
    if (ok && run.samples.len == 0)
        as_notice(&record->options->notices, AS_LOG_WARN,
                  "there are no samples: the event happened less often than --period");
    if (ok)
        warn_of_idle(&run, &record->options->notices);
    ok = ok && write_profile(record, &run, &modelled, err);
    if (ok)
        describe_run(row, &run, &modelled);
    as_modelled_free(&modelled);
    as_unit_free(&run);
    return ok;
}

static bool possible(const struct as_record_options *options, struct as_error *err)
{
    struct as_unit_run run = {0};
    struct as_modelled modelled = {0};
    bool ok = set_up(&run, &modelled, options, err);
    as_modelled_free(&modelled);
    as_unit_free(&run);
    return ok;
}

const struct as_record_source as_record_unit = {.name = AS_RECORD_UNIT_PREFIX, .possible = possible, .run = run_unit};
