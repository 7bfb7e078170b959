/* assay comm: which threads communicate, through which lines, objects and code. */
#include "cmd/comm_given.h"
#include "cmd/comm_recording.h"
#include "cmd/comm_uses.h"
#include "cmd/commands.h"
#include "cmd/shared_options.h"
#include "store/store_header.h"
#include "view/moved_lines.h"

#include <math.h>

enum { USUAL_PERIOD = 10000, USUAL_COST = 4000, USUAL_LIFE = 2 };

static const char *const source_choices[] = {"model", "timer", "pmu", NULL};

static const char *const method_choices[] = {"board", "last-stores", NULL};

static const char *const sampling_choices[] = {"events", "accesses", "operations", NULL};

#define NUMBER(option, member, value_name, least, most, text)                                                          \
    {                                                                                                                  \
        .name = (option), .type = AS_OPTION_U64, .offset = offsetof(struct as_comm_given, member),                     \
        .value = (value_name), .min = (least), .max = (most), .help = (text)                                           \
    }
#define FLAG(option, member, text)                                                                                     \
    {                                                                                                                  \
        .name = (option), .type = AS_OPTION_FLAG, .offset = offsetof(struct as_comm_given, member), .help = (text)     \
    }

#define SECONDS(option, member, value_name, text)                                                                      \
    {                                                                                                                  \
        .name = (option), .type = AS_OPTION_DOUBLE, .offset = offsetof(struct as_comm_given, member),                  \
        .value = (value_name), .help = (text)                                                                          \
    }

static const struct as_option options_table[] = {
    AS_JSON_OPTION(struct as_comm_given, json, AS_JSON_HELP_RUN),
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
    AS_OUTPUT_OPTION(struct as_comm_given, output, AS_OUTPUT_HELP_RUN),
    {.name = "source",
     .type = AS_OPTION_CHOICE,
     .offset = offsetof(struct as_comm_given, source),
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
     .offset = offsetof(struct as_comm_given, sampling),
     .value = "events|accesses|operations",
     .choices = sampling_choices,
     .help =
         "What the modelled machine samples by: a counter of loads and one of stores, like Intel's PEBS (events, the "
         "default), one counter of both (accesses), or one counter of all instructions, like AMD's IBS (operations)."},
    {.name = "pmu",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct as_comm_given, pmu),
     .value = "NAME|FILE",
     .help = "Let the modelled machine sample as this modelled PMU would, such as skylake, zen4 or neoverse-n1 (assay "
             "trust): by its counters, with the delay until PEBS is armed, the random bits of IBS and SPE, the "
             "interrupt, and its own costs of a sample. Periods are fixed then."},
    NUMBER("period", period, "N", 1, UINT64_C(1) << 40,
           "Sample every N-th load and every N-th store (or instruction) of a thread (default 10k)."),
    NUMBER("load-period", load_period, "N", 1, UINT64_C(1) << 40, "Sample every N-th load (default: --period)."),
    NUMBER("store-period", store_period, "N", 1, UINT64_C(1) << 40, "Sample every N-th store (default: --period)."),
    FLAG("fixed", fixed, "Let all periods be exactly N. By default each is drawn from 7/8 to 9/8 of N."),
    NUMBER("registers", registers, "N", 0, 4,
           "Use N debug registers of a thread, 0 to 4 (default 4). 0: only look-ups find communication."),
    NUMBER("buckets", buckets, "N", 1, 1 << 20, "Buckets of the bulletin board (default 127)."),
    NUMBER("entry-life", entry_life, "N", 0, 1000000,
           "A published store is watched until its thread has taken N further samples of stores (default 2)."),
    NUMBER("watch-life", watch_life, "N", 1, 1000000,
           "A watchpoint expires after N samples of its thread (default 2; on the machine 32)."),
    {.name = "method",
     .type = AS_OPTION_CHOICE,
     .offset = offsetof(struct as_comm_given, method),
     .value = "board|last-stores",
     .choices = method_choices,
     .help = "How the modelled machine's samples are made an estimate: ComDetective's Algorithm 1 with its bulletin "
             "board (board, the default), or by "
             "what follows each sampled store (last-stores), which counts locks and other lines that threads access "
             "several times in a row "
             "as often as they move."},
    NUMBER("follow-life", follow_life, "N", 1, 1000000,
           "With --method=last-stores: a sampled store is followed until N further stores were sampled (default 16)."),
    NUMBER("cores", cores, "N", 1, 4096, "Run the threads on N cores (default: one for each thread)."),
    NUMBER("sockets", sockets, "N", 1, 64,
           "The cores are those of N sockets (default 1), which scattered threads take in turn."),
    {.name = "pin",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct as_comm_given, pin),
     .value = "compact|scatter|LIST",
     .help = "Which core a thread runs on, in the order in which threads start: one core after the other (compact, the "
             "default), the sockets in turn (scatter), or the cores of a list such as 0,2,1,3."},
    NUMBER("sample-cost", sample_cost, "N", 0, UINT64_C(1) << 32,
           "Cost of a sample, in instructions of its thread (default 4000)."),
    NUMBER("trap-cost", trap_cost, "N", 0, UINT64_C(1) << 32,
           "Cost of a watchpoint trap, in instructions (default 4000)."),
    FLAG(
        "disturb", disturb,
        "Let a thread stand still for these costs while the others run on, as on a real machine. The exact numbers are "
        "then those of the disturbed run."),
    NUMBER("quantum", quantum, "N", 1, 8192, "Interleave threads in steps of N instructions (default 4)."),
    NUMBER("seed", seed, "N", 0, UINT64_MAX, "Seed of the random numbers (default 1)."),
    FLAG("no-estimate", no_estimate, "Count only exactly; take no samples."),
    FLAG("no-exact", no_exact, "Only estimate."),
    FLAG("allocations", allocations,
         "Load Assay's agent into the program, so that lines of the heap belong to the code that allocated them. "
         "For programs of this machine's architecture that are linked dynamically."),
    FLAG("mpi", mpi,
         "Count what the ranks of an MPI program send to each other, in bytes, beside the lines that their processes "
         "share: for programs (or mpirun) whose MPI library is linked dynamically, in C or C++. CSV is then by pair of "
         "ranks."),
    FLAG("no-paths", no_paths, "Do not follow calls: faster, without call paths and names of threads."),
    AS_RUN_UNTIMED_OPTIONS(struct as_comm_given, run),
    {.name = NULL},
};

