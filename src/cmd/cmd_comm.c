/* assay comm: which threads communicate, through which lines, objects and code. */
#include "agent/agent_host.h"
#include "agent/mpi_host.h"
#include "base/log.h"
#include "base/show.h"
#include "cmd/comm_blocks.h"
#include "cmd/comm_recording.h"
#include "cmd/comm_show.h"
#include "cmd/comm_uses.h"
#include "cmd/commands.h"
#include "cmd/lens_unit.h"
#include "cmd/output.h"
#include "cmd/progress.h"
#include "cmd/run_options.h"
#include "cmd/shared_options.h"
#include "comm/comm_native.h"
#include "engine/program.h"
#include "store/store_header.h"
#include "view/moved_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_PERIOD = 10000, USUAL_COST = 4000, USUAL_LIFE = 2 };

struct comm_options {
    struct as_run_options run;
    bool json, csv, svg, html, fixed, disturb, no_estimate, no_exact, no_paths, allocations, mpi;
    int sampling; /* enum as_lens_sampling */
    uint64_t period, load_period, store_period, registers, buckets, entry_life, watch_life;
    uint64_t cores, sockets, quantum, sample_cost, trap_cost, seed, top;
    const char *output, *pin, *pmu;
    int source; /* enum as_comm_source */
    double rate, budget, duration;
    uint64_t pid;
};

static const char *const source_choices[] = {"model", "timer", "pmu", NULL};

static const char *const sampling_choices[] = {"events", "operations", NULL};

#define NUMBER(option, member, value_name, least, most, text)                                                          \
    {                                                                                                                  \
        .name = (option), .type = AS_OPTION_U64, .offset = offsetof(struct comm_options, member),                      \
        .value = (value_name), .min = (least), .max = (most), .help = (text)                                           \
    }
#define FLAG(option, member, text)                                                                                     \
    {                                                                                                                  \
        .name = (option), .type = AS_OPTION_FLAG, .offset = offsetof(struct comm_options, member), .help = (text)      \
    }

#define SECONDS(option, member, value_name, text)                                                                      \
    {                                                                                                                  \
        .name = (option), .type = AS_OPTION_DOUBLE, .offset = offsetof(struct comm_options, member),                   \
        .value = (value_name), .help = (text)                                                                          \
    }

