/* assay compare: one run in the model, all samplers compared with the Oracle. */
#include "base/log.h"
#include "base/number.h"
#include "base/show.h"
#include "base/signals.h"
#include "base/split.h"
#include "base/vec.h"
#include "cmd/commands.h"
#include "cmd/compare.h"
#include "cmd/compare_events.h"
#include "cmd/compare_pics.h"
#include "cmd/default_core.h"
#include "cmd/model_options.h"
#include "cmd/observer_set.h"
#include "cmd/output.h"
#include "cmd/progress.h"
#include "cmd/run_options.h"
#include "cmd/shared_options.h"
#include "observe/bundled.h"
#include "observe/intervals.h"
#include "record/input.h"
#include "record/modelled.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bundled observers that write files and have their own option. */
enum { KONATA, O3PIPEVIEW, CYCLE_TRACE, CYCLE_TRACE_ALL, COMMIT_CSV, COMMIT_TRACE, COUNTERS, CALLS, FLAME, FILES };
static const struct as_observer *const file_observers[FILES] = {[KONATA] = &as_konata_observer,
                                                                [O3PIPEVIEW] = &as_o3pipeview_observer,
                                                                [CYCLE_TRACE] = &as_cycle_trace_observer,
                                                                [CYCLE_TRACE_ALL] = &as_cycle_trace_all_observer,
                                                                [COMMIT_CSV] = &as_commit_csv_observer,
                                                                [COMMIT_TRACE] = &as_commit_trace_observer,
                                                                [COUNTERS] = &as_counters_observer,
                                                                [CALLS] = &as_calls_observer,
                                                                [FLAME] = &as_flame_observer};

/* Those of TEA, and waits for other cores' lines, which no program of one thread has. */
enum { USUAL_EVENTS = AS_EVENTS_TEA | AS_EVENT_COHERENCE };

struct compare_options {
    struct as_run_options run;
    bool json, random;
    const char *output, *core, *samplers, *sweep, *events, *pics, *pics_of;
    uint64_t period, seed, top;
    double rate;
    struct as_strlist set, observers;
    const char *files[FILES]; /* files of bundled observers, by observer */
    uint64_t interval;
    bool timeline;
};

