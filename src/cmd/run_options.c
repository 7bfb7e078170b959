/* See run_options.h. */
#include "cmd/run_options.h"
#include "cmd/debug_path.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/number.h"
#include "base/show.h"
#include "base/split.h"
#include "base/str.h"
#include "engine/program.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const as_run_memo_choices[] = {
    [AS_RUN_MEMO_ON] = "on", [AS_RUN_MEMO_OFF] = "off", [AS_RUN_MEMO_CHECK] = "check", NULL};

#define WRONG(...) as_error_set_status(err, AS_EXIT_USAGE, __VA_ARGS__)

/* ---- regions ---- */

static _Atomic uint32_t switches;

static void on_switch(int signal)
{
    atomic_fetch_add(&switches, 1);
}

/* Finds a signal by its name, with or without SIG, or by its number; 0: there is none. */
static int find_signal(const char *name)
{
    uint64_t number;
    if (as_number_read(name, &number))
        return number < NSIG ? (int)number : 0;
    if (strncmp(name, "SIG", 3) == 0)
        name += 3;
    for (int signal = 1; signal < NSIG; signal++) {
        const char *known = sigabbrev_np(signal);
        if (known && strcmp(known, name) == 0)
            return signal;
    }
    return 0;
}

static bool catch_switches(const char *name, struct as_error *err)
{
    struct sigaction action = {.sa_handler = on_switch, .sa_flags = SA_RESTART};
    static const int taken[] = {0,       SIGINT, SIGQUIT, SIGTERM, SIGHUP,  SIGALRM, SIGCHLD,
                                SIGSEGV, SIGBUS, SIGILL,  SIGFPE,  SIGABRT, SIGKILL, SIGSTOP};
    int signal = find_signal(name);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (signal == taken[i])
            return WRONG("--switch-signal=%s: not a signal that can be used for this; use USR1 or USR2", name);
    if (sigaction(signal, &action, NULL) != 0)
        return WRONG("--switch-signal=%s: %s", name, strerror(errno));
    return true;
}

/* A number as it can be given, and is read at a glance: 2M. */
static void add_number(struct as_str *text, uint64_t number)
{
    static const struct {
        uint64_t of;
        const char *sign;
    } units[] = {{1000000000, "G"}, {1000000, "M"}, {1000, "k"}, {1, ""}};
    size_t i = 0;
    while (number % units[i].of)
        i++;
    as_str_addf(text, "%" PRIu64 "%s", number / units[i].of, units[i].sign);
}

/* The options that describe one region, as they can be given again. */
static char *describe(const struct as_run_options *options)
{
    struct as_str text = {0};
    const struct {
        const char *word, *name;
        uint64_t number;
    } parts[] = {{"from", options->from, 0},  {"skip", NULL, options->skip},
                 {"max", NULL, options->max}, {"to", options->to, 0},
                 {"warm", options->warm, 0},  {"switch-signal", options->switch_signal, 0}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].name) {
            as_str_addf(&text, "%s--%s %s", text.len ? " " : "", parts[i].word, parts[i].name);
        } else if (parts[i].number) {
            as_str_addf(&text, "%s--%s ", text.len ? " " : "", parts[i].word);
            add_number(&text, parts[i].number);
        }
    if (!isnan(options->delay))
        as_str_addf(&text, "%s--delay %g", text.len ? " " : "", options->delay);
    return as_str_take(&text);
}

bool as_run_read_warm(const char *option, const char *text, uint64_t *warm, struct as_error *err)
{
    if (strcmp(text, "all") == 0)
        *warm = AS_REGION_ALL;
    else if (!as_number_read(text, warm))
        return as_error_set_status(err, AS_EXIT_USAGE, "--%s=%s: not 'all' and not a number like 500k or 2M", option,
                                   text);
    return true;
}

static bool set_warm(const struct as_run_options *options, struct as_region *region, struct as_error *err)
{
    if (!options->warm)
        return true;
    if (!options->skip && region->start.kind == AS_POINT_NONE)
        return WRONG("--warm=%s: there is nothing before the region; use --skip or --from to start later",
                     options->warm);
    return as_run_read_warm("warm", options->warm, &region->warm, err);
}