static const struct as_option options_table[] = {
    AS_JSON_OPTION(struct comm_options, json, AS_JSON_HELP_RUN),
    FLAG("csv", csv,
         "Print a line of CSV for each pair of threads instead; the program's own standard output then goes "
         "to standard error."),
    FLAG("svg", svg,
         "Print the matrices as heat maps, an SVG picture, instead: best with -o. The program's own standard output "
         "then "
         "goes to standard error."),
    FLAG("html", html,
         "Print a page with the heat maps, objects, lines, pairs of code and advice instead: best with -o. The "
         "program's "
         "own standard output then goes to standard error."),
    AS_OUTPUT_OPTION(struct comm_options, output, AS_OUTPUT_HELP_RUN),
    {.name = "source",
     .type = AS_OPTION_CHOICE,
     .offset = offsetof(struct comm_options, source),
     .value = "model|timer|pmu",
     .choices = source_choices,
     .help = "Where the program runs: in QEMU's user mode, where every access is seen (model, the default); or on this "
             "machine, sampled by the kernel's task clock (timer) or by loads and stores of the PMU (pmu), with "
             "watchpoints in the debug registers of its threads."},
    SECONDS("rate", rate, "N", "On the machine: samples a second and thread (default 997)."),
    SECONDS(
        "budget", budget, "PERCENT",
        "On the machine: how much of the time watchpoints may take from the program (default 2). Samples come on top: "
        "some 16 us each in a virtual machine."),
    NUMBER("pid", pid, "PID", 1, INT32_MAX, "On the machine: look at a process that runs already."),
    SECONDS("duration", duration, "SECONDS", "With --pid: how long."),
    NUMBER("top", top, "N", 0, 100000, "Show the N lines, objects and pairs of code with most transfers (default 10)."),
    {.name = "sampling",
     .type = AS_OPTION_CHOICE,
     .offset = offsetof(struct comm_options, sampling),
     .value = "events|operations",
     .choices = sampling_choices,
     .help =
         "What the modelled machine samples by: a counter of loads and one of stores, like Intel's PEBS (events, the "
         "default), or one counter of all instructions, like AMD's IBS (operations)."},
    {.name = "pmu",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct comm_options, pmu),
     .value = "NAME|FILE",
     .help = "Let the modelled machine sample as this modelled PMU would, such as skylake, zen4 or neoverse-n1 (assay "
             "trust): by its counters, with the delay until PEBS is armed, the random bits of IBS and SPE, the "
             "interrupt, and its own costs of a sample. Periods are fixed then."},
    NUMBER("period", period, "N", 1, UINT64_C(1) << 40,
           "Sample every N-th load and every N-th store (or instruction) of a thread (default 10k)."),
    NUMBER("load-period", load_period, "N", 1, UINT64_C(1) << 40, "… every N-th load, where that is another number."),
    NUMBER("store-period", store_period, "N", 1, UINT64_C(1) << 40, "… every N-th store."),
    FLAG("fixed", fixed, "Let all periods be exactly that. By default each is drawn from 7/8 to 9/8 of it."),
    NUMBER("registers", registers, "N", 0, 4,
           "Use N debug registers of a thread, 0 to 4 (default 4). 0: only look-ups find communication."),
    NUMBER("buckets", buckets, "N", 1, 1 << 20, "Buckets of the bulletin board (default 127)."),
    NUMBER("entry-life", entry_life, "N", 0, 1000000,
           "A published store is watched until its thread has taken N further samples of stores (default 2)."),
    NUMBER("watch-life", watch_life, "N", 1, 1000000,
           "A watchpoint expires after N samples of its thread (default 2; on the machine 32)."),
    NUMBER("cores", cores, "N", 1, 4096, "Run the threads on N cores (default: one for each thread)."),
    NUMBER("sockets", sockets, "N", 1, 64,
           "The cores are those of N sockets (default 1), which scattered threads take in turn."),
    {.name = "pin",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct comm_options, pin),
     .value = "compact|scatter|LIST",
     .help = "Which core a thread runs on, in the order in which threads start: one core after the other (compact, the "
             "default), the sockets in turn (scatter), or the cores of a list such as 0,2,1,3."},
    NUMBER("sample-cost", sample_cost, "N", 0, UINT64_C(1) << 32,
           "A sample costs its thread the time of N instructions (default 4000)."),
    NUMBER("trap-cost", trap_cost, "N", 0, UINT64_C(1) << 32, "… and a trap of a watchpoint (default 4000)."),
    FLAG("disturb", disturb,
         "Let a thread stand still for that long while the others run on, as on a real machine. The exact numbers are "
         "then those of the disturbed run."),
    NUMBER("quantum", quantum, "N", 1, 8192, "Interleave threads in steps of N instructions (default 4)."),
    NUMBER("seed", seed, "N", 0, UINT64_MAX, "For the random numbers (default 1)."),
    FLAG("no-estimate", no_estimate, "Count only exactly; take no samples."),
    FLAG("no-exact", no_exact, "Only estimate."),
    FLAG("allocations", allocations,
         "Load Assay's agent into the program, so that lines of the heap are those of places that allocate. For "
         "programs of "
         "this machine's architecture that are linked dynamically."),
    FLAG("mpi", mpi,
         "Count what the ranks of an MPI program send to each other, in bytes, beside the lines that their processes "
         "share: for programs (or mpirun) whose MPI library is linked dynamically, in C or C++. CSV is then by pair of "
         "ranks."),
    FLAG("no-paths", no_paths, "Do not follow calls: faster, without call paths and names of threads."),
    AS_RUN_OPTIONS(struct comm_options, run),
    {.name = NULL},
};

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
static bool check_pins(const struct comm_options *options, const struct pins *pins, struct as_error *err)
{
    for (size_t i = 0; options->cores && i < pins->list.len; i++)
        if (pins->list.data[i] >= options->cores)
            return as_error_set_status(
                err, AS_EXIT_USAGE, "--pin=%s names core %u, but --cores=%llu has cores 0 to %llu", options->pin,
                pins->list.data[i], (unsigned long long)options->cores, (unsigned long long)options->cores - 1);
    return true;
}

static bool check_sockets(const struct comm_options *options, struct as_error *err)
{
    if (options->sockets == 1 || (options->cores && options->cores % options->sockets == 0))
        return true;
    return as_error_set_status(err, AS_EXIT_USAGE, "--sockets=%llu needs --cores, a multiple of it",
                               (unsigned long long)options->sockets);
}

