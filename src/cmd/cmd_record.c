/* assay record: runs a program and writes a profile of it. */
#include "base/log.h"
#include "base/number.h"
#include "base/show.h"
#include "cmd/commands.h"
#include "cmd/debug_path.h"
#include "cmd/default_core.h"
#include "cmd/model_options.h"
#include "cmd/output.h"
#include "cmd/progress.h"
#include "cmd/record_summary.h"
#include "cmd/run_options.h"
#include "cmd/shared_options.h"
#include "pmu/pmu.h"
#include "record/choose_points.h"
#include "record/record.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static const char *const on_off[] = {"on", "off", NULL};
static const char *const call_graphs[] = {
    [AS_RECORD_AUTO] = "auto",     [AS_RECORD_FP] = "fp",   [AS_RECORD_DWARF] = "dwarf",
    [AS_RECORD_NO_CALLS] = "none", [AS_RECORD_LBR] = "lbr", NULL};

struct record_command {
    struct as_record_options record;
    struct as_run_options run;
    int golden; /* index into on_off */
    bool json, sampled;
    const char *budget;
    uint64_t unit, every;
    const char *warm;
    struct as_sampled_options how;
    struct as_record_points_options points;
    /* As given, and what stands for "not given". */
    const char *point_warm;                    /* NULL */
    uint64_t point_interval, max_k, per_phase; /* 0 */
    uint64_t jobs;                             /* UINT64_MAX */
    struct as_record_points chosen;
    struct as_output perf_output; /* --perf-data */
};
static const struct as_option options_table[] = {
    AS_OUTPUT_OPTION(
        struct record_command, record.output,
        "The profile to write (default assay.db). It appears complete when the run is over; until then, and if "
        "anything goes wrong, an older file stays as it is."),
    {.name = "source",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct record_command, record.source),
     .value = "NAME",
     .help = "Where the times come from: model (a modelled core that accounts for every cycle), pmu (events of this "
             "machine's processor), timer (the kernel's task clock, on any machine), or auto (the default: a PMU that "
             "samples precisely, else the model, else the timer). pmu:NAME is a modelled sampling unit on the modelled "
             "core: %s, or the path of a file.",
     .names = as_pmu_names},
    {.name = "pmu-set",
     .type = AS_OPTION_LIST,
     .offset = offsetof(struct record_command, record.pmu_set),
     .value = "KEY=VALUE",
     .help = "Change the modelled PMU (pmu:NAME); may be given several times."},
    {.name = "perf-data",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct record_command, record.perf_data),
     .value = "FILE",
     .writes = true,
     .help = "Also write the samples of the modelled PMU (pmu:NAME) as a recording of perf, for 'perf report' and "
             "'assay import'."},
    AS_CORE_OPTION(struct record_command, record.core, AS_NEAREST_CORE, "."),
    AS_SET_OPTION(struct record_command, record.set, AS_SET_HELP),
    {.name = "golden",
     .type = AS_OPTION_CHOICE,
     .offset = offsetof(struct record_command, golden),
     .value = "on|off",
     .choices = on_off,
     .help = "Whether to keep the golden reference: every cycle, exactly, by instruction, call path and thread "
             "(default on). Without it the run is faster, and shares are estimates from samples."},
    {.name = "budget",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct record_command, budget),
     .value = "N|SECONDSs",
     .help = "Measure at most the first N instructions in full (default 50M; 60s: as many as take about 60 seconds; 0: "
             "all). Of a longer program the rest is counted exactly and measured in short regions only; the profile is "
             "an estimate for all of it, with error bars. Not with parts of a program (--max, --region and so on)."},
    {.name = "sampled",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct record_command, sampled),
     .help =
         "Measure the first 10M instructions in full, and short regions after them (as --budget=10M does); an error "
         "if that is not possible."},
    {.name = "sample-unit",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct record_command, unit),
     .value = "N",
     .min = 1000,
     .max = 1000000000,
     .help = "The length of these regions in instructions (default 10k)."},
    {.name = "sample-period",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct record_command, every),
     .value = "N",
     .min = 10000,
     .max = UINT64_C(1000000000000),
     .help = "Measure one region in every N instructions (default 400k). N doubles after every 500 regions."},
    {.name = "sample-warm",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct record_command, warm),
     .value = "N|all|auto",
     .help =
         "Warm caches, TLBs and predictors with the N instructions before each region, or with all between regions; "
         "auto (the default): with as many as are needed, as measured in the part that runs in full detail. "
         "Large caches are kept warm in any case."},
    {.name = "points",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct record_command, points.points),
     .value = "auto|FILE",
     .help = "Measure simulation points, intervals that stand for phases of the program, and estimate all of it from "
             "them: those of a file as SimPoint writes it, or (auto) those that a first run of the program gives. For "
             "programs that do the same in every run: with one thread, or with --deterministic."},
    {.name = "point-weights",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct record_command, points.weights),
     .value = "FILE",
     .help = "The weights of the points of a file, as SimPoint writes them."},
    {.name = "point-interval",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct record_command, point_interval),
     .value = "N",
     .min = 1000,
     .max = UINT64_C(10000000000),
     .help = "The length of an interval in instructions (default 1M)."},
    {.name = "point-warm",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct record_command, point_warm),
     .value = "N|all",
     .help = "Warm everything with the N instructions before each point (default 1M), or with all; large caches "
             "are kept warm in any case."},
    {.name = "max-k",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct record_command, max_k),
     .value = "N",
     .min = 1,
     .max = 1000,
     .help = "With --points=auto: find at most N phases (default 30)."},
    {.name = "per-phase",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct record_command, per_phase),
     .value = "N",
     .min = 1,
     .max = AS_PLAN_PER_PHASE,
     .help =
         "With --points=auto: measure N intervals of each phase (default 2), more of large phases. At least two per "
         "phase unless N is 1, which gives no error bars."},
    {.name = "jobs",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct record_command, jobs),
     .value = "N",
     .max = 1024,
     .help = "Measure N simulation points at a time (default 0: one for each processor). The result is the same."},
    {.name = "samplers",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct record_command, record.samplers),
     .value = "LIST",
     .help = "Samplers to run as well, separated by commas (default tea): %s.",
     .names = as_samplers_name},
    {.name = "events",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct record_command, record.events),
     .value = "LIST",
     .help = "The events of the cycle stacks: names, sets (%s), or changes to the default threads such as +FORWARDED, "
             "separated by commas.",
     .names = as_event_sets_name},
    {.name = "period",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct record_command, record.period),
     .value = "N",
     .min = 1,
     .help = "Take a sample every N cycles (model, default 1009), nanoseconds (timer) or events (pmu)."},
    {.name = "rate",
     .type = AS_OPTION_DOUBLE,
     .offset = offsetof(struct record_command, record.rate),
     .value = "HZ",
     .help = "Take HZ samples a second of the program's time, instead of --period (timer and pmu: default 997, in "
             "each thread)."},
    {.name = "random",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct record_command, record.random),
     .help = "Sample at a random cycle of each period instead of its last. The timer always varies its period. "
             "With pmu, needs --period: with --rate the kernel varies the period."},
    {.name = "seed",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct record_command, record.seed),
     .value = "N",
     .help = "Seed of --random and of what --accesses chooses (default 1): the same seed gives the same samples."},
    {.name = "repeat",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct record_command, record.repeat),
     .value = "N",
     .min = 1,
     .max = 10000,
     .help =
         "Run the program N times. The profile is merged from all runs; it keeps cycles, seconds and samples of each, "
         "and their mean and spread."},
    {.name = "pid",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct record_command, record.pid),
     .value = "PID",
     .min = 1,
     .max = INT32_MAX,
     .help = "Record a running process (timer, pmu) until it ends, Ctrl-C, or --duration."},
    {.name = "duration",
     .type = AS_OPTION_DOUBLE,
     .offset = offsetof(struct record_command, record.duration),
     .value = "SECONDS",
     .help = "With --pid and --system-wide: how long to record."},
    {.name = "system-wide",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct record_command, record.system_wide),
     .help = "Record all processes of the machine on all its processors, and the kernel (timer, pmu): while PROGRAM "
             "runs or, without one, until --duration is over or Ctrl-C. Needs root, or CAP_PERFMON."},
    {.name = "event",
     .type = AS_OPTION_LIST,
     .offset = offsetof(struct record_command, record.event),
     .value = "NAME",
     .help = "What the pmu source samples (default cycles, as precisely as the processor can): a name as in perf "
             "list or of libpfm4, with modifiers such as :u and :pp; may be given several times."},
    {.name = "call-graph",
     .type = AS_OPTION_CHOICE,
     .offset = offsetof(struct record_command, record.call_graph),
     .value = "auto|fp|dwarf|none|lbr",
     .choices = call_graphs,
     .help = "How call paths are found (timer, pmu): by frame pointers (fp), by copies of the stack and the programs' "
             "unwind tables (dwarf), by the tables and, where those end, by frame pointers (auto, the default), or not "
             "at all. A modelled PMU has exact paths, or with lbr those that its branch record keeps as a stack of "
             "calls."},
    {.name = "stack-size",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct record_command, record.stack_size),
     .value = "BYTES",
     .min = 512,
     .max = 65528,
     .help = "Copy this much of the stack with each sample (default 8k, at most 65528), where --call-graph copies it: "
             "callers beyond it are found by frame pointers, or not at all."},
    {.name = "user",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct record_command, record.user),
     .help = "Leave out time in the kernel (timer, pmu)."},
    {.name = "allocations",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct record_command, record.allocations),
     .help = "Count where memory is allocated, how much of it is not freed, and threads (timer, pmu). Preloads a "
             "library into the program, which must be dynamically linked. Adds the series 'allocated bytes', 'mapped "
             "bytes', 'live bytes' at the end, and 'peak bytes'."},
    {.name = "processors",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct record_command, record.processors),
     .help =
         "Sample by clocks of the processors instead of the threads (timer): threads and processes that live for less "
         "than a period are sampled, too. Needs root, or CAP_PERFMON."},
    {.name = "branches",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct record_command, record.branches),
     .help =
         "Keep the branches that the processor took before each sample (pmu: LBR and the like): from where to where, "
         "mispredicted or not. Not run on hardware yet."},
    {.name = "accesses",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct record_command, record.accesses),
     .help =
         "Find out which data the program accesses (timer, pmu): the address that the processor records or, without "
         "one, the address that follows from the code and the registers at a sample; 'assay report --data' shows it."},
    AS_JSON_OPTION(
        struct record_command, json,
        "Print the summary as one JSON document; the program's own standard output then goes to standard error."),
    AS_MEMO_OPTIONS(struct record_command, run),
    AS_ENVIRONMENT_OPTION(struct record_command, run),
    {.name = "count-rest",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct record_command, run.count_rest),
     .help =
         "Let the program run on to its end behind the part that is measured (--max, --to, --region), only counted, "
         "so that the profile knows how much of the run it is."},
    AS_RUN_OPTIONS(struct record_command, run),
    {.name = NULL},
};

