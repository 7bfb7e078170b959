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
#include "engine/sink_tee.h"
#include "lens/lens_unit.h"
#include "lens/weave.h"
#include "model/access_buffer.h"
#include "model/access_stream.h"
#include "record/modelled.h"
#include "reuse/reuse_feed.h"

#include <stdlib.h>
#include <unistd.h>

enum { BATCH = 4096, IN_FLIGHT = 8, THINNEST = 7 };

struct session {
    const struct as_reuse_request *options;
    char **argv;
    struct as_machine machine;
    struct as_reuse_options analysis;
    struct as_reuse *exact;
    struct as_adjacent *adjacent;
    struct as_reuse_feed *feed;
    struct as_reuse_estimate *estimate;
    struct as_fanout *fanout;
    struct as_access_stream *stream;
    struct as_guest_memory *memory;
    struct as_moved_memory *moved;
    struct as_sink_tee *sinks;
    struct as_engine *engine;
    struct as_engine_options engine_options;
    char **environment; /* the program's; NULL: ours */
    struct as_reuse_objects objects;
    struct as_engine_result result;
    struct as_lens_unit unit;
    _Atomic uint64_t threshold; /* AS_REUSE_LINES: of the lines that are sampled */
    struct as_progress progress;
    struct as_output output;
};

static void tick(void *context)
{
    struct session *session = context;
    uint64_t executed = as_engine_progress(session->engine);
    as_progress_update(&session->progress, executed, executed);
}

/* ---- before the run ---- */

static struct as_cache_shape shape_of(const struct as_machine *machine, const struct as_cache_machine *cache)
{
    return (struct as_cache_shape){.lines = cache->size / machine->memory.line, .ways = cache->ways};
}

static uint32_t default_jobs(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors > 2 ? processors - 2 < AS_REUSE_MOST_JOBS ? (uint32_t)(processors - 2) : AS_REUSE_MOST_JOBS : 0;
}

static void plan(struct session *session)
{
    const struct as_reuse_request *options = session->options;
    const struct as_machine *machine = &session->machine;
    uint64_t usual = options->method == AS_REUSE_WATCH ? AS_REUSE_WATCHED : machine->memory.line;
    uint64_t granularity = options->granularity ? options->granularity : usual;
    session->analysis = (struct as_reuse_options){
        .shape = {.shift = (uint32_t)__builtin_ctzll(granularity), .interval = options->interval},
        .sockets = (uint32_t)options->sockets,
        .jobs = options->jobs == UINT64_MAX ? default_jobs() : (uint32_t)options->jobs};
    session->analysis.shape.sampled = options->method == AS_REUSE_LINES;
    session->analysis.threshold = &session->threshold;
    session->analysis.most = options->lines;
    session->analysis.nearest = AS_SAMPLE_NEAR;
    session->analysis.thinnest = THINNEST;
    session->threshold = UINT64_MAX;
    session->analysis.shape.distinct = options->method == AS_REUSE_WATCH; /* what it is to be held against */
    if (granularity != machine->memory.line)
        return;
    session->analysis.shape.levels[AS_REUSE_L1] = shape_of(machine, &machine->memory.l1d);
    session->analysis.shape.levels[AS_REUSE_L2] = shape_of(machine, &machine->memory.l2);
    session->analysis.shape.levels[AS_REUSE_LLC] = shape_of(machine, &machine->memory.llc);
}

static bool follows_calls(const struct as_reuse_request *options)
{
    return options->method != AS_REUSE_LINES && !options->no_paths;
}

/* Whether what a thread saw comes behind the store that it saw. A sample of the lines is for long runs, and reading threads in that order
 * takes a third more processor time if they spin. */
static bool is_ordered(const struct as_reuse_request *options)
{
    return options->method != AS_REUSE_LINES;
}