static bool settle_pin(const struct comm_options *options, struct as_modelled_options *machine, struct pins *pins,
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

static struct as_detect_options detect_options(const struct comm_options *options)
{
    return (struct as_detect_options){.buckets = options->buckets,
                                      .entry_life = (uint32_t)options->entry_life,
                                      .watch_life = (uint32_t)options->watch_life,
                                      .registers = (uint32_t)options->registers,
                                      .own_samples = AS_DETECT_OWN_SAMPLES,
                                      .seed = options->seed};
}

static bool settle(const struct comm_options *options, struct as_comm_options *comm, struct pins *pins,
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
        .detect = detect_options(options),
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

static int print(const struct comm_options *options, const struct as_comm_shown *shown, struct as_output *output)
{
    struct as_error err = AS_ERROR_INIT;
    bool written = true;
    if (options->json)
        written = as_comm_json(shown, output->file);
    else if (options->csv)
        as_comm_csv(shown, output->file);
    else if (options->svg)
        as_comm_svg(shown, output->file);
    else if (options->html)
        as_comm_html(shown, output->file);
    else
        as_comm_text(shown, output->file);
    if (!written && !output->path)
        return as_cli_stdout_failed();
    return as_output_finish(output, &err) ? AS_EXIT_OK : as_cli_fail(&as_command_comm, &err);
}

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

static void warn_about_agent(const struct comm_options *options, const struct as_comm_result *result)
{
    size_t sites;
    as_guest_memory_sites(result->memory, &sites);
    if (options->allocations && !sites)
        as_log_warn(
            "--allocations: the agent saw no allocation; the program makes none, is linked statically, or is of "
            "another architecture");
}

static int show(const struct comm_options *options, const struct as_comm_shown *known, struct as_output *output)
{
    struct as_comm_rows rows = {0};
    struct as_comm_shown shown = *known;
    as_comm_rows_make(&rows, known->result);
    shown.rows = &rows;
    shown.top = options->top;
    int failed = print(options, &shown, output);
    as_comm_rows_free(&rows);
    return failed;
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

static int show_program(const struct comm_options *options, const struct as_comm_options *comm, char **argv,
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
    int failed = show(options, &shown, output);
    int status = as_run_report(ended, &options->run);
    free(part);
    return failed ? failed : status;
}

static bool goes_to_stdout(const struct comm_options *options)
{
    return (options->json || options->csv || options->svg || options->html) && !options->output;
}

static int run_program(const struct comm_options *options, const struct as_comm_options *comm, char **argv)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_engine_result result;
    struct as_output output = {0};
    struct as_progress_watch watch = {0};
    struct as_engine *engine = NULL;
    struct as_mpi *mpi = NULL;
    char **environment = NULL;
    struct as_engine_options engine_options = as_run_engine_options(&options->run, argv);
    struct as_comm_run *run = as_comm_run_new(comm);
    engine_options.stdout_to_stderr = goes_to_stdout(options);
    engine_options.observed = engine_options.causal = true;
    engine_options.tick = as_progress_tick;
    engine_options.tick_context = &watch;
    bool ok = as_output_open(&output, options->output, &err) &&
              (!options->allocations || (environment = as_agent_model_environment(&err))) &&
              (!options->mpi || (mpi = as_mpi_open(&err)));
    engine_options.environment = mpi ? as_mpi_environment(mpi, environment) : environment;
    ok = ok && (engine = as_engine_start(&engine_options, &err));
    watch.engine = engine;
    as_progress_start(&watch.progress, as_regions_length(&options->run.regions));
    ok = ok && as_comm_run_start(run, engine, &err) && as_engine_run(engine, as_comm_run_sink(run), run, &result, &err);
    as_progress_end(&watch.progress);
    int status = AS_EXIT_FAILURE;
    if (ok) {
        as_comm_run_finish(run);
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

/* ---- on the machine ---- */

static bool settle_native(const struct comm_options *options, struct as_comm_native_options *native,
                          struct as_error *err)
{
    if (!(options->rate >= 0.01 && options->rate <= 100000))
        return as_error_set_status(err, AS_EXIT_USAGE, "--rate=%g: must be 0.01 to 100000 samples a second",
                                   options->rate);
    if (!(options->budget >= 0 && options->budget <= 100))
        return as_error_set_status(err, AS_EXIT_USAGE, "--budget=%g: must be 0 to 100 per cent", options->budget);
    if (!(options->duration >= 0 && options->duration < 1e8) || (options->duration > 0 && !options->pid))
        return as_error_set_status(err, AS_EXIT_USAGE, "--duration is a number of seconds, and for --pid");
    *native = (struct as_comm_native_options){
        .source = (enum as_comm_source)options->source,
        .machine = {.registers = (uint32_t)options->registers, .budget = options->budget / 100, .seed = options->seed},
        .detect = detect_options(options),
        .rate = options->rate,
        .pid = options->pid,
        .duration = options->duration,
        .no_paths = options->no_paths,
        .stdout_to_stderr = goes_to_stdout(options),
        .notices = as_notices_to_log};
    native->detect.watch_published = true;
    return true;
}

static void warn_about_native(const struct as_comm_native_info *info, const struct as_comm_result *result)
{
    if (info->cost.note[0])
        as_log_warn("no watchpoints: %s; only look-ups find communication", info->cost.note);
    if (info->lost)
        as_log_warn("the kernel could not keep %llu samples", (unsigned long long)info->lost);
    if (result->detect.unseen)
        as_log_warn("there were more threads than the %d that can be told apart; samples of the others are left out",
                    AS_DETECT_THREADS);
}

static char *native_part(const struct comm_options *options, const struct as_comm_native_info *info)
{
    const char *until = as_run_end_until(&info->end);
    if (options->pid)
        return as_format("%.2f seconds of a process that ran already", info->seconds);
    return until ? as_format("%.2f seconds on this machine, %s", info->seconds, until) : NULL;
}

static int show_native(const struct comm_options *options, char **argv, struct as_comm_native *native,
                       const struct as_mpi *mpi, struct as_comm_blocks *blocks, struct as_output *output)
{
    const struct as_comm_native_info *info = as_comm_native_info(native);
    struct as_comm_result result = as_comm_native_result(native);
    struct as_mpi_messages messages = mpi ? as_mpi_read(mpi) : (struct as_mpi_messages){0};
    char *part = native_part(options, info);
    as_comm_blocks_read(blocks, native);
    struct as_comm_shown shown = {.argv = argv,
                                  .result = &result,
                                  .native = info,
                                  .mpi = mpi ? &messages : NULL,
                                  .heap_unknown = blocks->note,
                                  .seconds = info->seconds,
                                  .part = part};
    warn_about_native(info, &result);
    if (options->allocations && blocks->note)
        as_log_warn("heap objects are not known: %s", blocks->note);
    int failed = show(options, &shown, output);
    as_mpi_messages_free(&messages);
    free(part);
    return failed ? failed : as_run_end_report(&info->end);
}

static int run_native(const struct comm_options *options, char **argv)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_output output = {0};
    struct as_comm_native_options asked;
    char text[32], *attached[] = {text, NULL};
    snprintf(text, sizeof text, "pid %llu", (unsigned long long)options->pid);
    struct as_mpi *mpi = NULL;
    struct as_comm_blocks blocks = {0};
    bool settled = (options->pid || (as_comm_is_operand(argv[0], getenv("PATH"), &err) &&
                                     !as_program_is_foreign(argv[0], getenv("PATH"), &err))) &&
                   settle_native(options, &asked, &err) && (!options->mpi || (mpi = as_mpi_open(&err))) &&
                   as_comm_blocks_open(&blocks, options->allocations, options->pid ? NULL : argv[0], &err);
    char *const *environment = as_comm_blocks_environment(&blocks);
    asked.environment = mpi ? as_mpi_environment(mpi, environment) : environment;
    struct as_comm_native *native = settled ? as_comm_native_new(&asked) : NULL;
    bool ok = native && as_output_open(&output, options->output, &err) && as_comm_native_run(native, argv, &err);
    int status = AS_EXIT_FAILURE;
    if (ok) {
        status = show_native(options, options->pid ? attached : argv, native, mpi, &blocks, &output);
    } else {
        status = as_cli_fail(&as_command_comm, &err);
        as_output_drop(&output);
    }
    as_comm_native_free(native);
    as_comm_blocks_close(&blocks);
    as_mpi_close(mpi);
    return status;
}

/* ---- a recording ---- */

static int show_recording(const struct comm_options *options, const struct as_c2c *c2c, const char *path)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_output output = {0};
    bool written = true;
    if (!as_output_open(&output, options->output, &err))
        return as_cli_fail(&as_command_comm, &err);
    if (options->json)
        written = as_comm_recording_json(c2c, path, options->top, output.file);
    else if (options->csv)
        as_comm_recording_csv(c2c, output.file);
    else
        as_comm_recording_text(c2c, options->top, output.file);
    if (!written && !output.path)
        return as_cli_stdout_failed();
    return as_output_finish(&output, &err) ? AS_EXIT_OK : as_cli_fail(&as_command_comm, &err);
}

static bool is_recorded(const char *path)
{
    return as_comm_is_recording(path) || as_store_is_profile(path);
}

static int read_recording(const struct comm_options *options, const char *path)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_c2c c2c = {0};
    bool ok = as_store_is_profile(path) ? as_moved_lines_read(&c2c, path, &err) : as_c2c_read(&c2c, path, &err);
    int status = ok ? show_recording(options, &c2c, path) : as_cli_fail(&as_command_comm, &err);
    as_c2c_free(&c2c);
    return status;
}

static int run_checked(struct comm_options *options, char **argv)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_comm_options comm;
    struct pins pins = {0};
    bool ok = as_comm_is_operand(argv[0], getenv("PATH"), &err) && settle(options, &comm, &pins, &err) &&
              as_run_options_settle_untimed(&options->run, &err);
    int status = ok ? run_program(options, &comm, argv) : as_cli_fail(&as_command_comm, &err);
    as_vec_free(&pins.list);
    return status;
}

