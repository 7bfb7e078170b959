/* The model as a source of profiles: one run on a modelled core, observed by the Oracle and samplers. See record.h.
 *
 * The model gives the same cycles for the same execution, so differences between runs are caused by the program:
 * addresses, time, scheduling of threads.
 */
#include "record/record_model.h"
#include "base/signals.h"
#include "import/import.h"
#include "record/modelled.h"
#include "record/record_code.h"
#include "record/record_part.h"
#include "record/record_sampled.h"
#include "record/record_series.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

struct model_run {
    const struct as_record_options *options;
    const struct as_sampler *samplers[AS_SAMPLER_COUNT];
    size_t n_samplers;
    uint32_t events;
    struct as_schedule schedule;
    struct as_record_waits *waits;
    struct as_sampled *sampled; /* the plan of a run that may be too long to be measured completely; NULL: none */
};

/* The estimate of a run that was too long; NULL: everything was measured. */
static const struct as_sampled *estimate_of(const struct model_run *run)
{
    return run->sampled && !as_sampled_is_whole(run->sampled) ? run->sampled : NULL;
}

/* ---- what is asked for ---- */

static bool choose_samplers(struct model_run *run, struct as_error *err)
{
    return as_samplers_choose(run->options->samplers, run->samplers, &run->n_samplers, err);
}

static bool set_up(struct model_run *run, struct as_modelled *modelled, bool golden, struct as_error *err)
{
    const struct as_record_options *options = run->options;
    run->schedule = (struct as_schedule){.random = options->random, .seed = options->seed};
    if (!as_modelled_open(modelled, options->core, &options->set, err) ||
        !as_modelled_schedule(modelled, options->period, options->rate, &run->schedule, err) ||
        !as_modelled_events(modelled, options->events, AS_EVENTS_THREADS, &run->events, err) ||
        (golden && !as_modelled_watch(modelled, err)) ||
        !as_modelled_sample(modelled, &run->schedule, run->samplers, run->n_samplers, err))
        return false;
    as_modelled_set_events(modelled, run->events);
    struct as_memo_options memo = {
        .bytes = options->memo_bytes, .checks = options->memo_checks, .eager = options->memo_checks};
    as_model_set_memo(modelled->model, &memo);
    return true;
}

static bool check_observers(struct as_modelled *modelled, const struct as_notices *notices, struct as_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return as_error_set(err, "out of memory");
    size_t crashed = as_fanout_report(modelled->fanout, memory);
    fclose(memory);
    if (size > 0)
        as_notice(notices, AS_LOG_WARN, "%s", text);
    free(text);
    return crashed == 0 || as_error_set(err, "%zu of Assay's own observers crashed", crashed);
}

bool as_record_execute(const struct as_record *record, struct as_modelled *modelled, struct as_error *err)
{
    struct as_engine_options engine = record->options->engine;
    if (record->sampled)
        as_sampled_attach(record->sampled, modelled, &engine);
    engine.argv = record->argv;
    engine.stdout_to_stderr = record->options->stdout_to_stderr;
    modelled->meter = record->options->meter;
    modelled->meter_context = record->options->meter_context;
    if (record->sampled && !as_sampled_prepare(record->sampled, &engine, err))
        return false;
    if (!as_modelled_run(modelled, engine, err))
        return false;
    as_signals_shield();
    if (!check_observers(modelled, &record->options->notices, err))
        return false;
    if (record->sampled) {
        modelled->result.engine.region_troubles = 0; /* the plan continues beyond the end of any program */
        const struct as_run_end *end = &modelled->result.engine.end;
        return as_sampled_finish(record->sampled, end->interrupted || end->asked, err);
    }
    return true;
}

static void describe_run(struct as_record_run *run, const struct as_model_result *result,
                         const struct as_modelled *modelled)
{
    size_t n;
    run->result = (struct as_record_result){.end = result->engine.end, .in_engine = true, .engine = result->engine};
    run->row = (struct as_store_run){
        .number = run->row.number,
        .cycles = result->cycles,
        .instructions = result->instructions,
        .samples = as_sampling_results(modelled->samplings.data[0], &n)[0].samples,
        .seconds = (double)result->elapsed / modelled->machine.frequency,
        .status = result->engine.end.exit_status,
    };
}

/* ---- the profile ---- */

static void add_counters(struct as_store_writer *writer, const struct as_counters *counters)
{
    for (size_t i = 0; i < as_counter_count; i++)
        as_store_add_counter(writer, as_counter_table[i].name, as_counter_value(counters, &as_counter_table[i]));
}