static struct as_reuse_feed *make_feed(struct session *session)
{
    const struct as_reuse_request *options = session->options;
    struct as_reuse_feed_options feed = {.watch = options->method == AS_REUSE_WATCH,
                                         .watch_options = AS_WATCH_OPTIONS_DEFAULT,
                                         .period = options->period,
                                         .registers = (uint32_t)options->registers,
                                         .unit = options->pmu ? &session->unit : NULL,
                                         .disturb = options->disturb,
                                         .path_kind = follows_calls(options) ? AS_ACCESS_PATH : 0,
                                         .run = as_access_stream_run_info(session->stream)};
    if (options->method != AS_REUSE_WATCH || options->exact)
        session->exact = as_reuse_new(&session->analysis);
    feed.exact = session->exact;
    if (options->adjacent) {
        const struct as_machine *machine = &session->machine;
        struct as_cache_shape own =
            shape_of(machine, machine->memory.l2.size ? &machine->memory.l2 : &machine->memory.l1d);
        feed.adjacent = session->adjacent = as_adjacent_new((uint32_t)__builtin_ctzll(machine->memory.line), &own);
    }
    feed.watch_options.mode = options->shared ? AS_WATCH_CACHE : AS_WATCH_THREADS;
    feed.watch_options.sockets = (uint32_t)options->sockets;
    feed.watch_options.length = UINT32_C(1) << session->analysis.shape.shift;
    feed.watch_options.replacement = (enum as_watch_replacement)options->replacement;
    feed.watch_options.lag = options->lag;
    feed.watch_options.seed = options->seed;
    return as_reuse_feed_new(&feed);
}

static bool open_session(struct session *session, struct as_error *err)
{
    struct as_fanout_options fanout = {.kind = &as_access_buffers, .batch = BATCH, .in_flight = IN_FLIGHT};
    if ((session->options->pmu &&
         !as_lens_unit_choose(session->options->pmu, session->options->period, &session->unit, err)) ||
        !as_modelled_machine(&session->machine, session->options->core, &session->options->set, err) ||
        !as_output_open(&session->output, session->options->output, err))
        return false;
    if (session->options->allocations && !(session->environment = as_agent_model_environment(err)))
        return false;
    plan(session);
    session->fanout = as_fanout_new(&fanout);
    session->stream = as_access_stream_new(session->fanout, NULL, NULL);
    if (is_ordered(session->options))
        as_access_stream_keep_order(session->stream, AS_WEAVE_QUANTUM);
    if (follows_calls(session->options))
        as_access_stream_follow_calls(session->stream);
    session->feed = make_feed(session);
    session->memory = as_guest_memory_new();
    session->moved = as_moved_memory_new();
    as_access_stream_set_moved(session->stream, session->moved);
    session->sinks = as_sink_tee_new();
    if (session->analysis.shape.sampled)
        as_access_stream_set_sample(session->stream, session->analysis.shape.shift, &session->threshold);
    as_sink_tee_add(session->sinks, &as_moved_memory_sink, session->moved);
    as_sink_tee_add(session->sinks, as_access_stream_choose_sink(session->stream), session->stream);
    as_sink_tee_add(session->sinks, &as_guest_memory_sink, session->memory);
    as_fanout_add(session->fanout, &as_reuse_feed_observer, session->feed, false);
    return true;
}

/* ---- the run ---- */

/* The sample's sums are those of the run. */
static void adjust(struct session *session)
{
    struct as_access_sum seen = as_access_stream_seen(session->stream, 0);
    as_reuse_adjust(session->exact, seen.accesses, seen.touches);
    for (size_t i = 0; i < as_reuse_count_threads(session->exact); i++) {
        seen = as_access_stream_seen(session->stream, as_reuse_get_thread(session->exact, i)->number);
        as_reuse_adjust_thread(session->exact, i, seen.accesses, seen.touches);
    }
}

static bool run_engine(struct session *session, struct as_error *err)
{
    struct as_engine_options *options = &session->engine_options;
    void *context;
    const struct as_sink *sink = as_sink_tee_sink(session->sinks, &context);
    *options = as_run_engine_options(&session->options->run, session->argv);
    options->stdout_to_stderr =
        (session->options->json || session->options->csv || session->options->html) && !session->options->output;
    options->observed = true;
    options->causal = is_ordered(session->options);
    if (session->analysis.shape.sampled) {
        options->blocks_only = true;
        options->sample = &session->threshold;
        options->sample_shift = session->analysis.shape.shift;
        /* The reader keeps threads in order. Each gate costs as much as thousands of accesses that are left out. */
        if (!options->deterministic)
            options->quantum = 0;
    }
    options->environment = session->environment;
    options->tick = tick;
    options->tick_context = session;
    session->engine = as_engine_start(options, err);
    if (!session->engine)
        return false;
    as_access_stream_set_engine(session->stream, session->engine);
    as_progress_start(&session->progress, as_regions_length(&session->options->run.regions));
    bool ok =
        as_fanout_start(session->fanout, err) && as_engine_run(session->engine, sink, context, &session->result, err);
    if (ok) {
        as_access_stream_finish(session->stream);
        as_fanout_report(session->fanout, stderr);
        if (session->analysis.shape.sampled)
            adjust(session);
    }
    as_progress_end(&session->progress);
    return ok;
}