/* ---- which source an option belongs to ---- */

struct owned {
    const char *name;
    bool given;
};

static const char *first_given(const struct owned *owned, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (owned[i].given)
            return owned[i].name;
    return NULL;
}

static bool differs(const char *a, const char *b)
{
    return a != b && (!a || !b || strcmp(a, b) != 0);
}

static const char *model_option(const struct record_command *command)
{
    const struct as_record_options *usual = &as_record_defaults, *options = &command->record;
    const struct as_run_options *run = &command->run, usual_run = AS_RUN_OPTIONS_DEFAULT;
    const struct owned owned[] = {{"core", options->core != NULL},
                                  {"set", options->set.len > 0},
                                  {"golden", command->golden != 0},
                                  {"samplers", differs(options->samplers, usual->samplers)},
                                  {"events", options->events != NULL},
                                  {"seed", options->seed != usual->seed && !options->accesses},
                                  {"skip", run->skip > 0},
                                  {"max", run->max > 0},
                                  {"environment", run->environment != NULL},
                                  {"count-rest", run->count_rest},
                                  {"warm", run->warm != NULL},
                                  {"window", run->window != usual_run.window},
                                  {"sampled", command->sampled},
                                  {"budget", command->budget != NULL},
                                  {"points", command->points.points != NULL},
                                  {"memo", run->memo != usual_run.memo},
                                  {"memo-size", run->memo_size != usual_run.memo_size},
                                  {"quantum", run->quantum != usual_run.quantum},
                                  {"deterministic", run->deterministic},
                                  {"no-follow", run->no_follow},
                                  {"qemu", run->qemu != NULL}};
    return first_given(owned, sizeof owned / sizeof *owned);
}

