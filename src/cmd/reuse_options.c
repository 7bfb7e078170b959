/* See reuse_options.h. */
#include "cmd/reuse_options.h"

#include "cmd/default_core.h"
#include "cmd/model_options.h"
#include "cmd/shared_options.h"
#include "reuse/reuse_watch.h"

/* Defaults of options that not all methods have. */
enum { LINES = 1024, PERIOD = 50000, REGISTERS = 4, RATE = 200, BUDGET = 20, AHEAD = 32768, INTERVAL = 1000000 };

static const char *const source_choices[] = {"model", "timer", "pmu", NULL};
static const char *const replacement_choices[] = {"graded", "reservoir", NULL};
static const char *const method_choices[] = {"exact", "lines", "watch", NULL};

const struct as_option as_reuse_options_table[] = {
    {.name = "source",
     .type = AS_OPTION_CHOICE,
     .offset = offsetof(struct as_reuse_request, source),
     .value = "model|timer|pmu",
     .choices = source_choices,
     .help =
         "Where the program runs: in QEMU's user mode, where every access is seen (model, the default); or on this "
         "machine, stopped now and then, with watchpoints in the debug registers of its threads. There distances are "
         "counted by looking ahead of the stopped program, or come from time and a measured rate (timer), or from "
         "the PMU's counters of loads and stores (pmu)."},
    {.name = "rate",
     .type = AS_OPTION_DOUBLE,
     .offset = offsetof(struct as_reuse_request, rate),
     .value = "N",
     .help = "On the machine: samples a second, at most (default 200)."},
    {.name = "budget",
     .type = AS_OPTION_DOUBLE,
     .offset = offsetof(struct as_reuse_request, budget),
     .value = "PERCENT",
     .help = "On the machine: how much of the time the program may stand still for samples (default 20), by the "
             "clock."},
    {.name = "ahead",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct as_reuse_request, ahead),
     .value = "N",
     .max = 1 << 24,
     .help = "On the machine: look at the N next accesses of a thread in advance (default 32k). What is reused within "
             "them is counted exactly; 0: everything is timed."},
    {.name = "pid",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct as_reuse_request, pid),
     .value = "PID",
     .min = 1,
     .max = INT32_MAX,
     .help = "On the machine: look at a process that runs already."},
    {.name = "duration",
     .type = AS_OPTION_DOUBLE,
     .offset = offsetof(struct as_reuse_request, duration),
     .value = "SECONDS",
     .help = "With --pid: how long."},
    {.name = "method",
     .type = AS_OPTION_CHOICE,
     .offset = offsetof(struct as_reuse_request, method),
     .value = "exact|lines|watch",
     .choices = method_choices,
     .help =
         "exact: from every access (the default). lines: from every access to a sample of the lines, chosen by a hash; "
         "much faster, without simulated caches. watch: as on a real machine, from sampled accesses whose "
         "addresses are watched until they are used again, with the modelled machine's counters and debug "
         "registers."},
    {.name = "exact",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct as_reuse_request, exact),
     .help = "With --method=watch: also work the distances out from every access, and say how accurate the estimate "
             "is."},
    {.name = "lines",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct as_reuse_request, lines),
     .value = "N",
     .min = 64,
     .help =
         "With --method=lines: begin with all lines, and halve the sample whenever there are more than N of them in it "
         "(default 1024), down to one of 128."},
    {.name = "shared",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct as_reuse_request, shared),
     .help =
         "With --method=watch, and on the machine: watch for reuse in the cache that threads share, not in threads."},
    {.name = "period",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct as_reuse_request, period),
     .value = "N",
     .min = 1,
     .help = "With --method=watch: sample one of N loads and one of N stores of each thread (default 50k)."},
    {.name = "pmu",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct as_reuse_request, pmu),
     .value = "NAME|FILE",
     .help =
         "With --method=watch: sample as this modelled PMU would, such as skylake, zen4 or neoverse-n1 (assay trust): "
         "fixed periods of loads and stores, with the delay until PEBS is armed, or of operations, with the random "
         "bits of IBS and SPE and the interrupt; --period then counts what it counts. Default: an ideal sampler with "
         "random periods."},
    {.name = "registers",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct as_reuse_request, registers),
     .value = "N",
     .min = 1,
     .max = 4,
     .help = "With --method=watch: debug registers of a thread (default 4)."},
    {.name = "replacement",
     .type = AS_OPTION_CHOICE,
     .offset = offsetof(struct as_reuse_request, replacement),
     .value = "graded|reservoir",
     .choices = replacement_choices,
     .help = "With --method=watch: which use gives up its register for a new sample. graded: at random, preferring "
             "ages at which reuse is rare; half of the registers are left to uses that wait for very long (the "
             "default). reservoir: with 1/n at the n-th sample, as ReuseTracker does."},
    {.name = "arm-lag",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct as_reuse_request, lag),
     .value = "N",
     .help = "With --method=watch: the other threads are armed only after N accesses of all threads (default 0). "
             "Stores that go unnoticed meanwhile are counted as 'relaxed'."},
    {.name = "disturb",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct as_reuse_request, disturb),
     .help = "With --method=watch: threads stand still while samples and traps are handled, and the others run on."},
    {.name = "seed",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct as_reuse_request, seed),
     .value = "N",
     .help = "With --method=watch: seed of the random numbers (default 1)."},
    {.name = "granularity",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct as_reuse_request, granularity),
     .value = "BYTES",
     .min = 1,
     .max = 4096,
     .help = "What counts as the same memory: 1 to 4096 bytes, a power of two (default: a line of the machine). Caches "
             "are only shown for lines."},
    {.name = "sockets",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct as_reuse_request, sockets),
     .value = "N",
     .min = 1,
     .max = 16,
     .help = "Spread the threads of a process evenly over N sockets, each with a cache that its threads share (default "
             "1)."},
    {.name = "interval",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct as_reuse_request, interval),
     .value = "N",
     .min = 1,
     .help = "Measure the working set in intervals of N accesses (default 1M)."},
    {.name = "top",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct as_reuse_request, top),
     .value = "N",
     .help = "Show the N most important pairs of use and reuse, and instructions (default 10; 0: none)."},
    {.name = "allocations",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct as_reuse_request, allocations),
     .help =
         "Load Assay's agent into the program, so that misses of the heap belong to the code that allocated them. For "
         "programs of this machine's architecture that are linked dynamically."},
    {.name = "adjacent",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct as_reuse_request, adjacent),
     .help = "Also count false sharing that appears only between two adjacent lines, and how much of it an "
             "adjacent-line prefetcher could bring about; in text and JSON."},
    {.name = "no-paths",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct as_reuse_request, no_paths),
     .help = "Do not follow calls: faster, without call paths."},
    {.name = "jobs",
     .short_name = 'j',
     .type = AS_OPTION_U64,
     .offset = offsetof(struct as_reuse_request, jobs),
     .value = "N",
     .max = AS_REUSE_MOST_JOBS,
     .help = "Work on N host threads, each for some of the program's threads (default: as many as there are processors "
             "beyond two; 0: use no extra threads)."},
    AS_CORE_OPTION(struct as_reuse_request, core, AS_NEAREST_CORE, ": its caches are simulated and marked."),
    AS_SET_OPTION(struct as_reuse_request, set, AS_SET_HELP),
    AS_JSON_OPTION(struct as_reuse_request, json, AS_JSON_HELP_RUN),
    {.name = "csv",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct as_reuse_request, csv),
     .help =
         "Print one table of comma-separated values; the program's own standard output then goes to standard error."},
    {.name = "html",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct as_reuse_request, html),
     .help =
         "Print one HTML page: histograms, miss ratios by size, working set, code, objects. It needs no network and "
         "no scripts; the program's own standard output then goes to standard error."},
    AS_OUTPUT_OPTION(struct as_reuse_request, output, AS_OUTPUT_HELP_RUN),
    AS_RUN_PLACES(struct as_reuse_request, run),
    AS_RUN_WAYS(struct as_reuse_request, run),
    {.name = NULL},
};

