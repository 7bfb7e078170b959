/* assay blocks: how often each basic block ran. */
#include "base/log.h"
#include "base/path.h"
#include "base/show.h"
#include "base/time_unit.h"
#include "blocks/blocks_fit.h"
#include "blocks/exact.h"
#include "cmd/blocks_for.h"
#include "cmd/blocks_options.h"
#include "cmd/commands.h"
#include "cmd/debug_path.h"
#include "cmd/default_core.h"
#include "cmd/model_options.h"
#include "cmd/progress.h"
#include "cmd/shared_options.h"
#include "engine/program.h"
#include "engine/sink_tee.h"
#include "pmu/pmu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The value of a number that was not given, until its default replaces it. */
#define NOT_GIVEN UINT64_MAX

/* auto, and behind it those of enum as_method. */
static const char *const method_choices[] = {"auto", "ip", "fixed", "uops", "lbr", "flow", NULL};

static const struct as_option options_table[] = {
    AS_JSON_OPTION(struct as_blocks_options, json, AS_JSON_HELP_RUN),
    {.name = "csv",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct as_blocks_options, csv),
     .help = "Print one line a block, as comma-separated values; the program's own standard output then goes to "
             "standard error."},
    AS_OUTPUT_OPTION(struct as_blocks_options, output, AS_OUTPUT_HELP_RUN),
    {.name = "for",
     .type = AS_OPTION_CHOICE,
     .offset = offsetof(struct as_blocks_options, for_),
     .value = "FORMAT",
     .choices = as_blocks_for_choices,
     .help =
         "Write a profile for a compiler instead: LLVM's sample profile as text or binary (autofdo, autofdo-binary), "
         "GCC's (gcc), fdata for llvm-bolt (bolt), pre-aggregated for perf2bolt (pre-aggregated), an unsymbolized "
         "profile for llvm-profgen (profgen), or Propeller's lists for clang and lld (propeller, "
         "propeller-order). With --module it is of another file than the program's own."},
    {.name = "function",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct as_blocks_options, function),
     .value = "NAME",
     .help = "Show only this function: all its blocks by address, with where control went from each."},
    {.name = "module",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct as_blocks_options, module),
     .value = "NAME",
     .help = "Show only the code of this file, by its name or path."},
    {.name = "functions",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct as_blocks_options, functions),
     .value = "N",
     .max = NOT_GIVEN - 1,
     .help = "Show the N functions that executed most instructions (default 10; 0: none)."},
    {.name = "blocks",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct as_blocks_options, blocks),
     .value = "N",
     .max = NOT_GIVEN - 1,
     .help = "Show the N blocks that executed most instructions (default 20; 0: none). --json and --csv list all."},
    {.name = "loops",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct as_blocks_options, loops),
     .value = "N",
     .max = NOT_GIVEN - 1,
     .help = "Show the N loops with most instructions, and their trip counts (default 10; 0: none)."},
    {.name = "traces",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct as_blocks_options, traces),
     .value = "N",
     .max = NOT_GIVEN - 1,
     .help = "Show the N hottest traces: paths that control takes most of the time (default 5; 0: none)."},
    {.name = "never",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct as_blocks_options, never),
     .help = "Also list the code that never ran: blocks of functions that did, and whole functions."},
    {.name = "method",
     .type = AS_OPTION_CHOICE,
     .offset = offsetof(struct as_blocks_options, method),
     .value = "auto|ip|fixed|uops|lbr|flow",
     .choices = method_choices,
     .help =
         "How counts are made of a recording's samples: the samples of a block over its instructions (ip), the same "
         "with addresses corrected by the branch stack (fixed), over its micro-operations (uops), all runs of "
         "each branch stack (lbr), or its branches without their order, as profiles keep them (flow). auto takes lbr "
         "where there are branch stacks, and flow where a profile has branches."},
    {.name = "balance",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct as_blocks_options, balance),
     .help = "Change a recording's counts as little as possible so that what comes into a block leaves it."},
    {.name = "event",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct as_blocks_options, event),
     .value = "NAME",
     .help = "The recording's event to use, by its name or a part of it (if several match, the one with the most "
             "samples; default: the one with the most of all); of a profile, the series."},
    {.name = "drop-oldest",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct as_blocks_options, drop_oldest),
     .help = "Leave out the oldest entry of each branch stack."},
    {.name = "trust-paths",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct as_blocks_options, trust_paths),
     .help = "Take code from the files at the recorded paths where the recording does not say which ones they were."},
    {.name = "symfs",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct as_blocks_options, symfs),
     .value = "DIR",
     .help = "Look for the recorded files below DIR."},
    {.name = "debug-path",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct as_blocks_options, debug_path),
     .value = "DIRS",
     .help = "Also look for separate debug files in these directories, separated by ':', before /usr/lib/debug."},
    {.name = "methods",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct as_blocks_options, methods),
     .help = "Run the program on a modelled core, sample it in every way that the PMU can, and show how wrong each is "
             "about blocks and functions, and which one to believe."},
    {.name = "pmu",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct as_blocks_options, pmu),
     .value = "NAME|FILE",
     .help = "The PMU of --methods: a name (%s; default ivy-bridge) or the path of a file.",
     .names = as_pmu_names},
    AS_CORE_OPTION(struct as_blocks_options, core, "as for record", ", used only by --methods."),
    AS_SET_OPTION(struct as_blocks_options, set, AS_SET_HELP),
    {.name = "period",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct as_blocks_options, period),
     .value = "N",
     .min = 100,
     .max = NOT_GIVEN - 1,
     .help = "With the option --methods, a sample every N instructions (default 2000); methods that count taken "
             "branches take one every as many of them as N instructions have."},
    {.name = "skid",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct as_blocks_options, skid),
     .value = "CYCLES",
     .max = 100000,
     .help = "How late the interrupt of an imprecise event comes (default 30)."},
    {.name = "seed",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct as_blocks_options, seed),
     .value = "N",
     .max = NOT_GIVEN - 1,
     .help = "The seed of --methods' random periods (default 1)."},
    AS_RUN_PLACES_OF(struct as_blocks_options, run,
                     "A part of the run to measure, as in assay-regions(5): an instruction count, a function, an "
                     "address, a marker, 'signal' or 'delay:SECONDS' on each side, and max=N or repeat after it; "
                     "with --methods, also a cycle and warm=N. May be given several times."),
    {.name = "warm",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct as_blocks_options, run.warm),
     .value = "N",
     .help = "With --methods, warm caches, TLBs and predictors of the model with the N instructions before the region, "
             "or with 'all' of them."},
    AS_RUN_WAYS(struct as_blocks_options, run),
    AS_ENVIRONMENT_OPTION(struct as_blocks_options, run),
    {.name = NULL},
};