static const char *native_option(const struct as_record_options *options)
{
    const struct owned owned[] = {{"pid", options->pid > 0},
                                  {"duration", !isnan(options->duration)},
                                  {"event", options->event.len > 0},
                                  {"call-graph", options->call_graph != as_record_defaults.call_graph},
                                  {"stack-size", options->stack_size > 0},
                                  {"user", options->user},
                                  {"allocations", options->allocations},
                                  {"accesses", options->accesses},
                                  {"branches", options->branches},
                                  {"processors", options->processors},
                                  {"system-wide", options->system_wide}};
    return first_given(owned, sizeof owned / sizeof *owned);
}

/* ---- the command ---- */

/* Prints the summary, read from the finished file. Text goes to stderr, because stdout belongs to the program. */
static int summarise(const struct record_command *command)
{
    struct as_error err = AS_ERROR_INIT;
    if (!command->json && !as_log_shows(AS_LOG_NOTE))
        return AS_EXIT_OK;
    int status = as_record_summary(command->record.output, command->json, command->json ? stdout : stderr, &err);
    return status >= 0 ? status : as_cli_fail(&as_command_record, &err);
}

/* ---- sampled runs ---- */

/* "100M" instructions, or "60s": as many as the model executes in that time, roughly. */
static bool read_budget(const char *text, uint64_t *instructions, struct as_error *err)
{
    enum { PER_SECOND = 20000000 };
    size_t length = strlen(text);
    char digits[32];
    bool seconds = length > 1 && length < sizeof digits && text[length - 1] == 's';
    memcpy(digits, text, length < sizeof digits ? length + 1 : 0);
    if (seconds)
        digits[length - 1] = '\0';
    if (length >= sizeof digits || !as_number_read(digits, instructions) || *instructions > UINT64_C(1) << 50)
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "--budget=%s: not a number of instructions (100M) or of seconds (60s)", text);
    *instructions *= seconds ? PER_SECOND : 1;
    return true;
}