static const struct as_option options_table[] = {
    AS_JSON_OPTION(struct compare_options, json, AS_JSON_HELP_RUN),
    AS_OUTPUT_OPTION(struct compare_options, output, AS_OUTPUT_HELP_RUN),
    AS_CORE_OPTION(struct compare_options, core, AS_NEAREST_CORE,
                   "; several, separated by commas, are compared: the program runs once on each."),
    AS_SET_OPTION(struct compare_options, set, AS_SET_HELP),
    {.name = "samplers",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct compare_options, samplers),
     .value = "LIST",
     .help = "Only these samplers, separated by commas (default: %s); none: the Oracle alone.",
     .names = as_samplers_name},
    {.name = "period",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct compare_options, period),
     .value = "N",
     .min = 1,
     .help = "Take a sample every N cycles (default 1009)."},
    {.name = "rate",
     .type = AS_OPTION_DOUBLE,
     .offset = offsetof(struct compare_options, rate),
     .value = "HZ",
     .help = "Take HZ samples a second of simulated time, at the machine's frequency, instead of --period."},
    {.name = "random",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct compare_options, random),
     .help = "Sample at a random cycle of each period instead of its last."},
    {.name = "seed",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct compare_options, seed),
     .value = "N",
     .help = "Seed of --random (default 1): the same seed gives the same samples."},
    {.name = "sweep",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct compare_options, sweep),
     .value = "LIST",
     .help = "Also report the errors for these periods, separated by commas, from the same run."},
    {.name = "top",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct compare_options, top),
     .value = "N",
     .help = "Show the N instructions with the most time, and each sampler's share for them (default 10)."},
    {.name = "events",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct compare_options, events),
     .value = "LIST",
     .help =
         "The events of the cycle stacks, and of the samplers tea and nci-tea: names, sets (%s), or changes to "
         "the default such as +FORWARDED, separated by commas. The default is tea, with ST-CO where threads wait for "
         "lines of other cores.",
     .names = as_event_sets_name},
    {.name = "pics",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct compare_options, pics),
     .value = "PLACE",
     .help = "Show the instructions of a function with their cycle stacks; NAME, NAME+0xOFFSET, MODULE:NAME or "
             "0xADDRESS."},
    {.name = "pics-of",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct compare_options, pics_of),
     .value = "SAMPLER",
     .help = "Show --pics as recorded by this sampler, instead of the golden reference."},
    {.name = "observer",
     .type = AS_OPTION_LIST,
     .offset = offsetof(struct compare_options, observers),
     .value = "NAME|FILE[,ARG]",
     .help = "Let an observer read the run: a bundled one by its name, or one of your own from a shared object "
             "(include/assay/observer.h); may be given several times."},
    {.name = "konata",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct compare_options, files[KONATA]),
     .value = "FILE",
     .writes = true,
     .help = "Write the pipeline stages of every instruction to FILE, for the Konata viewer (Kanata 0004)."},
    {.name = "o3pipeview",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct compare_options, files[O3PIPEVIEW]),
     .value = "FILE",
     .writes = true,
     .help = "Write the same to FILE as gem5's O3PipeView, which Konata and gem5's own viewer read."},
    {.name = "cycle-trace",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct compare_options, files[CYCLE_TRACE]),
     .value = "FILE",
     .writes = true,
     .help =
         "Write the commit stage cycle by cycle to FILE, 64 bytes for each cycle in which it changes, so that other "
         "samplers can be run on it."},
    {.name = "cycle-trace-all",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct compare_options, files[CYCLE_TRACE_ALL]),
     .value = "FILE",
     .writes = true,
     .help =
         "Write the same to FILE with 64 bytes for each cycle, or for each five instructions of those that commit in "
         "it: what the tools of TIP's authors read as it is."},
    {.name = "commit-csv",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct compare_options, files[COMMIT_CSV]),
     .value = "FILE",
     .writes = true,
     .help = "Write the commit cycle and the address of every instruction to FILE, as CSV."},
    {.name = "commit-trace",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct compare_options, files[COMMIT_TRACE]),
     .value = "FILE",
     .writes = true,
     .help = "Write the same to FILE as binary records of 16 bytes."},
    {.name = "counters",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct compare_options, files[COUNTERS]),
     .value = "FILE",
     .writes = true,
     .help = "Write counts, events and the occupancy of the core's queues, every --interval cycles, to FILE: CSV, or "
             "JSON if its name ends in .json."},
    {.name = "interval",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct compare_options, interval),
     .value = "N",
     .min = 1,
     .max = AS_INTERVAL_LONGEST,
     .help = "The cycles between two rows of --counters (default 10000)."},
    {.name = "timeline",
     .type = AS_OPTION_FLAG,
     .offset = offsetof(struct compare_options, timeline),
     .help = "Show how the run went over time: instructions a cycle, misses and the occupancy of queues, as bars."},
    {.name = "calls",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct compare_options, files[CALLS]),
     .value = "FILE",
     .writes = true,
     .help = "Write the start and the end cycle of every call to FILE, as CSV."},
    {.name = "flame",
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct compare_options, files[FLAME]),
     .value = "FILE",
     .writes = true,
     .help = "Write the cycles of every call path to FILE, as folded stacks for flame graph tools."},
    AS_MEMO_OPTIONS(struct compare_options, run),
    AS_ENVIRONMENT_OPTION(struct compare_options, run),
    AS_RUN_OPTIONS(struct compare_options, run),
    {.name = NULL},
};

/* One of the requested machines. */
struct run {
    const struct compare_options *options;
    struct as_modelled modelled;
    struct as_observer_set *observers;
    char *own_text; /* output of the user's observers */
    size_t crashed; /* number of observers that crashed */
    struct as_compare compare;
    struct as_listing listing;
    struct as_error lost; /* why --pics shows nothing; no message: it shows something */
    uint32_t events;
};

/* All machines, in the order asked for. */
struct comparison {
    const struct compare_options *options;
    const struct as_sampler *samplers[AS_SAMPLER_COUNT];
    size_t n_samplers;
    struct as_output output;
    char **cores;
    size_t n_cores, whole; /* whole: of so many there is a result, the first ones */
    int interrupted_by;    /* the signal by which the user ended the runs of several machines; 0: there was none */
    struct run *runs;
    struct as_place place; /* of --pics */
};

