/* assay reuse: how far apart use and reuse of memory are. */
#include "agent/agent_host.h"
#include "cmd/commands.h"
#include "cmd/default_core.h"
#include "cmd/lens_unit.h"
#include "cmd/model_options.h"
#include "cmd/output.h"
#include "cmd/progress.h"
#include "cmd/reuse_html.h"
#include "cmd/reuse_on_machine.h"
#include "cmd/reuse_show.h"
#include "cmd/run_options.h"
#include "cmd/shared_options.h"
#include "engine/sink_tee.h"
#include "lens/weave.h"
#include "model/access_buffer.h"
#include "model/access_stream.h"
#include "record/modelled.h"
#include "reuse/reuse_feed.h"

#include <stdlib.h>
#include <unistd.h>

/* Defaults of options that not all methods have. */
enum { LINES = 4096, PERIOD = 50000, REGISTERS = 4, RATE = 200, BUDGET = 20, AHEAD = 32768 };
enum { BATCH = 4096, IN_FLIGHT = 8, INTERVAL = 1000000, MOST_JOBS = 64, WATCHED = 8, THINNEST = 7 };

struct reuse_options {
    struct as_run_options run;
    bool json, csv, html, exact, shared, disturb, no_paths, allocations, adjacent;
    int method;      /* enum method */
    int replacement; /* enum as_watch_replacement */
    const char *output, *core, *pmu;
    struct as_strlist set;
    uint64_t granularity, sockets, interval, jobs, top, lines, period, registers, lag, seed, pid, ahead;
    int source; /* enum source */
    double rate, budget, duration;
};

enum source { SOURCE_MODEL, SOURCE_TIMER, SOURCE_PMU };
static const char *const source_choices[] = {"model", "timer", "pmu", NULL};
enum method { METHOD_EXACT, METHOD_LINES, METHOD_WATCH, METHOD_NOT_GIVEN };
static const char *const replacement_choices[] = {"graded", "reservoir", NULL};
static const char *const method_choices[] = {"exact", "lines", "watch", NULL};