static bool set_start(struct as_run_options *options, struct as_region *region, struct as_error *err)
{
    bool delayed = !isnan(options->delay);
    if ((options->from != NULL) + delayed + (options->switch_signal != NULL) > 1)
        return WRONG("--from, --delay and --switch-signal all set the start: give only one of them");
    if (options->from)
        region->start = as_regions_symbol(&options->regions, options->from);
    if (delayed && !(options->delay >= 0 && options->delay < 1e9))
        return WRONG("--delay=%g: must be at least 0 and below 1000000000 seconds", options->delay);
    if (delayed)
        region->start = (struct as_point){.kind = AS_POINT_DELAY, .number = (uint64_t)(options->delay * 1e9)};
    if (options->switch_signal) {
        if (options->to)
            return WRONG("--to cannot be used with --switch-signal, which stops the region");
        region->start.kind = region->stop.kind = AS_POINT_SIGNAL;
        region->repeat = true;
    }
    return true;
}

/* --from, --skip, --max and so on are a list of one region. */
static bool add_simple(struct as_run_options *options, struct as_error *err)
{
    struct as_region *region = as_regions_add(&options->regions);
    region->text = describe(options);
    region->offset = options->skip;
    region->max = options->max ? options->max : AS_REGION_ALL;
    if (!set_start(options, region, err))
        return false;
    if (options->to)
        region->stop = as_regions_symbol(&options->regions, options->to);
    return set_warm(options, region, err);
}

static bool has_signals(const struct as_regions *regions)
{
    for (size_t i = 0; i < regions->list.len; i++)
        if (regions->list.data[i].start.kind == AS_POINT_SIGNAL || regions->list.data[i].stop.kind == AS_POINT_SIGNAL)
            return true;
    return false;
}

/* ---- the environment ---- */

static const char *find_variable(const char *name)
{
    size_t length = strlen(name);
    for (char **pair = environ; *pair; pair++)
        if (strncmp(*pair, name, length) == 0 && (*pair)[length] == '=')
            return *pair;
    return NULL;
}

/* Variables that are not set are left out, and each is given once. The last one is the padding (qemu_command.h). */
static bool choose_variables(struct as_run_options *options, struct as_error *err)
{
    if (!options->environment)
        return true;
    size_t n_names, n = 0;
    char **names = as_split(options->environment, ",", &n_names);
    bool none = n_names == 1 && strcmp(names[0], "none") == 0, ok = n_names > 0;
    options->variables = as_alloc_array(n_names + 2, sizeof *options->variables);
    for (size_t i = 0; i < n_names && !none; i++) {
        const char *pair = find_variable(names[i]);
        ok = ok && !strchr(names[i], '=');
        if (pair)
            options->variables[n++] = as_strdup(pair);
    }
    options->variables[n] = as_strdup(AS_PADDING_VARIABLE);
    as_split_free(names);
    return ok ||
           WRONG("--environment=%s: not 'none' and not names of variables, separated by commas", options->environment);
}

bool as_run_options_settle(struct as_run_options *options, struct as_error *err)
{
    if (!choose_variables(options, err))
        return false;
    bool listed = options->region.len || options->region_file;
    bool simple =
        options->from || options->to || options->skip || options->max || options->warm || !isnan(options->delay);
    if (listed && simple)
        return WRONG("--region and --regions replace --from, --skip, --max, --to, --warm and --delay: give one "
                     "or the other");
    if (!listed && (simple || options->switch_signal) && !add_simple(options, err))
        return false;
    if (options->region_file && !as_regions_read(&options->regions, options->region_file, err))
        return false;
    for (size_t i = 0; i < options->region.len; i++)
        if (!as_regions_parse(&options->regions, options->region.data[i], err))
            return false;
    if (has_signals(&options->regions) &&
        !catch_switches(options->switch_signal ? options->switch_signal : "USR2", err))
        return false;
    if (options->count_rest && options->regions.list.len == 0)
        return WRONG("--count-rest needs a part of the program, such as --max gives");
    options->regions.to_the_end = options->count_rest;
    return as_regions_check(&options->regions, err);
}

bool as_run_refuse_weights(const struct as_run_options *options, struct as_error *err)
{
    for (size_t i = 0; i < options->regions.list.len; i++)
        if (options->regions.list.data[i].weight != 1)
            return WRONG("region '%s': this command does not weight regions; stat, compare and record do",
                         options->regions.list.data[i].text);
    return true;
}

bool as_run_options_settle_untimed(struct as_run_options *options, bool weights, struct as_error *err)
{
    if (!as_run_options_settle(options, err))
        return false;
    for (size_t i = 0; i < options->regions.list.len; i++) {
        const struct as_region *region = &options->regions.list.data[i];
        if (region->start.kind == AS_POINT_CYCLE || region->stop.kind == AS_POINT_CYCLE)
            return WRONG("region '%s': this command does not model cycles; compare, record, whatif and 'blocks "
                         "--methods' do",
                         region->text);
        if (region->warm || region->settle || region->mode != AS_MODE_DETAIL)
            return WRONG("region '%s': warm, settle and mode are for a modelled core, which this command does not have",
                         region->text);
    }
    return weights || as_run_refuse_weights(options, err);
}