/* ---- what was given ---- */

#define NOT_GIVEN AS_COMM_NOT_GIVEN
static const struct comm_options nothing_given = {.run = AS_RUN_OPTIONS_DEFAULT,
                                                  .sampling = -1,
                                                  .source = -1,
                                                  .rate = NAN,
                                                  .budget = NAN,
                                                  .duration = NAN,
                                                  .period = NOT_GIVEN,
                                                  .load_period = NOT_GIVEN,
                                                  .store_period = NOT_GIVEN,
                                                  .registers = NOT_GIVEN,
                                                  .buckets = NOT_GIVEN,
                                                  .entry_life = NOT_GIVEN,
                                                  .watch_life = NOT_GIVEN,
                                                  .cores = NOT_GIVEN,
                                                  .sockets = NOT_GIVEN,
                                                  .quantum = NOT_GIVEN,
                                                  .sample_cost = NOT_GIVEN,
                                                  .trap_cost = NOT_GIVEN,
                                                  .seed = NOT_GIVEN,
                                                  .top = NOT_GIVEN,
                                                  .pid = NOT_GIVEN};

static void by_default(uint64_t *number, uint64_t usual)
{
    *number = *number == NOT_GIVEN ? usual : *number;
}

static void settle_defaults(struct comm_options *options)
{
    bool is_native = options->source > AS_COMM_MODEL;
    options->source = is_native ? options->source : AS_COMM_MODEL;
    options->sampling = options->sampling < 0 ? 0 : options->sampling;
    options->rate = isnan(options->rate) ? 997 : options->rate;
    options->budget = isnan(options->budget) ? 2 : options->budget;
    options->duration = isnan(options->duration) ? 0 : options->duration;
    by_default(&options->period, USUAL_PERIOD);
    by_default(&options->load_period, 0);
    by_default(&options->store_period, 0);
    by_default(&options->registers, 4);
    by_default(&options->buckets, 127);
    by_default(&options->entry_life, 2);
    by_default(&options->watch_life, is_native ? AS_COMM_NATIVE_WATCH_LIFE : USUAL_LIFE);
    by_default(&options->cores, 0);
    by_default(&options->sockets, 1);
    by_default(&options->quantum, 0);
    by_default(&options->sample_cost, USUAL_COST);
    by_default(&options->trap_cost, USUAL_COST);
    by_default(&options->seed, 1);
    by_default(&options->top, 10);
    by_default(&options->pid, 0);
}