/* A compiler takes what it is given for true: no profile of code that is not the recorded one. */
static bool fits(const struct as_blocks_shown *shown, uint32_t module, struct as_error *err)
{
    if (!shown->fit)
        return true;
    struct as_blocks_fit own = *shown->fit;
    own.module = as_cfg_get(shown->flow->cfg, module)->path;
    return as_blocks_check_fit(&own, err);
}

static int write_profile(const struct as_blocks_options *options, const struct as_blocks_shown *shown,
                         struct as_output *output)
{
    struct as_error err = AS_ERROR_INIT;
    uint32_t module = shown->recorded && !options->module
                          ? as_blocks_main_module(shown->flow, &err)
                          : as_blocks_module(shown->flow, options->module, shown->what, &err);
    if (module != AS_CFG_NONE && shown->unit)
        as_log_warn("these counts are of %s: they say where %s, and what reads them takes them for how often "
                    "blocks ran",
                    AS_SHOW(shown->unit), as_unit_is_time(shown->unit) ? "the time went" : "those happened");
    if (module != AS_CFG_NONE && fits(shown, module, &err) &&
        as_blocks_write_for((enum as_blocks_for)options->for_, shown->flow, module, output->file, &err))
        return as_output_finish(output, &err) ? AS_EXIT_OK : as_cli_fail(&as_command_blocks, &err);
    as_output_drop(output);
    return as_cli_fail(&as_command_blocks, &err);
}