static bool is_chosen(const struct comparison *all, const struct as_sampler *sampler)
{
    for (size_t i = 0; i < all->n_samplers; i++)
        if (all->samplers[i] == sampler)
            return true;
    return false;
}

static bool choose_samplers(struct comparison *all, struct as_error *err)
{
    if (!all->options->samplers) {
        memcpy(all->samplers, as_samplers, sizeof as_samplers);
        all->n_samplers = AS_SAMPLER_COUNT;
        return true;
    }
    if (strcmp(all->options->samplers, "none") == 0) /* the Oracle alone */
        return true;
    return as_samplers_choose(all->options->samplers, all->samplers, &all->n_samplers, err);
}

static bool choose_cores(struct comparison *all, struct as_error *err)
{
    const struct compare_options *options = all->options;
    all->cores = as_split(options->core, ",", &all->n_cores);
    all->runs = as_alloc_array(all->n_cores ? all->n_cores : 1, sizeof *all->runs);
    if (all->n_cores == 0)
        return as_error_set_status(err, AS_EXIT_USAGE, "--core names no machine");
    for (size_t i = 0; i < FILES; i++)
        if (all->n_cores > 1 && options->files[i])
            return as_error_set_status(err, AS_EXIT_USAGE, "--%s writes a file for one machine, but --core names %zu",
                                       file_observers[i]->name, all->n_cores);
    if (options->interval && !options->files[COUNTERS])
        return as_error_set_status(err, AS_EXIT_USAGE, "--interval needs --counters");
    return true;
}

/* Checks --pics and --pics-of before anything runs. */
static bool choose_pics(struct comparison *all, struct as_error *err)
{
    const struct compare_options *options = all->options;
    const struct as_sampler *of = options->pics_of ? as_sampler_find(options->pics_of) : NULL;
    if (options->pics && !as_place_parse(options->pics, &all->place, err))
        return false;
    if (!options->pics_of)
        return true;
    if (!options->pics)
        return as_error_set_status(err, AS_EXIT_USAGE, "--pics-of needs --pics");
    if (!of || !is_chosen(all, of))
        return as_error_set_status(err, AS_EXIT_USAGE, "--pics-of: '%s' is not among the samplers of this run",
                                   options->pics_of);
    if (!of->events) {
        struct as_str known = {0};
        as_samplers_name_events(&known);
        as_error_set_status(err, AS_EXIT_USAGE, "--pics-of: %s records no events; these do: %s", of->name,
                            as_str_get(&known));
        as_str_free(&known);
    }
    return of->events;
}

/* ---- one run ---- */

static bool add_sampling(const struct comparison *all, struct run *run, uint64_t period, struct as_error *err)
{
    struct as_schedule schedule = {.period = period, .random = all->options->random, .seed = all->options->seed};
    return as_modelled_sample(&run->modelled, &schedule, all->samplers, all->n_samplers, err);
}

static bool add_sweep(const struct comparison *all, struct run *run, struct as_error *err)
{
    if (!all->options->sweep)
        return true;
    size_t n;
    char **words = as_split(all->options->sweep, ",", &n);
    bool ok = n > 0 || as_error_set_status(err, AS_EXIT_USAGE, "--sweep names no period");
    for (size_t i = 0; i < n && ok; i++) {
        uint64_t period;
        ok = as_number_read(words[i], &period) && period > 0
                 ? add_sampling(all, run, period, err)
                 : as_error_set_status(err, AS_EXIT_USAGE, "--sweep: '%s' is not a period", words[i]);
    }
    as_split_free(words);
    return ok;
}

static bool add_observer(struct run *run, const char *spec, struct as_error *err)
{
    return as_observer_set_add(run->observers, spec, false, as_model_run_info(run->modelled.model),
                               run->modelled.fanout, err);
}

/* Those who read the trace elsewhere do not know this machine. */
static void note_width(const struct run *run)
{
    enum { KNOWN = 4, IN_TOKEN = 5 }; /* doc/format/traces.md */
    const struct as_machine *machine = &run->modelled.machine;
    uint32_t group = machine->back.commit_width * (machine->back.fuse ? 2 : 1);
    if (run->options->files[CYCLE_TRACE_ALL] && group > KNOWN)
        as_log_note("--cycle-trace-all: %s commits up to %" PRIu32
                    " instructions a cycle; the tools of TIP's authors know "
                    "four (as --core=boom-tea commits), and come to other profiles than Assay%s",
                    machine->name, group, group > IN_TOKEN ? "; a cycle with more than five has several tokens" : "");
}

