/* assay compare: one run in the model, all samplers held against the Oracle. */
#include "base/log.h"
#include "base/vec.h"
#include "cmd/commands.h"
#include "cmd/compare.h"
#include "cmd/compare_traces.h"
#include "cmd/output.h"
#include "cmd/progress.h"
#include "cmd/run_options.h"
#include "observe/observer_load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct compare_options {
    struct as_run_options run;
    bool json, random;
    const char *output, *core, *samplers, *sweep;
    uint64_t period, seed, top;
    double rate;
    struct as_strlist set, observers;
    struct as_trace_options traces;
};

static const struct as_option options_table[] = {
    {.name = "json",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct compare_options, json),
     .help = "Print one JSON document; the program's own standard output then goes to standard error."},
    {.name = "output",
     .short_name = 'o',
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct compare_options, output),
     .value = "FILE",
     .help = "Write the result to FILE; the program's standard output and error are left alone."},
    {.name = "core",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct compare_options, core),
     .value = "NAME|FILE",
     .help = "The machine to model: a name (default boom-tip) or the path of a machine file."},
    {.name = "set",
     .type = AS_OPTION_LIST,
     .offset = offsetof(struct compare_options, set),
     .value = "KEY=VALUE",
     .help = "Change one value of the machine (back.rob=64); may be given several times."},
    {.name = "samplers",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct compare_options, samplers),
     .value = "LIST",
     .help =
         "Only these samplers, separated by commas (default: software, dispatch, lci, nci, nci+ilp, tip-ilp, tip)."},
    {.name = "period",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct compare_options, period),
     .value = "N",
     .min = 1,
     .help = "Take a sample every N cycles (default 1009)."},
    {.name = "rate",
     .type = AS_OPTION_DOUBLE,
     .offset = offsetof(struct compare_options, rate),
     .value = "HZ",
     .help = "Take HZ samples a second of simulated time, at the machine's frequency, instead of --period."},
    {.name = "random",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct compare_options, random),
     .help = "Sample at a random cycle of each period instead of its last."},
    {.name = "seed",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct compare_options, seed),
     .value = "N",
     .help = "Seed of --random (default 1): the same seed gives the same samples."},
    {.name = "sweep",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct compare_options, sweep),
     .value = "LIST",
     .help = "Also report the errors for these periods, separated by commas, from the same run."},
    {.name = "top",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct compare_options, top),
     .value = "N",
     .help = "Show the N instructions that took most time, with what each sampler says of them (default 10)."},
    {.name = "observer",
     .type = AS_OPTION_LIST,
     .offset = offsetof(struct compare_options, observers),
     .value = "FILE[,ARG]",
     .help =
         "Load an observer of your own from a shared object (include/assay/observer.h); may be given several times."},
    {.name = "konata",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct compare_options, traces.konata),
     .value = "FILE",
     .help = "Write the pipeline stages of every instruction to FILE, for the Konata viewer (Kanata 0004)."},
    {.name = "o3pipeview",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct compare_options, traces.o3pipeview),
     .value = "FILE",
     .help = "Write the same to FILE as gem5's O3PipeView, which Konata and gem5's own viewer read."},
    {.name = "cycle-trace",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct compare_options, traces.cycles),
     .value = "FILE",
     .help =
         "Write the commit stage cycle by cycle to FILE, 64 bytes for each cycle in which it changes, so that other "
         "samplers can be run on it."},
    AS_RUN_OPTIONS(struct compare_options, run),
    {.name = NULL},
};

struct run {
    const struct compare_options *options;
    struct as_machine machine;
    struct as_model *model;
    struct as_fanout *fanout;
    struct as_oracle *oracle;
    const struct as_sampler *samplers[AS_SAMPLER_COUNT];
    size_t n_samplers;
    AS_VEC(struct as_sampling *) samplings;
    AS_VEC(struct as_loaded_observer) loaded;
    struct as_traces *traces;
    struct as_output output;
    struct as_progress progress;
};

static bool is_chosen(const struct run *run, const struct as_sampler *sampler)
{
    for (size_t i = 0; i < run->n_samplers; i++)
        if (run->samplers[i] == sampler)
            return true;
    return false;
}