int as_blocks_write(const struct as_blocks_options *options, struct as_blocks_shown *shown, struct as_output *output)
{
    struct as_error err = AS_ERROR_INIT;
    shown->module = options->module;
    shown->function = options->function;
    shown->blocks = options->blocks;
    shown->functions = options->functions;
    shown->loops = options->loops;
    shown->traces = options->traces;
    shown->never = options->never;
    if (options->for_ != AS_BLOCKS_FOR_NOTHING)
        return write_profile(options, shown, output);
    if (options->module && as_blocks_module(shown->flow, options->module, NULL, &err) == AS_CFG_NONE) {
        as_output_drop(output);
        return as_cli_fail(&as_command_blocks, &err);
    }
    as_blocks_warn_of_code(shown->flow, options->module);
    if (options->function && !as_block_scope_is_there(as_blocks_scope(shown))) {
        as_output_drop(output);
        const char *module = as_block_scope_module(as_blocks_scope(shown));
        if (module)
            as_error_set(&err, "the function '%s' of %s %s", options->function, module,
                         shown->flow->samples ? "has no samples" : "never ran");
        else
            as_error_set(&err,
                         "no file that ran has a function '%s'; 'assay blocks --functions 1000' lists those that ran",
                         options->function);
        return as_cli_fail(&as_command_blocks, &err);
    }
    if (options->json && !as_blocks_show_json(shown, output->file) && !output->path)
        return as_cli_stdout_failed();
    if (options->csv)
        as_blocks_show_csv(shown, output->file);
    else if (!options->json)
        as_blocks_show_text(shown, output->file);
    return as_output_finish(output, &err) ? AS_EXIT_OK : as_cli_fail(&as_command_blocks, &err);
}

static int show(const struct as_blocks_options *options, char **argv, const struct as_exact_counters *counters,
                const struct as_engine *engine, const struct as_engine_result *result, struct as_output *output)
{
    struct as_flow *flow = as_exact_flow(engine, counters->counter, counters->jumps,
                                         &(struct as_exact_options){.cfg = {options->debug_path}});
    struct as_cfg *cfg = flow->cfg;
    struct as_blocks_shown shown = {.flow = flow,
                                    .what = argv[0],
                                    .how = "exact counts, from QEMU's user mode",
                                    .method = "exact",
                                    .seconds = result->seconds};
    struct as_error err = AS_ERROR_INIT;
    char part[AS_ENGINE_PART];
    if (as_engine_part(result, as_counter_total(counters->counter).instructions, part, sizeof part))
        shown.part = part;
    bool measured = as_engine_check_measured(result, as_flow_total(flow) > 0, &err);
    int failed = measured ? as_blocks_write(options, &shown, output) : 0;
    as_flow_free(flow);
    as_cfg_free(cfg);
    int status = measured ? as_run_report(result, &options->run) : AS_EXIT_OK;
    if (!measured) {
        as_output_drop(output);
        return as_cli_fail(&as_command_blocks, &err);
    }
    return failed ? failed : status;
}

/* The file that a profile will be of, as far as that is known before the run; NULL: one of those that the program loads. */
static const char *file_wanted(const struct as_blocks_options *options, const char *program)
{
    if (!options->module || strcmp(options->module, as_path_base(program)) == 0)
        return program;
    return strchr(options->module, '/') ? options->module : NULL;
}

static void note_weights(const struct as_regions *regions)
{
    for (size_t i = 0; i < regions->list.len; i++)
        if (regions->list.data[i].weight != 1) {
            as_log_note("exact counts are of what ran in the regions: their weights have no effect");
            return;
        }
}

static int run_program(const struct as_blocks_options *options, char **argv)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_engine_result result;
    struct as_output output = {0};
    struct as_exact_counters counters = {0};
    struct as_progress progress;
    struct as_engine *engine = NULL;
    struct as_engine_options engine_options = as_run_engine_options(&options->run, argv);
    bool ok = as_blocks_check_for((enum as_blocks_for)options->for_, file_wanted(options, argv[0]), options->debug_path,
                                  &err) &&
              as_output_open(&output, options->output, &err);
    if (ok)
        note_weights(&options->run.regions);
    as_exact_counters_open(&counters, false);
    engine_options.stdout_to_stderr =
        (options->json || options->csv || options->for_ != AS_BLOCKS_FOR_NOTHING) && !options->output;
    engine_options.blocks_only = true;
    struct as_metered program = {.goal = as_regions_length(&options->run.regions)};
    program.sink = as_sink_tee_sink(counters.tee, &program.context);
    ok = ok && as_meter_run(&as_progress_meter, &progress, engine_options, &program, &engine, &result, &err);
    int status = ok ? show(options, argv, &counters, engine, &result, &output) : as_cli_fail(&as_command_blocks, &err);
    if (!ok)
        as_output_drop(&output);
    as_exact_counters_close(&counters);
    as_engine_free(engine);
    return status;
}

/* ---- which options are for what ---- */