/* Adds the observers that have their own options. */
static bool add_file_observers(struct run *run, struct as_error *err)
{
    bool ok = true;
    for (size_t i = 0; i < FILES && ok; i++) {
        if (!run->options->files[i])
            continue;
        char *spec = as_format("%s,%s", file_observers[i]->name, run->options->files[i]);
        if (i == COUNTERS && run->options->interval) {
            char *longer = as_format("%s,%" PRIu64, spec, run->options->interval);
            free(spec);
            spec = longer;
        }
        ok = add_observer(run, spec, err);
        free(spec);
    }
    return ok;
}

static bool add_observers(struct run *run, struct as_error *err)
{
    bool ok = add_file_observers(run, err) && (!run->options->timeline || add_observer(run, "timeline", err));
    for (size_t i = 0; i < run->options->observers.len && ok; i++)
        ok = add_observer(run, run->options->observers.data[i], err);
    return ok;
}

static bool set_up(const struct comparison *all, struct run *run, const char *core, struct as_error *err)
{
    struct as_modelled *modelled = &run->modelled;
    struct as_schedule schedule = {0};
    run->options = all->options;
    if (!as_modelled_open(modelled, core, &run->options->set, err) || !as_modelled_watch(modelled, err))
        return false;
    run->observers = as_observer_set_new(all->options->output, run > all->runs ? run[-1].observers : NULL);
    as_model_set_files(modelled->model, as_observer_set_open, run->observers);
    if (!as_modelled_events(modelled, run->options->events, USUAL_EVENTS, &run->events, err) ||
        !as_modelled_schedule(modelled, run->options->period, run->options->rate, &schedule, err) ||
        !add_sampling(all, run, schedule.period, err) || !add_sweep(all, run, err))
        return false;
    as_modelled_set_events(modelled, run->events);
    struct as_memo_options memo = as_run_memo_options(&run->options->run);
    as_model_set_memo(modelled->model, &memo);
    note_width(run);
    return add_observers(run, err);
}

/* Lets the observers finish, and keeps what they print for later. */
static void report_observers(struct run *run)
{
    size_t size = 0;
    FILE *memory = open_memstream(&run->own_text, &size);
    run->crashed = as_fanout_report(run->modelled.fanout, memory ? memory : stderr);
    if (memory)
        fclose(memory);
}

/* The events shown: of those that nobody asked for, waits for other cores only where there were any. */
static uint32_t shown_events(const struct run *run)
{
    const char *asked = run->options->events;
    bool waited = as_pics_event(&run->compare.golden, AS_EVENT_COHERENCE).count;
    bool named = asked && ((*asked != '+' && *asked != '-') || strcasestr(asked, "ST-CO"));
    return named || waited ? run->events : run->events & ~(uint32_t)AS_EVENT_COHERENCE;
}

/* Chooses the stacks and rows to show. If a place does not exist, only its listing is missing. */
static void choose_shown(const struct comparison *all, struct run *run)
{
    struct as_compare *compare = &run->compare;
    compare->golden = as_oracle_pics(run->modelled.oracle);
    compare->events = compare->shown_events = shown_events(run);
    compare->colour = !all->output.path && isatty(STDOUT_FILENO) && !(getenv("NO_COLOR") && *getenv("NO_COLOR"));
    struct as_pics said = {0};
    for (size_t i = 0; i < all->n_samplers && all->options->pics_of; i++)
        if (strcmp(all->samplers[i]->name, all->options->pics_of) == 0) {
            size_t n;
            said = as_sampling_pics(compare->samplings[0], i);
            compare->shown_events = as_sampling_results(compare->samplings[0], &n)[i].events;
            compare->pics_of = all->options->pics_of;
        }
    compare->shown = as_pics_fold(compare->pics_of ? &said : &compare->golden, compare->shown_events, NULL);
    compare->shown_total = as_pics_total(&compare->shown);
    as_pics_free(&said);
    compare->place = all->options->pics;
    if (compare->place && as_listing_find(compare, &all->place, &run->listing, &run->lost))
        compare->listing = &run->listing;
}

