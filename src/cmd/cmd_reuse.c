/* assay reuse: how far apart use and reuse of memory are. */
#include "cmd/commands.h"
#include "cmd/model_options.h"
#include "cmd/output.h"
#include "cmd/progress.h"
#include "cmd/reuse_show.h"
#include "cmd/run_options.h"
#include "cmd/shared_options.h"
#include "engine/sink_tee.h"
#include "model/access_buffer.h"
#include "model/access_stream.h"
#include "record/modelled.h"
#include "reuse/reuse_feed.h"

#include <stdlib.h>
#include <unistd.h>

enum { BATCH = 4096, IN_FLIGHT = 8, INTERVAL = 1000000, MOST_JOBS = 64 };

struct reuse_options {
    struct as_run_options run;
    bool json, csv;
    const char *output, *core;
    struct as_strlist set;
    uint64_t granularity, sockets, interval, jobs, top;
};

static const struct as_option options_table[] = {
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
    {.name = "jobs",
     .short_name = 'j',
     .type = AS_OPTION_U64,
     .offset = offsetof(struct reuse_options, jobs),
     .value = "N",
     .max = MOST_JOBS,
     .help = "Work on N host threads, each for some of the program's threads (default: as many as there are processors "
             "beyond two; 0: none of their own)."},
    AS_CORE_OPTION(struct reuse_options, core, "boom-tea", ": its caches are simulated and marked."),
    AS_SET_OPTION(struct reuse_options, set, AS_SET_HELP),
    AS_JSON_OPTION(struct reuse_options, json, AS_JSON_HELP_RUN),
    {.name = "csv",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct reuse_options, csv),
     .help = "Print the histograms and the miss-ratio curve as comma-separated values; the program's own standard "
             "output then goes to standard error."},
    AS_OUTPUT_OPTION(struct reuse_options, output, AS_OUTPUT_HELP_RUN),
    AS_RUN_OPTIONS(struct reuse_options, run),
    {.name = NULL},
};

struct session {
    const struct reuse_options *options;
    char **argv;
    struct as_machine machine;
    struct as_reuse_options analysis;
    struct as_reuse *exact;
    struct as_fanout *fanout; /* owns the feed */
    struct as_access_stream *stream;
    struct as_engine *engine;
    struct as_engine_result result;
    struct as_progress progress;
    struct as_output output;
};

static void tick(void *context)
{
    struct session *session = context;
    as_progress_update(&session->progress, as_engine_progress(session->engine));
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
    uint64_t granularity = options->granularity ? options->granularity : machine->memory.line;
    session->analysis = (struct as_reuse_options){
        .shape = {.shift = (uint32_t)__builtin_ctzll(granularity), .interval = options->interval},
        .sockets = (uint32_t)options->sockets,
        .jobs = options->jobs == UINT64_MAX ? default_jobs() : (uint32_t)options->jobs};
    if (granularity != machine->memory.line)
        return;
    session->analysis.shape.levels[AS_REUSE_L1] = shape_of(machine, &machine->memory.l1d);
    session->analysis.shape.levels[AS_REUSE_L2] = shape_of(machine, &machine->memory.l2);
    session->analysis.shape.levels[AS_REUSE_LLC] = shape_of(machine, &machine->memory.llc);
}

static bool open_session(struct session *session, struct as_error *err)
{
    struct as_fanout_options fanout = {.kind = &as_access_buffers, .batch = BATCH, .in_flight = IN_FLIGHT};
    if (!as_modelled_machine(&session->machine, session->options->core, &session->options->set, err) ||
        !as_output_open(&session->output, session->options->output, err))
        return false;
    plan(session);
    session->exact = as_reuse_new(&session->analysis);
    session->fanout = as_fanout_new(&fanout);
    session->stream = as_access_stream_new(session->fanout, NULL, NULL);
    as_fanout_add(session->fanout, &as_reuse_feed_observer, as_reuse_feed_new(session->exact, NULL), false);
    return true;
}

/* ---- the run ---- */

static bool run_engine(struct session *session, struct as_error *err)
{
    struct as_engine_options options = as_run_engine_options(&session->options->run, session->argv);
    options.stdout_to_stderr = (session->options->json || session->options->csv) && !session->options->output;
    options.observed = true;
    options.tick = tick;
    options.tick_context = session;
    session->engine = as_engine_start(&options, err);
    if (!session->engine)
        return false;
    as_access_stream_set_engine(session->stream, session->engine);
    as_progress_start(&session->progress, as_regions_length(&session->options->run.regions));
    bool ok = as_fanout_start(session->fanout, err) &&
              as_engine_run(session->engine, &as_access_stream_sink, session->stream, &session->result, err);
    if (ok) {
        as_access_stream_finish(session->stream);
        as_fanout_report(session->fanout, stderr);
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
                                   .machine = &session->machine,
                                   .options = &session->analysis,
                                   .exact = session->exact,
                                   .top = options->top};
    shown.n_host = as_host_caches_read("/sys", shown.host);
    shown.n_advice = as_reuse_advise(as_reuse_all_threads(session->exact), as_reuse_all_sockets(session->exact),
                                     shown.advice, AS_REUSE_ADVICE_MOST);
    if (options->json && !as_reuse_show_json(&shown, session->output.file) && !session->output.path)
        return as_cli_stdout_failed();
    if (options->csv)
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
    as_reuse_free(session->exact);
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

static int run_reuse(int argc, char **argv)
{
    struct reuse_options options = {.run = AS_RUN_OPTIONS_DEFAULT,
                                    .core = "boom-tea",
                                    .sockets = 1,
                                    .interval = INTERVAL,
                                    .jobs = UINT64_MAX,
                                    .top = 10};
    struct as_error err = AS_ERROR_INIT;
    int rest;
    enum as_parse parsed = as_cli_parse(&as_command_reuse, argc, argv, &options, &rest);
    if (parsed != AS_PARSE_OK)
        return parsed == AS_PARSE_HELP ? AS_EXIT_OK : AS_EXIT_USAGE;
    options.output = as_output_name(options.output);
    int status = AS_EXIT_USAGE;
    if (options.json && options.csv)
        status = as_cli_usage(&as_command_reuse, "--json and --csv exclude each other");
    else if (options.granularity & (options.granularity - 1))
        status = as_cli_usage(&as_command_reuse, "--granularity must be a power of two, 1 to 4096");
    else if (rest >= argc)
        status = as_cli_usage(&as_command_reuse, "no program given");
    else
        status = as_run_options_settle_untimed(&options.run, &err) ? run_program(&options, argv + rest)
                                                                   : as_cli_fail(&as_command_reuse, &err);
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
                "  assay reuse --granularity 8 --csv -- ./prog\n",
    .run = run_reuse,
};