enum use { OF_EXACT = 1, OF_METHODS = 2, OF_RECORDING = 4, OF_PROFILE = 8 };
enum { OF_RUN = OF_EXACT | OF_METHODS, OF_SAMPLES = OF_RECORDING | OF_PROFILE, OF_COUNTS = OF_EXACT | OF_SAMPLES };

static const struct {
    const char *name;
    unsigned uses;
} option_uses[] = {
    {"for", OF_COUNTS},
    {"function", OF_COUNTS},
    {"module", OF_COUNTS},
    {"functions", OF_COUNTS},
    {"blocks", OF_COUNTS},
    {"loops", OF_COUNTS},
    {"traces", OF_COUNTS},
    {"never", OF_COUNTS},
    {"method", OF_SAMPLES},
    {"balance", OF_SAMPLES},
    {"event", OF_SAMPLES},
    {"drop-oldest", OF_RECORDING},
    {"symfs", OF_RECORDING},
    {"trust-paths", OF_RECORDING},
    {"pmu", OF_METHODS},
    {"core", OF_METHODS},
    {"set", OF_METHODS},
    {"period", OF_METHODS},
    {"skid", OF_METHODS},
    {"seed", OF_METHODS},
    {"debug-path", OF_COUNTS},
    {"skip", OF_RUN},
    {"max", OF_RUN},
    {"from", OF_RUN},
    {"to", OF_RUN},
    {"region", OF_RUN},
    {"regions", OF_RUN},
    {"warm", OF_METHODS},
    {"delay", OF_RUN},
    {"switch-signal", OF_RUN},
    {"no-follow", OF_RUN},
    {"environment", OF_RUN},
    {"qemu", OF_RUN},
    {"window", OF_RUN},
    {"methods", OF_RUN},
};

static const char *name_use(unsigned uses)
{
    switch (uses) {
    case OF_RUN:
        return "runs of programs";
    case OF_METHODS:
        return "runs with --methods";
    case OF_RECORDING:
        return "recordings of perf";
    case OF_SAMPLES:
        return "recordings and profiles";
    default:
        return "counts of blocks";
    }
}

/* An option that has no effect is refused; 0: there is none. */
static int check_uses(const struct as_blocks_options *options, enum use use)
{
    static const char *const names[] = {[OF_EXACT] = "a run that counts exactly",
                                        [OF_METHODS] = "--methods",
                                        [OF_RECORDING] = "a recording",
                                        [OF_PROFILE] = "a profile"};
    for (size_t i = 0; i < sizeof option_uses / sizeof *option_uses; i++)
        if (!(option_uses[i].uses & use) &&
            as_cli_is_given(&as_command_blocks, options, option_uses[i].name, NOT_GIVEN))
            return as_cli_usage(&as_command_blocks, "--%s is for %s, not for %s", option_uses[i].name,
                                name_use(option_uses[i].uses), names[use]);
    return 0;
}

/* Whether an option says that the file is meant to be a recording or profile. */
static bool wants_samples(const struct as_blocks_options *options)
{
    for (size_t i = 0; i < sizeof option_uses / sizeof *option_uses; i++)
        if (!(option_uses[i].uses & OF_RUN) &&
            as_cli_is_given(&as_command_blocks, options, option_uses[i].name, NOT_GIVEN))
            return true;
    return false;
}

/* The same for what is written. */
static int check_format(const struct as_blocks_options *options)
{
    static const char *const text[] = {"functions", "blocks", "loops", "traces", "never", "function"};
    enum { ROWS = 4, UNUSED_BY_CSV = 5, ALL = 6 };
    bool all = options->json || options->csv;
    if (options->json && options->csv)
        return as_cli_usage(&as_command_blocks, "--json and --csv exclude each other");
    if (options->for_ >= 0 && all)
        return as_cli_usage(&as_command_blocks, "--for has a format of its own: leave --json and --csv out");
    int n = options->for_ >= 0 ? ALL : options->csv ? UNUSED_BY_CSV : options->json ? ROWS : 0;
    for (int i = 0; i < n; i++)
        if (as_cli_is_given(&as_command_blocks, options, text[i], NOT_GIVEN))
            return as_cli_usage(&as_command_blocks, "--%s is for %s: %s", text[i], i < ROWS ? "text" : "text and JSON",
                                options->for_ >= 0 ? "--for writes all functions of a file"
                                : options->csv     ? "--csv lists the blocks that ran"
                                                   : "--json lists all");
    if ((options->module && !*options->module))
        return as_cli_usage(&as_command_blocks, "--module= needs the name or path of a file");
    if (options->function && !*options->function)
        return as_cli_usage(&as_command_blocks, "--function= needs the name of a function");
    if (options->function && options->blocks != NOT_GIVEN)
        return as_cli_usage(&as_command_blocks, "--function shows all blocks of a function: leave --blocks out");
    if (options->function && options->functions != NOT_GIVEN)
        return as_cli_usage(&as_command_blocks, "--function shows one function: leave --functions out");
    return 0;
}