/* An option that has no effect is refused; 0: there is none. */
static int check_uses(const struct comm_options *options, enum as_comm_use use)
{
    unsigned uses;
    const char *other = as_comm_unused(options, use, &uses);
    const char *source = options->source > 0 ? source_choices[options->source] : "model";
    if (!other && use != AS_COMM_OF_MODEL) {
        other = as_run_options_given(&options->run);
        uses = AS_COMM_OF_MODEL;
    }
    if (!other)
        return 0;
    if (use == AS_COMM_OF_RECORDING)
        return as_cli_usage(&as_command_comm, "--%s is for programs: a recording is shown as it was made", other);
    if (uses == AS_COMM_OF_MODEL)
        return as_cli_usage(&as_command_comm, "--%s is the model's: --source=%s has none", other, source);
    return as_cli_usage(&as_command_comm, "--%s needs --source=timer or pmu: the model has none", other);
}

static int check(const struct comm_options *options, bool is_operand)
{
    bool has_pid = options->pid != NOT_GIVEN;
    if (options->no_estimate && options->no_exact)
        return as_cli_usage(&as_command_comm, "--no-estimate and --no-exact together leave nothing to do");
    if (options->json + options->csv + options->svg + options->html > 1)
        return as_cli_usage(&as_command_comm, "--json, --csv, --svg and --html are four formats; choose one");
    if (has_pid && options->mpi)
        return as_cli_usage(&as_command_comm, "--mpi needs a program to start: its library comes before main");
    if (has_pid && options->source > AS_COMM_MODEL && is_operand)
        return as_cli_usage(&as_command_comm, "either --pid or a program");
    if (!has_pid && !is_operand)
        return as_cli_usage(&as_command_comm, "no program given");
    return 0;
}