/* ---- after the run ---- */

static int write_result(struct session *session)
{
    struct as_error err = AS_ERROR_INIT;
    const struct as_reuse_request *options = session->options;
    struct as_reuse_shown shown = {.argv = session->argv,
                                   .engine = session->engine,
                                   .result = &session->result,
                                   .instructions = as_access_stream_executed(session->stream),
                                   .machine = &session->machine,
                                   .options = &session->analysis,
                                   .exact = session->exact,
                                   .sites = as_reuse_feed_sites(session->feed),
                                   .calls = as_access_stream_calls(session->stream),
                                   .adjacent = session->adjacent,
                                   .shared = options->shared,
                                   .pmu = options->pmu,
                                   .missed = as_reuse_feed_missed(session->feed),
                                   .watched_bytes = 1u << session->analysis.shape.shift,
                                   .top = options->top};
    if (options->method == AS_REUSE_WATCH ||
        session->analysis.shape.levels[AS_REUSE_L1].lines) /* caches have lines alone */
        shown.n_host = as_host_caches_read("/sys", shown.host);
    if (as_reuse_feed_watch(session->feed))
        shown.estimate = session->estimate = as_reuse_estimate_new(as_reuse_feed_watch(session->feed),
                                                                   as_reuse_feed_accesses(session->feed), shown.sites);
    if (session->exact && session->analysis.shape.levels[AS_REUSE_L1].lines && !session->analysis.shape.sampled) {
        as_reuse_objects_make(&session->objects, session->exact, session->analysis.shape.shift, session->memory,
                              session->moved, session->feed);
        shown.objects = &session->objects;
    }
    if (session->exact)
        shown.n_advice = as_reuse_advise(as_reuse_all_threads(session->exact), as_reuse_all_sockets(session->exact),
                                         shown.advice, AS_REUSE_ADVICE_MOST);
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
    if (!as_engine_check_reached(&session->result, as_access_stream_executed(session->stream), &err)) {
        as_output_drop(&session->output);
        return as_cli_fail(&as_command_reuse, &err);
    }
    int failed = write_result(session), status = as_run_report(&session->result, &session->options->run);
    return failed ? failed : status;
}

static void close_session(struct session *session)
{
    as_access_stream_free(session->stream);
    if (session->fanout)
        as_fanout_free(session->fanout);
    as_reuse_feed_free(session->feed);
    as_reuse_estimate_free(session->estimate);
    as_reuse_free(session->exact);
    as_adjacent_free(session->adjacent);
    as_reuse_objects_free(&session->objects);
    as_guest_memory_free(session->memory);
    as_moved_memory_free(session->moved);
    as_sink_tee_free(session->sinks);
    as_agent_model_environment_free(session->environment);
    as_engine_free(session->engine);
}

static int run_program(const struct as_reuse_request *options, char **argv)
{
    struct as_error err = AS_ERROR_INIT;
    struct session session = {.options = options, .argv = argv};
    bool ok = open_session(&session, &err) && run_engine(&session, &err);
    int status = ok ? show(&session) : as_cli_fail(&as_command_reuse, &err);
    if (!ok)
        as_output_drop(&session.output);
    close_session(&session);
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
        "Runs the program in QEMU's user mode and says for each access how long ago, in distinct cache lines, "
        "the same line was used before: by thread, and between threads in the cache that they share, with "
        "invalidations. That gives the miss ratio of caches of every size, the code whose data comes too "
        "late, and what could be done about it. The exit status is the program's.",
    .options = as_reuse_options_table,
    .examples = "  assay reuse -- ./prog\n"
                "  assay reuse --core golden-cove-like --json -- ./prog > reuse.json\n"
                "  assay reuse --granularity 8 --csv -- ./prog\n"
                "  assay reuse --allocations -- ./prog\n"
                "  assay reuse --html -o reuse.html -- ./prog\n"
                "  assay reuse --method=watch --exact -- ./prog\n",
    .run = run_reuse,
};