static void set_default(uint64_t *value, uint64_t usual)
{
    if (*value == NOT_GIVEN)
        *value = usual;
}

static void use_defaults(struct as_blocks_options *options)
{
    set_default(&options->functions, 10);
    set_default(&options->blocks, 20);
    set_default(&options->loops, 10);
    set_default(&options->traces, 5);
    set_default(&options->period, 2000);
    set_default(&options->skid, 30);
    set_default(&options->seed, 1);
    const struct as_run_options usual = AS_RUN_OPTIONS_DEFAULT;
    set_default(&options->run.skip, usual.skip);
    set_default(&options->run.max, usual.max);
    set_default(&options->run.window, usual.window);
    options->pmu = options->pmu ? options->pmu : "ivy-bridge";
    options->output = as_output_name(options->output);
    options->debug_path = as_cli_debug_path(options->debug_path);
}

/* ---- what a word on the command line is ---- */

static bool is_packed(const char *magic)
{
    return memcmp(magic, "\x1f\x8b", 2) == 0 ||
           memcmp(magic,
                  "\xfd"
                  "7zXZ",
                  5) == 0 ||
           memcmp(magic, "\x28\xb5\x2f\xfd", 4) == 0 || memcmp(magic, "BZh", 3) == 0;
}

/* A pipe cannot be a program, nor a profile; its bytes are left to those who read it as a recording. */
static enum use kind_of(const char *path)
{
    char magic[8] = "";
    struct stat info;
    if (strcmp(path, "-") == 0 || (stat(path, &info) == 0 && S_ISFIFO(info.st_mode)))
        return OF_RECORDING;
    FILE *file = fopen(path, "rb");
    bool whole = file && fread(magic, 1, sizeof magic, file) == sizeof magic;
    if (file)
        fclose(file);
    if (whole && memcmp(magic, "SQLite f", sizeof magic) == 0)
        return OF_PROFILE;
    bool perf = whole && (memcmp(magic, "PERFILE2", sizeof magic) == 0 ||
                          memcmp(magic, "2ELIFREP", sizeof magic) == 0 || memcmp(magic, "PERFFILE", sizeof magic) == 0);
    return perf || (whole && is_packed(magic)) ? OF_RECORDING : OF_EXACT;
}

/* Refuses a file that can be nothing of all that; 0: it may be a program. Whose name is also that of one on PATH is a program. */
static int refuse_data(const char *path)
{
    struct as_error err = AS_ERROR_INIT;
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || access(path, X_OK) == 0)
        return 0;
    struct as_program *found = as_alloc(sizeof *found);
    bool other = !strchr(path, '/') && as_program_find(path, getenv("PATH"), found, NULL);
    free(found);
    if (other)
        return 0;
    as_error_set(&err,
                 info.st_size ? "%s: not a recording of perf (text of perf script does not tell where code lies in "
                                "files), not a profile, and not "
                                "a program that may be executed"
                              : "%s: the file is empty",
                 path);
    return as_cli_fail(&as_command_blocks, &err);
}

/* Refuses a file that is not there; 0: it is, or is a program on PATH. */
static int refuse_missing(const char *path)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_program *found = as_alloc(sizeof *found);
    bool there = as_program_find(path, getenv("PATH"), found, &err);
    free(found);
    return there ? 0 : as_cli_fail(&as_command_blocks, &err);
}