/* ---- a recording ---- */

static int show_recording(const struct as_comm_given *options, const struct as_c2c *c2c, const char *path)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_output output = {0};
    bool written = true;
    if (!as_output_open(&output, options->output, &err))
        return as_cli_fail(&as_command_comm, &err);
    if (c2c->partial)
        as_log_warn("%s is not whole: %s; shown is what is there", path, c2c->partial);
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

static int read_recording(const struct as_comm_given *options, const char *path)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_c2c c2c = {0};
    bool ok = as_store_is_profile(path) ? as_moved_lines_read(&c2c, path, &err) : as_c2c_read(&c2c, path, &err);
    int status = ok ? show_recording(options, &c2c, path) : as_cli_fail(&as_command_comm, &err);
    as_c2c_free(&c2c);
    return status;
}

/* ---- what was given ---- */

#define NOT_GIVEN AS_COMM_NOT_GIVEN
static const struct as_comm_given nothing_given = {.run = AS_RUN_OPTIONS_DEFAULT,
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
                                                   .follow_life = NOT_GIVEN,
                                                   .method = -1,
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

static void settle_defaults(struct as_comm_given *options)
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
    by_default(&options->follow_life, 16);
    options->method = options->method < 0 ? 0 : options->method;
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
static int check_uses(const struct as_comm_given *options, enum as_comm_use use)
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

static int check(const struct as_comm_given *options, bool is_operand)
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
    struct as_comm_given options = nothing_given;
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
                 : is_native ? as_comm_run_machine(&options, argv + rest)
                             : as_comm_run_modelled(&options, argv + rest);
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
    .examples = "assay comm -- ./prog\n"
                "assay comm --json -- ./prog > comm.json\n"
                "assay comm --sampling=operations --period 50k -- ./prog\n"
                "assay comm --source=timer -- ./prog\n"
                "perf c2c record ./prog && assay comm perf.data\n"
                "assay record --source=pmu:skylake --event loads --event stores -- ./prog\n"
                "assay comm assay.db\n",
    .run = run_comm,
};