static bool read_warm(const char *text, uint64_t *warm, struct as_error *err)
{
    if (!text || strcmp(text, "auto") == 0)
        return true;
    if (strcmp(text, "all") == 0)
        *warm = AS_SAMPLED_ALL;
    else if (!as_number_read(text, warm) || *warm >= AS_SAMPLED_AUTO)
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "--sample-warm=%s: not 'auto', not 'all' and not a number like 500k or 2M", text);
    return true;
}

/* Whether the run may be sampled, and how. */
static bool plan_sampling(struct record_command *command, struct as_error *err)
{
    bool part = command->run.regions.list.len > 0;
    struct as_sampled_options *how = &command->how;
    if (command->budget && !read_budget(command->budget, &how->head, err))
        return false;
    if ((command->sampled || command->budget) && part)
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "%s needs the whole program, but another option selects a part of it",
                                   command->sampled ? "--sampled" : "--budget");
    if (command->sampled && command->golden != 0)
        return as_error_set_status(err, AS_EXIT_USAGE, "--sampled needs the golden reference: leave out --golden=off");
    if (command->sampled && !command->budget)
        how->head = 10000000;
    if (command->sampled && differs(command->record.samplers, as_record_defaults.samplers))
        as_log_note("--samplers: a program that goes on after its first %s instructions is estimated without samplers",
                    AS_COUNT(how->head));
    how->unit = command->unit;
    how->period = command->every;
    if (!read_warm(command->warm, &how->warm, err))
        return false;
    how->seed = command->record.seed;
    if (how->unit > how->period / 2)
        return as_error_set_status(err, AS_EXIT_USAGE, "--sample-unit must be at most half of --sample-period");
    command->record.sampled = part || how->head == 0 || command->golden != 0 ? NULL : how;
    return true;
}

