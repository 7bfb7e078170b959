/* See trust_again.h. */
#include "trust/trust_again.h"

#include "base/signals.h"
#include "core/machine.h"
#include "record/record.h"
#include "store/store_write.h"
#include "view/module_check.h"
#include "view/rows.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- how each way is taken in the model: as suite/bias_run does ---- */

static const struct way {
    const char *way, *source, *sampler, *event;
    uint64_t period;
} ways[] = {
    {"interrupt", "model", "software", NULL, 101},
    {"pebs-cycles", "model", "nci", NULL, 101},
    {"tip", "model", "tip", NULL, 101},
    {"pebs-instructions", "pmu:skylake", NULL, "instructions", 499},
    {"pdir-instructions", "pmu:skylake", NULL, "instructions:ppp", 499},
    {"pebs-loads", "pmu:skylake", NULL, "loads", 499},
    {"pebs-branches", "pmu:skylake", NULL, "branches", 499},
    {"pebs-misses", "pmu:skylake", NULL, "l1-miss", 31},
    {"ibs-cycles", "pmu:zen4", NULL, "cycles", 997},
    {"ibs-ops", "pmu:zen4", NULL, "ops", 2003},
    {"spe", "pmu:neoverse-n1", NULL, "operations", 1031},
};

static const struct way *find_way(const struct as_view *of, struct as_error *err)
{
    const struct as_summary *summary = &of->summary;
    for (size_t i = 0; i < sizeof ways / sizeof *ways && summary->bias; i++)
        if (strcmp(ways[i].way, summary->bias->way) == 0)
            return &ways[i];
    as_error_set(err, "%s: %s", of->options.file,
                 summary->exact ? "it is exact: there is nothing to expect"
                 : isnan(as_store_estimate_of(of->store, of->series, "error", "instruction"))
                     ? "the model has no such way of sampling"
                     : "its error was measured in its own run, and is shown without --again");
    return NULL;
}

static const char *core_like(const char *processor)
{
    return processor && strstr(processor, "Intel") ? "skylake-like" : "zen4-like";
}

/* ---- what is run ---- */

/* What is wrong with the program's file; NULL: it is the one that was recorded. A build-id stays in a file that was changed
 * by hand: its size is held against the recorded one, too, and a later time is told. */
static const char *changed(const struct as_view *of, const char *program, const struct as_notices *notices)
{
    const struct as_store_module *module = of->module, *end = of->module + of->n_modules;
    struct stat status;
    while (module < end && (!module->path || strcmp(module->path, program) != 0))
        module++;
    if (module == end)
        return NULL;
    const char *wrong = as_module_check(of->store, module);
    if (wrong || !module->file_size || stat(program, &status) != 0)
        return wrong;
    if ((uint64_t)status.st_size != module->file_size)
        return "it has another size than when it was recorded";
    if (status.st_mtim.tv_sec * INT64_C(1000000000) + status.st_mtim.tv_nsec != module->file_time)
        as_notice(notices, AS_LOG_NOTE,
                  "%s was written again since the recording, with the same build-id and size: it is taken for the same",
                  program);
    return NULL;
}

static char **arguments_of(const struct as_view *of, const struct as_notices *notices, struct as_error *err)
{
    size_t n;
    const char *const *words = as_store_arguments(of->store, &n);
    const char *program = as_store_meta(of->store, AS_META_PROGRAM);
    const char *wrong = n == 0 || !program           ? "the profile does not say how it was called"
                        : access(program, X_OK) != 0 ? "it is not there"
                                                     : changed(of, program, notices);
    if (wrong) {
        as_error_set(err, "%s: the program cannot be run again: %s%s%s", of->options.file, n && program ? program : "",
                     n && program ? ": " : "", wrong);
        return NULL;
    }
    char **argv = as_alloc_array(n + 1, sizeof *argv);
    argv[0] = (char *)program;
    for (size_t i = 1; i < n; i++)
        argv[i] = (char *)words[i];
    return argv;
}

static void limit(struct as_regions *regions, const char *from, uint64_t max)
{
    struct as_region *region = as_regions_add(regions);
    region->max = max;
    region->start = as_regions_symbol(regions, from);
}

/* In the directory where it ran before. */
static bool record(const struct as_view *of, const struct as_record_options *usual, char *const *argv, const char *from,
                   uint64_t max, struct as_error *err)
{
    struct as_record_options options = *usual;
    struct as_record_result result;
    struct as_regions regions = {0};
    const char *directory = as_store_meta(of->store, AS_META_DIRECTORY);
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    limit(&regions, from, max);
    options.argv = argv;
    options.engine.regions = &regions;
    if (directory && chdir(directory) != 0)
        as_notice(&options.notices, AS_LOG_NOTE, "%s is not there: the program runs here instead", directory);
    bool ok = as_regions_check(&regions, err) && as_record_run(&options, &result, err);
    int signal = ok ? as_signals_between() : 0;
    if (signal || (ok && as_run_end_is_cut(&result.end)))
        ok = as_error_set_status(err, 128 + (signal ? signal : as_run_end_cut_by(&result.end)),
                                 "interrupted: the runs of the program are not complete");
    if (here < 0 || fchdir(here) != 0)
        ok = ok && as_error_set(err, "the working directory is gone");
    if (here >= 0)
        close(here);
    as_regions_free(&regions);
    return ok;
}