static bool run_once(const struct comparison *all, struct run *run, char **argv, struct as_error *err)
{
    struct as_modelled *modelled = &run->modelled;
    struct as_engine_options engine = as_run_engine_options(&run->options->run, argv);
    engine.stdout_to_stderr = run->options->json && !run->options->output;
    if (!as_progress_run(modelled, engine, err))
        return false;
    report_observers(run);
    if (!as_oracle_check(modelled->oracle, err))
        return false;
    run->compare = (struct as_compare){
        .argv = argv,
        .machine = &modelled->machine,
        .model = modelled->model,
        .result = modelled->result,
        .oracle = modelled->oracle,
        .samplings = modelled->samplings.data,
        .n_samplings = modelled->samplings.len,
        .top = run->options->top,
    };
    as_groups_make(&run->compare.groups, modelled->model);
    run->compare.levels = as_groups_levels(&run->compare.groups);
    as_oracle_profile(modelled->oracle, &run->compare.truth);
    choose_shown(all, run);
    return true;
}

/* Frees what is left after the run was shown. Returns how many observers crashed, including at their end. */
static size_t end_run(struct run *run)
{
    as_groups_free(&run->compare.groups);
    as_profile_free(&run->compare.truth);
    as_pics_free(&run->compare.golden);
    as_pics_free(&run->compare.shown);
    free(run->listing.ids);
    free(run->own_text);
    size_t crashed = as_modelled_free(&run->modelled);
    as_observer_set_free(run->observers, crashed > 0);
    return crashed;
}

/* ---- all of them ---- */

/* Outputs of observers (--calls, --flame) have no place to say it. */
static void warn_of_folded(const struct as_compare *compare)
{
    uint64_t folded = as_compare_folded_calls(compare);
    if (folded)
        as_log_warn("%s calls have no row in --calls and no place of their own in --flame, and count as part of their "
                    "callers: call paths are kept to a depth of %s, and at most %s of them",
                    AS_COUNT(folded), AS_COUNT(AS_CALLPATH_MAX_DEPTH), AS_COUNT(AS_CALL_TREE_MAX_NODES));
}

static int show(struct comparison *all)
{
    struct as_error err = AS_ERROR_INIT;
    const struct as_compare **compares = as_alloc_array(all->whole, sizeof(struct as_compare *));
    size_t crashed = 0;
    int status = AS_EXIT_OK;
    for (size_t i = 0; i < all->whole; i++)
        compares[i] = &all->runs[i].compare;
    all->runs[0].compare.missing = all->cores + all->whole;
    all->runs[0].compare.n_missing = all->n_cores - all->whole;
    warn_of_folded(compares[0]);
    if (all->options->json) {
        struct as_json *json = as_json_new(all->output.file);
        as_compare_json(compares, all->whole, json);
        if (!as_json_finish(json) && !all->output.path)
            status = as_cli_stdout_failed();
    } else {
        as_compare_text(compares, all->whole, all->output.file);
    }
    for (size_t i = 0; i < all->whole; i++) {
        crashed += all->runs[i].crashed;
        if (all->runs[i].own_text && *all->runs[i].own_text)
            fprintf(all->options->json ? stderr : all->output.file, "\n%s", all->runs[i].own_text);
    }
    free(compares);
    if (status == AS_EXIT_OK && !as_output_finish(&all->output, &err))
        status = as_cli_fail(&as_command_compare, &err);
    return status == AS_EXIT_OK && crashed ? AS_EXIT_FAILURE : status;
}

/* A run that was cut off compares with nothing: of several, those that are whole count. The only one is reported as far as it went. */
static bool run_each(struct comparison *all, char **argv, struct as_error *err)
{
    struct as_input input = {.start = -1};
    bool ok = all->n_cores == 1 || as_input_keep(&input, &as_notices_to_log, err);
    for (size_t i = 0; i < all->n_cores && ok && !all->interrupted_by; i++) {
        const struct as_run_end *end = &all->runs[i].modelled.result.engine.end;
        as_input_rewind(&input);
        ok = run_once(all, &all->runs[i], argv, err);
        if (all->n_cores > 1) {
            int by = as_signals_between(), cut_by = as_run_end_cut_by(end);
            all->interrupted_by = cut_by ? cut_by : by;
        }
        all->whole += all->n_cores == 1 || !as_run_end_is_cut(end);
    }
    if (ok && all->whole == 0)
        return as_error_set_status(err, 128 + all->interrupted_by,
                                   "interrupted on the first of %zu machines: there is nothing to compare",
                                   all->n_cores);
    return ok;
}