/* Refuses options of simulation points that would have no effect: without --points, or with points of a file. */
static bool check_points_used(const struct record_command *command, struct as_error *err)
{
    const char *points = command->points.points;
    bool chosen = points && strcmp(points, "auto") == 0;
    const struct {
        const char *name, *needs;
        bool unused;
    } given[] = {{"max-k", "--points=auto", command->max_k && !chosen},
                 {"per-phase", "--points=auto", command->per_phase && !chosen},
                 {"point-interval", "--points", command->point_interval && !points},
                 {"point-warm", "--points", command->point_warm && !points},
                 {"jobs", "--points", command->jobs != UINT64_MAX && !points}};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (given[i].unused)
            return as_error_set_status(err, AS_EXIT_USAGE, "--%s needs %s", given[i].name, given[i].needs);
    return true;
}

/* Whether simulation points go with the other options. */
static bool check_points(const struct record_command *command, struct as_error *err)
{
    const char *wrong = NULL;
    if (!check_points_used(command, err))
        return false;
    if (!command->points.points && !command->points.weights)
        return true;
    if (!command->points.points)
        wrong = "--point-weights needs --points";
    else if ((strcmp(command->points.points, "auto") != 0) != (command->points.weights != NULL))
        wrong = "--points=FILE and --point-weights=FILE belong together";
    else if (command->sampled || command->budget)
        wrong = "--points is another way to sample than --sampled and --budget: give one of them";
    else if (command->run.regions.list.len > 0)
        wrong = "--points needs the whole program, but another option selects a part of it";
    else if (command->golden != 0)
        wrong = "--points needs the golden reference: leave out --golden=off";
    else if (command->record.repeat > 1)
        wrong = "--points and --repeat do not go together";
    else if (strcmp(command->record.source, "auto") != 0 && strcmp(command->record.source, "model") != 0)
        wrong = "--points needs --source=model";
    return !wrong || as_error_set_status(err, AS_EXIT_USAGE, "%s", wrong);
}

static void take_points_options(struct record_command *command)
{
    struct as_record_points_options *points = &command->points;
    points->interval = command->point_interval ? command->point_interval : points->interval;
    points->max_k = command->max_k ? command->max_k : points->max_k;
    points->per_phase = command->per_phase ? command->per_phase : points->per_phase;
    points->jobs = command->jobs != UINT64_MAX ? command->jobs : points->jobs;
}

static bool choose_points(struct record_command *command, char **argv, struct as_error *err)
{
    struct as_progress progress;
    if (!command->points.points)
        return true;
    take_points_options(command);
    command->points.seed = command->record.seed;
    command->points.core = command->record.core;
    command->points.set = &command->record.set;
    command->points.engine = as_run_engine_options(&command->run, argv);
    command->points.meter = &as_progress_meter;
    command->points.meter_context = &progress;
    command->points.notices = as_notices_to_log;
    if ((command->point_warm && !as_run_read_warm("point-warm", command->point_warm, &command->points.warm, err)) ||
        !as_record_points_choose(&command->points, &command->chosen, err))
        return false;
    command->record.points = &command->chosen.plan;
    command->record.source = "model";
    return true;
}

/* Before the program runs: a run must not be lost to a wrong path. */
static bool open_perf_data(struct record_command *command, struct as_error *err)
{
    if (!command->record.perf_data)
        return true;
    if (!as_output_open(&command->perf_output, command->record.perf_data, err))
        return false;
    command->record.perf_file = command->perf_output.file;
    return true;
}

static bool close_perf_data(struct record_command *command, bool ok, struct as_error *err)
{
    if (!command->record.perf_file)
        return ok;
    if (ok)
        return as_output_finish(&command->perf_output, err);
    as_output_drop(&command->perf_output);
    return false;
}