/* Adds the whole machine file as it was used, and each of its lines. */
static void add_machine(struct as_store_writer *writer, const struct as_machine *machine)
{
    char *text = NULL, *rest = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return;
    as_machine_print(machine, memory);
    fclose(memory);
    as_store_add_meta(writer, AS_META_MACHINE, text);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *equals = strstr(line, " = ");
        if (!equals)
            continue;
        *equals = '\0';
        as_store_add_machine(writer, line, equals + 3);
    }
    free(text);
}

void as_record_add_core(struct as_store_writer *writer, const struct as_modelled *modelled)
{
    add_machine(writer, &modelled->machine);
    add_counters(writer, &modelled->result.counters);
}

static void add_meta(struct as_store_writer *writer, const struct model_run *run, const struct as_modelled *modelled,
                     const struct as_model_result *result)
{
    const struct as_image *image = as_engine_image(as_model_engine(modelled->model), 1);
    as_store_add_meta(writer, AS_META_SOURCE, "model");
    as_store_add_meta(writer, AS_META_ARCH, image ? as_arch_name(image->arch) : NULL);
    as_store_add_meta(writer, AS_META_CORE, modelled->machine.name);
    as_record_add_processor(writer, run->options, as_model_engine(modelled->model));
    as_store_add_meta(writer, AS_META_SERIES,
                      estimate_of(run)   ? AS_SAMPLED_SERIES
                      : modelled->oracle ? "golden"
                                         : run->samplers[0]->name);
    if (modelled->oracle && !estimate_of(run))
        as_store_add_meta(writer, AS_META_GOLDEN, "golden");
    as_store_add_meta_u64(writer, AS_META_PERIOD, run->schedule.period);
    if (!isnan(run->options->rate))
        as_store_add_meta_double(writer, AS_META_RATE, run->options->rate);
    as_store_add_meta_u64(writer, AS_META_RANDOM, run->schedule.random);
    if (run->schedule.random)
        as_store_add_meta_u64(writer, "seed", run->schedule.seed);
    if (run->options->engine.deterministic)
        as_store_add_meta_u64(writer, AS_META_DETERMINISTIC, 1);
    as_store_add_meta_u64(writer, AS_META_CYCLES, result->cycles);
    as_store_add_meta_u64(writer, AS_META_INSTRUCTIONS, result->instructions);
    as_store_add_meta_double(writer, AS_META_SECONDS, (double)result->elapsed / modelled->machine.frequency);
    as_store_add_meta_double(writer, "host_seconds", result->engine.seconds);
    as_store_add_meta_double(writer, AS_META_FREQUENCY, modelled->machine.frequency);
}

static void add_symbol_quality(struct as_store_writer *writer, const struct as_engine *engine)
{
    struct as_space_quality sum = {0}, one;
    const struct as_image *image;
    for (uint32_t number = 1; (image = as_engine_image(engine, number)); number++) {
        as_space_quality(image->space, &one);
        sum.modules += one.modules;
        sum.with_symbols += one.with_symbols;
        sum.with_debug += one.with_debug;
        sum.unreadable += one.unreadable;
        sum.first_problem = sum.first_problem ? sum.first_problem : one.first_problem;
    }
    char *text = as_format("of %zu files %zu have symbols and %zu line numbers%s%s", sum.modules, sum.with_symbols,
                           sum.with_debug, sum.first_problem ? "; " : "", sum.first_problem ? sum.first_problem : "");
    as_store_add_quality(writer, "symbols", (double)sum.unreadable, text);
    free(text);
}

static void add_quality(struct as_store_writer *writer, const struct as_modelled *modelled, bool in_turn)
{
    const struct as_engine_result *engine = &modelled->result.engine;
    as_store_add_quality(writer, "model", NAN,
                         "times are those of a modelled core, not of this computer's processor; time in the kernel "
                         "is not included");
    if (!modelled->oracle)
        as_store_add_quality(writer, "golden", NAN, "recorded without the golden reference: shares are estimates");
    if (in_turn && engine->threads > 1)
        as_store_add_quality(writer, "deterministic", NAN,
                             "threads executed in turns of a quantum (--quantum): locks are fought for less, and "
                             "waits for other threads are fewer, than without --deterministic");
    if (engine->untraced)
        as_store_add_quality(writer, "untraced", engine->untraced, "programs that were executed outside the model");
    if (engine->left_running)
        as_store_add_quality(writer, "left_running", engine->left_running,
                             "processes that were still running when the program had ended");
    if (engine->disagreements)
        as_store_add_quality(writer, "disagreements", engine->disagreements,
                             "blocks of code whose accesses differed from what the decoder expects");
    if (engine->blind)
        as_store_add_quality(writer, "blind", (double)engine->blind / (double)modelled->result.instructions,
                             "part of the measured instructions, at starts of regions, ran before their accesses "
                             "could be recorded: the model's caches know nothing of those");
    as_record_add_clock(writer, engine);
    add_symbol_quality(writer, as_model_engine(modelled->model));
}