static bool choose_samplers(struct run *run, struct as_error *err)
{
    if (!run->options->samplers) {
        memcpy(run->samplers, as_samplers, sizeof as_samplers);
        run->n_samplers = AS_SAMPLER_COUNT;
        return true;
    }
    char *copy = as_strdup(run->options->samplers), *rest = NULL;
    bool ok = true;
    for (char *name = strtok_r(copy, ",", &rest); name && ok; name = strtok_r(NULL, ",", &rest)) {
        const struct as_sampler *sampler = as_sampler_find(name);
        if (!sampler)
            ok = as_error_set_status(
                err, AS_EXIT_USAGE,
                "unknown sampler '%s'; there are software, dispatch, lci, nci, nci+ilp, tip-ilp, tip", name);
        else if (is_chosen(run, sampler))
            ok = as_error_set_status(err, AS_EXIT_USAGE, "the sampler '%s' is named twice", name);
        else
            run->samplers[run->n_samplers++] = sampler;
    }
    if (ok && run->n_samplers == 0)
        ok = as_error_set_status(err, AS_EXIT_USAGE, "--samplers names none");
    free(copy);
    return ok;
}

static bool add_sampling(struct run *run, uint64_t period, struct as_error *err)
{
    struct as_schedule schedule = {.period = period, .random = run->options->random, .seed = run->options->seed};
    struct as_sampling *sampling =
        as_sampling_new(as_model_run_info(run->model), &schedule, run->samplers, run->n_samplers, err);
    if (!sampling)
        return false;
    *as_vec_push(&run->samplings) = sampling;
    as_fanout_add(run->fanout, &as_sampling_observer, sampling, false);
    return true;
}

static bool add_sweep(struct run *run, struct as_error *err)
{
    char *copy = run->options->sweep ? as_strdup(run->options->sweep) : NULL, *rest = NULL;
    bool ok = true;
    for (char *word = copy ? strtok_r(copy, ",", &rest) : NULL; word && ok; word = strtok_r(NULL, ",", &rest)) {
        uint64_t period;
        ok = as_cli_read_u64(word, &period) && period > 0
                 ? add_sampling(run, period, err)
                 : as_error_set_status(err, AS_EXIT_USAGE, "--sweep: '%s' is no period", word);
    }
    free(copy);
    return ok;
}

static bool load_machine(struct run *run, struct as_error *err)
{
    if (!as_machine_load(run->options->core, &run->machine, err))
        return false;
    for (size_t i = 0; i < run->options->set.len; i++)
        if (!as_machine_set(&run->machine, run->options->set.data[i], err)) {
            err->status = AS_EXIT_USAGE;
            return false;
        }
    return true;
}

static bool load_observers(struct run *run, struct as_error *err)
{
    for (size_t i = 0; i < run->options->observers.len; i++) {
        struct as_loaded_observer loaded;
        if (!as_observer_load(run->options->observers.data[i], as_model_run_info(run->model), &loaded, err))
            return false;
        *as_vec_push(&run->loaded) = loaded;
        as_fanout_add(run->fanout, loaded.ops, loaded.self, true);
    }
    return true;
}

/* The period asked for, in cycles. */
static bool choose_period(const struct run *run, uint64_t *period, struct as_error *err)
{
    double rate = run->options->rate, cycles = run->machine.frequency / rate;
    *period = run->options->period;
    if (isnan(rate))
        return true;
    if (!(rate > 0) || cycles > 1e18)
        return as_error_set_status(err, AS_EXIT_USAGE, "--rate=%g: must be more than 0 and give a sample now and then",
                                   rate);
    *period = cycles >= 1 ? (uint64_t)cycles : 1;
    return true;
}

static bool set_up(struct run *run, struct as_error *err)
{
    struct as_fanout_options fanout = AS_FANOUT_DEFAULTS;
    fanout.batch = AS_MODEL_BATCH;
    if (!choose_samplers(run, err) || !load_machine(run, err) ||
        !as_output_open(&run->output, run->options->output, err))
        return false;
    run->model = as_model_new(&run->machine);
    run->fanout = as_fanout_new(&fanout);
    run->oracle = as_oracle_new(as_model_run_info(run->model), err);
    if (!run->oracle)
        return false;
    as_fanout_add(run->fanout, &as_oracle_observer, run->oracle, false);
    run->traces = as_traces_open(&run->options->traces, as_model_run_info(run->model), run->fanout, err);
    if (!run->traces)
        return false;
    uint64_t period;
    return choose_period(run, &period, err) && add_sampling(run, period, err) && add_sweep(run, err) &&
           load_observers(run, err);
}

static void tick(void *context)
{
    struct run *run = context;
    as_progress_update(&run->progress, as_model_progress(run->model));
}