static int record(struct record_command *command, char **argv)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_progress progress = {0};
    struct as_record_options *options = &command->record;
    struct as_record_result result;
    char *region = as_run_options_text(&command->run);
    options->argv = argv;
    options->environment = command->run.variables ? command->run.variables : environ;
    options->engine = as_run_engine_options(&command->run, argv);
    struct as_memo_options memo = as_run_memo_options(&command->run);
    options->delay = isnan(command->run.delay) ? 0 : command->run.delay;
    bool listed = command->run.region.len || command->run.region_file;
    options->switches = command->run.switch_signal && !listed ? options->engine.switches : NULL;
    options->memo_bytes = memo.bytes;
    options->memo_checks = memo.checks;
    options->region = region;
    options->golden = command->golden == 0;
    options->stdout_to_stderr = command->json;
    options->model_wish = model_option(command);
    options->native_wish = native_option(options);
    struct as_default_core core = {0};
    if (!options->core) {
        const char *unit = as_record_unit_name(options->source);
        if (!unit || !as_default_core_of_unit(unit, &core))
            as_default_core(argv[0], &core);
        options->core = core.name;
        options->core_why = core.why;
    }
    options->notices = as_notices_to_log;
    options->meter = &as_progress_meter;
    options->meter_context = &progress;
    bool ok =
        open_perf_data(command, &err) && choose_points(command, argv, &err) && as_record_run(options, &result, &err);
    ok = close_perf_data(command, ok, &err);
    as_record_points_free(&command->chosen);
    as_cli_note_servers();
    free(region);
    if (!ok)
        return as_cli_fail(&as_command_record, &err);
    int status = result.in_engine ? as_run_report(&result.engine, &command->run) : as_run_end_report(&result.end);
    int failed = summarise(command);
    return failed ? failed : result.interrupted_by ? 128 + result.interrupted_by : status;
}

static int run_record(int argc, char **argv)
{
    struct record_command command = {
        .record = as_record_defaults,
        .run = AS_RUN_OPTIONS_DEFAULT,
        .how = AS_SAMPLED_DEFAULT,
        .points = AS_RECORD_POINTS_DEFAULT,
        .jobs = UINT64_MAX,
    };
    command.record.core = NULL; /* unless it is given, the program decides */
    command.unit = command.how.unit;
    command.every = command.how.period;
    struct as_error err = AS_ERROR_INIT;
    int rest, status;
    enum as_parse parsed = as_cli_parse(&as_command_record, argc, argv, &command, &rest);
    if (parsed != AS_PARSE_OK)
        return parsed == AS_PARSE_HELP ? AS_EXIT_OK : AS_EXIT_USAGE;
    if (command.record.pid && rest < argc)
        status = as_cli_usage(&as_command_record, "give either --pid or a program, not both");
    else if (!command.record.pid && !command.record.system_wide && rest == argc)
        status = as_cli_usage(&as_command_record, "no program given");
    else if (!as_run_options_settle(&command.run, &err) || !plan_sampling(&command, &err) ||
             !check_points(&command, &err))
        status = as_cli_fail(&as_command_record, &err);
    else
        status = record(&command, argv + rest);
    as_strlist_free(&command.record.set);
    as_strlist_free(&command.record.event);
    as_strlist_free(&command.record.pmu_set);
    as_run_options_free(&command.run);
    return status;
}

const struct as_command as_command_record = {
    .name = "record",
    .summary = "Run a program and write a profile of it",
    .usage = "[options] [--] PROGRAM [ARGS…]\n       assay record [options] --pid PID\n       assay record [options] "
             "--system-wide [[--] PROGRAM [ARGS…]]",
    .description = "Runs the program on a modelled out-of-order core that accounts for every cycle of every "
                   "instruction, and writes the result into one file: time by instruction, line, function, call path "
                   "and thread, what each cycle was spent on, and how far samplers were off. 'assay report', 'assay "
                   "annotate' and 'assay export' read it.\n\nWith --source=timer or pmu the program runs on this "
                   "machine itself and is sampled; such a profile has times, but no cycle stacks.\n\nIf the program "
                   "dies or is interrupted, the profile covers the run up to then and is marked as partial.",
    .options = options_table,
    .examples = "assay record -- ./prog\n"
                "assay record --core zen4-like --max 100M -o before.db -- ./prog\n"
                "assay record --repeat 5 -- ./prog\n"
                "assay record --source=timer -- ./prog\n"
                "assay record --source=timer --accesses -- ./prog && assay report --data\n"
                "assay record --pid 1234 --duration 10\n"
                "assay record --system-wide --duration 10 && assay report --by command\n"
                "assay report\n",
    .run = run_record,
};