/* The result of the run, or the estimate for the whole program. */
static struct as_model_result result_of(const struct model_run *run, const struct as_modelled *modelled)
{
    struct as_model_result result = modelled->result;
    if (estimate_of(run)) {
        result.counters = *as_sampled_counters(run->sampled);
        result.instructions = result.counters.instructions;
        result.cycles = result.counters.cycles;
        result.elapsed = result.counters.elapsed_cycles;
        result.kernel_cycles = result.counters.kernel_cycles;
    }
    return result;
}

static bool write_profile(struct as_record *record, const struct model_run *run, const struct as_modelled *modelled,
                          struct as_error *err)
{
    struct as_model_result result = result_of(run, modelled);
    struct as_store_writer *writer = record->writer;
    struct as_groups groups = {0};
    struct as_record_code code = {0};
    struct as_record_series series = {.code = &code,
                                      .modelled = modelled,
                                      .groups = &groups,
                                      .waits = run->waits,
                                      .events = run->events,
                                      .rate = record->options->rate,
                                      .sampled = estimate_of(run)};
    as_groups_make(&groups, modelled->model);
    add_meta(writer, run, modelled, &result);
    add_machine(writer, &modelled->machine);
    add_counters(writer, &result.counters);
    as_record_code_add(&code, modelled->model, &groups, writer);
    bool ok = as_record_series_add(&series, err);
    add_quality(writer, modelled, run->options->engine.deterministic);
    as_import_hint_names(writer, 0, NULL);
    if (series.sampled)
        as_record_sampled_quality(&series);
    as_record_code_free(&code);
    as_groups_free(&groups);
    return ok;
}

bool as_record_check_measured(struct as_record *record, const struct as_modelled *modelled, struct as_error *err)
{
    const struct as_run_end *end = &modelled->result.engine.end;
    struct as_error why = AS_ERROR_INIT;
    if (as_engine_check_measured(&modelled->result.engine, modelled->result.instructions, &why))
        return true;
    record->empty = !end->interrupted && !end->asked;
    return as_error_set(err, "%s; %s was not written", why.message, record->options->output);
}

static bool run_model(struct as_record *record, struct as_record_run *result, struct as_error *err)
{
    struct model_run run = {.options = record->options};
    struct as_modelled modelled = {0};
    if (record->options->points)
        run.sampled = record->sampled = as_sampled_new_points(record->options->points);
    else if (record->options->sampled && record->options->golden)
        run.sampled = record->sampled = as_sampled_new(record->options->sampled);
    bool ok = choose_samplers(&run, err) && set_up(&run, &modelled, record->options->golden, err);
    if (ok)
        run.waits = as_record_waits_new(modelled.model);
    ok = ok && as_record_execute(record, &modelled, err) &&
         (estimate_of(&run) || as_record_check_measured(record, &modelled, err)) &&
         (!modelled.oracle || as_oracle_check(modelled.oracle, err)) && write_profile(record, &run, &modelled, err);
    if (ok) {
        struct as_model_result what = result_of(&run, &modelled);
        describe_run(result, &what, &modelled);
        result->start =
            estimate_of(&run) ? as_sampled_start(run.sampled) : as_modelled_start_of(modelled.model, modelled.oracle);
        result->sampled = estimate_of(&run) != NULL;
    }
    as_sampled_free(run.sampled);
    record->sampled = NULL;
    as_modelled_free(&modelled);
    as_record_waits_free(run.waits);
    return ok;
}

/* Wrong options are reported before the file is touched. */
static bool possible(const struct as_record_options *options, struct as_error *err)
{
    struct model_run run = {.options = options};
    struct as_modelled modelled = {0};
    bool ok = choose_samplers(&run, err) && set_up(&run, &modelled, options->golden, err);
    as_modelled_free(&modelled);
    return ok;
}

const struct as_record_source as_record_model = {.name = "model", .possible = possible, .run = run_model};