static const struct as_option options_table[] = {
    {.name = "source",
     .type = AS_OPTION_CHOICE,
     .offset = offsetof(struct reuse_options, source),
     .value = "model|timer|pmu",
     .choices = source_choices,
     .help =
         "Where the program runs: in QEMU's user mode, where every access is seen (model, the default); or on this "
         "machine, stopped now and then, with watchpoints in the debug registers of its threads. There distances are "
         "counted by looking ahead of the stopped program, or come from time and a measured rate (timer), or from "
         "the PMU's counters of loads and stores (pmu)."},
    {.name = "rate",
     .type = AS_OPTION_DOUBLE,
     .offset = offsetof(struct reuse_options, rate),
     .value = "N",
     .help = "On the machine: samples a second, at most (default 200)."},
    {.name = "budget",
     .type = AS_OPTION_DOUBLE,
     .offset = offsetof(struct reuse_options, budget),
     .value = "PERCENT",
     .help = "On the machine: how much of the time the program may stand still for samples (default 20), counted in "
             "the processor time that samples take."},
    {.name = "ahead",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct reuse_options, ahead),
     .value = "N",
     .max = 1 << 24,
     .help = "On the machine: look at the N next accesses of a thread in advance (default 32k). What is reused within "
             "them is counted exactly; 0: everything is timed."},
    {.name = "pid",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct reuse_options, pid),
     .value = "PID",
     .min = 1,
     .max = INT32_MAX,
     .help = "On the machine: look at a process that runs already."},
    {.name = "duration",
     .type = AS_OPTION_DOUBLE,
     .offset = offsetof(struct reuse_options, duration),
     .value = "SECONDS",
     .help = "With --pid: how long."},
    {.name = "method",
     .type = AS_OPTION_CHOICE,
     .offset = offsetof(struct reuse_options, method),
     .value = "exact|lines|watch",
     .choices = method_choices,
     .help =
         "exact: from every access (the default). lines: from every access to a sample of the lines, chosen by a hash; "
         "much faster, without simulated caches. watch: as on a real machine, from sampled accesses whose "
         "addresses are watched until they are used again, with the modelled machine's counters and debug "
         "registers."},
    {.name = "exact",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct reuse_options, exact),
     .help = "With --method=watch: also work the distances out from every access, and say how accurate the estimate "
             "is."},
    {.name = "lines",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct reuse_options, lines),
     .value = "N",
     .min = 64,
     .help =
         "With --method=lines: begin with all lines, and halve the sample whenever there are more than N of them in it "
         "(default 4096), down to one of 128."},
    {.name = "shared",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct reuse_options, shared),
     .help =
         "With --method=watch, and on the machine: watch for reuse in the cache that threads share, not in threads."},
    {.name = "period",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct reuse_options, period),
     .value = "N",
     .min = 1,
     .help = "With --method=watch: sample one of N loads and one of N stores of each thread (default 50k)."},
    {.name = "pmu",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct reuse_options, pmu),
     .value = "NAME|FILE",
     .help =
         "With --method=watch: sample as this modelled PMU would, such as skylake, zen4 or neoverse-n1 (assay trust): "
         "fixed periods of loads and stores, with the delay until PEBS is armed, or of operations, with the random "
         "bits of IBS and SPE and the interrupt; --period then counts what it counts. Default: an ideal sampler with "
         "random periods."},
    {.name = "registers",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct reuse_options, registers),
     .value = "N",
     .min = 1,
     .max = 4,
     .help = "With --method=watch: debug registers of a thread (default 4)."},
    {.name = "replacement",
     .type = AS_OPTION_CHOICE,
     .offset = offsetof(struct reuse_options, replacement),
     .value = "graded|reservoir",
     .choices = replacement_choices,
     .help = "With --method=watch: which use gives up its register for a new sample. graded: by chance, rather one of "
             "an age at which uses seldom end, and half of the registers is left to uses that wait for very long (the "
             "default). reservoir: with 1/n at the n-th sample, as ReuseTracker does."},
    {.name = "arm-lag",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct reuse_options, lag),
     .value = "N",
     .help = "With --method=watch: the other threads are armed only after N accesses of all threads (default 0). "
             "Stores that go unnoticed meanwhile are counted as 'relaxed'."},
    {.name = "disturb",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct reuse_options, disturb),
     .help = "With --method=watch: threads stand still while samples and traps are handled, and the others run on."},
    {.name = "seed",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct reuse_options, seed),
     .value = "N",
     .help = "With --method=watch: of the random numbers (default 1)."},
    {.name = "granularity",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct reuse_options, granularity),
     .value = "BYTES",
     .min = 1,
     .max = 4096,
     .help = "What counts as the same memory: 1 to 4096 bytes, a power of two (default: a line of the machine). Caches "
             "are only shown for lines."},
    {.name = "sockets",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct reuse_options, sockets),
     .value = "N",
     .min = 1,
     .max = 16,
     .help = "Spread the threads of a process evenly over N sockets, each with a cache that its threads share (default "
             "1)."},
    {.name = "interval",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct reuse_options, interval),
     .value = "N",
     .min = 1,
     .help = "Measure the working set in intervals of N accesses (default 1M)."},
    {.name = "top",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct reuse_options, top),
     .value = "N",
     .help = "Show the N most important pairs of use and reuse, and instructions (default 10; 0: none)."},
    {.name = "allocations",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct reuse_options, allocations),
     .help = "Load Assay's agent into the program, so that misses of the heap are those of places that allocate. For "
             "programs of this machine's architecture that are linked dynamically."},
    {.name = "adjacent",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct reuse_options, adjacent),
     .help = "Also count false sharing by aligned pairs of lines that there is not by lines, and how much of it an "
             "adjacent-line prefetcher could bring about; in text and JSON."},
    {.name = "no-paths",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct reuse_options, no_paths),
     .help = "Do not follow calls: faster, without call paths."},
    {.name = "jobs",
     .short_name = 'j',
     .type = AS_OPTION_U64,
     .offset = offsetof(struct reuse_options, jobs),
     .value = "N",
     .max = MOST_JOBS,
     .help = "Work on N host threads, each for some of the program's threads (default: as many as there are processors "
             "beyond two; 0: none of their own)."},
    AS_CORE_OPTION(struct reuse_options, core, AS_NEAREST_CORE, ": its caches are simulated and marked."),
    AS_SET_OPTION(struct reuse_options, set, AS_SET_HELP),
    AS_JSON_OPTION(struct reuse_options, json, AS_JSON_HELP_RUN),
    {.name = "csv",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct reuse_options, csv),
     .help =
         "Print one table of comma-separated values; the program's own standard output then goes to standard error."},
    {.name = "html",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct reuse_options, html),
     .help =
         "Print one HTML page: histograms, miss ratios by size, working set, code, objects. It needs no network and "
         "no scripts; the program's own standard output then goes to standard error."},
    AS_OUTPUT_OPTION(struct reuse_options, output, AS_OUTPUT_HELP_RUN),
    AS_RUN_PLACES(struct reuse_options, run),
    AS_RUN_WAYS(struct reuse_options, run),
    {.name = NULL},
};