/* ---- into a profile of its own ---- */

static bool record_into(const char *path, const struct as_view *of, const struct as_record_options *usual,
                        char *const *argv, const struct as_again_run *run, uint32_t fetch_buffer, uint64_t max,
                        struct as_error *err)
{
    char change[40];
    const char *words[] = {change};
    struct as_record_options options = *usual;
    snprintf(change, sizeof change, "front.fetch_buffer=%" PRIu32, fetch_buffer);
    options.set = (struct as_strlist){words, 1};
    options.output = path;
    return record(of, &options, argv, run->from, max, err);
}

static bool run_windows(const struct as_view *of, const struct as_record_options *options, char *const *argv,
                        const char *series, uint64_t max, struct as_again_run *run, struct as_error *err)
{
    char folder[] = "/tmp/assay-trust-XXXXXX", path[sizeof folder + 16];
    struct as_machine machine;
    if (!as_machine_load(options->core, &machine, err))
        return false;
    if (!mkdtemp(folder))
        return as_error_set(err, "%s cannot be made", folder);
    snprintf(path, sizeof path, "%s/again.db", folder);
    bool ok = true;
    for (uint32_t i = 0; i < AS_AGAIN_WINDOWS && ok; i++) {
        ok = record_into(path, of, options, argv, run,
                         machine.front.fetch_buffer > i ? machine.front.fetch_buffer - i : 1, max, err) &&
             as_view_open(&run->views[i], &(struct as_view_options){.file = path, .series = series}, err);
        run->views[i].options.file = of->options.file; /* the path is gone with this function */
        unlink(path);
    }
    rmdir(folder);
    return ok;
}

/* ---- which functions, and what they stand for ---- */

static const double least = 0.03;  /* of the samples: a function with fewer is not worth a run */
static const double enough = 0.95; /* measured: no more runs */
static const double part = 0.1;    /* of a run: a function with less is not measured by it */

static const char *name_of(const struct as_view *view, const struct as_store_row *row)
{
    if (row->function >= view->n_functions)
        return NULL;
    const struct as_store_function *function = &view->function[row->function];
    return function->linkage_name ? function->linkage_name : function->name;
}

static const char *module_of(const struct as_view *view, const struct as_store_row *row)
{
    return row->function < view->n_functions ? as_view_module(view, view->function[row->function].module) : NULL;
}

static bool is_in(const struct as_rows *rows, const char *name, const char *module)
{
    for (size_t i = 0; i < rows->rows.n && (double)rows->rows.rows[i].units >= part * (double)rows->rows.total; i++) {
        const struct as_store_row *row = &rows->rows.rows[i];
        const char *name_here = name_of(rows->view, row), *module_here = module_of(rows->view, row);
        if (name_here && module_here && strcmp(name_here, name) == 0 && strcmp(module_here, module) == 0)
            return true;
    }
    return false;
}

/* The functions that the run measured are counted to it, each once over all runs. */
static bool count_share(const struct as_rows *all, bool *measured, struct as_again *again, struct as_again_run *run,
                        struct as_error *err)
{
    struct as_rows rows = {0};
    if (!as_rows_make(&rows, &run->views[0], AS_STORE_BY_FUNCTION, NULL, err))
        return false;
    for (size_t i = 0; i < all->rows.n && all->rows.total; i++) {
        const struct as_store_row *row = &all->rows.rows[i];
        const char *name = name_of(all->view, row), *module = module_of(all->view, row);
        if (measured[i] || !name || !module || !is_in(&rows, name, module))
            continue;
        measured[i] = true;
        run->share += (double)row->units / (double)all->rows.total;
    }
    again->measured += run->share;
    as_rows_free(&rows);
    return true;
}

/* The next function of the program itself with most samples that no run has measured; NULL: there are none to speak of. */
static const char *next_function(const struct as_rows *all, const bool *measured, bool *tried)
{
    const char *program = all->view->summary.program;
    for (size_t i = 0; i < all->rows.n; i++) {
        const struct as_store_row *row = &all->rows.rows[i];
        const char *name = name_of(all->view, row), *module = module_of(all->view, row);
        if ((double)row->units < least * (double)all->rows.total)
            return NULL;
        if (measured[i] || tried[i] || !name || !module || !program || strcmp(module, program) != 0)
            continue;
        tried[i] = true;
        return name;
    }
    return NULL;
}