/* What is said of the runs behind the result. Returns the exit status. */
static int end_all(const struct comparison *all)
{
    struct as_error err = AS_ERROR_INIT;
    int failed = AS_EXIT_OK, status = AS_EXIT_OK;
    for (size_t i = 0; i < all->whole; i++) {
        if (!as_observer_set_finish(all->runs[i].observers, &err))
            failed = as_cli_fail(&as_command_compare, &err);
        status = as_run_report(&all->runs[i].compare.result.engine, &all->options->run);
        if (all->runs[i].lost.message[0])
            failed = as_cli_fail(&as_command_compare, &all->runs[i].lost);
    }
    if (all->whole < all->n_cores) {
        as_log_warn("interrupted on machine %zu of %zu: the result is of those before it", all->whole + 1,
                    all->n_cores);
        status = 128 + all->interrupted_by;
    }
    return failed ? failed : status;
}

static int run_all(struct comparison *all, char **argv)
{
    struct as_error err = AS_ERROR_INIT;
    bool ok = choose_samplers(all, &err) && choose_cores(all, &err) && choose_pics(all, &err);
    for (size_t i = 0; i < all->n_cores && ok; i++) /* all machines first: a wrong name must not cost a run */
        ok = set_up(all, &all->runs[i], all->cores[i], &err);
    ok = ok && as_output_open(&all->output, all->options->output, &err) && run_each(all, argv, &err);
    if (!ok) {
        as_output_drop(&all->output);
        return as_cli_fail(&as_command_compare, &err);
    }
    int failed = show(all), status = end_all(all);
    return failed ? failed : status;
}

static int run_compare(int argc, char **argv)
{
    struct compare_options options = {.run = AS_RUN_OPTIONS_DEFAULT, .core = NULL, .rate = NAN, .seed = 1, .top = 10};
    int rest;
    enum as_parse parsed = as_cli_parse(&as_command_compare, argc, argv, &options, &rest);
    if (parsed != AS_PARSE_OK)
        return parsed == AS_PARSE_HELP ? AS_EXIT_OK : AS_EXIT_USAGE;
    options.output = as_output_name(options.output);
    struct as_default_core core;
    struct comparison all = {.options = &options};
    struct as_error err = AS_ERROR_INIT;
    int status;
    if (rest >= argc) {
        status = as_cli_usage(&as_command_compare, "no program given");
    } else if (!as_run_options_settle(&options.run, &err)) {
        status = as_cli_fail(&as_command_compare, &err);
    } else {
        options.core = as_core_or_default(options.core, argv[rest], &core);
        status = run_all(&all, argv + rest);
    }
    size_t crashed = 0;
    for (size_t i = 0; i < all.n_cores; i++)
        crashed += end_run(&all.runs[i]);
    if (crashed && status == AS_EXIT_OK)
        status = AS_EXIT_FAILURE;
    free(all.runs);
    as_split_free(all.cores);
    as_place_free(&all.place);
    as_strlist_free(&options.set);
    as_run_options_free(&options.run);
    as_strlist_free(&options.observers);
    return status;
}

const struct as_command as_command_compare = {
    .name = "compare",
    .summary = "How far each kind of sampler is off for a program",
    .usage = "[options] [--] PROGRAM [ARGS…]",
    .description = "Runs the program once on a modelled out-of-order core, which accounts for every cycle of every "
                   "instruction (the Oracle), and compares samplers with it that work like real ones: software "
                   "interrupts, dispatch tagging (AMD IBS, Arm SPE), last and next committing instruction (external "
                   "monitors, Intel PEBS) and TIP; and samplers that also record the events that an instruction met: "
                   "IBS, SPE, RIS and TEA. All of them sample the same cycles.",
    .options = options_table,
    .examples = "assay compare -- ./prog\n"
                "assay compare --core zen4-like --max 100M --json -- ./prog > compare.json\n"
                "assay compare --sweep 100,1000,10000 -- ./prog\n"
                "assay compare --core boom-tip,golden-cove-like,zen4-like -- ./prog\n"
                "assay compare --pics main -- ./prog\n",
    .run = run_compare,
};