void as_run_options_free(struct as_run_options *options)
{
    as_regions_free(&options->regions);
    as_strlist_free(&options->region);
    for (char **variable = options->variables; variable && *variable; variable++)
        free(*variable);
    free(options->variables);
    options->variables = NULL;
}

struct as_memo_options as_run_memo_options(const struct as_run_options *options)
{
    return (struct as_memo_options){.bytes = options->memo == AS_RUN_MEMO_OFF ? 0 : (size_t)options->memo_size << 20,
                                    .checks = options->memo == AS_RUN_MEMO_CHECK,
                                    .eager = options->memo == AS_RUN_MEMO_CHECK};
}

struct as_engine_options as_run_engine_options(const struct as_run_options *options, char **argv)
{
    return (struct as_engine_options){
        .argv = argv,
        .qemu = options->qemu,
        .debug_path = as_cli_debug_path(NULL),
        .window = options->window,
        .quantum = options->quantum,
        .deterministic = options->deterministic,
        .regions = &options->regions,
        .switches = &switches,
        .no_follow = options->no_follow,
        .environment = options->variables,
    };
}

char *as_run_options_text(const struct as_run_options *run)
{
    if (run->regions.list.len > 1)
        return as_format("%zu regions", run->regions.list.len);
    return run->regions.list.len ? as_strdup(run->regions.list.data[0].text) : NULL;
}

static void note_regions(const struct as_engine_result *result)
{
    if (result->region_troubles == 0 || result->end.interrupted)
        return;
    as_log_warn("%s", result->region_trouble);
    if (result->region_troubles > 1)
        as_log_warn("%" PRIu32 " more %s not measured as requested", result->region_troubles - 1,
                    result->region_troubles == 2 ? "region was" : "regions were");
}

int as_run_end_report(const struct as_run_end *end)
{
    if (end->interrupted)
        as_log_warn("interrupted: the result covers the run up to then%s",
                    end->running ? "; the program is still running" : "");
    else if (!end->stopped && end->signal)
        as_log_warn("the program was killed by signal %d (%s): the result covers the run up to then", end->signal,
                    strsignal(end->signal));
    else if (end->asked)
        as_log_warn("interrupted: the program handled that and ended; the result covers the run until its end");
    if (end->stopped)
        return AS_EXIT_OK;
    return end->interrupted ? 128 + SIGINT : end->exit_status;
}

int as_run_report(const struct as_engine_result *result, const struct as_run_options *options)
{
    note_regions(result);
    if (result->blind)
        as_log_note("%s instructions at the starts of regions ran before their accesses could be recorded",
                    AS_COUNT(result->blind));
    if (result->end.signal == SIGILL && !result->end.stopped)
        as_log_note("QEMU supports x86-64 up to AVX2: a program that uses newer instructions ends like this");
    if (result->untraced)
        as_log_note("%u program%s started by the program ran untraced (the first: %s)", result->untraced,
                    result->untraced == 1 ? "" : "s", result->first_untraced);
    if (result->left_running)
        as_log_note("%u process%s of the program still run%s and will not be traced further", result->left_running,
                    result->left_running == 1 ? "" : "es", result->left_running == 1 ? "s" : "");
    if (result->disagreements)
        as_log_debug("%u blocks of code accessed memory differently from what the decoder expects; counted as executed",
                     result->disagreements);
    return as_run_end_report(&result->end);
}

const char *as_run_options_given(const struct as_run_options *options)
{
    const struct as_run_options usual = AS_RUN_OPTIONS_DEFAULT;
    const struct {
        const char *name;
        bool given;
    } all[] = {{"skip", options->skip > 0},
               {"max", options->max > 0},
               {"from", options->from != NULL},
               {"to", options->to != NULL},
               {"region", options->region.len > 0},
               {"regions", options->region_file != NULL},
               {"warm", options->warm != NULL},
               {"delay", !isnan(options->delay)},
               {"switch-signal", options->switch_signal != NULL},
               {"window", options->window != usual.window},
               {"no-follow", options->no_follow},
               {"qemu", options->qemu != NULL}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].given)
            return all[i].name;
    return NULL;
}