struct session {
    const struct reuse_options *options;
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
    _Atomic uint64_t threshold; /* METHOD_LINES: of the lines that are sampled */
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
    return processors > 2 ? processors - 2 < MOST_JOBS ? (uint32_t)(processors - 2) : MOST_JOBS : 0;
}

static void plan(struct session *session)
{
    const struct reuse_options *options = session->options;
    const struct as_machine *machine = &session->machine;
    uint64_t usual = options->method == METHOD_WATCH ? WATCHED : machine->memory.line;
    uint64_t granularity = options->granularity ? options->granularity : usual;
    session->analysis = (struct as_reuse_options){
        .shape = {.shift = (uint32_t)__builtin_ctzll(granularity), .interval = options->interval},
        .sockets = (uint32_t)options->sockets,
        .jobs = options->jobs == UINT64_MAX ? default_jobs() : (uint32_t)options->jobs};
    session->analysis.shape.sampled = options->method == METHOD_LINES;
    session->analysis.threshold = &session->threshold;
    session->analysis.most = options->lines;
    session->analysis.thinnest = THINNEST;
    session->threshold = UINT64_MAX;
    session->analysis.shape.distinct = options->method == METHOD_WATCH; /* what it is to be held against */
    if (granularity != machine->memory.line)
        return;
    session->analysis.shape.levels[AS_REUSE_L1] = shape_of(machine, &machine->memory.l1d);
    session->analysis.shape.levels[AS_REUSE_L2] = shape_of(machine, &machine->memory.l2);
    session->analysis.shape.levels[AS_REUSE_LLC] = shape_of(machine, &machine->memory.llc);
}

static bool follows_calls(const struct reuse_options *options)
{
    return options->method != METHOD_LINES && !options->no_paths;
}

/* Whether what a thread saw comes behind the store that it saw. A sample of the lines is for long runs, and reading threads in that order
 * takes a third more processor time if they spin. */
static bool is_ordered(const struct reuse_options *options)
{
    return options->method != METHOD_LINES;
}

static struct as_reuse_feed *make_feed(struct session *session)
{
    const struct reuse_options *options = session->options;
    struct as_reuse_feed_options feed = {.watch = options->method == METHOD_WATCH,
                                         .watch_options = AS_WATCH_OPTIONS_DEFAULT,
                                         .period = options->period,
                                         .registers = (uint32_t)options->registers,
                                         .unit = options->pmu ? &session->unit : NULL,
                                         .disturb = options->disturb,
                                         .path_kind = follows_calls(options) ? AS_ACCESS_PATH : 0,
                                         .run = as_access_stream_run_info(session->stream)};
    if (options->method != METHOD_WATCH || options->exact)
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
        struct as_access_sum seen = as_access_stream_seen(session->stream);
        if (session->analysis.shape.sampled)
            as_reuse_adjust(session->exact, seen.accesses, seen.touches);
    }
    as_progress_end(&session->progress);
    return ok;
}

/* ---- after the run ---- */