/* Behind a file options may follow, as for other verbs; behind a program words are its own. */
static bool parse(int argc, char **argv, struct as_blocks_options *options, int *rest, enum use *use, int *status)
{
    enum as_parse parsed = as_cli_parse(&as_command_blocks, argc, argv, options, rest);
    *status = parsed == AS_PARSE_HELP ? AS_EXIT_OK : AS_EXIT_USAGE;
    if (parsed != AS_PARSE_OK)
        return false;
    bool there = *rest < argc, told = strcmp(argv[*rest - 1], "--") == 0;
    *use = there && !told ? kind_of(argv[*rest]) : OF_EXACT;
    if (*use & OF_SAMPLES) {
        int more;
        parsed = as_cli_parse(&as_command_blocks, argc - *rest, argv + *rest, options, &more);
        *status = parsed == AS_PARSE_HELP ? AS_EXIT_OK : AS_EXIT_USAGE;
        if (parsed != AS_PARSE_OK)
            return false;
        if (*rest + more < argc) {
            as_cli_usage(&as_command_blocks, "one recording or profile at a time; unexpected '%s'", argv[*rest + more]);
            return false;
        }
    } else if (options->methods) {
        *use = OF_METHODS;
    }
    *status = there ? 0 : as_cli_usage(&as_command_blocks, "no program and no recording given");
    bool file = !(*use & OF_SAMPLES) && !told; /* before options for recordings are refused: it may be meant as one */
    *status = *status || !file ? *status : refuse_data(argv[*rest]);
    *status = *status || !file || !wants_samples(options) ? *status : refuse_missing(argv[*rest]);
    *status = *status ? *status : check_uses(options, *use);
    *status = *status ? *status : check_format(options);
    return *status == 0;
}

/* Before anything is said about the core. */
static bool check_pmu(const char *name, struct as_error *err)
{
    struct as_pmu pmu;
    return as_pmu_load(name, &pmu, err);
}

static int run_blocks(int argc, char **argv)
{
    struct as_blocks_options options = {.run = AS_RUN_OPTIONS_DEFAULT,
                                        .functions = NOT_GIVEN,
                                        .blocks = NOT_GIVEN,
                                        .loops = NOT_GIVEN,
                                        .traces = NOT_GIVEN,
                                        .for_ = AS_BLOCKS_FOR_NOTHING,
                                        .method = -1,
                                        .period = NOT_GIVEN,
                                        .skid = NOT_GIVEN,
                                        .seed = NOT_GIVEN};
    options.run.skip = options.run.max = options.run.window = NOT_GIVEN;
    struct as_error err = AS_ERROR_INIT;
    struct as_default_core core;
    int rest, status;
    enum use use;
    if (!parse(argc, argv, &options, &rest, &use, &status))
        goto out;
    if (!as_cli_check_debug_path(options.debug_path, &err)) {
        status = as_cli_fail(&as_command_blocks, &err);
        goto out;
    }
    use_defaults(&options);
    if (use == OF_PROFILE)
        status = as_blocks_profile(&options, argv[rest]);
    else if (use == OF_RECORDING)
        status = as_blocks_recording(&options, argv[rest]);
    else if (!(use == OF_METHODS ? as_run_options_settle(&options.run, &err) && check_pmu(options.pmu, &err)
                                 : as_run_options_settle_untimed(&options.run, true, &err)))
        status = as_cli_fail(&as_command_blocks, &err);
    else if (use == OF_METHODS) {
        options.core = as_core_or_default(options.core, argv[rest], &core);
        status = as_blocks_methods(&options, argv + rest);
    } else
        status = run_program(&options, argv + rest);
out:
    as_run_options_free(&options.run);
    as_strlist_free(&options.set);
    return status;
}

const struct as_command as_command_blocks = {
    .name = "blocks",
    .summary = "How often each basic block ran, exactly or by samples",
    .usage = "[options] [--] PROGRAM [ARGS…]\n       assay blocks [options] PERF.DATA|PROFILE.db",
    .description =
        "Runs the program in QEMU's user mode and counts every execution of every basic block and of every "
        "branch between them: by function and block with source lines, with the trip counts of loops, the "
        "hottest paths, and the code that never ran. Nothing is sampled, the program needs no special "
        "build, and no hardware counter is needed.\n\nOf a recording of Linux perf, or a profile, it estimates the "
        "same "
        "counts, from branch stacks or from sampled addresses, and says how far to believe them. --methods shows for a "
        "program which way of sampling would be right.",
    .options = options_table,
    .examples = "assay blocks -- ./prog arg\n"
                "assay blocks --function main -- ./prog\n"
                "assay blocks --never --module prog -- ./prog\n"
                "assay blocks --for autofdo -o prog.prof -- ./prog\n"
                "assay blocks --for bolt -o prog.fdata -- ./prog\n"
                "assay blocks perf.data\n"
                "assay blocks assay.db\n"
                "assay blocks --methods -- ./prog\n"
                "assay blocks --csv -o blocks.csv -- ./prog\n",
    .run = run_blocks,
};
