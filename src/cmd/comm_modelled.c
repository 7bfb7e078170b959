/* assay comm of a program in the model: where its threads run, what is sampled, and the run. See comm_given.h. */
#include "agent/agent_host.h"
#include "agent/mpi_host.h"
#include "base/log.h"
#include "base/show.h"
#include "cmd/comm_given.h"
#include "cmd/comm_uses.h"
#include "cmd/commands.h"
#include "cmd/progress.h"
#include "lens/lens_unit.h"

#include <stdlib.h>
#include <string.h>

/* ---- what the options mean ---- */

struct pins {
    AS_VEC(uint32_t) list;
};

static bool parse_pins(struct pins *pins, const char *text, struct as_error *err)
{
    for (const char *at = text;; at++) {
        char *end;
        unsigned long core = strtoul(at, &end, 10);
        if (end == at || core >= 4096 || (*end && *end != ','))
            return as_error_set_status(err, AS_EXIT_USAGE,
                                       "--pin takes compact, scatter or a list of cores below 4096, not '%s'", text);
        *as_vec_push(&pins->list) = (uint32_t)core;
        at = end;
        if (!*end)
            return true;
    }
}

/* Without a number of cores, a list names those that there are. */
static bool check_pins(const struct as_comm_given *options, const struct pins *pins, struct as_error *err)
{
    for (size_t i = 0; options->cores && i < pins->list.len; i++)
        if (pins->list.data[i] >= options->cores)
            return as_error_set_status(
                err, AS_EXIT_USAGE, "--pin=%s names core %u, but --cores=%llu has cores 0 to %llu", options->pin,
                pins->list.data[i], (unsigned long long)options->cores, (unsigned long long)options->cores - 1);
    return true;
}

static bool check_sockets(const struct as_comm_given *options, struct as_error *err)
{
    if (options->sockets == 1 || (options->cores && options->cores % options->sockets == 0))
        return true;
    return as_error_set_status(err, AS_EXIT_USAGE, "--sockets=%llu needs --cores, a multiple of it",
                               (unsigned long long)options->sockets);
}

static bool settle_pin(const struct as_comm_given *options, struct as_modelled_options *machine, struct pins *pins,
                       struct as_error *err)
{
    if (!options->pin || strcmp(options->pin, "compact") == 0)
        return true;
    if (strcmp(options->pin, "scatter") == 0) {
        machine->pinning = AS_PINNING_SCATTER;
        return options->sockets > 1 ||
               as_error_set_status(err, AS_EXIT_USAGE, "--pin=scatter needs --sockets of two or more");
    }
    if (!parse_pins(pins, options->pin, err) || !check_pins(options, pins, err))
        return false;
    machine->pins = pins->list.data;
    machine->n_pins = pins->list.len;
    return true;
}

static bool settle(const struct as_comm_given *options, struct as_comm_options *comm, struct pins *pins,
                   struct as_error *err)
{
    *comm = (struct as_comm_options){
        .machine = {.sampling = (enum as_lens_sampling)options->sampling,
                    .load_period = options->load_period ? options->load_period : options->period,
                    .store_period = options->store_period ? options->store_period : options->period,
                    .period = options->period,
                    .random = !options->fixed,
                    .registers = (uint32_t)options->registers,
                    .cores = (uint32_t)options->cores,
                    .sockets = (uint32_t)options->sockets,
                    .sample_cost = options->sample_cost,
                    .trap_cost = options->trap_cost,
                    .disturb = options->disturb,
                    .seed = options->seed},
        .detect = as_comm_given_detect(options),
        .quantum = (uint32_t)options->quantum,
        .no_estimate = options->no_estimate,
        .no_exact = options->no_exact,
        .no_paths = options->no_paths,
    };
    struct as_lens_unit unit;
    if (options->pmu && !as_lens_unit_choose(options->pmu, options->period, &unit, err))
        return false;
    if (options->pmu)
        as_modelled_set_unit(&comm->machine, &unit);
    return check_sockets(options, err) && settle_pin(options, &comm->machine, pins, err);
}

/* ---- the run ---- */

static void warn_about(const struct as_comm_run *run)
{
    struct as_detect_counts detect = as_comm_run_result(run).detect;
    struct as_coherent_counts coherent = as_comm_run_coherent(run);
    if (coherent.accesses && 20 * as_comm_run_late(run) > coherent.accesses)
        as_log_warn("%.0f %% of the accesses came too late to be interleaved with those of other threads, so less "
                    "communication is counted than there is",
                    100 * (double)as_comm_run_late(run) / (double)coherent.accesses);
    if (detect.unseen || coherent.dropped)
        as_log_warn("there were more threads than the %d that can be told apart; accesses of the others are left out",
                    AS_DETECT_THREADS);
}