static int write_result(struct session *session)
{
    struct as_error err = AS_ERROR_INIT;
    const struct reuse_options *options = session->options;
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
    if (options->method == METHOD_WATCH ||
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
    int failed = write_result(session);
    int status = as_run_report(&session->result, &session->options->run);
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

static int run_program(const struct reuse_options *options, char **argv)
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

/* In the model: an option that is not for the method; NULL: none is given. `whose`: what it is for. */
static const char *misplaced_option(const struct reuse_options *options, const char **whose)
{
    static const char watch[] = "--method=watch", lines[] = "--method=lines", machine[] = "--source=timer and pmu";
    bool watches = options->method == METHOD_WATCH;
    const struct {
        const char *name, *whose;
        bool given;
    } owned[] = {{"shared", watch, !watches && options->shared},
                 {"exact", watch, options->method == METHOD_LINES && options->exact},
                 {"period", watch, !watches && options->period != PERIOD},
                 {"registers", watch, !watches && options->registers != REGISTERS},
                 {"replacement", watch, !watches && options->replacement != AS_REPLACE_GRADED},
                 {"arm-lag", watch, !watches && options->lag > 0},
                 {"disturb", watch, !watches && options->disturb},
                 {"seed", watch, !watches && options->seed != 1},
                 {"lines", lines, options->method != METHOD_LINES && options->lines != LINES},
                 {"rate", machine, options->rate != RATE},
                 {"budget", machine, options->budget != BUDGET},
                 {"ahead", machine, options->ahead != AHEAD},
                 {"duration", machine, options->duration > 0}};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        if (owned[i].given) {
            *whose = owned[i].whose;
            return owned[i].name;
        }
    return NULL;
}

/* An option that only the model has; NULL: none is given. */
static const char *model_option(const struct reuse_options *options)
{
    const struct {
        const char *name;
        bool given;
    } owned[] = {{"method", options->method != METHOD_NOT_GIVEN},
                 {"core", options->core != NULL},
                 {"exact", options->exact},
                 {"lines", options->lines != LINES},
                 {"period", options->period != PERIOD},
                 {"pmu", options->pmu != NULL},
                 {"arm-lag", options->lag > 0},
                 {"disturb", options->disturb},
                 {"granularity", options->granularity > 0},
                 {"sockets", options->sockets != 1},
                 {"interval", options->interval != INTERVAL},
                 {"allocations", options->allocations},
                 {"adjacent", options->adjacent},
                 {"jobs", options->jobs != UINT64_MAX},
                 {"set", options->set.len > 0}};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        if (owned[i].given)
            return owned[i].name;
    return as_run_options_given(&options->run);
}

static int run_on_machine(const struct reuse_options *options, char **argv)
{
    const char *other = model_option(options);
    if (other)
        return as_cli_usage(&as_command_reuse, "--%s is the model's: --source=%s has none", other,
                            source_choices[options->source]);
    struct as_reuse_machine_request request = {.native = AS_REUSE_NATIVE_OPTIONS_DEFAULT,
                                               .command = &as_command_reuse,
                                               .format = options->json   ? AS_REUSE_JSON
                                                         : options->csv  ? AS_REUSE_CSV
                                                         : options->html ? AS_REUSE_HTML
                                                                         : AS_REUSE_TEXT,
                                               .output = options->output,
                                               .top = options->top};
    struct as_reuse_native_options *native = &request.native;
    native->pmu = options->source == SOURCE_PMU;
    native->watch.mode = options->shared ? AS_WATCH_CACHE : AS_WATCH_THREADS;
    native->watch.replacement = (enum as_watch_replacement)options->replacement;
    native->watch.seed = native->seed = options->seed;
    native->registers = (uint32_t)(options->registers < 2 ? 2 : options->registers);
    native->rate = options->rate;
    native->budget = options->budget / 100;
    native->bound = options->ahead;
    native->pid = options->pid;
    native->duration = options->duration;
    if (!(options->rate >= 0.01 && options->rate <= 10000))
        return as_cli_usage(&as_command_reuse, "--rate=%g: must be 0.01 to 10000 samples a second", options->rate);
    if (!(options->budget >= 0.1 && options->budget <= 90))
        return as_cli_usage(&as_command_reuse, "--budget=%g: must be 0.1 to 90 per cent", options->budget);
    if (!(options->duration >= 0 && options->duration < 1e8) || (options->duration > 0 && !options->pid))
        return as_cli_usage(&as_command_reuse, "--duration is a number of seconds, and for --pid");
    return as_reuse_on_machine(&request, argv);
}

/* Distances begin with a region: what was used before it counts as never used. */
static bool settle(struct as_run_options *run, struct as_error *err)
{
    if (!as_run_options_settle_untimed(run, err))
        return false;
    for (size_t i = 0; i < run->regions.list.len; i++) {
        const struct as_region *region = &run->regions.list.data[i];
        if (region->warm || region->settle || region->mode == AS_MODE_WARM)
            return as_error_set_status(
                err, AS_EXIT_USAGE,
                "region '%s': reuse cannot warm or settle, it counts every access from the start "
                "of a region on: let the region start earlier",
                region->text);
    }
    return true;
}

static int run_reuse(int argc, char **argv)
{
    struct reuse_options options = {.run = AS_RUN_OPTIONS_DEFAULT,
                                    .core = NULL,
                                    .method = METHOD_NOT_GIVEN,
                                    .sockets = 1,
                                    .interval = INTERVAL,
                                    .jobs = UINT64_MAX,
                                    .lines = LINES,
                                    .period = PERIOD,
                                    .registers = REGISTERS,
                                    .rate = RATE,
                                    .budget = BUDGET,
                                    .ahead = AHEAD,
                                    .seed = 1,
                                    .top = 10};
    struct as_error err = AS_ERROR_INIT;
    int rest;
    enum as_parse parsed = as_cli_parse(&as_command_reuse, argc, argv, &options, &rest);
    if (parsed != AS_PARSE_OK)
        return parsed == AS_PARSE_HELP ? AS_EXIT_OK : AS_EXIT_USAGE;
    options.output = as_output_name(options.output);
    int status = AS_EXIT_USAGE;
    const char *other, *whose;
    struct as_default_core core;
    if (options.source == SOURCE_MODEL && options.method == METHOD_NOT_GIVEN)
        options.method = METHOD_EXACT;
    if (options.source == SOURCE_MODEL && rest < argc)
        options.core = as_core_or_default(options.core, argv[rest], &core);
    if (options.json + options.csv + options.html > 1)
        status = as_cli_usage(&as_command_reuse, "--json, --csv and --html exclude each other");
    else if (options.granularity & (options.granularity - 1))
        status = as_cli_usage(&as_command_reuse, "--granularity must be a power of two, 1 to 4096");
    else if (options.method == METHOD_LINES && options.granularity && options.granularity < 64)
        status = as_cli_usage(&as_command_reuse, "--method=lines takes a --granularity of 64 or more");
    else if (options.method == METHOD_WATCH && options.granularity > WATCHED)
        status =
            as_cli_usage(&as_command_reuse, "--method=watch takes a --granularity of 1, 2, 4 or 8: a debug register "
                                            "watches no more");
    else if (options.adjacent && options.source == SOURCE_MODEL && options.method != METHOD_EXACT)
        status = as_cli_usage(&as_command_reuse, "--adjacent is for --method=exact: it needs every access");
    else if (options.pmu && options.method != METHOD_WATCH && options.source == SOURCE_MODEL)
        status = as_cli_usage(&as_command_reuse, "--pmu is for --method=watch: the other methods see every access");
    else if (options.pid && (options.source == SOURCE_MODEL || rest < argc))
        status = as_cli_usage(&as_command_reuse, "--pid is in place of a program, and needs --source=timer or pmu");
    else if (options.source == SOURCE_MODEL && (other = misplaced_option(&options, &whose)))
        status = as_cli_usage(&as_command_reuse, "--%s is for %s", other, whose);
    else if (rest >= argc && !options.pid)
        status = as_cli_usage(&as_command_reuse, "no program given");
    else if (options.source != SOURCE_MODEL)
        status = run_on_machine(&options, argv + rest);
    else
        status = settle(&options.run, &err) ? run_program(&options, argv + rest) : as_cli_fail(&as_command_reuse, &err);
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
    .options = options_table,
    .examples = "  assay reuse -- ./prog\n"
                "  assay reuse --core golden-cove-like --json -- ./prog > reuse.json\n"
                "  assay reuse --granularity 8 --csv -- ./prog\n"
                "  assay reuse --allocations -- ./prog\n"
                "  assay reuse --html -o reuse.html -- ./prog\n"
                "  assay reuse --method=watch --exact -- ./prog\n",
    .run = run_reuse,
};