/* ---- all of it ---- */

static struct as_record_options plan(const struct as_view *of, const struct as_again_options *asked,
                                     const struct way *way)
{
    struct as_record_options options = as_record_defaults;
    options.environment = environ;
    options.source = way->source;
    options.period = way->period;
    options.seed = asked->seed;
    options.notices = asked->notices;
    options.core = asked->core ? asked->core : core_like(of->summary.core);
    options.engine.discard_stdout = true;
    options.random = way->sampler != NULL;
    options.samplers = way->sampler ? way->sampler : options.samplers;
    options.event = (struct as_strlist){(const char **)&way->event, way->event != NULL};
    return options;
}

static bool run_all(const struct as_view *of, const struct as_again_options *asked, const struct way *way,
                    char *const *argv, const struct as_again *like, struct as_again *again, struct as_error *err)
{
    struct as_record_options options = plan(of, asked, way);
    struct as_rows rows = {0};
    if (!as_rows_make(&rows, of, AS_STORE_BY_FUNCTION, NULL, err))
        return false;
    bool *measured = as_alloc_array(rows.rows.n + 1, sizeof *measured);
    bool *tried = as_alloc_array(rows.rows.n + 1, sizeof *tried);
    bool ok = true;
    while (ok && again->n < AS_AGAIN_RUNS && again->measured < enough) {
        const char *from = !like                ? next_function(&rows, measured, tried)
                           : again->n < like->n ? like->runs[again->n].from
                                                : NULL;
        if (!from)
            break;
        struct as_again_run *run = &again->runs[again->n++];
        run->from = as_strdup(from);
        ok = run_windows(of, &options, argv, way->sampler, asked->max / (AS_AGAIN_RUNS * AS_AGAIN_WINDOWS) + 1, run,
                         err) &&
             count_share(&rows, measured, again, run, err);
    }
    if (ok && again->n == 0)
        ok = as_error_set(err,
                          "%s: no function of the program itself has %.0f %% of the samples: there is nothing to run",
                          of->options.file, 100 * least);
    free(tried);
    free(measured);
    as_rows_free(&rows);
    return ok;
}

bool as_trust_again(const struct as_view *of, const struct as_again_options *options, const struct as_again *like,
                    struct as_again *again, struct as_error *err)
{
    const struct way *way = find_way(of, err);
    char **argv = way ? arguments_of(of, &options->notices, err) : NULL;
    bool ok = argv && run_all(of, options, way, argv, like, again, err);
    free(argv);
    return ok;
}

void as_trust_again_free(struct as_again *again)
{
    for (size_t i = 0; i < again->n; i++) {
        free(again->runs[i].from);
        for (int window = 0; window < AS_AGAIN_WINDOWS; window++)
            as_view_free(&again->runs[i].views[window]);
    }
}

/* ---- its bias ---- */

static double bias_of(const struct as_view *again, const char *level)
{
    double error = as_store_estimate_of(again->store, again->series, "error", level);
    double chance = as_store_estimate_of(again->store, again->series, "estimate", level);
    return as_bias_without_chance(error, chance);
}

/* The runs by their shares; the suite's median for the rest. */
static double bias_at(const struct as_view *of, const struct as_again *again, enum as_bias_level level)
{
    double bias = (1 - fmin(1, again->measured)) * of->summary.bias->levels[level].median;
    for (size_t i = 0; i < again->n; i++)
        for (int window = 0; window < AS_AGAIN_WINDOWS && again->runs[i].share > 0; window++)
            bias +=
                again->runs[i].share * bias_of(&again->runs[i].views[window], as_bias_levels[level]) / AS_AGAIN_WINDOWS;
    return bias;
}

void as_trust_again_keep(struct as_view *of, const struct as_again *again, const struct as_notices *notices)
{
    struct as_store_estimate estimates[AS_BIAS_LEVELS];
    struct as_error err = AS_ERROR_INIT;
    for (int i = 0; i < AS_BIAS_LEVELS; i++) {
        estimates[i] = (struct as_store_estimate){of->series, "bias", as_bias_levels[i], bias_at(of, again, i)};
        as_store_put_estimate(of->store, &estimates[i]);
    }
    as_summary_find_trust(&of->summary);
    as_notice(notices, AS_LOG_NOTE, "%s: the functions that ran in the model have %.0f %% of its samples",
              of->options.file, 100 * again->measured);
    if (as_store_note_estimates(of->options.file, estimates, AS_BIAS_LEVELS, &err))
        as_notice(notices, AS_LOG_NOTE, "%s: reports of it use this bias from now on", of->options.file);
    else
        as_notice(notices, AS_LOG_NOTE, "the bias is not kept in the profile: %s", err.message);
}
