/* assay reuse: how far apart use and reuse of memory are. */
#include "agent/agent_host.h"
#include "cmd/commands.h"
#include "cmd/default_core.h"
#include "cmd/model_options.h"
#include "cmd/output.h"
#include "cmd/progress.h"
#include "cmd/reuse_html.h"
#include "cmd/reuse_on_machine.h"
#include "cmd/reuse_options.h"
#include "cmd/reuse_show.h"
#include "cmd/run_options.h"
#include "cmd/shared_options.h"
#include "lens/lens_unit.h"
#include "record/modelled.h"
#include "reuse/reuse_run.h"

struct session {
    const struct as_reuse_request *options;
    char **argv;
    struct as_machine machine;
    struct as_reuse_run *run;
    struct as_engine *engine;
    char **environment; /* the program's; NULL: ours */
    struct as_engine_result ended;
    struct as_output output;
};

/* ---- in the model ---- */

static bool open_session(struct session *session, struct as_error *err)
{
    const struct as_reuse_request *options = session->options;
    struct as_lens_unit unit;
    if ((options->pmu && !as_lens_unit_choose(options->pmu, options->period, &unit, err)) ||
        !as_modelled_machine(&session->machine, options->core, &options->set, err) ||
        !as_output_open(&session->output, options->output, err))
        return false;
    if (options->allocations && !(session->environment = as_agent_model_environment(err)))
        return false;
    struct as_reuse_run_options run = {.method = (enum as_reuse_method)options->method,
                                       .machine = &session->machine,
                                       .granularity = options->granularity,
                                       .interval = options->interval,
                                       .lines = options->lines,
                                       .sockets = (uint32_t)options->sockets,
                                       .jobs = options->jobs == UINT64_MAX ? as_reuse_usual_jobs()
                                                                           : (uint32_t)options->jobs,
                                       .exact = options->exact,
                                       .adjacent = options->adjacent,
                                       .no_paths = options->no_paths,
                                       .watch = AS_WATCH_OPTIONS_DEFAULT,
                                       .period = options->period,
                                       .registers = (uint32_t)options->registers,
                                       .unit = options->pmu ? &unit : NULL,
                                       .disturb = options->disturb};
    run.watch.mode = options->shared ? AS_WATCH_CACHE : AS_WATCH_THREADS;
    run.watch.replacement = (enum as_watch_replacement)options->replacement;
    run.watch.lag = options->lag;
    run.watch.seed = options->seed;
    session->run = as_reuse_run_new(&run);
    return true;
}

static bool start(void *run, const struct as_engine *engine, struct as_error *err)
{
    return as_reuse_run_start(run, engine, err);
}

static bool finish(void *run, struct as_error *err)
{
    as_reuse_run_finish(run);
    return true;
}

static bool run_engine(struct session *session, struct as_error *err)
{
    const struct as_reuse_request *options = session->options;
    struct as_engine_options engine = as_run_engine_options(&options->run, session->argv);
    struct as_progress progress;
    struct as_metered program = {
        .goal = as_regions_length(&options->run.regions), .start = start, .finish = finish, .run = session->run};
    program.sink = as_reuse_run_sink(session->run, &program.context);
    engine.stdout_to_stderr = (options->json || options->csv || options->html) && !options->output;
    engine.environment = session->environment;
    as_reuse_run_ask(session->run, &engine);
    return as_meter_run(&as_progress_meter, &progress, engine, &program, &session->engine, &session->ended, err);
}

static int write_result(struct session *session)
{
    struct as_error err = AS_ERROR_INIT;
    const struct as_reuse_request *options = session->options;
    const struct as_reuse_result *result = as_reuse_run_result(session->run);
    char part[AS_ENGINE_PART];
    bool cut = as_engine_part(&session->ended, result->instructions, part, sizeof part);
    struct as_reuse_shown shown = {.argv = session->argv,
                                   .part = cut ? part : NULL,
                                   .instructions = result->instructions,
                                   .threads = session->ended.threads,
                                   .seconds = session->ended.seconds,
                                   .exit_status = session->ended.end.exit_status,
                                   .machine = &session->machine,
                                   .options = result->options,
                                   .exact = result->exact,
                                   .names = result->names,
                                   .objects = result->objects,
                                   .adjacent = result->adjacent,
                                   .estimate = result->estimate,
                                   .shared = options->shared,
                                   .pmu = options->pmu,
                                   .missed = result->missed,
                                   .watched_bytes = 1u << result->options->shape.shift,
                                   .top = options->top,
                                   .advice = result->advice,
                                   .n_advice = result->n_advice};
    if (result->estimate || result->options->shape.levels[AS_REUSE_L1].lines) /* caches have lines alone */
        shown.n_host = as_host_caches_read("/sys", shown.host);
    if (options->json && !as_reuse_show_json(&shown, session->output.file) && !session->output.path)
        return as_cli_stdout_failed();
    if (options->html)
        as_reuse_show_html(&shown, session->output.file);
    else if (options->csv)
        as_reuse_show_csv(&shown, session->output.file);
    else if (!options->json)
        as_reuse_show_text(&shown, session->output.file);
    return as_output_finish(&session->output, &err) ? AS_EXIT_OK : as_cli_fail(&as_command_reuse, &err);
}