struct as_reuse_request as_reuse_request_default(void)
{
    return (struct as_reuse_request){.run = AS_RUN_OPTIONS_DEFAULT,
                                     .method = AS_REUSE_NO_METHOD,
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
}

/* ---- what goes together ---- */

/* In the model: an option that is not for the method; NULL: none is given. `whose`: what it is for. */
static const char *misplaced_option(const struct as_reuse_request *options, const char **whose)
{
    static const char watch[] = "--method=watch", lines[] = "--method=lines", machine[] = "--source=timer and pmu",
                      both[] = "--method=watch, --source=timer and pmu";
    bool watches = options->method == AS_REUSE_WATCH;
    const struct {
        const char *name, *whose;
        bool given;
    } owned[] = {{"shared", both, !watches && options->shared},
                 {"exact", watch, options->method == AS_REUSE_LINES && options->exact},
                 {"period", watch, !watches && options->period != PERIOD},
                 {"registers", watch, !watches && options->registers != REGISTERS},
                 {"replacement", watch, !watches && options->replacement != AS_REPLACE_GRADED},
                 {"arm-lag", watch, !watches && options->lag > 0},
                 {"disturb", watch, !watches && options->disturb},
                 {"seed", watch, !watches && options->seed != 1},
                 {"lines", lines, options->method != AS_REUSE_LINES && options->lines != LINES},
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
static const char *model_option(const struct as_reuse_request *options)
{
    const struct {
        const char *name;
        bool given;
    } owned[] = {{"method", options->method != AS_REUSE_NO_METHOD},
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

static bool check_model(const struct as_reuse_request *options, struct as_error *err)
{
    const char *whose, *other = misplaced_option(options, &whose);
    if (options->method == AS_REUSE_LINES && options->granularity && options->granularity < 64)
        return as_error_set(err, "--method=lines takes a --granularity of 64 or more");
    if (options->method == AS_REUSE_WATCH && options->granularity > AS_REUSE_WATCHED)
        return as_error_set(err, "--method=watch takes a --granularity of 1, 2, 4 or 8: a debug register "
                                 "watches no more");
    if (options->adjacent && options->method != AS_REUSE_EXACT)
        return as_error_set(err, "--adjacent is for --method=exact: it needs every access");
    if (options->pmu && options->method != AS_REUSE_WATCH)
        return as_error_set(err, "--pmu is for --method=watch: the other methods see every access");
    if (other)
        return as_error_set(err, "--%s is for %s", other, whose);
    return true;
}

static bool check_machine(const struct as_reuse_request *options, struct as_error *err)
{
    const char *other = model_option(options);
    if (other)
        return as_error_set(err, "--%s needs --source=model", other);
    if (!(options->rate >= 0.01 && options->rate <= 10000))
        return as_error_set(err, "--rate=%g: must be 0.01 to 10000 samples a second", options->rate);
    if (!(options->budget >= 0.1 && options->budget <= 90))
        return as_error_set(err, "--budget=%g: must be 0.1 to 90 per cent", options->budget);
    if (!(options->duration >= 0 && options->duration < 1e8) || (options->duration > 0 && !options->pid))
        return as_error_set(err, "--duration needs --pid and a number of seconds");
    return true;
}

bool as_reuse_request_check(const struct as_reuse_request *options, int n, struct as_error *err)
{
    if (options->json + options->csv + options->html > 1)
        return as_error_set(err, "--json, --csv and --html exclude each other");
    if (options->granularity & (options->granularity - 1))
        return as_error_set(err, "--granularity must be a power of two, 1 to 4096");
    if (options->pid && (options->source == AS_REUSE_MODEL || n > 0))
        return as_error_set(err, "--pid is in place of a program, and needs --source=timer or pmu");
    if (n <= 0 && !options->pid)
        return as_error_set(err, "no program given");
    return options->source == AS_REUSE_MODEL ? check_model(options, err) : check_machine(options, err);
}