/* `own_text` is what the user's observers have to say. */
static int show(struct run *run, struct as_compare *compare, const char *own_text, size_t crashed)
{
    struct as_error err = AS_ERROR_INIT;
    as_groups_make(&compare->groups, run->model);
    as_oracle_profile(run->oracle, &compare->truth);
    if (run->options->json) {
        struct as_json *json = as_json_new(run->output.file);
        as_compare_json(compare, json);
        if (!as_json_finish(json) && !run->output.path)
            return as_cli_stdout_failed();
    } else {
        as_compare_text(compare, run->output.file);
    }
    if (own_text && *own_text)
        fprintf(run->options->json ? stderr : run->output.file, "\n%s", own_text);
    as_groups_free(&compare->groups);
    as_profile_free(&compare->truth);
    if (!as_output_finish(&run->output, &err))
        return as_cli_fail(&as_command_compare, &err);
    return crashed ? AS_EXIT_FAILURE : AS_EXIT_OK;
}

/* The observers finish; what they write is kept for later. Returns how many have crashed. */
static size_t report_observers(struct run *run, char **text)
{
    size_t size = 0;
    FILE *memory = open_memstream(text, &size);
    size_t crashed = as_fanout_report(run->fanout, memory ? memory : stderr);
    if (memory)
        fclose(memory);
    return crashed;
}

static int run_model(struct run *run, char **argv)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_compare compare = {.argv = argv, .machine = &run->machine, .top = run->options->top};
    struct as_engine_options engine = as_run_engine_options(&run->options->run, argv);
    engine.stdout_to_stderr = run->options->json && !run->options->output;
    engine.tick = tick;
    engine.tick_context = run;
    char *own_text = NULL;
    bool ok = set_up(run, &err);
    as_progress_start(&run->progress, run->options->run.max);
    ok = ok && as_model_run(run->model, &engine, run->fanout, &compare.result, &err);
    size_t crashed = ok ? report_observers(run, &own_text) : 0;
    ok = ok && as_oracle_check(run->oracle, &err);
    as_progress_end(&run->progress);
    if (!ok) {
        free(own_text);
        as_output_drop(&run->output);
        return as_cli_fail(&as_command_compare, &err);
    }
    compare.model = run->model;
    compare.oracle = run->oracle;
    compare.samplings = run->samplings.data;
    compare.n_samplings = run->samplings.len;
    int failed = show(run, &compare, own_text, crashed);
    free(own_text);
    if (!as_traces_finish(run->traces, &err))
        failed = as_cli_fail(&as_command_compare, &err);
    int status = as_run_report(&compare.result.engine, &run->options->run);
    return failed ? failed : status;
}

/* Returns how many observers have crashed, in the end too. */
static size_t clean_up(struct run *run)
{
    size_t crashed = as_fanout_free(run->fanout);
    as_traces_free(run->traces);
    for (size_t i = 0; i < run->loaded.len && !crashed; i++) /* not one that crashed: see there */
        as_observer_unload(&run->loaded.data[i]);
    as_vec_free(&run->loaded);
    as_vec_free(&run->samplings);
    as_model_free(run->model);
    return crashed;
}

static int run_compare(int argc, char **argv)
{
    struct compare_options options = {
        .run = AS_RUN_OPTIONS_DEFAULT, .core = "boom-tip", .period = 1009, .rate = NAN, .seed = 1, .top = 10};
    int rest;
    enum as_parse parsed = as_cli_parse(&as_command_compare, argc, argv, &options, &rest);
    if (parsed != AS_PARSE_OK)
        return parsed == AS_PARSE_HELP ? AS_EXIT_OK : AS_EXIT_USAGE;
    struct run run = {.options = &options};
    int status = rest < argc ? run_model(&run, argv + rest) : as_cli_usage(&as_command_compare, "no program given");
    if (clean_up(&run) && status == AS_EXIT_OK)
        status = AS_EXIT_FAILURE;
    as_strlist_free(&options.set);
    as_strlist_free(&options.observers);
    return status;
}

const struct as_command as_command_compare = {
    .name = "compare",
    .summary = "How wrong each kind of sampler is about a program",
    .usage = "[options] [--] PROGRAM [ARGS…]",
    .description =
        "Runs the program once on a modelled out-of-order core, which accounts for every cycle of every instruction "
        "(the Oracle), and holds samplers that work like real ones against that: software interrupts, dispatch tagging "
        "(AMD IBS, Arm SPE), last and next committing instruction (external monitors, Intel PEBS) and TIP. All of them "
        "sample the same cycles.",
    .options = options_table,
    .examples = "  assay compare -- ./prog\n"
                "  assay compare --core zen4-like --max 100M --json -- ./prog > compare.json\n"
                "  assay compare --sweep 100,1000,10000 -- ./prog\n",
    .run = run_compare,
};