static void warn_about_agent(const struct as_comm_given *options, const struct as_comm_result *result)
{
    size_t sites;
    as_guest_memory_sites(result->memory, &sites);
    if (options->allocations && !sites)
        as_log_warn(
            "--allocations: the agent saw no allocation; the program makes none, is linked statically, or is of "
            "another architecture");
}

/* The part of the run that was seen, in words; NULL: all of it. The caller frees. */
static char *model_part(const struct as_engine_result *ended, uint64_t instructions)
{
    char part[AS_ENGINE_PART];
    const char *until = as_run_end_until(&ended->end);
    bool cut = as_engine_part(ended, instructions, part, sizeof part);
    if (!cut)
        snprintf(part, sizeof part, "%s instructions", AS_COUNT(instructions));
    return until ? as_format("%s, %s", part, until) : cut ? as_strdup(part) : NULL;
}

static int show_program(const struct as_comm_given *options, const struct as_comm_options *comm, char **argv,
                        const struct as_comm_run *run, const struct as_engine_result *ended,
                        const struct as_mpi_messages *mpi, struct as_output *output)
{
    struct as_comm_result result = as_comm_run_result(run);
    struct as_comm_shown shown = {
        .argv = argv, .options = comm, .result = &result, .run = run, .mpi = mpi, .seconds = ended->seconds};
    char *part = model_part(ended, as_comm_run_instructions(run));
    shown.part = part;
    warn_about(run);
    warn_about_agent(options, &result);
    int failed = as_comm_given_show(options, &shown, output);
    int status = as_run_report(ended, &options->run);
    free(part);
    return failed ? failed : status;
}

static bool start(void *run, const struct as_engine *engine, struct as_error *err)
{
    return as_comm_run_start(run, engine, err);
}

static bool finish(void *run, struct as_error *err)
{
    as_comm_run_finish(run);
    return true;
}

static int run_program(const struct as_comm_given *options, const struct as_comm_options *comm, char **argv)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_engine_result result;
    struct as_output output = {0};
    struct as_progress progress;
    struct as_engine *engine = NULL;
    struct as_mpi *mpi = NULL;
    char **environment = NULL;
    struct as_engine_options engine_options = as_run_engine_options(&options->run, argv);
    struct as_comm_run *run = as_comm_run_new(comm);
    struct as_metered program = {
        .goal = as_regions_length(&options->run.regions), .start = start, .finish = finish, .run = run};
    program.sink = as_comm_run_sink(run, &program.context);
    engine_options.stdout_to_stderr = as_comm_given_takes_stdout(options);
    engine_options.observed = engine_options.causal = true;
    bool ok = as_output_open(&output, options->output, &err) &&
              (!options->allocations || (environment = as_agent_model_environment(&err))) &&
              (!options->mpi || (mpi = as_mpi_open(&err)));
    engine_options.environment = mpi ? as_mpi_environment(mpi, environment) : environment;
    ok = ok && as_meter_run(&as_progress_meter, &progress, engine_options, &program, &engine, &result, &err);
    int status = AS_EXIT_FAILURE;
    ok = ok && as_engine_check_reached(&result, as_comm_run_instructions(run), &err);
    if (ok) {
        struct as_mpi_messages messages = mpi ? as_mpi_read(mpi) : (struct as_mpi_messages){0};
        status = show_program(options, comm, argv, run, &result, mpi ? &messages : NULL, &output);
        as_mpi_messages_free(&messages);
    } else {
        status = as_cli_fail(&as_command_comm, &err);
        as_output_drop(&output);
    }
    as_comm_run_free(run);
    as_engine_free(engine);
    as_mpi_close(mpi);
    as_agent_model_environment_free(environment);
    return status;
}

int as_comm_run_modelled(struct as_comm_given *options, char **argv)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_comm_options comm;
    struct pins pins = {0};
    bool ok = as_comm_is_operand(argv[0], getenv("PATH"), &err) && settle(options, &comm, &pins, &err) &&
              as_run_options_settle_untimed(&options->run, false, &err);
    int status = ok ? run_program(options, &comm, argv) : as_cli_fail(&as_command_comm, &err);
    as_vec_free(&pins.list);
    return status;
}