static int show(struct session *session)
{
    struct as_error err = AS_ERROR_INIT;
    if (!as_engine_check_reached(&session->ended, as_reuse_run_result(session->run)->instructions, &err)) {
        as_output_drop(&session->output);
        return as_cli_fail(&as_command_reuse, &err);
    }
    int failed = write_result(session), status = as_run_report(&session->ended, &session->options->run);
    return failed ? failed : status;
}

static int run_program(const struct as_reuse_request *options, char **argv)
{
    struct as_error err = AS_ERROR_INIT;
    struct session session = {.options = options, .argv = argv};
    bool ok = open_session(&session, &err) && run_engine(&session, &err);
    int status = ok ? show(&session) : as_cli_fail(&as_command_reuse, &err);
    if (!ok)
        as_output_drop(&session.output);
    as_reuse_run_free(session.run);
    as_agent_model_environment_free(session.environment);
    as_engine_free(session.engine);
    return status;
}

/* ---- on the machine ---- */

static int run_on_machine(const struct as_reuse_request *options, char **argv)
{
    struct as_reuse_machine_request request = {.native = AS_REUSE_NATIVE_OPTIONS_DEFAULT,
                                               .command = &as_command_reuse,
                                               .format = options->json   ? AS_REUSE_JSON
                                                         : options->csv  ? AS_REUSE_CSV
                                                         : options->html ? AS_REUSE_HTML
                                                                         : AS_REUSE_TEXT,
                                               .output = options->output,
                                               .top = options->top};
    struct as_reuse_native_options *native = &request.native;
    native->pmu = options->source == AS_REUSE_PMU;
    native->watch.mode = options->shared ? AS_WATCH_CACHE : AS_WATCH_THREADS;
    native->watch.replacement = (enum as_watch_replacement)options->replacement;
    native->watch.seed = native->seed = options->seed;
    native->registers = (uint32_t)(options->registers < 2 ? 2 : options->registers);
    native->rate = options->rate;
    native->budget = options->budget / 100;
    native->bound = options->ahead;
    native->pid = options->pid;
    native->duration = options->duration;
    return as_reuse_on_machine(&request, argv);
}

static int run_reuse(int argc, char **argv)
{
    struct as_reuse_request options = as_reuse_request_default();
    struct as_error err = AS_ERROR_INIT;
    int rest;
    enum as_parse parsed = as_cli_parse(&as_command_reuse, argc, argv, &options, &rest);
    if (parsed != AS_PARSE_OK)
        return parsed == AS_PARSE_HELP ? AS_EXIT_OK : AS_EXIT_USAGE;
    options.output = as_output_name(options.output);
    int status = AS_EXIT_USAGE;
    struct as_default_core core;
    if (options.source == AS_REUSE_MODEL && options.method == AS_REUSE_NO_METHOD)
        options.method = AS_REUSE_EXACT;
    if (!as_reuse_request_check(&options, argc - rest, &err))
        status = as_cli_usage(&as_command_reuse, "%s", err.message);
    else if (options.source != AS_REUSE_MODEL)
        status = run_on_machine(&options, argv + rest);
    else if (!as_run_options_settle_untimed(&options.run, false, &err))
        status = as_cli_fail(&as_command_reuse, &err);
    else {
        options.core =
            as_core_or_default(options.core, argv[rest], &core); /* prints which, so no wrong option may follow */
        status = run_program(&options, argv + rest);
    }
    as_run_options_free(&options.run);
    as_strlist_free(&options.set);
    return status;
}

const struct as_command as_command_reuse = {
    .name = "reuse",
    .summary = "How far apart use and reuse of memory are",
    .usage = "[options] [--] PROGRAM [ARGS…]",
    .description =
        "Runs the program in QEMU's user mode and determines for each access how long ago, in distinct cache lines, "
        "the same line was used before: by thread, and between threads in the cache that they share, with "
        "invalidations. That gives the miss ratio of caches of every size, the code whose data comes too "
        "late, and what could be done about it. The exit status is the program's.",
    .options = as_reuse_options_table,
    .examples = "assay reuse -- ./prog\n"
                "assay reuse --core golden-cove-like --json -- ./prog > reuse.json\n"
                "assay reuse --granularity 8 --csv -- ./prog\n"
                "assay reuse --allocations -- ./prog\n"
                "assay reuse --html -o reuse.html -- ./prog\n"
                "assay reuse --method=watch --exact -- ./prog\n",
    .run = run_reuse,
};