static int run_comm(int argc, char **argv)
{
    struct comm_options options = nothing_given;
    int rest;
    enum as_parse parsed = as_cli_parse(&as_command_comm, argc, argv, &options, &rest);
    if (parsed != AS_PARSE_OK)
        return parsed == AS_PARSE_HELP ? AS_EXIT_OK : AS_EXIT_USAGE;
    options.output = as_output_name(options.output);
    bool is_native = options.source > AS_COMM_MODEL;
    bool recorded = rest + 1 == argc && is_recorded(argv[rest]);
    int status = check(&options, rest < argc);
    if (!status)
        status = check_uses(&options, recorded    ? AS_COMM_OF_RECORDING
                                      : is_native ? AS_COMM_OF_MACHINE
                                                  : AS_COMM_OF_MODEL);
    if (!status) {
        settle_defaults(&options);
        status = recorded    ? read_recording(&options, argv[rest])
                 : is_native ? run_native(&options, argv + rest)
                             : run_checked(&options, argv + rest);
    }
    as_run_options_free(&options.run);
    return status;
}

const struct as_command as_command_comm = {
    .name = "comm",
    .summary = "Which threads communicate, through which lines and objects",
    .usage = "[options] [--] PROGRAM [ARGS…] | [options] perf.data|FILE.db",
    .description =
        "Runs the program in QEMU's user mode and finds the cache lines that its threads hand to each other: which "
        "pairs "
        "of threads do so and how often, whether they share data (true sharing) or only the line (false sharing), the "
        "objects, source lines and call paths on both sides, and what separates members that collide. Every transfer "
        "is counted exactly; beside that stands what sampling and watchpoints would have estimated, with its error. "
        "The exit status is the program's, or 128 plus the number of the signal that killed it.\n\n"
        "With --source=timer or pmu the program runs on this machine, sampled, with watchpoints in the debug registers "
        "of "
        "its threads: as fast as without Assay within a few per cent, and estimated only.\n\n"
        "Of a recording of perf with data addresses and data sources, or a profile of such samples (of this "
        "processor's PMU, an imported recording, or a modelled PMU), it shows what perf c2c does: the lines, who "
        "loads and stores where, and which loads hit a line that another core had modified (HITM).",
    .options = options_table,
    .examples = "  assay comm -- ./prog\n"
                "  assay comm --json -- ./prog > comm.json\n"
                "  assay comm --sampling=operations --period 50k -- ./prog\n"
                "  assay comm --source=timer -- ./prog\n"
                "  perf c2c record ./prog && assay comm perf.data\n"
                "  assay record --source=pmu:skylake --event loads --event stores -- ./prog\n"
                "  assay comm assay.db\n",
    .run = run_comm,
};
